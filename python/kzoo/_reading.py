"""Python that describes a computation, read as source: nothing in it is executed.

A `Reader` follows the statements of a function with values that stand for what they would be: sizes
are integers or expressions, tensors have shapes and no elements, and what a module offers is known
by its name alone. Whatever it does not know ends it, with the line.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._values import (
    BINARY,
    Class,
    Function,
    Named,
    Object,
    Scope,
    Size,
    Unknown,
    Unread,
    is_number,
    parsed,
    within_limits,
)

_MOST_CALLS = 60
_HARMLESS = ("torch.no_grad", "torch.inference_mode", "torch.cuda.device", "DeterministicContext")


_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class Reader:
    """Follows one source. Those derived from it say what calls, methods and operators mean."""

    def __init__(self, source: str, values: Mapping[str, Any] | None = None) -> None:
        self.source = source
        self.tree = parsed(source)
        self._module: dict[str, Any] = dict(values or {})  # as far as they were asked for
        self._nodes: dict[str, ast.AST] = {}
        self._calls = 0
        for one in self.tree.body:
            self._note(one)

    def _note(self, one: ast.stmt) -> None:
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            self._nodes[one.name] = one
        elif isinstance(one, ast.Import | ast.ImportFrom):
            self._module |= imported(one)
        elif isinstance(one, ast.Assign):
            for target in one.targets:
                if isinstance(target, ast.Name):
                    self._nodes[target.id] = one.value
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value:
            self._nodes[one.target.id] = one.value

    # What derived classes say.

    def call(self, node: ast.Call, path: str, given: list[Any], named: dict[str, Any]) -> Any:
        """Of what another module has."""
        raise Unread(node, "it is not known here")

    def method(
        self, node: ast.Call, of: Any, name: str, given: list[Any], named: dict[str, Any]
    ) -> Any:
        raise Unread(node, "it is not known here")

    def attribute(self, node: ast.Attribute, of: Any, name: str) -> Any:
        raise Unread(node, "it is not known here")

    def binary(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        raise Unread(node, "it is not known here")

    def stored(self, node: ast.Assign, into: Any, value: Any) -> None:
        raise Unread(node, "it is not known here")

    def subscript(self, node: ast.Subscript, of: Any, key: Any) -> Any:
        raise Unread(node, "it is not known here")

    def compared(
        self, node: ast.expr, compare: Callable[[Any, Any], Any], left: Any, right: Any
    ) -> Any:
        return Unknown(ast.unparse(node))

    # What is Python.

    def global_named(self, name: str) -> Any:
        if name not in self._module:
            node = self._nodes.pop(name, None)
            if isinstance(node, ast.FunctionDef):
                self._module[name] = Function(node, {})
            elif isinstance(node, ast.ClassDef):
                self._module[name] = Class(node)
            elif isinstance(node, ast.expr):
                self._module[name] = self.value(node, {})
            else:
                return Named(name)
        return self._module[name]

    def function(self, name: str) -> Function | None:
        found = self.global_named(name)
        return found if isinstance(found, Function) else None

    def made(self, of: Class, given: Sequence[Any]) -> Object:
        """By __init__, if it has one."""
        one = Object(of)
        if any(getattr(node, "name", "") == "__init__" for node in of.node.body):
            self.run(self.method_of(one, "__init__"), given)
        return one

    def method_of(self, one: Object, name: str) -> Function:
        """Raises Unread where its class has none."""
        for node in one.of.node.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return Function(node, {}, (one,))
        raise Unread(one.of.node, f"it has no '{name}'")

    def run(self, function: Function, given: Sequence[Any], named: Mapping[str, Any] = {}) -> Any:
        """What it returns, or None."""
        node, values = function.node, [*function.bound, *given]
        self._calls += 1
        if self._calls > _MOST_CALLS:
            raise Unread(node, "functions are called too often")
        scope = dict(function.scope) | self._arguments(node, values, named)
        if isinstance(node, ast.Lambda):
            result = self.value(node.body, scope)
        else:
            for one in node.decorator_list:
                self._must_be_harmless(one)
            result = self._body(node.body, scope)[1]
        return result

    def _arguments(
        self, node: ast.FunctionDef | ast.Lambda, values: Sequence[Any], named: Mapping[str, Any]
    ) -> Scope:
        places = node.args
        names = [one.arg for one in (*places.posonlyargs, *places.args)]
        if places.vararg or places.kwarg or len(values) > len(names):
            raise Unread(node, f"it is called with {len(values)} arguments")
        scope = dict(zip(names, values, strict=False)) | dict(named)
        defaults = zip(names[len(names) - len(places.defaults) :], places.defaults, strict=True)
        only = [
            (one.arg, value)
            for one, value in zip(places.kwonlyargs, places.kw_defaults, strict=True)
            if value
        ]
        for name, value in [*defaults, *only]:
            if name not in scope:
                scope[name] = self.value(value, {})
        if missing := [name for name in names if name not in scope]:
            raise Unread(node, f"its parameter '{missing[0]}' has no value")
        return scope

    def _must_be_harmless(self, node: ast.expr) -> None:
        called = node.func if isinstance(node, ast.Call) else node
        found = self.value(called, {})
        if not (isinstance(found, Named) and found.path.rpartition("utils.")[2] in _HARMLESS):
            raise Unread(node, "it is not known here")

    def _body(self, body: Sequence[ast.stmt], scope: Scope) -> tuple[bool, Any]:
        """Whether it has returned, and what."""
        for one in body:
            if isinstance(one, ast.Return):
                return True, None if one.value is None else self.value(one.value, scope)
            if isinstance(one, ast.If):
                ended, result = self._branch(one, scope)
            elif isinstance(one, ast.With):
                for item in one.items:
                    self._must_be_harmless(item.context_expr)
                ended, result = self._body(one.body, scope)
            else:
                ended, result = self._step(one, scope), None
            if ended:
                return True, result
        return False, None

    def _branch(self, one: ast.If, scope: Scope) -> tuple[bool, Any]:
        test = self.value(one.test, scope)
        if isinstance(test, bool | int | float | str | tuple) or test is None:
            return self._body(one.body if test else one.orelse, scope)
        if _only_refuses(one.body) and not one.orelse:
            return False, None  # a problem that it refuses is not one that is judged
        raise Unread(one, "which way it goes is not known before it runs")

    def _step(self, one: ast.stmt, scope: Scope) -> bool:
        if isinstance(one, ast.Assign):
            value = self.value(one.value, scope)
            for target in one.targets:
                self._assign(one, target, value, scope)
        elif isinstance(one, ast.AnnAssign) and one.value is not None:
            self._assign(one, one.target, self.value(one.value, scope), scope)
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            whole = ast.copy_location(ast.BinOp(_loaded(one.target), one.op, one.value), one)
            scope[one.target.id] = self.value(whole, scope)
        elif isinstance(one, ast.Expr):
            if not isinstance(one.value, ast.Constant):  # else it documents something
                self.value(one.value, scope)
        elif isinstance(one, ast.FunctionDef):
            scope[one.name] = Function(one, scope)
        elif isinstance(one, ast.Import | ast.ImportFrom):
            scope |= imported(one)
        elif not isinstance(one, ast.Assert | ast.Pass):
            raise Unread(one, "such a statement is not read")
        return False

    def _assign(self, one: ast.stmt, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = value
        elif (
            isinstance(target, ast.Tuple)
            and isinstance(value, tuple)
            and len(value) == len(target.elts)
        ):
            for each, part in zip(target.elts, value, strict=True):
                self._assign(one, each, part, scope)
        elif isinstance(target, ast.Attribute):
            of = self.value(target.value, scope)
            if not isinstance(of, Object):
                raise Unread(one, "such an assignment is not read")
            of.fields[target.attr] = value
        elif isinstance(target, ast.Subscript) and isinstance(one, ast.Assign):
            self.stored(one, self.value(target.value, scope), value)
        else:
            raise Unread(one, "such an assignment is not read")

    def value(self, node: ast.expr, scope: Scope) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return scope[node.id] if node.id in scope else self.global_named(node.id)
        if isinstance(node, ast.Tuple | ast.List):
            return self._parts(node, scope)
        if isinstance(node, ast.Dict):
            return self._dict(node, scope)
        if isinstance(node, ast.Lambda):
            return Function(node, scope)
        if isinstance(node, ast.IfExp):
            test = self.value(node.test, scope)
            if isinstance(test, bool | int):
                return self.value(node.body if test else node.orelse, scope)
            raise Unread(node, "which way it goes is not known before it runs")
        if isinstance(node, ast.Compare | ast.BoolOp):
            return self._truth(node, scope)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, self.value(node.operand, scope))
        if isinstance(node, ast.BinOp):
            return self._arithmetic(
                node, self.value(node.left, scope), self.value(node.right, scope)
            )
        if isinstance(node, ast.Attribute):
            return self._attribute(node, self.value(node.value, scope))
        if isinstance(node, ast.Subscript):
            return self._subscript(node, scope)
        if isinstance(node, ast.Call):
            return self._called(node, scope)
        if isinstance(node, ast.JoinedStr):
            return Unknown(ast.unparse(node))
        raise Unread(node, "such an expression is not read")

    def _parts(self, node: ast.Tuple | ast.List, scope: Scope) -> tuple[Any, ...]:
        parts: list[Any] = []
        for one in node.elts:
            found = self.value(one.value if isinstance(one, ast.Starred) else one, scope)
            if isinstance(one, ast.Starred) and not isinstance(found, tuple):
                raise Unread(node, "such an expression is not read")
            parts += found if isinstance(one, ast.Starred) else [found]
        return within_limits(node, tuple(parts))  # type: ignore[no-any-return]

    def _dict(self, node: ast.Dict, scope: Scope) -> dict[Any, Any]:
        made = {}
        for key, one in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant):
                raise Unread(node, "such an expression is not read")
            made[key.value] = self.value(one, scope)
        return made

    def _truth(self, node: ast.Compare | ast.BoolOp, scope: Scope) -> Any:
        if isinstance(node, ast.BoolOp):
            found = [self.value(one, scope) for one in node.values]
            if all(isinstance(one, bool) for one in found):
                return all(found) if isinstance(node.op, ast.And) else any(found)
            return Unknown(ast.unparse(node))
        values = [self.value(one, scope) for one in (node.left, *node.comparators)]
        compare = _COMPARED.get(type(node.ops[0]))
        if len(values) == 2 and compare:
            if all(isinstance(one, int | float | str) for one in values):
                return compare(*values)
            return self.compared(node, compare, *values)
        return Unknown(ast.unparse(node))

    def _unary(self, node: ast.UnaryOp, of: Any) -> Any:
        if isinstance(node.op, ast.USub) and is_number(of):
            return -of
        if isinstance(node.op, ast.Not):
            return not of if isinstance(of, bool) else Unknown(ast.unparse(node))
        raise Unread(node, "such an expression is not read")

    def _arithmetic(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        computes = BINARY.get(type(node.op))
        numbers = all(is_number(one) or isinstance(one, Size) for one in (left, right))
        joined = (
            isinstance(node.op, ast.Add)
            and type(left) is type(right)
            and type(left) in (str, tuple)
        )
        if computes and (numbers or joined):
            try:
                return within_limits(node, computes(left, right))
            except (ArithmeticError, TypeError) as fault:
                raise Unread(node, str(fault)) from None
        if isinstance(node.op, ast.Pow) and all(
            type(one) is int and 0 <= one < 64 for one in (left, right)
        ):
            return left**right
        return self.binary(node, left, right)

    def _attribute(self, node: ast.Attribute, of: Any) -> Any:
        if isinstance(of, Named):
            return Named(f"{of.path}.{node.attr}")
        if isinstance(of, Object):
            if node.attr in of.fields:
                return of.fields[node.attr]
            return self.method_of(of, node.attr)
        return self.attribute(node, of, node.attr)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        of = self.value(node.value, scope)
        if isinstance(of, tuple) and isinstance(node.slice, ast.Slice):
            ends: list[Any] = [
                one and self.value(one, scope) for one in (node.slice.lower, node.slice.upper)
            ]
            if node.slice.step is None and all(one is None or type(one) is int for one in ends):
                return of[slice(*ends)]
        key = self.value(node.slice, scope)
        try:
            if isinstance(of, tuple | dict) and isinstance(key, int | str):
                return of[key]  # type: ignore[index]
        except (LookupError, TypeError):
            raise Unread(node, "there is no such part") from None
        return self.subscript(node, of, key)

    def _called(self, node: ast.Call, scope: Scope) -> Any:
        given = list(self._parts(ast.Tuple(node.args, ast.Load()), scope))
        named = {}
        for one in node.keywords:
            if one.arg is None:
                raise Unread(node, "such a call is not read")
            named[one.arg] = self.value(one.value, scope)
        if isinstance(node.func, ast.Attribute):
            of = self.value(node.func.value, scope)
            if not isinstance(of, Named | Object):
                return self.method(node, of, node.func.attr, given, named)
        called = self.value(node.func, scope)
        if isinstance(called, Function):
            return self.run(called, given, named)
        if isinstance(called, Named):
            return self.call(node, called.path, given, named)
        return self.applied(node, called, given, named)

    def applied(self, node: ast.Call, what: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """A call of a value: a layer of a model, for instance."""
        raise Unread(node, "it is not known here")


def imported(one: ast.Import | ast.ImportFrom) -> Scope:
    """The names that it brings."""
    if isinstance(one, ast.Import):
        return {
            name.asname or name.name.partition(".")[0]: Named(
                name.name if name.asname else name.name.partition(".")[0]
            )
            for name in one.names
        }
    return {name.asname or name.name: Named(f"{one.module}.{name.name}") for name in one.names}


def _loaded(name: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)


def _only_refuses(body: Sequence[ast.stmt]) -> bool:
    return all(isinstance(one, ast.Raise) for one in body)
