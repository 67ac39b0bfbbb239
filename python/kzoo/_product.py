"""The reference of a definition, read as source: which product of its inputs it computes."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._program import BadInput
from ._reading import Reader
from ._values import Named, Size, Tensor, Unknown, Unread, is_number

TYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16",
    "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "int8": "i8", "int32": "i32",
}  # fmt: skip
"""Names of types there and here."""

# The types in which nothing of an operand's is lost.
_WIDER = {
    "float32": {"float64"}, "float16": {"float32", "float64"}, "bfloat16": {"float32", "float64"},
    "float8_e4m3fn": {"float32", "float64"}, "float8_e5m2": {"float32", "float64"},
    "int8": {"int32"},
}  # fmt: skip
_CONVERSIONS = {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16"}
_PRODUCTS = ("torch.matmul", "torch.mm", "torch.bmm")
_MADE = ("torch.rand", "torch.randn", "torch.empty", "torch.zeros", "torch.ones")
_FUNCTIONS = ("F", "nn.functional", "torch.nn.functional")
_FLIPS = {(0, 1), (1, 0)}  # of a matrix
_LAST_TWO = {(-2, -1), (-1, -2)}
_FILLS = ("uniform_", "normal_")  # with numbers that nobody knows
_SAME = ("contiguous", "cuda", "detach", "clone")


@dataclass(frozen=True)
class Product:
    """Of two tensors, and what an epilogue does to it."""

    operands: tuple[Tensor, Tensor]
    dtype: str
    stages: tuple[str, ...] = ()
    """As docs/experiments.md writes them: "bias", "relu"."""
    added: tuple[Tensor, ...] = ()
    """The operands of stages, in their order."""

    @property
    def names(self) -> list[str]:
        return [one.name for one in (*self.operands, *self.added)]

    def then(self, stage: str) -> Product:
        return replace(self, stages=(*self.stages, stage))


@dataclass(frozen=True)
class Layer:
    """Of torch.nn: a product with a weight, or an activation."""

    stage: str
    weight: Tensor | None = None
    bias: Tensor | None = None


def extent(a: Sequence[int], b: Sequence[int]) -> tuple[int, int, int, int] | None:
    """M, N, K, and how many products; None where they do not fit."""
    shared = (
        [] if len(b) == 2 else list(b[:-2])
    )  # one B for all rows of a deeper A, or as many as A
    if (shared and list(a[:-2]) != shared) or a[-1] != b[-2]:
        return None
    return a[-2] if shared else math.prod(a[:-1]), b[-1], a[-1], math.prod(shared)


class ReferenceReader(Reader):
    """What a reference computes: a product of tensors, or something that is refused."""

    def __init__(self, source: str, values: Mapping[str, Any] | None = None) -> None:
        super().__init__(source, values)
        self.results: dict[str, Product] = {}  # of tensors that it writes
        self._made = 0

    def call(self, node: ast.Call, path: str, given: list[Any], named: dict[str, Any]) -> Any:
        package, _, name = path.rpartition(".")
        in_functions = package in _FUNCTIONS
        if path == "super":
            return Named("object")
        if path in ("object.__init__", "torch.manual_seed"):
            return None
        if path == "torch.Generator":
            return Unknown(path)
        if path in _PRODUCTS and len(given) == 2 and not named:
            return self._product(node, *given)
        if in_functions and name == "linear" and len(given) + len(named) in (2, 3):
            return self._linear(node, *given, **named)
        if path == "torch.einsum" and len(given) == 3 and not named:
            return self._einsum(node, *given)
        if path in _MADE or path.endswith("empty_like"):
            return self._tensor(node, given, named)
        if package in ("nn", "torch.nn"):
            return self._layer(node, name, given, named)
        if (in_functions or package == "torch") and given and isinstance(given[0], Product):
            return given[0].then(self._activation(node, name, given[1:], named))
        raise Unread(node, "it is no part of a product")

    def applied(self, node: ast.Call, what: Any, given: list[Any], named: dict[str, Any]) -> Any:
        if not isinstance(what, Layer) or len(given) != 1 or named:
            raise Unread(node, "it is no part of a product")
        if what.weight is not None:
            return self._linear(node, given[0], what.weight, what.bias)
        if not isinstance(given[0], Product):
            raise Unread(node, "it is no part of a product")
        return given[0].then(what.stage)

    def method(
        self, node: ast.Call, of: Any, name: str, given: list[Any], named: dict[str, Any]
    ) -> Any:
        if isinstance(of, Unknown) or (isinstance(of, Tensor) and name in _FILLS):
            return of
        if isinstance(of, Tensor | Product) and not named:
            words = tuple(given)
            if name in _SAME and not words:
                return of
            if name == "t" and not words:
                return self._transposed(node, of, False)
            if name == "transpose" and words in _FLIPS | _LAST_TWO:
                return self._transposed(node, of, words in _LAST_TWO)
            if name == "to" and len(words) == 1 and isinstance(words[0], Named):
                return self._converted(node, of, words[0].path.removeprefix("torch."))
            if name in _CONVERSIONS and not words:
                return self._converted(node, of, _CONVERSIONS[name])
            if (
                isinstance(of, Tensor)
                and name == "size"
                and len(words) == 1
                and type(words[0]) is int
            ):
                return of.shape[words[0]]
            if name == "relu" and isinstance(of, Product) and not words:
                return of.then("relu")
        raise Unread(node, "it is no part of a product")

    def attribute(self, node: ast.Attribute, of: Any, name: str) -> Any:
        if isinstance(of, Tensor | Product):
            if name in ("T", "mT"):
                return self._transposed(node, of, name == "mT")
            if name == "dtype":
                return Named(f"torch.{of.dtype}")
            if name == "device":
                return Unknown("device")
            if name == "shape" and isinstance(of, Tensor):
                return of.shape
        raise Unread(node, "it is no part of a product")

    def binary(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        if isinstance(node.op, ast.MatMult):
            return self._product(node, left, right)
        if isinstance(node.op, ast.Add):
            product, other = (left, right) if isinstance(left, Product) else (right, left)
            if isinstance(product, Product) and isinstance(other, Tensor):
                return self._added(node, product, other)
        raise Unread(node, "it is no part of a product")

    def stored(self, node: ast.Assign, into: Any, value: Any) -> None:
        """`c[...] = a @ b`: c is what is returned."""
        if not isinstance(into, Tensor) or not isinstance(value, Product):
            raise Unread(node, "it is no part of a product")
        self.results[into.name] = value

    def product_of(self, value: Any) -> Product:
        if isinstance(value, Tensor):
            value = self.results.get(value.name)
        if not isinstance(value, Product):
            raise Unread(None, "it returns no product")
        return value

    def _tensor(self, node: ast.Call, given: list[Any], named: dict[str, Any]) -> Tensor:
        like = given[0] if given and isinstance(given[0], Tensor) else None
        sizes = like.shape if like else given[0] if given and isinstance(given[0], tuple) else given
        kind = named.get("dtype", Named(f"torch.{like.dtype if like else 'float32'}"))
        whole = all(isinstance(one, int | Size | str) for one in sizes)
        if not whole or not isinstance(kind, Named):
            raise Unread(node, "its sizes or its type are not known")
        self._made += 1
        return Tensor(f"tensor {self._made}", kind.path.removeprefix("torch."), tuple(sizes))

    def _layer(self, node: ast.Call, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        if name == "Parameter" and len(given) == 1 and isinstance(given[0], Tensor):
            return given[0]
        if name != "Linear":
            return Layer(self._activation(node, name.lower(), given, named))
        has_bias = named.pop("bias", given.pop(2) if len(given) > 2 else True)
        sizes = [
            *given,
            *(named.pop(one) for one in ("in_features", "out_features") if one in named),
        ]
        if named or len(sizes) != 2 or not isinstance(has_bias, bool):
            raise Unread(node, "such a layer is not read")
        weight = self._tensor(node, [sizes[1], sizes[0]], {})
        return Layer("linear", weight, self._tensor(node, [sizes[1]], {}) if has_bias else None)

    def _activation(self, node: ast.AST, name: str, given: list[Any], named: dict[str, Any]) -> str:
        named = {key: value for key, value in named.items() if key != "inplace"}
        if name in ("relu", "silu") and not given and not named:
            return name
        if name == "gelu" and not given and named in ({}, {"approximate": "none"}):
            return "gelu"
        if name == "gelu" and not given and named == {"approximate": "tanh"}:
            return "gelu_tanh"
        if name in ("clamp", "hardtanh"):
            names = ("min", "max") if name == "clamp" else ("min_val", "max_val")
            ends = dict(zip(names, (-1.0, 1.0), strict=True)) if name == "hardtanh" else {}
            ends |= dict(zip(names, given, strict=False)) | named
            if len(given) <= 2 and set(ends) == set(names) and all(map(is_number, ends.values())):
                return f"clamp({ends[names[0]]:g}, {ends[names[1]]:g})"
        raise Unread(node, "no epilogue here has it")

    def _transposed(self, node: ast.expr, of: Any, any_rank: bool) -> Tensor:
        if not isinstance(of, Tensor) or not (
            len(of.shape) == 2 or (any_rank and len(of.shape) > 2)
        ):
            raise Unread(
                node, "only an operand may be transposed, and only its last two dimensions"
            )
        return of.swapped()

    def _converted(self, node: ast.expr, of: Tensor | Product, to: str) -> Tensor | Product:
        exact = to == of.dtype or to in _WIDER.get(of.dtype, ())
        # The result is rounded to C's type at last: once, or its fractions are lost twice.
        rounds = isinstance(of, Product) and of.dtype in _WIDER.get(to, ())
        if rounds or (exact and (isinstance(of, Tensor) or to == of.dtype)):
            return replace(of, dtype=to)
        raise Unread(node, f"it converts {of.dtype}")

    def _linear(self, node: ast.expr, x: Any, weight: Any, bias: Any = None) -> Product:
        product = self._product(node, x, self._transposed(node, weight, False))
        if bias is None:
            return product
        if not isinstance(bias, Tensor):
            raise Unread(node, "it is no part of a product")
        return self._added(node, product, bias)

    def _added(self, node: ast.expr, to: Product, what: Tensor) -> Product:
        rank = len(what.shape)
        stage = "bias" if rank == 1 else "residual" if rank == len(to.operands[0].shape) else ""
        exact = what.dtype == to.dtype or to.dtype in _WIDER.get(what.dtype, ())
        taken = stage in [one.partition(":")[0] for one in to.stages]
        if not stage or what.transposed or not exact or taken or what.name in to.names:
            raise Unread(node, "it is no bias and no residual of the product")
        kind = "" if what.dtype == to.dtype else f":{TYPES[what.dtype]}"
        return replace(to.then(stage + kind), added=(*to.added, what))

    def _einsum(self, node: ast.expr, text: Any, a: Any, b: Any) -> Product:
        """ "bijl,lk->bijk"."""
        words = str(text).replace(" ", "").replace("->", ",").split(",")
        if len(words) != 3 or not isinstance(a, Tensor) or not isinstance(b, Tensor):
            raise Unread(node, "it is no product of two matrices")
        of_a, of_b, of_c = words
        [k, *more] = sorted(set(of_a) & set(of_b) - set(of_c)) or ["", ""]
        for flip_a, flip_b in ((False, False), (False, True), (True, False), (True, True)):
            left = of_a[:-2] + of_a[:-3:-1] if flip_a else of_a
            right = of_b[:-2] + of_b[:-3:-1] if flip_b else of_b
            shared = right[:-2]
            fits = left[-1:] == k and right[-2:-1] == k and of_c == left[:-1] + right[-1:]
            if (
                not more
                and fits
                and left[: len(shared)] == shared
                and (not shared or len(left) == len(right))
            ):
                x, y = (a.swapped() if flip_a else a), (b.swapped() if flip_b else b)
                return self._product(node, x, y)
        raise Unread(node, "it is no product of two matrices")

    def _product(self, node: ast.expr, a: Any, b: Any) -> Product:
        if not isinstance(a, Tensor) or not isinstance(b, Tensor) or a.name == b.name:
            raise Unread(node, "it is no product of two inputs")
        rank, of_b = len(a.shape), len(b.shape)
        deeper = of_b < rank and (a.transposed or of_b != 2)
        if rank < 2 or of_b < 2 or of_b > rank or a.dtype != b.dtype or deeper:
            raise Unread(node, f"A is {a.dtype} of {rank} dimensions, and B {b.dtype} of {of_b}")
        return Product((a, b), a.dtype)


def read_product(document: Mapping[str, Any], name: str) -> Product:
    """The product that a definition's reference returns; BadInput for any other computation."""
    inputs, outputs = document["inputs"], document["outputs"]
    try:
        reader = ReferenceReader(document["reference"])
        if (function := reader.function("run")) is None:
            raise Unread(None, "there is no function 'run'")
        given = [
            Tensor(one, tensor["dtype"], tuple(tensor["shape"])) for one, tensor in inputs.items()
        ]  # they are given in the order of the inputs, whatever they are called
        found = reader.product_of(reader.run(function, given))
        if unused := [one for one in inputs if one not in found.names]:
            raise Unread(None, f"the input {unused[0]} is in no product")
    except Unread as place:
        raise BadInput(
            f"{name}: only a product of two matrices, each perhaps transposed, and an epilogue of it "
            f"(docs/experiments.md) are judged, and in its reference is more: {place}"
        ) from None
    result = next(iter(outputs.values()))["dtype"]
    if result != found.dtype and found.dtype not in _WIDER.get(result, ()):
        raise BadInput(
            f"{name}: its reference has a product in {found.dtype}, which {result} of C does not "
            "follow from by one rounding"
        )
    return found
