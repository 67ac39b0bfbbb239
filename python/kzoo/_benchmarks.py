"""Problems of benchmarks that are GEMMs: KernelBench, gpu-mode, FlashInfer-Bench, SOL-ExecBench.

Files of Python are read as source, and never run: those of github.com/ScalingIntelligence/KernelBench
(KernelBench/level1) and github.com/gpu-mode/reference-kernels (problems/*/task.yml, with
reference.py beside it). Definitions are read by read_definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import _program
from ._definition import read_definition
from ._problem import Extent, Problem, made
from ._product import Product, ReferenceReader, extent
from ._program import BadInput
from ._sources import as_list
from ._values import UNREADABLE, Class, Tensor, Unread


def read_problem(
    file: str | Path,
    workloads: str | Path | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    allow: str | Iterable[str] = (),
) -> Problem:
    """A benchmark's problem that is a GEMM, perhaps with a bias, a residual and activations.

    Parameters:
        file: a problem of KernelBench (.py), a task.yml of gpu-mode, or a definition of
            FlashInfer-Bench or SOL-ExecBench (.json). Its Python is read, never run.
        workloads: of a definition, its file of workloads (.jsonl).
        sizes: other values for the sizes that a problem of KernelBench has: {"N": 256}.
        allow: precisions, such as "tf32", that are enough although the matrices hold more.

    Raises:
        BadInput: it is no GEMM, or has something beside one; the message has the line.
    """
    return replace(_read(Path(file), workloads, sizes or {}), allow=tuple(as_list(allow)))


def _read(file: Path, workloads: str | Path | None, sizes: Mapping[str, int]) -> Problem:
    if file.suffix == ".json":
        if workloads is None:
            raise BadInput(f"{file}: a definition is judged by workloads, and none are named")
        return read_definition(file).problem(workloads)
    try:
        if file.suffix in (".yml", ".yaml"):
            return _task(file)
        return _kernelbench(file, sizes)
    except Unread as fault:
        raise BadInput(
            f"{file}: it is read as a product with an epilogue, and has more: {fault}"
        ) from None
    except UNREADABLE as fault:
        raise BadInput(f"{file}: this is not in the format that is read here: {fault}") from fault


def _called(reader: ReferenceReader, name: str, *given: Any, **named: Any) -> Any:
    if (function := reader.function(name)) is None:
        raise Unread(None, f"it has no function '{name}'")
    return reader.run(function, given, named)


def _by_name(inputs: Any) -> dict[str, Tensor]:
    if not isinstance(inputs, tuple) or not all(isinstance(one, Tensor) for one in inputs):
        raise Unread(None, "its inputs are not all tensors")
    return {one.name: one for one in inputs}


def _sized(product: Product, name: str) -> Extent:
    a, b = (one.shape for one in product.operands)
    if not all(type(one) is int and one > 0 for one in (*a, *b)) or (found := extent(a, b)) is None:
        raise BadInput(f"{name}: A as {list(a)} times B as {list(b)} is no product")
    return found


def _kernelbench(file: Path, sizes: Mapping[str, int]) -> Problem:
    reader = ReferenceReader(file.read_text(encoding="utf-8"), sizes)
    model = reader.global_named("Model")
    if not isinstance(model, Class):
        raise Unread(None, "it has no class 'Model'")
    initial = tuple(_called(reader, "get_init_inputs"))
    inputs = _by_name(_called(reader, "get_inputs"))
    forward = reader.method_of(reader.made(model, initial), "forward")
    product = reader.product_of(reader.run(forward, list(inputs.values())))
    found = _sized(product, str(file))
    return made(file.stem, product, inputs, product.dtype, sizes=(found,), initial=initial)


def _task(file: Path) -> Problem:
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError as fault:
        raise _program.Error(f"a task.yml needs PyYAML (pip install pyyaml): {fault}") from None
    try:
        task = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as fault:
        raise BadInput(f"{file}: {fault}") from None
    source = (file.parent / "reference.py").read_text(encoding="utf-8")
    found, one = [], None
    for given in [*task["tests"], *task["benchmarks"]]:
        reader = ReferenceReader(source)
        inputs = _called(reader, "generate_input", **given)
        product = reader.product_of(_called(reader, "ref_kernel", inputs))
        found.append(_sized(product, str(file)))
        c = [each.dtype for each in inputs if each.name not in product.names]
        one = (product, _by_name(inputs), c[0] if c else product.dtype)
    if one is None:
        raise BadInput(f"{file}: it has neither tests nor benchmarks")
    return made(file.parent.name, *one, sizes=tuple(dict.fromkeys(found)), packs=True)
