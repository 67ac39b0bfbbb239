"""Checks and times CUDA matrix-multiplication kernels, by the program kernel-zoo.

>>> verdict = kzoo.judge("mine.cu", problems="quick", device="cpu")
>>> verdict.status, verdict.reason
>>> kzoo.run("quick", plugins=["mine.cu", "naive:32x32"], sizes=[64]).table()

Nothing is judged or computed here: each call runs the program and reads its JSON.
"""

from typing import Any

from ._benchmarks import read_problem
from ._definition import Definition, read_definition
from ._problem import Problem
from ._program import BadInput, Error, NoSuchDevice, NotWritten, TimedOut, cmake_folder
from ._program import version as _version
from ._result import Comparison, Result, compare, run
from ._solution import judge_solution, judge_submission, traces
from ._sources import CompiledKernel
from ._triton import triton_kernel
from ._tuned import Tuned, tune
from ._verdict import ProblemVerdict, Verdict, compile, judge, judge_all

__all__ = [
    "BadInput",
    "Comparison",
    "CompiledKernel",
    "Definition",
    "Error",
    "NoSuchDevice",
    "NotWritten",
    "Problem",
    "ProblemVerdict",
    "Result",
    "TimedOut",
    "Tuned",
    "Verdict",
    "cmake_folder",
    "compare",
    "compile",
    "judge",
    "judge_all",
    "judge_solution",
    "judge_submission",
    "read_definition",
    "read_problem",
    "run",
    "traces",
    "triton_kernel",
    "tune",
]

for _name in __all__:  # as users import them, in documents and tracebacks
    globals()[_name].__module__ = __name__


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
