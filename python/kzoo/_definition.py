"""Definitions, workloads and solutions of FlashInfer-Bench and SOL-ExecBench, where they are GEMMs.

The formats are described in github.com/flashinfer-ai/flashinfer-bench, by definition.mdx,
workload.mdx and solution.mdx in docs/flashinfer-trace, and in github.com/NVIDIA/SOL-ExecBench, by
definition.md, workload.md and solution.md in docs. Nothing that a file contains is executed here.
"""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._problem import Extent, Problem, dtype_of, made
from ._product import TYPES, Product, extent, read_product
from ._program import BadInput
from ._values import Tensor, computed

Document = Mapping[str, Any]
"""What a JSON file contains."""

@contextlib.contextmanager
def formatted(place: object) -> Iterator[None]:
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

    def problem(self, workloads: str | Path | Iterable[Document]) -> Problem:
        """Of these workloads, for `judge_submission`. Of a workload its axes count."""
        found = []
        for workload in lines(workloads):
            with formatted(f"{self.name}: a workload"):
                of = workload.get("definition", self.name)
                if of != self.name:
                    raise BadInput(f"{self.name}: a workload is of another definition, '{of}'")
                found.append(self._extent(workload.get("workload", workload)["axes"]))
        if not found:
            raise BadInput(f"{self.name}: there are no workloads")
        tensors = {
            name: Tensor(name, tensor["dtype"], tuple(tensor["shape"]))
            for name, tensor in self.document["inputs"].items()
        }
        c = next(iter(self.document["outputs"].values()))["dtype"]
        return made(self.name, self.product, tensors, c, sizes=tuple(found))

    def experiment(self, workloads: str | Path | Iterable[Document]) -> str:
        """The problems of these workloads as an experiment, for `judge` and `run`."""
        return self.problem(workloads).problems

    def _extent(self, given: Document) -> Extent:
        """Of a workload."""
        values = self._axes(given)
        a, b = (self._shape(one.name, values, one.transposed) for one in self.product.operands)
        c = self._shape(next(iter(self.document["outputs"])), values)
        found = extent(a, b)
        if found is None or c != [*a[:-1], b[-1]]:
            raise BadInput(f"{self.name}: A as {a} times B as {b} is no C as {c}")
        for one in self.product.added:
            if (shape := self._shape(one.name, values)) not in ([c[-1]], c):
                raise BadInput(f"{self.name}: {one.name} as {shape} is added to C as {c}")
        return found

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
                    values[name] = computed(tree, values)
                else:
                    values[name] = axis["value"] if axis["type"] == "const" else given[name]
            except (KeyError, SyntaxError, ValueError, ZeroDivisionError) as fault:
                raise BadInput(f"{self.name}: the axis '{name}' has no value: {fault}") from None
            if type(values[name]) is not int:
                raise BadInput(f"{self.name}: the axis '{name}' is {values[name]!r}, no integer")
        return values


def as_document(given: str | Path | Document) -> Document:
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


def lines(given: str | Path | Iterable[Document]) -> list[Document]:
    """Of a file of JSON Lines."""
    if not isinstance(given, str | Path):
        return list(given)
    lines = enumerate(Path(given).read_text(encoding="utf-8").split("\n"), 1)
    return [_parsed(line, f"{given}:{number}") for number, line in lines if line.strip()]


def read_definition(given: str | Path | Document) -> Definition:
    """A definition, as its file or the JSON in it, whose reference computes C = A·B or C = A·Bᵀ.

    The reference is read, not run: whatever it does beside a product is refused as `BadInput`.
    """
    document = as_document(given)
    name = str(document.get("name", given))
    with formatted(name):
        return _definition(document, name)


def _definition(document: Document, name: str) -> Definition:
    for key, kind in (("axes", dict), ("inputs", dict), ("outputs", dict), ("reference", str)):
        if not isinstance(document.get(key), kind):
            raise BadInput(f"{name}: this is no definition: it has no '{key}'")
    tensors = {**document["inputs"], **document["outputs"]}
    if len(document["inputs"]) < 2 or len(document["outputs"]) != 1:
        raise BadInput(f"{name}: a GEMM has two inputs and one output; this has {list(tensors)}")
    for one, tensor in tensors.items():
        if tensor.get("dtype") not in TYPES:
            raise BadInput(f"{name}: the type of {one} is none of {', '.join(TYPES)}")
        if not tensor.get("shape"):
            raise BadInput(f"{name}: {one} is no matrix")
    product = read_product(document, name)
    a, b = (TYPES[tensors[one.name]["dtype"]] for one in product.operands)
    c = TYPES[next(iter(document["outputs"].values()))["dtype"]]
    layout = "".join("t" if one.transposed else "n" for one in product.operands)
    return Definition(name, dtype_of(a, b, c), layout, document, product)
