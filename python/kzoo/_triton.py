"""Kernels written in Triton: compiled here, ahead of time, and judged where no Python runs."""

from __future__ import annotations

import json
import re
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _program
from ._sources import CompiledKernel
from ._values import Size

Expression = int | str
"""In the sizes of the problem and the kernel's constants: "ceil_div(M, BM)"."""

# Triton's names of the types of elements and numbers, and the bytes of each.
_TYPES = {
    "f64": ("fp64", 8), "f32": ("fp32", 4), "i32": ("i32", 4), "i64": ("i64", 8),
    "f16": ("fp16", 2), "bf16": ("bf16", 2), "i8": ("i8", 1),
    "e4m3": ("fp8e4nv", 1), "e5m2": ("fp8e5", 1), "i4": ("i8", 1),  # two in a byte
}  # fmt: skip
# What parameters of these names get, unless the caller says it.
_USUAL = {word.lower(): word for word in ("A", "B", "C", "M", "N", "K")}
_USUAL |= {
    word: word for word in (*_USUAL.values(), "lda", "ldb", "ldc", "alpha", "beta", "groups")
}
_USUAL |= {f"{matrix}_ptr": matrix.upper() for matrix in "abc"}
# The strides of A, B and C along their rows and columns, as Triton's tutorials call them.
_STRIDES = {"a": ("m", "k"), "b": ("k", "n"), "c": ("m", "n")}
# What the product itself may have beside A and B, and the manifest's key that says so.
_OF_PRODUCT = {
    "scale_a": ("scale_block_a", "f32"),
    "scale_b": ("scale_block_b", "f32"),
    "offsets": ("groups", "i32"),
}
# Stages of an epilogue that have an operand: whose elements have C's type unless it says another,
# and those that are scales.
_ADDED, _SCALES = ("bias", "row_bias", "residual"), ("column_scale", "row_scale")
_DIVISOR = 16  # the only one that Triton specialises for


def _element_types(types: str) -> dict[str, str]:
    """Of A, B and C: "f32", "bf16->f32", "e4m3*e5m2->bf16"."""
    operands, _, result = types.partition("->")
    a, _, b = operands.partition("*")
    found = {"A": a, "B": b or a, "C": result or a}
    for one in found.values():
        if one not in _TYPES:
            raise ValueError(f"'{one}' in types = '{types}' is none of {', '.join(_TYPES)}")
    return found


def _operand_types(epilogue: str, of_c: str) -> dict[str, str]:
    """Of "bias:f32 + relu", {"bias": "f32"}. What no epilogue has the runner refuses."""
    found = {}
    for stage in epilogue.split("+"):
        name, _, kind = stage.strip().partition(":")
        if name in _ADDED or name in _SCALES:
            found[name] = kind or (of_c if name in _ADDED else "f32")
    return found


def _usual_words(layout: str) -> dict[str, str]:
    """By the names of parameters, for a product of this layout."""
    words = dict(_USUAL)
    for place, (matrix, axes) in enumerate(_STRIDES.items()):
        down, along = axes[::-1] if layout[place : place + 1] == "t" else axes
        words |= {f"stride_{matrix}{down}": f"ld{matrix}", f"stride_{matrix}{along}": "1"}
    return words


def _grid_of(function: Callable[..., Any], constants: Mapping[str, Any]) -> list[Expression]:
    """Of `lambda meta: (triton.cdiv(M, meta["BM"]),)`, in which M, N and K are the problem's."""
    sizes = {name: Size(name) for name in ("M", "N", "K", "lda", "ldb", "ldc", "groups")}
    code = function.__code__
    cells = tuple(
        python_types.CellType(sizes[name]) if name in sizes else cell
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    )
    at_sizes = python_types.FunctionType(
        code, function.__globals__ | sizes, closure=cells or None
    )
    found = at_sizes({**sizes, **constants})
    return [
        one if isinstance(one, int) else str(one)
        for one in (found if isinstance(found, tuple | list) else (found,))
    ]


def _with_values(given: Expression, constants: Mapping[str, Any]) -> Expression:
    """A manifest knows sizes and no constants."""
    if isinstance(given, int):
        return given
    return re.sub(r"[A-Za-z_]\w*", lambda name: str(constants.get(name[0], name[0])), given)


class Launch:
    """What Triton is told of each parameter, and the manifest what it gets."""

    def __init__(
        self,
        parameters: Sequence[str],
        types: str,
        constants: Mapping[str, Any],
        arguments: Mapping[str, Expression],
        multiples_of_16: Sequence[str],
        epilogue: str = "",
        product: Mapping[str, Any] | None = None,
        layout: str = "nn",
    ) -> None:
        for given in (*constants, *arguments, *multiples_of_16):
            if given not in parameters:
                raise ValueError(f"the kernel has no parameter '{given}': {', '.join(parameters)}")
        self.elements = _element_types(types)
        self.elements |= _operand_types(epilogue, self.elements["C"])
        for operand, (key, kind) in _OF_PRODUCT.items():
            if (product or {}).get(key):
                self.elements[operand] = kind
        self.signature: dict[str, str] = {}
        self.words: dict[str, str] = {}
        self.constants = dict(constants)
        words = _usual_words(layout)
        for name in parameters:
            usual = name if name in self.elements else words.get(name)
            if name not in constants and str(arguments.get(name, usual)) == "1":
                self.constants[name] = 1  # as Triton takes it where it compiles for a call
            if name in self.constants:
                self.signature[name] = "constexpr"
                continue
            word = arguments.get(name, usual)
            if word is None:
                raise ValueError(
                    f"what the parameter '{name}' gets is said neither in constants nor in "
                    f'arguments: {{"{name}": "lda"}}, for instance'
                )
            self._add(name, str(_with_values(word, constants)))
        self.aligned = [name for name, word in self.words.items() if word in self.elements]
        self.granularity = {"M": 1, "N": 1, "K": 1}
        self.row_bytes = 1
        for name in multiples_of_16:
            self._require_multiple(name)

    def _add(self, name: str, word: str) -> None:
        value, _, kind = word.partition(":")
        if value in self.elements:
            self.signature[name] = "*" + _TYPES[self.elements[value]][0]
        elif value in ("workspace", "null"):
            self.signature[name] = "*i8"
        else:
            of_scalars = "f64" if self.elements["C"] == "f64" else "f32"
            kind = kind or (of_scalars if value in ("alpha", "beta") else "i32")
            if kind not in _TYPES:
                raise ValueError(f"'{kind}' in '{word}' is none of {', '.join(_TYPES)}")
            self.signature[name] = _TYPES[kind][0]
            word = f"{value}:{kind}"
        self.words[name] = word

    def _require_multiple(self, name: str) -> None:
        value = self.words.get(name, "").partition(":")[0]
        if value in self.granularity:
            self.granularity[value] = _DIVISOR
        elif value in ("lda", "ldb", "ldc"):
            size = _TYPES[self.elements[value[2].upper()]][1]
            self.row_bytes = max(self.row_bytes, _DIVISOR * size)
        else:
            raise ValueError(
                f"only M, N, K, lda, ldb and ldc can be asked to be multiples of {_DIVISOR}, and "
                f"'{name}' gets '{value}'"
            )
        self.aligned.append(name)


def toml(keys: Mapping[str, Any]) -> str:
    """JSON's strings, numbers, arrays and booleans are TOML's."""
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in keys.items())
    return "".join(lines)


def triton_kernel(
    function: Any,
    *,
    grid: Expression | Sequence[Expression] | Callable[..., Any],
    constants: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Expression] | None = None,
    types: str = "f32",
    epilogue: str = "",
    scale_block_a: str = "",
    scale_block_b: str = "",
    groups: bool = False,
    arch: int = 90,
    num_warps: int = 4,
    num_stages: int = 3,
    multiples_of_16: Sequence[str] = (),
    name: str | None = None,
    manifest: Mapping[str, Any] | None = None,
    **options: Any,
) -> CompiledKernel:
    """Compiles a function of `@triton.jit`, for `judge`, `run` or `save`. It needs no GPU.

    Parameters:
        function: of `@triton.jit`; of one under `@triton.autotune` its `.fn`.
        grid: the blocks along x, y and z: a number or an expression in the problem's sizes,
            "ceil_div(M, BM)", or a list of them; or, as in Triton, a function of the constants, in
            which M, N, K, lda, ldb and ldc are the problem's.
        constants: the values of its `tl.constexpr` parameters: {"BM": 128}.
        arguments: what its other parameters get (docs/compiled-kernels.md): {"tiles":
            "ceil_div(K, BK):i64"}. Those that are called A, B, C, M, N, K (or in small letters),
            lda, ldb, ldc, alpha and beta get these, and so do a_ptr, stride_am and the others of
            Triton's tutorials.
        types: of the elements of A, B and C: "bf16", "bf16->f32", "e4m3*e5m2->bf16".
        epilogue: what the kernel does to the product, "bias + relu"; its operands are arguments,
            too.
        scale_block_a, scale_block_b: blocks of A and of B that have a scale, "1x128", so that
            scale_a and scale_b are arguments.
        groups: whether rows are in groups, so that `offsets` and `groups`, their number, are
            arguments.
        arch: the compute capability: 90 for an H100 or H200.
        num_warps, num_stages: as in `triton.Config`.
        multiples_of_16: parameters that Triton may rely on to be such: ["N", "K", "lda"]. Other
            problems are declined.
        name: what the kernel is called. None: as the function.
        manifest: more of its keys: {"precision": "tf32"} for products of fp32 by `tl.dot` as it is.
        options: more of Triton's.

    Raises:
        Error: Triton is not here.
        TypeError: it is no function of `@triton.jit`.
        ValueError: constants, arguments or types do not fit the function. If Triton cannot compile
            it, Triton's own exception is raised.
    """
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as fault:
        raise _program.Error(f"Triton cannot be imported (pip install triton): {fault}") from None
    if not isinstance(function, triton.runtime.JITFunction):
        raise TypeError(
            "triton_kernel takes a function of @triton.jit; of one under @triton.autotune its .fn, "
            "with the constants of one configuration"
        )
    values = dict(constants or {})
    for each in function.params:
        if each.is_constexpr and each.name not in values:
            raise ValueError(f"the constant '{each.name}' has no value in constants")
    product = {
        key: value
        for key, value in (
            ("scale_block_a", scale_block_a),
            ("scale_block_b", scale_block_b),
            ("groups", groups),
        )
        if value
    }
    launch = Launch(
        function.arg_names,
        types,
        values,
        arguments or {},
        multiples_of_16,
        epilogue,
        product,
        str((manifest or {}).get("layouts", "nn")),
    )
    given = _grid_of(grid, values) if callable(grid) else grid
    sizes = [_with_values(one, values) for one in ([given] if isinstance(given, int | str) else given)]
    places = {parameter: (place,) for place, parameter in enumerate(function.arg_names)}
    source = ASTSource(
        fn=function,
        signature=launch.signature,
        constexprs={places[constant]: value for constant, value in launch.constants.items()},
        attrs={places[one]: [["tt.divisibility", _DIVISOR]] for one in launch.aligned},
    )
    options = {"num_warps": num_warps, "num_stages": num_stages, "enable_fp_fusion": True} | options
    compiled = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
    meta = compiled.metadata
    if meta.profile_scratch_size or meta.launch_cooperative_grid:
        raise ValueError("no manifest launches a kernel that profiles itself, or a cooperative one")
    name = name or function.__name__
    keys: dict[str, Any] = {
        "kernel": f"{name}.cubin",
        "entry": meta.name,
        "summary": " ".join(
            [f"Triton {triton.__version__}", *(f"{one}={value}" for one, value in values.items())]
        ),
        "types": types,
        **({"epilogue": epilogue} if epilogue else {}),
        **product,
        "compute_capability": arch,
        "granularity": list(launch.granularity.values()),
        "row_bytes": launch.row_bytes,
        "grid": sizes,
        "block": meta.num_warps * 32,
        "cluster": meta.num_ctas,
        "shared": meta.shared,
        "arguments": list(launch.words.values()),
    }
    # After its own parameters, Triton gives a kernel two pointers to scratch memory.
    if meta.global_scratch_size:
        blocks = " * ".join(f"({one})" for one in sizes)
        keys["workspace"] = f"{meta.global_scratch_size * meta.num_ctas} * {blocks}"
    keys["arguments"] += ["workspace" if meta.global_scratch_size else "null", "null"]
    return CompiledKernel(name, compiled.asm["cubin"], toml(keys | dict(manifest or {})))
