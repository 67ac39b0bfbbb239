"""`serve`, `mcp`, and `judge` of benchmarks are the module's, all else the program's."""

import importlib.util
import os
import sys
from pathlib import Path

from . import _judge
from ._program import Error, find

# What each needs, and how it is fetched.
_NEEDS = {"serve": ("fastapi", "FastAPI and uvicorn"), "mcp": ("mcp", "the package mcp")}


def _find_packages(command: str) -> None:
    """A virtual environment has its own packages; those of a distribution may be too old."""
    if sys.prefix == sys.base_prefix or importlib.util.find_spec(_NEEDS[command][0]) is None:
        data = os.environ.get("XDG_DATA_HOME", "")
        folder = Path(data) if data.startswith("/") else Path.home() / ".local" / "share"
        sys.path.insert(0, str(folder / "kernel-zoo" / command))  # of ./zoo setup


def _missing(command: str, fault: ImportError) -> int:
    way = f"pip install 'kernel-zoo[{command}]', or in a checkout ./zoo setup --{command}"
    print(f"error: {fault}; {command} needs {_NEEDS[command][1]}: {way}", file=sys.stderr)
    return 2


def main() -> int:
    words = sys.argv[1:]
    command = words[0] if words else ""
    if command in _NEEDS:
        _find_packages(command)
        try:
            if command == "serve":
                from ._serve import serve

                return serve(words[1:])
            from ._mcp import serve_mcp

            serve_mcp()
            return 0
        except ImportError as fault:
            return _missing(command, fault)
    if command == "judge" and _judge.is_asked(words):
        return _judge.main(words[1:])
    try:
        program = find()
    except Error as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    os.execv(program, ["kernel-zoo", *words])


if __name__ == "__main__":
    sys.exit(main())
