"""Definitions, workloads and solutions of FlashInfer-Bench and SOL-ExecBench, where they are GEMMs.

The formats are described in github.com/flashinfer-ai/flashinfer-bench, by definition.mdx,
workload.mdx and solution.mdx in docs/flashinfer-trace, and in github.com/NVIDIA/SOL-ExecBench, by
definition.md, workload.md and solution.md in docs. Nothing that a file contains is executed here.
"""

from __future__ import annotations

import ast
import contextlib
import json
import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ._product import TYPES, Product, read_product
from ._program import BadInput
from ._sources import Sources
from ._triton import toml
from ._verdict import Verdict, judge

Document = Mapping[str, Any]
"""What a JSON file contains."""

_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def _computed(node: ast.expr, values: Mapping[str, int]) -> int:
    """An axis of SOL-ExecBench that follows from others: "batch_size * seq_len"."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.BinOp) and (computes := _OPERATORS.get(type(node.op))):
        result: int = computes(_computed(node.left, values), _computed(node.right, values))
        return result
    raise ValueError("only names, integers and + - * // % are known here")


@contextlib.contextmanager
def _formatted(place: object) -> Iterator[None]:
    """What is read here was written by others, and may be anything that JSON can say."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as fault:
        raise BadInput(f"{place}: this is not in the format that is read here: {fault}") from fault


@dataclass(frozen=True)
class Definition:
    """A GEMM that solutions are written for, of any size: `experiment` makes problems of it."""

    name: str
    dtype: str
    """As in docs/experiments.md, "bf16->f32"."""
    layout: str
    """Which of A and B are transposed in memory: "nt"."""
    document: Document
    product: Product

    def experiment(self, workloads: str | Path | Iterable[Document]) -> str:
        """The problems of these workloads, for `judge` and `run`. Of a workload its axes count."""
        tables = [f"title = {json.dumps(self.name, ensure_ascii=False)}\n"]
        for workload in _lines(workloads):
            with _formatted(f"{self.name}: a workload"):
                of = workload.get("definition", self.name)
                if of != self.name:
                    raise BadInput(f"{self.name}: a workload is of another definition, '{of}'")
                size, batch = self._size(workload.get("workload", workload)["axes"])
            keys = {"dtype": self.dtype, "layout": self.layout, "sizes": [size], "batch": batch}
            tables.append(f"[[problem]]\n{toml(keys)}")
        if len(tables) == 1:
            raise BadInput(f"{self.name}: there are no workloads")
        return "".join(tables)

    def _size(self, given: Document) -> tuple[str, int]:
        """M×N×K of a workload, and how many products."""
        values = self._axes(given)
        a, b = (self._shape(one.name, values, one.transposed) for one in self.product.operands)
        c = self._shape(next(iter(self.document["outputs"])), values)
        shared = [] if len(b) == 2 else b[:-2]  # one B for all rows of a deeper A, or as many as A
        if (shared and a[:-2] != shared) or a[-1] != b[-2] or c != [*a[:-1], b[-1]]:
            raise BadInput(f"{self.name}: A as {a} times B as {b} is no C as {c}")
        rows = a[-2] if shared else math.prod(a[:-1])
        return f"{rows}x{b[-1]}x{a[-1]}", math.prod(shared)

    def _shape(self, name: str, values: Mapping[str, int], transposed: bool = False) -> list[int]:
        tensor = {**self.document["inputs"], **self.document["outputs"]}[name]
        if unknown := [axis for axis in tensor["shape"] if axis not in values]:
            raise BadInput(f"{self.name}: {name} has the axis '{unknown[0]}', which axes has not")
        shape = [values[axis] for axis in tensor["shape"]]
        return [*shape[:-2], shape[-1], shape[-2]] if transposed else shape

    def _axes(self, given: Document) -> dict[str, int]:
        values: dict[str, int] = {}
        axes = self.document["axes"].items()
        for name, axis in sorted(axes, key=lambda one: bool(one[1]["type"] == "expr")):
            try:
                if axis["type"] == "expr":
                    tree = ast.parse(axis["expression"], mode="eval").body
                    values[name] = _computed(tree, values)
                else:
                    values[name] = axis["value"] if axis["type"] == "const" else given[name]
            except (KeyError, SyntaxError, ValueError, ZeroDivisionError) as fault:
                raise BadInput(f"{self.name}: the axis '{name}' has no value: {fault}") from None
            if type(values[name]) is not int:
                raise BadInput(f"{self.name}: the axis '{name}' is {values[name]!r}, no integer")
        return values


def _document(given: str | Path | Document) -> Document:
    if isinstance(given, Mapping):
        return given
    return _parsed(Path(given).read_text(encoding="utf-8"), str(given))


def _parsed(text: str, place: str) -> Document:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as fault:
        raise BadInput(f"{place}: {fault}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{place}: this is no JSON object")
    return found


def _lines(given: str | Path | Iterable[Document]) -> list[Document]:
    if not isinstance(given, str | Path):
        return list(given)
    lines = enumerate(Path(given).read_text(encoding="utf-8").split("\n"), 1)
    return [_parsed(line, f"{given}:{number}") for number, line in lines if line.strip()]


def read_definition(given: str | Path | Document) -> Definition:
    """A definition, as its file or the JSON in it, whose reference computes C = A·B or C = A·Bᵀ.

    The reference is read, not run: whatever it does beside a product is refused as `BadInput`.
    """
    document = _document(given)
    name = str(document.get("name", given))
    with _formatted(name):
        return _definition(document, name)


def _definition(document: Document, name: str) -> Definition:
    for key, kind in (("axes", dict), ("inputs", dict), ("outputs", dict), ("reference", str)):
        if not isinstance(document.get(key), kind):
            raise BadInput(f"{name}: this is no definition: it has no '{key}'")
    tensors = {**document["inputs"], **document["outputs"]}
    if len(document["inputs"]) != 2 or len(document["outputs"]) != 1:
        raise BadInput(f"{name}: a GEMM has two inputs and one output; this has {list(tensors)}")
    for one, tensor in tensors.items():
        if tensor.get("dtype") not in TYPES:
            raise BadInput(f"{name}: the type of {one} is none of {', '.join(TYPES)}")
        if len(tensor.get("shape") or ()) < 2:
            raise BadInput(f"{name}: {one} is no matrix")
    product = read_product(document, name)
    a, b = (TYPES[tensors[one.name]["dtype"]] for one in product.operands)
    c = TYPES[next(iter(document["outputs"].values()))["dtype"]]
    operands = a if a == b else f"{a}*{b}"
    layout = "".join("t" if one.transposed else "n" for one in product.operands)
    return Definition(name, a if a == b == c else f"{operands}->{c}", layout, document, product)


def judge_solution(
    definition: Definition,
    workloads: str | Path | Iterable[Document],
    solution: str | Path | Document,
    **options: Any,
) -> Verdict:
    """The verdict on a solution in CUDA, with the options of `judge`.

    The file of its entry point is judged, as any source (docs/plugins.md): it says how its kernel
    is launched, or its entry point takes tensors of PyTorch (docs/plugins.md). One whose entry point
    is a function of Python, or takes tensors of tvm-ffi, is refused as `BadInput`.
    """
    document = _document(solution)
    name = document.get("name", solution)
    with _formatted(name):
        main, sources = _sources(document, definition, name)
    if document.get("definition") != definition.name:
        raise BadInput(f"{name}: it solves '{document.get('definition')}', not '{definition.name}'")
    problems = definition.experiment(workloads)
    with Sources() as files:
        folder = files.path / "solution"
        for path, content in sources.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
        return judge(folder / main, problems=problems, **options)


def _sources(
    document: Document, definition: Definition, name: object
) -> tuple[str, dict[str, str]]:
    """The file to judge, and all files; BadInput where none can be judged."""
    spec = document["spec"]
    entry = str(spec["entry_point"])
    main, _, function = entry.partition("::")
    if main.endswith(".py"):
        raise BadInput(
            f"{name}: '{entry}' is Python, which would run beside the clock. Compile its kernel, "
            "by kzoo.triton_kernel or to a cubin with a manifest (docs/compiled-kernels.md), and "
            "give that to kzoo.judge, with problems=definition.experiment(workloads)"
        )
    sources = {str(one["path"]): str(one["content"]) for one in document["sources"]}
    for path in sources:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise BadInput(f"{name}: '{path}' would lie outside the solution's folder")
    if main not in sources:
        raise BadInput(f"{name}: among its sources is no '{main}', the file of its entry point")
    manifest = str(PurePosixPath(main).with_suffix(".toml"))
    says_launch = "kzoo" in sources[main].lower() or manifest in sources
    if not says_launch and spec.get("binding") == "torch":
        sources[main] = (
            f"// kzoo: function={function} types={definition.dtype} layouts={definition.layout}\n"
            f"#line 1\n{sources[main]}"
        )
    elif not says_launch:
        raise BadInput(
            f"{name}: '{entry}' takes tensors of {spec.get('binding') or 'tvm-ffi'}, "
            "and a kernel is judged without these. Say in the first lines of the file how its "
            "__global__ function is launched, // kzoo: entry=… grid=… block=… arguments=… "
            "(docs/plugins.md, Bare kernels), or make it a plugin; it must compile without them"
        )
    if any((spec.get("compile_options") or {}).values()):
        raise BadInput(
            f"{name}: compile_options are those of another compiler's call; say what the source "
            f"needs in the first lines of {main}: // kzoo: options=…"
        )
    return main, sources
