"""Compiles a kernel in Triton, in a process that the program confines as it does compilers.

The text of the kernel is what _device_code has left of a submission.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._program import call
from ._sources import CompiledKernel
from ._triton import triton_kernel

_REQUEST, _ANSWER = "request.json", "answer.json"  # in the folder that both processes know
_PROGRAM = (
    "import pathlib, sys; sys.path.insert(0, sys.argv[1]); "
    "from kzoo._compile_triton import main; main(pathlib.Path(sys.argv[2]))"
)
_LONGEST = 4000  # characters of an error
_COMPILER_FAILED = 6  # compile::kCompilerFailed


class Failed(Exception):
    """It does not compile."""


class NoTriton(Exception):
    """Triton is not here."""


@dataclass(frozen=True)
class Compiling:
    """For which compute capability, for how many seconds, and what ends it from another thread."""

    arch: int = 90
    timeout: float | None = None
    stop: threading.Event | None = None


def compiled(request: dict[str, Any], how: Compiling) -> CompiledKernel:
    """The kernel. Raises Failed where Triton refuses it, NoTriton, and Error where the judge fails."""
    with tempfile.TemporaryDirectory(prefix="kernel-zoo-") as folder:
        (Path(folder) / _REQUEST).write_text(json.dumps(request), encoding="utf-8")
        module = str(Path(__file__).resolve().parents[1])
        words = ["__compiler", folder, sys.executable, "-c", _PROGRAM, module, folder]
        ran = call(words, timeout=how.timeout, stop=how.stop)
        file = Path(folder) / _ANSWER
        if ran.code not in (0, _COMPILER_FAILED) or not file.exists():  # the judge cannot compile
            raise ran.error()
        try:
            answer = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            raise Failed(f"Triton has ended without a kernel: {ran.err[-_LONGEST:]}") from None
    if "missing" in answer:
        raise NoTriton(answer["missing"])
    if "error" in answer:
        raise Failed(answer["error"])
    return CompiledKernel(answer["name"], base64.b64decode(answer["code"]), answer["manifest"])


def _answer(request: dict[str, Any], folder: Path) -> dict[str, str]:
    file = folder / "submission.py"
    file.write_text(request["text"], encoding="utf-8")
    try:
        import triton  # noqa: F401
    except Exception as fault:  # one that is here in part fails in many ways
        return {"missing": f"Triton cannot be imported (pip install triton): {fault}"}
    (folder / _ANSWER).touch()  # what ends it from here on is the kernel's doing
    try:
        spec = importlib.util.spec_from_file_location("submission", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernel = triton_kernel(getattr(module, request["kernel"]), **request["options"])
    except Exception as fault:
        cause = fault.__cause__ or fault.__context__
        words = f"{type(fault).__name__}: {fault}" + (f"\n{cause}" if cause else "")
        return {"error": words.replace(str(file), "submission.py")[-_LONGEST:]}
    code = base64.b64encode(kernel.code).decode()
    return {"name": kernel.name, "code": code, "manifest": kernel.manifest}


def main(folder: Path) -> None:
    os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")  # it can write nowhere else
    request = json.loads((folder / _REQUEST).read_text(encoding="utf-8"))
    (folder / _ANSWER).write_text(json.dumps(_answer(request, folder)), encoding="utf-8")
