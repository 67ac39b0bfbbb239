"""`python3 -m kzoo judge`, where a benchmark says what is judged; docs/judging.md describes it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _program
from ._benchmarks import read_problem
from ._definition import as_document, read_definition
from ._solution import judge_submission, traces
from ._verdict import Verdict

_OF_BENCHMARKS = ("--definition", "--workloads", "--solution", "--benchmark")


def is_asked(words: Sequence[str]) -> bool:
    """Whether these are words for the module, not for the program."""
    return any(word.partition("=")[0] in _OF_BENCHMARKS for word in words)


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kernel-zoo judge",
        description="Judges what was written for a benchmark's problem; docs/judging.md describes it.",
    )
    add = parser.add_argument
    add("submission", nargs="*", type=Path, help="files in Python or CUDA")
    add("--benchmark", type=Path, help="a problem of KernelBench (.py), or a task.yml of gpu-mode")
    add("--definition", type=Path, help="of FlashInfer-Bench or SOL-ExecBench (.json)")
    add("--workloads", type=Path, help="of the definition (.jsonl)")
    add("--solution", type=Path, action="append", default=[], help="of the definition (.json)")
    add("--trace", type=Path, help="where traces of FlashInfer-Bench are appended")
    add(
        "--size",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="another size for --benchmark",
    )
    add("--allow", action="append", default=[], help="a precision that is enough, such as tf32")
    add(
        "--entry", default="", help="the function or model; default: ModelNew, custom_kernel or run"
    )
    add("--arch", type=int, default=90, help="the compute capability that Triton compiles for: 90")
    add("--json", action="store_true", help="a document (JSON) for each, in one line")
    add("--device", help="auto, cpu, cuda or cuda:N")
    add("--verify", default="full", choices=("quick", "full", "paranoid"), help="default: full")
    add("--baseline", help="the kernel that speedups are over, such as cublas:fp32")
    add(
        "--device-code-only", action="store_true", help="refuse kernels with host code of their own"
    )
    add("--explain", action="store_true", help="search a wrong kernel's memory accesses, too")
    options = parser.parse_args(words)
    if (options.benchmark is None) == (options.definition is None):
        parser.error("give either --benchmark or --definition")
    if options.trace and not options.definition:
        parser.error("a trace is of a --definition")
    if not options.submission and not options.solution:
        parser.error("give a --solution, or files to judge")
    try:
        options.sizes = {
            name: int(value) for name, _, value in (one.partition("=") for one in options.size)
        }
    except ValueError:
        parser.error("--size is NAME=NUMBER")
    return options


def _judged(options: argparse.Namespace) -> list[Verdict]:
    problem = read_problem(
        options.benchmark or options.definition,
        options.workloads,
        sizes=options.sizes,
        allow=options.allow,
    )
    more: dict[str, Any] = {
        "device": options.device, "tier": options.verify, "baseline": options.baseline,
        "device_code_only": options.device_code_only, "explain": options.explain,
    }  # fmt: skip
    definition = read_definition(options.definition) if options.trace else None
    verdicts = []
    for file in (*options.solution, *options.submission):
        verdict = judge_submission(problem, file, entry=options.entry, arch=options.arch, **more)
        verdicts.append(verdict)
        document = verdict.document | {"file": str(file)}
        print(json.dumps(document) if options.json else f"{file}: {verdict}", flush=True)
        if definition is not None and file in options.solution:
            made = traces(definition, options.workloads, as_document(file), verdict)
            with options.trace.open("a", encoding="utf-8") as trace:
                trace.writelines(json.dumps(one) + "\n" for one in made)
    return verdicts


def main(words: Sequence[str]) -> int:
    options = _options(words)
    try:
        verdicts = _judged(options)
    except (_program.Error, OSError) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return _program.exit_code(fault)
    if any(one.status == "JUDGE_ERROR" for one in verdicts):
        return 2
    return 0 if all(one.passed for one in verdicts) else 1
