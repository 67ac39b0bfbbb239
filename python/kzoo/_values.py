"""What stands for the values of a source that is read: sizes, tensors without elements, names."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_LONGEST = 2000  # characters of an expression, bits of a number, parts of a tuple
_LONGEST_TEXT = 1_000_000
UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What else reading may end with, where a source does what nobody thought of."""


class Unread(Exception):
    """A place that is no part of what is read."""

    def __init__(self, node: ast.AST | None, why: str) -> None:
        super().__init__(why)
        self.line = getattr(node, "lineno", 0)
        self.text = "" if node is None else ast.unparse(node).partition("\n")[0]

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}: {self.args[0]}" if self.line else str(self.args[0])


class Size:
    """A size that is not known yet, as an expression of a manifest: "ceil_div(M, 64)"."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise Unread(None, "an expression of sizes is too long")
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    @staticmethod
    def _infix(sign: str) -> Callable[[Size, Any], Size]:
        return lambda left, right: Size(f"({left} {sign} {right})")

    @staticmethod
    def _reflected(sign: str) -> Callable[[Size, Any], Size]:
        return lambda right, left: Size(f"({left} {sign} {right})")

    __add__, __radd__ = _infix("+"), _reflected("+")
    __sub__, __rsub__ = _infix("-"), _reflected("-")
    __mul__, __rmul__ = _infix("*"), _reflected("*")
    __floordiv__, __rfloordiv__ = _infix("/"), _reflected("/")
    __mod__, __rmod__ = _infix("%"), _reflected("%")

    def __truediv__(self, other: Any) -> Ratio:
        return Ratio(self, other)

    def __bool__(self) -> bool:
        raise ValueError(f"a grid cannot depend on whether {self} is so: write it as expressions")


@dataclass(frozen=True)
class Ratio:
    """What math.ceil is given."""

    above: Size
    below: Any


def ceil_div(x: Any, y: Any) -> Any:
    if isinstance(x, int) and isinstance(y, int):
        return -(-x // y)
    return Size(f"ceil_div({x}, {y})")


@dataclass(frozen=True)
class Named:
    """What another module has, or nobody: torch.matmul."""

    path: str


@dataclass(frozen=True)
class Unknown:
    """A value that nothing may depend on: the type of a tensor, whether it is on a GPU."""

    text: str


@dataclass(frozen=True)
class Tensor:
    """An input, perhaps with its last two dimensions swapped."""

    name: str
    dtype: str
    shape: tuple[Any, ...]
    transposed: bool = False

    def swapped(self) -> Tensor:
        *others, rows, columns = self.shape
        return Tensor(self.name, self.dtype, (*others, columns, rows), not self.transposed)


@dataclass(frozen=True)
class Function:
    """Of the source, with the variables round it."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    bound: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Class:
    node: ast.ClassDef


@dataclass
class Object:
    """What `self` is."""

    of: Class
    fields: dict[str, Any] = field(default_factory=dict)


Scope = dict[str, Any]


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv,
}  # fmt: skip


def computed(node: ast.expr, values: Mapping[str, int]) -> int:
    """The value of an expression in integers: "batch_size * seq_len"."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in (
        ast.Add,
        ast.Sub,
        ast.Mult,
        ast.FloorDiv,
        ast.Mod,
    ):
        found: int = BINARY[type(node.op)](
            computed(node.left, values), computed(node.right, values)
        )
        return found
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        x, y = (computed(one, values) for one in node.args)
        known: dict[str, Callable[[int, int], int]] = {"ceil_div": ceil_div, "min": min, "max": max}
        if node.func.id in known:
            return known[node.func.id](x, y)
    raise ValueError("only names, integers and + - * // % are known here")


def within_limits(node: ast.AST, value: Any) -> Any:
    """The value. Raises Unread where it grows without end."""
    size = value.bit_length() if isinstance(value, int) else 0
    if size > _LONGEST or (isinstance(value, tuple) and len(value) > _LONGEST):
        raise Unread(node, "it is too large")
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise Unread(node, "it is too large")
    return value


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def parsed(source: str) -> ast.Module:
    """Raises Unread where it is no Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as fault:
        why = Unread(None, f"it is no Python: {fault}")
        raise why from None
