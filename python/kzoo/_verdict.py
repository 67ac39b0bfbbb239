"""Verdicts on kernels: `runner judge`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _program
from ._sources import Kernel, Sources

_SCHEMA = "kzoo.judgement/1"


@dataclass(frozen=True)
class ProblemVerdict:
    """On one problem: of the first variant that fails, else of the fastest."""

    problem: dict[str, Any]
    kernel: str
    precision: str | None
    status: str
    verdict: str
    check: str | None
    reason: str
    time_ms: float | None
    clock: str | None
    cache: str | None
    gflops: float | None
    speedup: float | None
    speedup_interval: tuple[float, float] | None
    baseline_precision: str | None


@dataclass(frozen=True)
class Verdict:
    """What came of a kernel; docs/formats.md describes each field."""

    status: str
    verdict: str | None
    check: str | None
    reason: str
    host_code: bool | None
    tier: str
    device: str
    baseline: str | None
    precisions: tuple[str, ...]
    speedup: float | None
    calls: tuple[str, ...]
    not_checked: tuple[str, ...]
    problems: tuple[ProblemVerdict, ...]
    sha256: str | None
    command: str
    wall_seconds: float
    document: dict[str, Any] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether the status is PASSED."""
        return self.status == "PASSED"

    def __str__(self) -> str:
        computed = f" in {' and '.join(self.precisions)}" if self.precisions else ""
        speed = "" if self.speedup is None else f", {self.speedup:.3g}x {self.baseline}"
        return f"{self.status}{computed}{speed}{': ' if self.reason else ''}{self.reason}"


def _problem(d: dict[str, Any]) -> ProblemVerdict:
    known = {name: d[name] for name in ProblemVerdict.__dataclass_fields__}
    if known["speedup_interval"] is not None:
        known["speedup_interval"] = tuple(known["speedup_interval"])
    return ProblemVerdict(**known)


def _verdict(line: str) -> Verdict:
    d = json.loads(line)
    if d["schema"] != _SCHEMA:
        raise _program.Error(f"the program answers with {d['schema']}, and this reads {_SCHEMA}")
    return Verdict(
        **{
            name: d[name]
            for name in Verdict.__dataclass_fields__
            if name not in ("device", "precisions", "calls", "not_checked", "problems", "document")
        },
        device=d["device"]["id"],
        precisions=tuple(d["precisions"]),
        calls=tuple(d["calls"]),
        not_checked=tuple(d["not_checked"]),
        problems=tuple(map(_problem, d["problems"])),
        document=d,
    )


def judge_all(
    kernels: Iterable[Kernel],
    *,
    problems: str | Path = "quick",
    tier: str = "full",
    device: str | None = None,
    baseline: str | None = None,
    build_args: Sequence[str] = (),
    device_code_only: bool = False,
    timeout: float | None = None,
    progress: bool | None = None,
) -> list[Verdict]:
    """A verdict on each kernel, in their order.

    `problems` is an experiment: its name, its file, or its text. `timeout` is in seconds, for all.
    `device_code_only` refuses kernels with host code of their own. A kernel that does not compile has a verdict; what the caller got wrong raises `BadInput`.
    """
    with Sources() as sources:
        files = [sources.kernel(kernel) for kernel in kernels]
        if not files:
            return []
        words = ["judge", *files, "--json", "--problems", sources.experiment(problems)]
        words += _program.common_options(device, tier, baseline, build_args)
        if device_code_only:
            words.append("--device-code-only")
        show = _program.shows_progress() if progress is None else progress
        ran = _program.call(words, progress=show, timeout=timeout)
    verdicts = [_verdict(line) for line in ran.out.split("\n") if line]
    if ran.code not in (0, 1) or len(verdicts) != len(files):
        raise ran.error()
    return verdicts


def judge(
    kernel: Kernel,
    *,
    problems: str | Path = "quick",
    tier: str = "full",
    device: str | None = None,
    baseline: str | None = None,
    build_args: Sequence[str] = (),
    device_code_only: bool = False,
    timeout: float | None = None,
    progress: bool | None = None,
) -> Verdict:
    """The verdict on one kernel: a path, or CUDA source as text."""
    return judge_all(
        [kernel],
        problems=problems,
        tier=tier,
        device=device,
        baseline=baseline,
        build_args=build_args,
        device_code_only=device_code_only,
        timeout=timeout,
        progress=progress,
    )[0]
