"""Compiles a kernel in Triton, in a process of its own that reads and writes JSON.

The text of the kernel is what _device_code has left of a submission.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ._sources import CompiledKernel
from ._triton import triton_kernel

_SECONDS = 600
_MOST_BYTES = 1 << 28  # of a file
_LONGEST = 4000  # characters of an error


class Failed(Exception):
    """It does not compile."""


class NoTriton(Exception):
    """Triton is not here."""


def compiled(request: dict[str, Any]) -> CompiledKernel:
    """The kernel. Raises Failed where Triton refuses it, and NoTriton."""
    try:
        ran = subprocess.run(
            [sys.executable, "-c", "from kzoo._compile_triton import main; main()"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            cwd=Path(__file__).resolve().parents[1],
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"Triton has compiled it for {_SECONDS} seconds, and was ended") from None
    try:
        answer = json.loads(ran.stdout.strip().rpartition("\n")[2])
    except ValueError:
        raise Failed(
            f"Triton ended with exit code {ran.returncode}: {ran.stderr[-_LONGEST:]}"
        ) from None
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
    except ImportError as fault:
        return {"missing": f"Triton cannot be imported (pip install triton): {fault}"}
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


def main() -> None:
    for kind, most in ((resource.RLIMIT_CPU, _SECONDS), (resource.RLIMIT_FSIZE, _MOST_BYTES)):
        resource.setrlimit(kind, (most, most))
    request = json.load(sys.stdin)
    with tempfile.TemporaryDirectory(prefix="kernel-zoo-") as folder:
        print(json.dumps(_answer(request, Path(folder))))
