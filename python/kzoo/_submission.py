"""A submission in Python, read as source: the one kernel that it starts, and how.

What its function does beside that start (sizes, an empty tensor for the result, views) says what the
kernel's arguments are. What PyTorch would compute at run time is refused, with its line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._problem import Problem
from ._product import Layer
from ._reading import Reader
from ._values import Class, Function, Named, Ratio, Size, Tensor, Unknown, Unread, ceil_div

_COMPUTES = "PyTorch would compute it at run time, and no Python runs where a kernel is timed"
_EMPTY = ("torch.empty", "torch.empty_like")
_FILLED = ("torch.zeros", "torch.zeros_like", "torch.ones", "torch.full")
_DRAWN = ("torch.randn", "torch.rand")
_NOTHING = ("print", "torch.cuda.synchronize", "object.__init__", "torch.manual_seed")
_INLINE = "torch.utils.cpp_extension.load_inline"
_BUILTINS: Mapping[str, Callable[..., Any]] = {
    "min": min, "max": max, "int": int, "len": len, "float": float,
}  # fmt: skip
_OPTIONS = ("num_warps", "num_stages", "num_ctas")
_SIDES = {"A": ("M", "K", "lda"), "B": ("K", "N", "ldb"), "C": ("M", "N", "ldc")}


@dataclass(frozen=True)
class Extension:
    """What load_inline compiles."""

    cuda: str
    cpp: str


@dataclass(frozen=True)
class ExtensionFunction:
    extension: Extension
    name: str


@dataclass(frozen=True)
class ExtensionCall:
    """The only start: of a function of C++ that takes tensors."""

    source: str
    function: str


@dataclass(frozen=True)
class Kernel:
    """A function of @triton.jit, with a grid."""

    function: Function
    grid: Any


@dataclass
class TritonCall:
    """The only start: of a kernel in Triton, by the words of a manifest."""

    kernel: str
    grid: list[int | str]
    arguments: dict[str, int | str]
    constants: dict[str, Any]
    options: dict[str, int] = field(default_factory=dict)
    note: str = ""
    """Of other starts that there are."""


Start = ExtensionCall | TritonCall


def is_jit(node: ast.AST, reader: Reader) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        decorated(one, reader) == "triton.jit" for one in node.decorator_list
    )


def decorated(node: ast.expr, reader: Reader) -> str:
    found = reader.value(node.func if isinstance(node, ast.Call) else node, {})
    return found.path if isinstance(found, Named) else ""


class SubmissionReader(Reader):
    """Finds the start of a kernel in a function that is given the problem's tensors."""

    def __init__(self, source: str, problem: Problem) -> None:
        super().__init__(source)
        self.problem = problem
        self.start: Start | None = None

    def tensor(self, role: str) -> Tensor:
        """As PyTorch would give it: A, B, C, or an operand of the epilogue."""
        of = self.problem
        m, n = Size("M"), Size("N")
        if role not in _SIDES:
            return Tensor(role, of.types["C"], (n,) if role == "bias" else (m, n))
        rows, columns = (Size(one) for one in _SIDES[role][:2])
        if of.layout["AB".find(role)] == "t" and role != "C":
            rows, columns = columns, rows
        outer: tuple[Any, ...] = ()
        if of.ranks.get(role, 2) > 2:  # one batch of rows, where all have the same B
            outer = (Size("batch"),) if of.has_batch else (1,) * (of.ranks[role] - 2)
        return Tensor(role, of.types[role], (*outer, rows, columns))

    def entry(self, asked: str = "") -> str:
        """The function or model that is asked for, or the one that benchmarks call."""
        for name in (asked,) if asked else ("ModelNew", "custom_kernel", "run"):
            if isinstance(self.global_named(name), Function | Class):
                return name
        raise Unread(None, f"it has no {asked or 'ModelNew, custom_kernel or run'}")

    def read(self, name: str, is_packed: bool) -> Start:
        """Of the function, or of the model's forward. `is_packed`: its tensors are in a tuple."""
        found = self.global_named(name)
        given: list[Any] = [self.tensor(role) for role in self.problem.inputs]
        if isinstance(found, Class):
            model = self.made(found, self.problem.initial)
            result = self.run(self.method_of(model, "forward"), given)
        elif isinstance(found, Function):
            wanted = len(found.node.args.args)
            if wanted == len(given) + 1 and "C" not in self.problem.inputs:
                given.append(self.tensor("C"))
            result = self.run(found, [tuple(given)] if is_packed else given)
        else:
            raise Unread(None, f"there is no '{name}'")
        if self.start is None:
            raise Unread(None, f"'{name}' starts no kernel of its source")
        if not (result is None or (isinstance(result, Tensor) and result.name == "C")):
            raise Unread(None, f"'{name}' returns something else than what its kernel writes")
        return self.start

    # Calls.

    def call(self, node: ast.Call, path: str, given: list[Any], named: dict[str, Any]) -> Any:
        if path == "super":
            return Named("object")
        if path in _NOTHING:
            return None
        if path.endswith(".constexpr") and len(given) == 1:
            return given[0]
        if path in ("triton.cdiv", "triton.language.cdiv") and len(given) == 2:
            return ceil_div(*given)
        if (
            path in ("min", "max")
            and len(given) == 2
            and any(isinstance(one, Size) for one in given)
        ):
            return Size(f"{path}({given[0]}, {given[1]})")
        if path in _BUILTINS and all(isinstance(one, int | float | tuple) for one in given):
            return _BUILTINS[path](*given)
        if path == "math.ceil" and len(given) == 1 and isinstance(given[0], Ratio):
            return ceil_div(given[0].above, given[0].below)
        if path == "int" and len(given) == 1 and isinstance(given[0], Size):
            return given[0]
        if path in ("isinstance", "hasattr") or path.startswith(
            ("torch.cuda.get_", "torch.cuda.is_", "torch.device", "torch.cuda.current_")
        ):
            return Unknown(ast.unparse(node))
        if path == "torch.is_tensor":
            return True
        if path in _EMPTY:
            return self._empty(node, given)
        if path in _FILLED:
            raise Unread(node, "PyTorch would fill it by a kernel of its own")
        if path == _INLINE:
            return self._inline(node, given, named)
        if path.endswith("nn.Linear"):
            return Layer("linear", self.tensor("B"), self.tensor("bias"))
        if path.endswith("nn.Parameter") and len(given) == 1:
            return given[0]
        if path in _DRAWN:  # parameters of a model
            sizes = given[0] if given and isinstance(given[0], tuple) else given
            return self.tensor("bias" if len(sizes) == 1 else "B")
        raise Unread(
            node, _COMPUTES if path.startswith(("torch", "F.", "nn.")) else "it is not known here"
        )

    def applied(self, node: ast.Call, what: Any, given: list[Any], named: dict[str, Any]) -> Any:
        if isinstance(what, ExtensionFunction):
            return self._called_extension(node, what, given, named)
        if isinstance(what, Kernel):
            return self._started(node, what, given, named)
        raise Unread(node, _COMPUTES if isinstance(what, Layer) else "it is not known here")

    def method(
        self, node: ast.Call, of: Any, name: str, given: list[Any], named: dict[str, Any]
    ) -> Any:
        if isinstance(of, Extension):
            return self._called_extension(node, ExtensionFunction(of, name), given, named)
        if isinstance(of, Tensor):
            if name in _TENSOR_METHODS and not named:
                return _TENSOR_METHODS[name](node, of, *given)
            if name in ("view", "reshape"):
                return self._viewed(node, of, given)
            if name == "new_empty":
                return self._empty(node, given)
        if isinstance(of, str | tuple | Unknown) and name in (
            "format",
            "join",
            "strip",
            "is_contiguous",
        ):
            return Unknown(ast.unparse(node))
        raise Unread(node, _COMPUTES if isinstance(of, Tensor) else "it is not known here")

    def attribute(self, node: ast.Attribute, of: Any, name: str) -> Any:
        if isinstance(of, Extension):
            return ExtensionFunction(of, name)
        if isinstance(of, Layer) and name in ("weight", "bias"):
            return of.weight if name == "weight" else of.bias
        if isinstance(of, Tensor):
            if name in ("T", "mT"):
                return of.swapped()
            known = {
                "shape": of.shape, "ndim": len(of.shape), "dtype": Named(f"torch.{of.dtype}"),
                "is_cuda": True, "data": of,
            }  # fmt: skip
            if name in known:
                return known[name]
        if isinstance(of, Unknown) and of.text == "device" and name == "type":
            return "cuda"
        if isinstance(of, Tensor | Unknown) and name in ("device", "index", "requires_grad"):
            return Unknown(name)
        raise Unread(node, "it is not known here")

    def subscript(self, node: ast.Subscript, of: Any, key: Any) -> Any:
        if isinstance(of, Function) and is_jit(of.node, self):
            return Kernel(of, key)
        raise Unread(node, _COMPUTES if isinstance(of, Tensor) else "it is not known here")

    def compared(
        self, node: ast.expr, compare: Callable[[Any, Any], Any], left: Any, right: Any
    ) -> Any:
        """Decided where it is the same for all problems."""
        if all(isinstance(one, int | Size) for one in (left, right)):
            pairs = zip(self.problem.values(left), self.problem.values(right), strict=True)
            if len(found := {compare(x, y) for x, y in pairs}) == 1:
                return found.pop()
        if isinstance(left, Named) and isinstance(right, Named) and left.path.startswith("torch."):
            return compare(left.path, right.path)  # types of elements
        return Unknown(ast.unparse(node))

    def binary(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        raise Unread(node, _COMPUTES)

    def stored(self, node: ast.Assign, into: Any, value: Any) -> None:
        """`c[...] = f(a, b)`: a copy, unless it is c."""
        if not (isinstance(into, Tensor) and into == value):
            raise Unread(node, "PyTorch would copy it by a kernel of its own")

    def _empty(self, node: ast.Call, given: list[Any]) -> Tensor:
        first = given[0] if given else ()
        like = (
            first.shape
            if isinstance(first, Tensor)
            else first
            if isinstance(first, tuple)
            else given
        )
        c = self.tensor("C")
        known = all(isinstance(one, int | Size) for one in like)
        if not known or not (self._same(like, c.shape) or self._same(like, c.shape[-2:])):
            raise Unread(node, "memory beside C is not read")
        return Tensor("C", c.dtype, c.shape[-len(like) :])

    def _same(self, sizes: Any, others: Any) -> bool:
        """For all problems: their numbers may be written out."""
        values = self.problem.values
        return len(sizes) == len(others) and all(
            values(one) == values(other) for one, other in zip(sizes, others, strict=True)
        )

    def _viewed(self, node: ast.Call, of: Tensor, given: list[Any]) -> Tensor:
        """With its rows in other dimensions."""
        sizes = given[0] if given and isinstance(given[0], tuple) else tuple(given)
        rows: Any = _product_of(of.shape[:-1])
        known = (
            all(isinstance(one, int | Size) for one in sizes) and sizes[1:] and sizes.count(-1) < 2
        )
        spelled = [rows if one == -1 and len(sizes) == 2 else one for one in sizes]
        if (
            of.transposed
            or not known
            or not self._same((_product_of(spelled[:-1]), spelled[-1]), (rows, of.shape[-1]))
        ):
            raise Unread(node, "such a view is not read")
        return Tensor(of.name, of.dtype, tuple(spelled))

    def _inline(self, node: ast.Call, given: list[Any], named: dict[str, Any]) -> Extension:
        named = (
            dict(zip(("name", "cpp_sources", "cuda_sources", "functions"), given, strict=False))
            | named
        )
        texts = []
        for key in ("cuda_sources", "cpp_sources"):
            one = named.get(key, ())
            parts = (one,) if isinstance(one, str) else one
            if not isinstance(parts, tuple) or not all(isinstance(part, str) for part in parts):
                raise Unread(node, f"{key} is no text that is known before it runs")
            texts.append("\n".join(parts))
        return Extension(*texts)

    # Starts.

    def _begin(self, node: ast.AST, start: Start) -> None:
        if self.start is not None:
            raise Unread(node, "a second kernel is started, and one is judged")
        self.start = start

    def _called_extension(
        self, node: ast.Call, what: ExtensionFunction, given: list[Any], named: dict[str, Any]
    ) -> Tensor:
        roles = [one.name for one in given if isinstance(one, Tensor)]
        wanted = [role for role in ("A", "B", "bias", "residual", "C") if role in roles]
        if named or [role for role in roles if role != "C"] != [
            role for role in wanted if role != "C"
        ]:
            raise Unread(node, "its tensors are not given in the order A, B, C")
        for one in given:
            if isinstance(one, Tensor) and one.transposed:
                raise Unread(node, "it gets a view, and tensors are given as they lie in memory")
        cuda, cpp = what.extension.cuda, what.extension.cpp
        is_here = f"{what.name}(" in cuda.replace(" ", "")
        self._begin(node, ExtensionCall(cuda if is_here else f"{cuda}\n{cpp}", what.name))
        return self.tensor("C")

    def _started(
        self, node: ast.Call, what: Kernel, given: list[Any], named: dict[str, Any]
    ) -> None:
        function = what.function.node
        assert isinstance(function, ast.FunctionDef)
        places = [*function.args.posonlyargs, *function.args.args]
        options = {key: named.pop(key) for key in _OPTIONS if key in named}
        tuned, more, note = self._first_configuration(function)
        values = dict(zip((one.arg for one in places), given, strict=False)) | tuned | named
        for one, value in zip(places[::-1], function.args.defaults[::-1], strict=False):
            values.setdefault(one.arg, self.value(value, {}))
        start = TritonCall(function.name, [], {}, {}, more | options, note)
        for one in places:
            if one.arg not in values:
                raise Unread(node, f"the kernel's parameter '{one.arg}' gets nothing")
            is_constant = one.annotation is not None and "constexpr" in ast.unparse(one.annotation)
            self._give(node, start, one.arg, values[one.arg], is_constant)
        grid = what.grid
        if isinstance(grid, Function):
            grid = self.run(grid, [{**start.constants}])
        for size in grid if isinstance(grid, tuple) else (grid,):
            if not isinstance(size, int | Size):
                raise Unread(node, "its grid is not known before it runs")
            start.grid.append(size if isinstance(size, int) else str(size))
        self._begin(node, start)

    def _give(
        self, node: ast.AST, start: TritonCall, name: str, value: Any, is_constant: bool
    ) -> None:
        if isinstance(value, Named) and value.path.startswith(
            ("torch.", "triton.language.", "tl.")
        ):
            raise Unread(node, f"the kernel's parameter '{name}' gets a type")
        if isinstance(value, Tensor):
            start.arguments[name] = value.name
        elif isinstance(value, Size):
            if is_constant:
                start.constants[name] = value  # of each problem its own
            else:
                start.arguments[name] = str(value)
        elif isinstance(value, int | float | str | bool) or value is None:
            if type(value) is int and not is_constant:
                start.arguments[name] = value
            else:
                start.constants[name] = value
        else:
            raise Unread(
                node, f"what the kernel's parameter '{name}' gets is not known before it runs"
            )

    def _first_configuration(
        self, function: ast.FunctionDef
    ) -> tuple[dict[str, Any], dict[str, int], str]:
        """Of @triton.autotune: constants, options, and a note on the others."""
        for one in function.decorator_list:
            path = decorated(one, self)
            if path == "triton.jit":
                continue
            if path != "triton.autotune" or not isinstance(one, ast.Call):
                raise Unread(one, "such a decorator is not read")
            for word in one.keywords:
                if word.arg == "configs" and isinstance(word.value, ast.List) and word.value.elts:
                    first, *others = word.value.elts
                    count = f"of {1 + len(others)} configurations of @triton.autotune"
                    note = f"{count}, the first was judged: {ast.unparse(first)}" if others else ""
                    return *self._configuration(first), note
            raise Unread(one, "its configurations are no list")
        return {}, {}, ""

    def _configuration(self, node: ast.expr) -> tuple[dict[str, Any], dict[str, int]]:
        if (
            not isinstance(node, ast.Call)
            or decorated(node, self) != "triton.Config"
            or not node.args
        ):
            raise Unread(node, "such a configuration is not read")
        named = {str(one.arg): self.value(one.value, {}) for one in node.keywords}
        return self.value(node.args[0], {}), {
            key: one for key, one in named.items() if key in _OPTIONS
        }


def _size(node: ast.AST, of: Tensor, place: Any = None) -> Any:
    return of.shape if place is None else of.shape[place]


def _product_of(sizes: Iterable[Any]) -> Any:
    product: Any = 1
    for one in sizes:
        product = one if product == 1 else product if one == 1 else product * one
    return product


def _stride(node: ast.AST, of: Tensor, place: Any = None) -> Any:
    stored = of.swapped() if of.transposed else of
    ld = Size(_SIDES[of.name][2]) if of.name in _SIDES else of.shape[-1]
    outer = [_product_of((*stored.shape[one + 1 : -1], ld)) for one in range(len(of.shape) - 1)]
    all_of = [*outer, 1]
    if of.transposed:
        all_of[-2:] = all_of[:-3:-1]
    return tuple(all_of) if place is None else all_of[place]


def _as_it_is(node: ast.AST, of: Tensor, *given: Any) -> Tensor:
    return of


def _contiguous(node: ast.AST, of: Tensor) -> Tensor:
    if of.transposed:
        raise Unread(node, "PyTorch would copy it by a kernel of its own")
    return of


def _converted(node: ast.AST, of: Tensor, to: Any) -> Tensor:
    if isinstance(to, Named) and to.path != f"torch.{of.dtype}":
        raise Unread(node, _COMPUTES)
    return of


def _swapped(node: ast.AST, of: Tensor, *given: Any) -> Tensor:
    rank = len(of.shape)
    if given and {one % rank for one in given if type(one) is int} != {rank - 2, rank - 1}:
        raise Unread(node, "only the last two dimensions may be swapped")
    return of.swapped()


_TENSOR_METHODS: Mapping[str, Callable[..., Any]] = {
    "size": _size, "stride": _stride, "contiguous": _contiguous, "t": _swapped, "transpose": _swapped,
    "cuda": _as_it_is, "detach": _as_it_is, "to": _converted,
    "numel": lambda node, of: _product_of(of.shape), "dim": lambda node, of: len(of.shape), "is_contiguous": lambda node, of: not of.transposed,
}  # fmt: skip
