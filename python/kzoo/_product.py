"""The reference of a definition, read as source: which product of its inputs it computes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ._program import BadInput

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
_LINEAR = ("F.linear", "nn.functional.linear", "torch.nn.functional.linear")
_HARMLESS = ("torch.no_grad()", "torch.inference_mode()")
_FLIPS = {("0", "1"), ("1", "0")}  # of a matrix
_LAST_TWO = {("-2", "-1"), ("-1", "-2")}


@dataclass(frozen=True)
class Operand:
    """An input, perhaps transposed."""

    name: str
    transposed: bool
    dtype: str
    rank: int


@dataclass(frozen=True)
class Product:
    operands: tuple[Operand, Operand]
    dtype: str


class _Unknown(Exception):
    """A place in the reference that is no part of a product."""


class _Reader:
    def __init__(self, values: dict[str, Operand | Product]) -> None:
        self.values = values

    def value(self, node: ast.expr) -> Operand | Product:
        if isinstance(node, ast.Name) and node.id in self.values:
            return self.values[node.id]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return self._product(node, node.left, node.right)
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            return self._transposed(node, self.value(node.value), node.attr == "mT")
        if isinstance(node, ast.Call) and not node.keywords:
            return self._called(node)
        raise _Unknown(ast.unparse(node))

    def _called(self, node: ast.Call) -> Operand | Product:
        called = ast.unparse(node.func)
        if called in (*_PRODUCTS, *_LINEAR) and len(node.args) == 2:
            return self._product(node, node.args[0], node.args[1], called in _LINEAR)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, self.value(node.func.value), node.func.attr)
        raise _Unknown(ast.unparse(node))

    def _method(self, node: ast.Call, of: Operand | Product, name: str) -> Operand | Product:
        words = tuple(ast.unparse(one) for one in node.args)
        if name == "contiguous" and not words:
            return of
        if name == "t" and not words:
            return self._transposed(node, of, False)
        if name == "transpose" and words in _FLIPS | _LAST_TWO:
            return self._transposed(node, of, words in _LAST_TWO)
        if name == "to" and len(words) == 1:
            return self._converted(node, of, words[0].removeprefix("torch."))
        if name in _CONVERSIONS and not words:
            return self._converted(node, of, _CONVERSIONS[name])
        raise _Unknown(ast.unparse(node))

    def _transposed(self, node: ast.expr, of: Operand | Product, any_rank: bool) -> Operand:
        if isinstance(of, Product) or not (any_rank or of.rank == 2):
            raise _Unknown(ast.unparse(node))
        return replace(of, transposed=not of.transposed)

    def _converted(self, node: ast.expr, of: Operand | Product, to: str) -> Operand | Product:
        exact = to == of.dtype or to in _WIDER.get(of.dtype, ())
        # The result is rounded to C's type at last: once, or its fractions are lost twice.
        rounds = isinstance(of, Product) and of.dtype in _WIDER.get(to, ())
        if rounds or (exact and (isinstance(of, Operand) or to == of.dtype)):
            return replace(of, dtype=to)
        raise _Unknown(f"{ast.unparse(node)}, of {of.dtype}")

    def _product(self, node: ast.expr, x: ast.expr, y: ast.expr, flip: bool = False) -> Product:
        a, b = self.value(x), self.value(y)
        if isinstance(a, Product) or isinstance(b, Product) or a.name == b.name or b.rank > a.rank:
            raise _Unknown(ast.unparse(node))
        if flip:
            b = self._transposed(node, b, False)
        if a.dtype != b.dtype or (b.rank < a.rank and (a.transposed or b.rank != 2)):
            raise _Unknown(ast.unparse(node))
        return Product((a, b), a.dtype)


def _function(reference: str) -> ast.FunctionDef:
    for one in ast.parse(reference).body:
        if isinstance(one, ast.FunctionDef) and one.name == "run":
            return one
    raise _Unknown("there is no function 'run'")


def _returned(function: ast.FunctionDef, reader: _Reader) -> Operand | Product:
    for decorator in function.decorator_list:
        if ast.unparse(decorator) not in _HARMLESS:
            raise _Unknown(f"@{ast.unparse(decorator)}")
    for one in function.body:
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            continue  # what documents it
        if isinstance(one, ast.Return) and one.value is not None:
            return reader.value(one.value)
        target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        if not isinstance(one, ast.Assign) or not isinstance(target, ast.Name):
            raise _Unknown(ast.unparse(one))
        reader.values[target.id] = reader.value(one.value)
    raise _Unknown("it returns nothing")


def read_product(document: Mapping[str, Any], name: str) -> Product:
    """The product that a definition's reference returns; BadInput for any other computation."""
    inputs, outputs = document["inputs"], document["outputs"]
    try:
        function = _function(document["reference"])
        parameters = [one.arg for one in function.args.args]
        if len(parameters) != len(inputs):
            raise _Unknown(f"run({', '.join(parameters)})")
        given: dict[str, Operand | Product] = {
            parameter: Operand(one, False, tensor["dtype"], len(tensor["shape"]))
            for parameter, (one, tensor) in zip(parameters, inputs.items(), strict=True)
        }  # they are given in the order of the inputs, whatever they are called
        found = _returned(function, _Reader(given))
        if not isinstance(found, Product):
            raise _Unknown("it returns no product")
    except SyntaxError as fault:
        raise BadInput(f"{name}: its reference is no Python: {fault}") from None
    except _Unknown as place:
        raise BadInput(
            f"{name}: only a product of two matrices, each perhaps transposed, is judged, and in "
            f"its reference is more: {place}"
        ) from None
    result = next(iter(outputs.values()))["dtype"]
    if result != found.dtype and found.dtype not in _WIDER.get(result, ()):
        raise BadInput(
            f"{name}: its reference has a product in {found.dtype}, which {result} of C does not "
            "follow from by one rounding"
        )
    return found
