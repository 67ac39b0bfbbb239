"""The kernels of a submission in Triton, apart from what else is in its file.

Compiling runs none of the author's Python: the text has functions of @triton.jit alone, and they
name nothing but triton.language, each other, numbers and what tensors have.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from ._problem import Problem
from ._submission import SubmissionReader, TritonCall, is_jit
from ._values import Function, Named, Unread

_SIZES = ("M", "N", "K", "lda", "ldb", "ldc")
_BUILTINS = {"range", "min", "max", "int", "float", "bool", "abs", "len", "print"}
_HOST = {"triton.cdiv", "triton.next_power_of_2", "triton.jit"}
_OF_VALUES = {
    "T", "to", "shape", "dtype", "type", "element_ty", "value", "trans", "reshape", "view", "permute",
    "sum", "max", "min", "numel", "load", "store", "broadcast_to", "expand_dims", "cast",
    "primitive_bitwidth", "is_fp8", "is_fp16", "is_bf16", "is_fp32", "is_floating",
}  # fmt: skip
_REFUSED = (
    ast.Lambda, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Try, ast.With, ast.Global, ast.Nonlocal,
    ast.Yield, ast.Await, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.Delete,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.NamedExpr,
)  # fmt: skip


class _Walker(ast.NodeVisitor):
    """Refuses in a kernel what is more than device code, and collects the names that it uses."""

    def __init__(self, reader: SubmissionReader, node: ast.FunctionDef) -> None:
        self._reader = reader
        self.used: dict[str, Any] = {}
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        self._local = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        self._local |= {one.id for one in names if isinstance(one.ctx, ast.Store)}
        for one in (*node.args.defaults, *(word for word in node.args.kw_defaults if word)):
            if not isinstance(one, ast.Constant):
                raise Unread(one, "such a default value is not read")
        for place in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            if place.annotation is not None and not isinstance(
                place.annotation, ast.Attribute | ast.Name | ast.Constant
            ):
                raise Unread(place, "such an annotation is not read")
        if node.args.vararg or node.args.kwarg:
            raise Unread(node, "such parameters are not read")
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, _REFUSED):
            raise Unread(node, "this is not read in a kernel")
        super().visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id not in self._local:
            self._of_module(node, root.id)
        elif node.attr in _OF_VALUES:
            self.visit(node.value)
        else:
            raise Unread(node, "this is not read in a kernel")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self._local or (node.id in _BUILTINS and hasattr(builtins, node.id)):
            return
        self._of_module(node, node.id)

    def _of_module(self, node: ast.expr, root: str) -> None:
        found = self._reader.value(node, {})
        if isinstance(found, Named):
            member = found.path.removeprefix("triton.language.").removeprefix("math.")
            is_language = member != found.path and "." not in member and not member.startswith("_")
            if not is_language and found.path not in _HOST:
                raise Unread(node, "this is not read in a kernel")
        elif isinstance(found, Function):
            if not is_jit(found.node, self._reader):
                raise Unread(node, "it is no function of @triton.jit")
        elif not isinstance(found, int | float | str):
            raise Unread(node, "this is not read in a kernel")
        self.used[root] = self._reader.global_named(root)


def device_code(reader: SubmissionReader, kernel: str) -> str:
    """The kernel and what it needs, on the lines that they have in the file."""
    lines = [""] * (1 + max(getattr(one, "end_lineno", 0) or 0 for one in reader.tree.body))
    source = reader.source.split("\n")
    first, waiting, known = ["import triton"], [kernel], set()
    while waiting:
        name = waiting.pop()
        if name in known:
            continue
        known.add(name)
        found = reader.global_named(name)
        if isinstance(found, Function):
            node = found.node
            assert isinstance(node, ast.FunctionDef) and node.end_lineno
            lines[node.lineno - 1 : node.end_lineno] = source[node.lineno - 1 : node.end_lineno]
            lines[node.lineno - 2] = "@triton.jit"
            waiting += _Walker(reader, node).used
        elif isinstance(found, Named):
            package, _, member = found.path.rpartition(".")
            brings = f"from {package} import {member} as {name}" if package else f"import {name}"
            first.append(brings)
        else:
            first.append(f"from triton.language import constexpr; {name} = constexpr({found!r})")
    lines[0] = "; ".join(first)
    return "\n".join(lines) + "\n"


def request(reader: SubmissionReader, start: TritonCall, arch: int) -> dict[str, Any]:
    """What kzoo._compile_triton is asked."""
    problem, text = reader.problem, device_code(reader, start.kernel)
    constants = {}
    for name, value in start.constants.items():
        if isinstance(value, int | float | str | bool) or value is None:
            constants[name] = value
            continue
        several = set(problem.values(value))
        if len(several) > 1:
            raise Unread(
                None, f"its constant {name} is {value}, which differs from problem to problem"
            )
        [constants[name]] = several
    arguments = {name: _word(problem, value) for name, value in start.arguments.items()}
    multiples = [
        name
        for name, word in arguments.items()
        if word in _SIZES and all(value % 16 == 0 for value in problem.values(word))
    ]
    rounds = (
        "dot(" in text and "ieee" not in text and "allow_tf32=False" not in text.replace(" ", "")
    )
    precision = {"precision": "tf32"} if problem.dtype == "f32" and rounds else {}
    return {
        "text": text,
        "kernel": start.kernel,
        "options": {
            "grid": start.grid,
            "constants": constants,
            "arguments": arguments,
            "types": problem.dtype,
            "epilogue": problem.epilogue,
            "arch": arch,
            "multiples_of_16": multiples,
            "manifest": {"layouts": problem.layout, **precision},
            **start.options,
        },
    }


def _word(problem: Problem, value: int | str) -> int | str:
    """A number that is a size of all problems is that size, of which Triton knows what divides it."""
    if isinstance(value, int) and value > 1:
        for size in ("M", "N", "K"):
            if set(problem.values(size)) == {value}:
                return size
    return value
