"""Submissions to benchmarks: solutions of FlashInfer-Bench and SOL-ExecBench, files of Python or CUDA.

What a file contains is read. None of its Python is run: of a submission in Python its kernel is
judged, apart from the rest.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from ._compile_triton import Compiling, Failed, NoTriton, compiled
from ._definition import Definition, Document, as_document, formatted, lines
from ._device_code import request
from ._problem import Problem
from ._program import BadInput, Error, Stopped, TimedOut
from ._sources import Kernel, Sources, is_text
from ._submission import ExtensionCall, SubmissionReader
from ._values import UNREADABLE, Unread
from ._verdict import ProblemVerdict, Status, Verdict, judge, refusal

# Host code of these starts kernels that no tensor function can keep on the run's stream.
_STARTERS = ("cublas", "cudnn", "cudnn_frontend", "cutlass")
_LANGUAGES = ("cute_dsl", "cutile", "tilelang")
_OF_COMPILER = re.compile(
    r"-std=\S+|-O[0-3]|--?use_fast_math|-lineinfo|--ptxas-options=\S+|-l(cuda|cudart)"
)

Submission = str | Path | Document


class Refused(Exception):
    """A submission that is not judged, with the status that it gets."""

    def __init__(self, status: Status, check: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.check = check


class _NoPython(Refused):
    """A text that is no Python, or has no function or model of the name."""

    def __init__(self, reason: str) -> None:
        super().__init__("UNSUPPORTED", "submission", reason)


def judge_submission(
    problem: Problem, submission: Submission, *, entry: str = "", arch: int = 90, **options: Any
) -> Verdict:
    """The verdict on what was written for a benchmark's problem, as it stands.

    A submission in Python is read, never run: its function may make an empty result, take views and
    sizes, and start one kernel, which is judged: of CUDA C++ by load_inline, or of Triton.
    UNSUPPORTED: it does more, which would have to run beside the clock; the reason has the line.

    Parameters:
        problem: what `read_problem` has read, or `Definition.problem`.
        submission: a file or the text of one, in Python or CUDA; or a solution (JSON).
        entry: the function or model in it; default: ModelNew, custom_kernel or run.
        arch: the compute capability that Triton compiles for: 90.
        options: those of `judge`, without `problems`.

    Raises:
        BadInput: the solution is in another format, or for another definition.
        TimedOut: it took longer than `timeout`, which compiling and judging have each.
        Error: the program is not here, or has failed; for Triton that is a JUDGE_ERROR.
    """
    with Sources() as sources:
        try:
            how = Compiling(arch, options.get("timeout"))
            kernel = kernel_of(problem, submission, sources, how, entry)
        except Refused as fault:
            return refused(fault, submission, options.get("tier", "full"), options.get("device"))
        return judge(kernel, problems=problem.problems, **options)


def kernel_of(
    problem: Problem,
    submission: Submission,
    sources: Sources,
    how: Compiling,
    entry: str = "",
) -> Kernel:
    """What of a submission is judged. Raises Refused where nothing is."""
    if isinstance(submission, Mapping) or Path(_as_name(submission)).suffix == ".json":
        return _of_solution(problem, as_document(submission), sources, how)
    if is_text(submission):
        text, name, suffix = str(submission), "submission", ""
    else:
        file = Path(str(submission))
        text, name, suffix = file.read_text(encoding="utf-8"), file.stem, file.suffix
    if suffix in ("", ".py"):
        try:
            return _of_python(problem, text, entry, name, sources, how)
        except _NoPython:
            if suffix:
                raise
    return _of_cuda(problem, f"{_plain(name)}.cu", {f"{_plain(name)}.cu": text}, "", sources)


def refused(fault: Refused, submission: Submission, tier: str, device: str | None) -> Verdict:
    name = _as_name(submission) or "submission"
    return refusal(fault.status, fault.check, str(fault), name, tier, device)


def judge_solution(
    definition: Definition,
    workloads: str | Path | Iterable[Document],
    solution: str | Path | Document,
    **options: Any,
) -> Verdict:
    """The verdict on a solution of a definition, with the options of `judge_submission`.

    Its entry point is a function that takes tensors of PyTorch or tvm-ffi, a kernel whose file says
    how it is launched (docs/plugins.md), or a function of Python with one kernel in Triton.
    """
    return judge_submission(definition.problem(workloads), as_document(solution), **options)


def traces(
    definition: Definition,
    workloads: str | Path | Iterable[Document],
    solution: Document,
    verdict: Verdict,
) -> list[dict[str, Any]]:
    """What FlashInfer-Bench keeps of a run: a trace (JSON) for each workload.

    Errors of C are not in a verdict, and are NaN. A status that is none of FlashInfer-Bench's is
    RUNTIME_ERROR, and the log says it. Of JUDGE_ERROR there is no trace.
    """
    if verdict.status == "JUDGE_ERROR":
        return []
    now = datetime.datetime.now(datetime.UTC).isoformat()
    by_size = {_size(one): one for one in verdict.problems}
    made = []
    for line in lines(workloads):
        workload = line.get("workload", line)
        [size] = definition.problem([line]).sizes
        made.append(
            {
                "definition": definition.name,
                "workload": workload,
                "solution": solution["name"],
                "evaluation": _evaluation(verdict, by_size.get(size), now),
            }
        )
    return made


def _size(of: ProblemVerdict) -> tuple[int, int, int, int]:
    sizes = of.problem
    return sizes["m"], sizes["n"], sizes["k"], sizes.get("batch", 1)


_UNKNOWN = ("REWARD_HACK", "UNSUPPORTED", "JUDGE_ERROR")  # to FlashInfer-Bench's schema


def _evaluation(verdict: Verdict, of: ProblemVerdict | None, now: str) -> dict[str, Any]:
    status, reason = (of.status, of.reason) if of else (verdict.status, verdict.reason)
    known = "RUNTIME_ERROR" if status in _UNKNOWN else status
    made: dict[str, Any] = {
        "status": known,
        "environment": {
            "hardware": verdict.document["device"]["name"] or verdict.device,
            "libs": {"kernel-zoo": verdict.document["runner"]["version"]},
        },
        "timestamp": now,
        "log": reason if known == status else f"{status}: {reason}",
        "correctness": None,
        "performance": None,
    }
    if known in ("PASSED", "INCORRECT_NUMERICAL"):
        made["correctness"] = {"max_relative_error": "NaN", "max_absolute_error": "NaN"}
    if known == "PASSED":
        is_timed = of is not None and of.clock != "simulator"
        time = (of.time_ms or 0.0) if of and is_timed else 0.0
        speedup = (of.speedup or 0.0) if of else 0.0
        made["performance"] = {
            "latency_ms": time,
            "reference_latency_ms": time * speedup,
            "speedup_factor": speedup,
        }
    return made


def _as_name(given: Submission) -> str:
    return "" if isinstance(given, Mapping) or is_text(given) else str(given)


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name) or "submission"


def _of_python(
    problem: Problem, text: str, entry: str, name: str, sources: Sources, how: Compiling
) -> Kernel:
    try:
        reader = SubmissionReader(text, problem)
        function = reader.entry(entry)
    except (Unread, *UNREADABLE) as fault:
        raise _NoPython(str(fault)) from None
    try:
        start = reader.read(function, problem.packs)
        if isinstance(start, ExtensionCall):
            file = f"{_plain(name)}.cu"
            header = "" if "torch/" in start.source else "#include <torch/extension.h>\n"
            return _of_cuda(problem, file, {file: header + start.source}, start.function, sources)
        asked = request(reader, start, how.arch)
    except (Unread, *UNREADABLE) as fault:
        raise Refused("UNSUPPORTED", "submission", str(fault)) from None
    try:
        return replace(compiled(asked, how), note=start.note)
    except Failed as fault:
        reason = "\n".join(filter(None, (str(fault), start.note)))
        raise Refused("COMPILE_ERROR", "compile", reason) from None
    except (TimedOut, Stopped):
        raise
    except (NoTriton, Error) as fault:
        raise Refused("JUDGE_ERROR", "judge", str(fault)) from None


def _of_cuda(
    problem: Problem, main: str, texts: dict[str, str], function: str, sources: Sources
) -> Kernel:
    """Of a function that takes tensors, unless the file says how it is launched."""
    manifest = str(PurePosixPath(main).with_suffix(".toml"))
    says_launch = "kzoo" in texts[main].lower() or manifest in texts
    if not says_launch and re.search(r"\b(torch|at|tvm)::", texts[main]):
        chosen = f"function={function} " if function else ""
        epilogue = f" epilogue={problem.epilogue.replace(' ', '')}" if problem.epilogue else ""
        texts[main] = (
            f"// kzoo: {chosen}types={problem.dtype} layouts={problem.layout}{epilogue}\n"
            f"#line 1\n{texts[main]}"
        )
    folder = sources.path / "solution"
    for path, content in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder / main


def _of_solution(
    problem: Problem, document: Document, sources: Sources, how: Compiling
) -> Kernel:
    name = str(document.get("name", "a solution"))
    with formatted(name):
        spec = document["spec"]
        main, _, function = str(spec["entry_point"]).partition("::")
        texts = {str(one["path"]): str(one["content"]) for one in document["sources"]}
        starters = [
            spec.get("language", ""),
            *spec.get("languages", []),
            *spec.get("dependencies", []),
        ]
        asked = {
            key: list(map(str, one or ()))
            for key, one in (spec.get("compile_options") or {}).items()
        }
    if document.get("definition") != problem.name:
        raise BadInput(f"{name}: it solves '{document.get('definition')}', not '{problem.name}'")
    for path in texts:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise BadInput(f"{name}: '{path}' would lie outside the solution's folder")
    if main not in texts:
        raise BadInput(f"{name}: among its sources is no '{main}', the file of its entry point")
    if foreign := [one for one in starters if one in _LANGUAGES]:
        why = f"its kernels are in {foreign[0]}; of Python's, those in Triton are compiled ahead of time"
        raise Refused("UNSUPPORTED", "submission", why)
    if main.endswith(".py"):
        return _of_python(problem, texts[main], function, name, sources, how)
    if foreign := [one for one in starters if re.split(r"\W", one)[0] in _STARTERS]:
        why = f"its host code starts kernels of {foreign[0]}, which only a plugin can (docs/plugins.md)"
        raise Refused("UNSUPPORTED", "submission", why)
    main, texts = _whole(main, texts, asked, name)
    return _of_cuda(problem, main, texts, function, sources)


def _from_above(path: str, text: str, sources: Mapping[str, str]) -> str:
    """With the names of the solution's headers as a file in its folder has them."""

    def named(found: re.Match[str]) -> str:
        beside = str(PurePosixPath(path).parent / found[2])
        return f'{found[1]}"{beside}"' if beside in sources else found[0]

    return re.sub(r'^(\s*#\s*include\s*)"([^"]+)"', named, text, flags=re.MULTILINE)


def _whole(
    main: str, sources: dict[str, str], asked: Mapping[str, list[str]], name: str
) -> tuple[str, dict[str, str]]:
    """With the other sources behind the main one, since one file is compiled."""
    words = [one for key in ("cflags", "cuda_cflags", "ld_flags") for one in asked.get(key, [])]
    kept = list(dict.fromkeys(one for one in words if not _OF_COMPILER.fullmatch(one)))
    if bad := [one for one in kept if not re.fullmatch(r"-D\w+(=\w+)?", one)]:
        raise BadInput(f"{name}: compile_options has {bad[0]}; only -D… is taken from there")
    if any("kzoo" in text.lower() for text in sources.values()) and not kept:
        return main, sources
    behind = [
        f'\n#line 1 "{path}"\n{_from_above(path, text, sources)}'
        for path, text in sources.items()
        if path != main
        and path.endswith((".cu", ".cpp", ".cc"))
        and f'"{path}"' not in sources[main]
    ]
    defined = "".join(f"#define {one[2:].replace('=', ' ')}\n" for one in kept)
    whole = "".join([defined, "#line 1\n" if kept else "", sources[main], *behind])
    others = {path: text for path, text in sources.items() if path != main}
    name = str(PurePosixPath(main).with_suffix(".cu"))
    return name, others | {name: whole}
