"""Verdicts on kernels: `runner judge` and `runner compile`."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from . import _program
from ._program import Tier
from ._sources import CompiledKernel, JitFunction, Kernel, Sources, as_list, without_folders
from ._triton import triton_kernel

_SCHEMA = "kzoo.judgement/1"

Status = Literal[
    "PASSED",
    "INCORRECT_NUMERICAL",
    "INCORRECT_DTYPE",
    "RUNTIME_ERROR",
    "COMPILE_ERROR",
    "TIMEOUT",
    "REWARD_HACK",
    "UNSUPPORTED",
    "JUDGE_ERROR",
]
"""docs/judging.md has what each means."""


@dataclass(frozen=True)
class ProblemVerdict:
    """On one problem: of the first variant that fails, else of the fastest."""

    problem: dict[str, Any]
    kernel: str
    precision: str | None
    status: Status
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

    status: Status
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

    def reward(self) -> float | None:
        """For a trainer: the speedup, 1 where there is none, and 0 for a kernel that fails.

        None: the kernel is not to blame (JUDGE_ERROR), so that nothing can be learned from it.
        """
        if self.status == "JUDGE_ERROR":
            return None
        return (1.0 if self.speedup is None else self.speedup) if self.passed else 0.0

    def __str__(self) -> str:
        computed = f" in {' and '.join(self.precisions)}" if self.precisions else ""
        speed = "" if self.speedup is None else f", {self.speedup:.3g}x {self.baseline}"
        return f"{self.status}{computed}{speed}{': ' if self.reason else ''}{self.reason}"


def _problem(d: dict[str, Any]) -> ProblemVerdict:
    known = {name: d[name] for name in ProblemVerdict.__dataclass_fields__}
    if known["speedup_interval"] is not None:
        known["speedup_interval"] = tuple(known["speedup_interval"])
    return ProblemVerdict(**known)


def _verdict(d: dict[str, Any]) -> Verdict:
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


def refusal(
    status: Status, check: str, reason: str, name: str, tier: str, device: str | None
) -> Verdict:
    """The verdict on what is refused before the program sees it."""
    document: dict[str, Any] = {
        "schema": _SCHEMA, "runner": {"version": _program.version()}, "file": name, "status": status,
        "verdict": None, "check": check, "reason": reason, "host_code": None, "tier": tier,
        "device": {"id": device or "auto", "name": ""}, "baseline": None, "precisions": [],
        "speedup": None, "calls": [], "not_checked": [], "problems": [], "library": None,
        "sha256": None, "command": "", "wall_seconds": 0.0,
    }  # fmt: skip
    return _verdict(document)


def judge_files(
    kernels: Sequence[Kernel],
    *,
    problems: str | Path,
    tier: Tier,
    device: str | None,
    baseline: str | None,
    build_args: str | Iterable[str],
    device_code_only: bool,
    explain: bool,
    timeout: float | None,
    progress: bool | None,
    stop: threading.Event | None = None,
) -> list[Verdict]:
    """As judge_all; another thread ends it by `stop`, which raises Stopped."""
    with Sources() as sources:
        files = [sources.kernel(kernel) for kernel in kernels]
        if not files:
            return []
        words = ["judge", *files, "--json", "--problems", sources.experiment(problems)]
        words += _program.common_options(device, tier, baseline, build_args)
        words += ["--device-code-only"] if device_code_only else []
        words += ["--explain"] if explain else []
        show = _program.shows_progress() if progress is None else progress
        ran = _program.call(words, progress=show, timeout=timeout, stop=stop)
    documents = [json.loads(line) for line in without_folders(ran.out).split("\n") if line]
    if len(documents) != len(files):
        raise ran.error()
    for kernel, document in zip(kernels, documents, strict=True):
        if isinstance(kernel, CompiledKernel) and kernel.note:
            document["reason"] = "; ".join(filter(None, (document["reason"], kernel.note)))
    return [_verdict(document) for document in documents]


def judge_all(
    kernels: Iterable[Kernel],
    *,
    problems: str | Path = "quick",
    tier: Tier = "full",
    device: str | None = None,
    baseline: str | None = None,
    build_args: str | Iterable[str] = (),
    device_code_only: bool = False,
    explain: bool = False,
    timeout: float | None = None,
    progress: bool | None = None,
) -> list[Verdict]:
    """A verdict on each kernel, in their order.

    As many sources as there are processors are compiled at once, and none while a kernel is timed.

    `judge` describes the parameters and exceptions. `timeout` is for all kernels together. Functions
    of `@triton.jit` are given as what `triton_kernel` makes of them.
    """
    return judge_files(
        as_list(kernels),
        problems=problems,
        tier=tier,
        device=device,
        baseline=baseline,
        build_args=build_args,
        device_code_only=device_code_only,
        explain=explain,
        timeout=timeout,
        progress=progress,
    )


def judge(
    kernel: Kernel | JitFunction,
    *,
    problems: str | Path = "quick",
    tier: Tier = "full",
    device: str | None = None,
    baseline: str | None = None,
    build_args: str | Iterable[str] = (),
    device_code_only: bool = False,
    explain: bool = False,
    timeout: float | None = None,
    progress: bool | None = None,
    **launch: Any,
) -> Verdict:
    """The verdict on one kernel. A kernel that does not compile, crashes or is wrong has one, too.

    `judge_all` takes several kernels.

    Parameters:
        kernel: a path (`str` or `Path`), CUDA source as a `str` with a line break in it, what
            `triton_kernel` makes, or a function of `@triton.jit`.
        problems: an experiment (docs/experiments.md): its name or its file, or its text, with a
            line break in it. With "quick", what a kernel declines of alpha, beta and padded rows is
            left out.
        tier: "quick", "full" or "paranoid": how much is checked (docs/verdicts.md).
        device: "auto", "cpu" (the simulator), "cuda" or "cuda:N". None: the experiment's.
        baseline: the kernel that speedups are over, such as "cublas:fp32". None: the
            experiment's, and without one there is no speedup.
        build_args: more options of the compiler: "-DTILE=64", or a list of them.
        device_code_only: whether kernels with host code of their own are refused. It needs a GPU.
        explain: whether a wrong kernel's memory accesses are searched for the cause, in the
            simulator, for which it is compiled once more.
        timeout: seconds, for compiling and judging. None: no limit.
        progress: whether the program's messages are shown on stderr. None: in a terminal or a
            notebook.
        launch: of a function of `@triton.jit`, the parameters of `triton_kernel`: `grid`,
            `constants`, `types`, …

    Returns:
        A `Verdict`: `status`, `reason`, `speedup`, `problems` and more; `passed` and `reward()`.

    Raises:
        BadInput: a file is not there; the experiment, the baseline or an option is wrong.
        NoSuchDevice: the device is not there.
        TimedOut: it took longer than `timeout`.
        Error: the program is not here, or has failed. The three above are such errors.
        TypeError: `launch` is given for what is no function of `@triton.jit`.
        ValueError: `launch` does not fit the function. If Triton cannot compile it, Triton's own
            exception is raised.
    """
    if callable(kernel):
        kernel = triton_kernel(kernel, **launch)
    elif launch:
        raise TypeError(f"{', '.join(launch)}: only for a function of @triton.jit")
    return judge_files(
        [kernel],
        problems=problems,
        tier=tier,
        device=device,
        baseline=baseline,
        build_args=build_args,
        device_code_only=device_code_only,
        explain=explain,
        timeout=timeout,
        progress=progress,
    )[0]


def compile(
    kernel: Kernel,
    out: str | Path = ".",
    *,
    arch: str | Iterable[str] = (),
    device: Literal["cuda", "cpu"] = "cuda",
    build_args: str | Iterable[str] = (),
    timeout: float | None = None,
    progress: bool | None = None,
) -> Path:
    """Compiles a kernel to a library, which `judge` and `run` take. It needs no GPU.

    Parameters:
        kernel: a path, CUDA source as a `str` with a line break in it, or what `triton_kernel`
            makes.
        out: the folder of the library, which is made where it is not there.
        arch: compute capabilities: "90a", or a list, ["80-real", "90a"]. Empty: what the source
            says.
        device: "cuda" or "cpu" (the simulator): where the library is to run.
        build_args, timeout, progress: as of `judge`.

    Returns:
        The library's path.

    Raises:
        BadInput: it does not compile; the message is the compiler's.
        NotWritten: there is no room for what the compiler makes.
    """
    with Sources() as sources:
        words = ["compile", sources.kernel(kernel), "--out", str(out), "--device", device]
        words += _program.joined({"--arch": as_list(arch)})
        words += _program.common_options(None, None, None, build_args)
        show = _program.shows_progress() if progress is None else progress
        ran = _program.call(words, progress=show, timeout=timeout)
    if ran.code != 0:
        raise ran.error()
    return Path(ran.out.rstrip("\n"))
