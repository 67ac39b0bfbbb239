"""A product that submissions compute, as an experiment and as what their functions are given."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._product import TYPES, Product
from ._program import BadInput
from ._triton import toml
from ._values import Tensor, computed

Extent = tuple[int, int, int, int]
"""M, N, K, and how many products."""


@dataclass(frozen=True)
class Problem:
    """A product that submissions compute, of one or several sizes."""

    name: str
    dtype: str
    """As in docs/experiments.md, "bf16->f32"."""
    layout: str
    """Which of A and B are transposed in memory: "nt"."""
    epilogue: str
    inputs: tuple[str, ...]
    """What a submission's function is given: "A", "B", "bias"; a model has the rest."""
    sizes: tuple[Extent, ...]
    types: Mapping[str, str] = field(repr=False)
    """PyTorch's, of A, B and C."""
    ranks: Mapping[str, int] = field(repr=False)
    initial: tuple[Any, ...] = field(default=(), repr=False)
    """What a model is made with."""
    allow: tuple[str, ...] = ()
    """Precisions, such as "tf32", that are enough although the matrices hold more."""
    packs: bool = field(default=False, repr=False)
    """Whether its function is given one tuple."""

    @property
    def has_batch(self) -> bool:
        """Whether there is a B for each of several products."""
        return self.ranks["B"] > 2

    def values(self, size: object) -> tuple[int, ...]:
        """Of a number or an expression of a manifest, "ceil_div(N, 64)": one for each of `sizes`."""
        node = ast.parse(str(size).replace("/", "//"), mode="eval").body
        return tuple(computed(node, self._known(one)) for one in self.sizes)

    def _known(self, of: Extent) -> dict[str, int]:
        m, n, k, batch = of
        lda, ldb = (m if self.layout[0] == "t" else k), (k if self.layout[1] == "t" else n)
        sizes = {"M": m, "N": n, "K": k, "batch": batch, "lda": lda, "ldb": ldb, "ldc": n}
        return sizes | {"stride_a": m * k, "stride_b": k * n, "stride_c": m * n}

    @property
    def problems(self) -> str:
        """The problems as an experiment, for `judge` and `run`."""
        keys: dict[str, Any] = {"dtype": self.dtype, "layout": self.layout}
        keys |= {"epilogue": self.epilogue} if self.epilogue else {}
        head = {"title": self.name} | ({"allow": list(self.allow)} if self.allow else {})
        tables = [toml(head)]
        for m, n, k, batch in self.sizes:
            tables.append(
                f"[[problem]]\n{toml(keys | {'sizes': [f'{m}x{n}x{k}'], 'batch': batch})}"
            )
        return "".join(tables)


def dtype_of(a: str, b: str, c: str) -> str:
    """As an experiment names the types of A, B and C."""
    operands = a if a == b else f"{a}*{b}"
    return a if a == b == c else f"{operands}->{c}"


def made(name: str, product: Product, inputs: Mapping[str, Tensor], c: str, **more: Any) -> Problem:
    """Of a product of these inputs, which are what its function is given."""
    a, b = product.operands
    roles = {a.name: "A", b.name: "B"}
    names = [stage.partition(":")[0] for stage in product.stages]
    operands_of = [name for name in names if name in ("bias", "residual")]
    roles |= {one.name: name for name, one in zip(operands_of, product.added, strict=True)}
    stored = {one.name: one.swapped() if one.transposed else one for one in (a, b)}
    types = {"A": inputs.get(a.name, a).dtype, "B": inputs.get(b.name, b).dtype, "C": c}
    if unknown := [kind for kind in types.values() if kind not in TYPES]:
        raise BadInput(f"{name}: the type {unknown[0]} is none of {', '.join(TYPES)}")
    return Problem(
        name,
        dtype_of(*(TYPES[kind] for kind in types.values())),
        "".join("t" if one.transposed else "n" for one in (a, b)),
        " + ".join(product.stages),
        tuple(roles.get(one, "C") for one in inputs),
        types=types,
        ranks={roles[key]: len(one.shape) for key, one in stored.items()} | {"C": len(a.shape)},
        **more,
    )
