"""`python3 -m kzoo mcp`: the calls of this module for a client of the Model Context Protocol."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from . import _program
from ._result import compare as compare_results
from ._result import run
from ._verdict import Verdict
from ._verdict import judge as judge_kernel

Source = Annotated[
    str,
    Field(
        description="CUDA source: a KZOO_PLUGIN, a __global__ function with `// kzoo: entry=… grid=… "
        "block=… arguments=…` lines, or a function that takes tensors of PyTorch or tvm-ffi. Or a path"
    ),
]
Problems = Annotated[
    str, Field(description='an experiment: its name, such as "quick", its file, or TOML')
]
Device = Annotated[str | None, Field(description='"auto", "cpu" (a simulator), "cuda" or "cuda:N"')]

server = MCPServer(
    "kernel-zoo",
    instructions="Checks and times CUDA matrix-multiplication kernels. Times of the cpu device are the "
    "simulator's, and say nothing of a GPU.",
)


def _answer(verdict: Verdict) -> dict[str, Any]:
    kept = (
        "status",
        "check",
        "reason",
        "tier",
        "precisions",
        "speedup",
        "baseline",
        "calls",
        "problems",
    )
    return {key: verdict.document[key] for key in kept} | {"device": verdict.device}


def judge(
    source: Source,
    problems: Problems = "quick",
    device: Device = None,
    baseline: Annotated[str | None, Field(description='"cublas:fp32", for speedups')] = None,
    tier: _program.Tier = "full",
) -> dict[str, Any]:
    """Whether a kernel is right on each problem, and how fast: its verdict."""
    return _answer(
        judge_kernel(
            source, problems=problems, device=device, baseline=baseline, tier=tier, progress=False
        )
    )


def explain(source: Source, problems: Problems = "quick", device: Device = None) -> dict[str, Any]:
    """The verdict, and for a wrong kernel the memory accesses or the race that are the cause."""
    return _answer(
        judge_kernel(
            source, problems=problems, device=device, tier="quick", explain=True, progress=False
        )
    )


def compare(
    sources: Annotated[list[Source], Field(min_length=1)],
    problems: Problems = "quick",
    device: Device = None,
    baseline: Annotated[
        str | None, Field(description='a kernel of these or of the zoo: "naive:16x16"')
    ] = None,
) -> str:
    """Times of several kernels beside each other, with intervals: a table. Names of the zoo's count, too."""
    result = run(problems, plugins=sources, device=device, progress=False)
    table = result.table(markdown=True)
    return (
        table
        if baseline is None
        else compare_results(result, baseline=baseline, markdown=True).text
    )


def _telling(tool: Callable[..., Any]) -> Callable[..., Any]:
    """As it is, but the client reads what the program refuses."""

    @functools.wraps(tool)
    def told(**given: Any) -> Any:
        try:
            return tool(**given)
        except _program.Error as fault:
            raise ToolError(str(fault)) from None

    return told


def serve_mcp() -> None:
    """Answers on standard input and output until these are closed."""
    for tool in (judge, explain, compare):
        server.add_tool(_telling(tool))
    server.run("stdio")
