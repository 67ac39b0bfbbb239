"""`serve`, and `judge` of benchmarks are the module's, all else the program's."""

import importlib.util
import os
import sys
from pathlib import Path

from . import _judge
from ._program import Error, find

_WAY_OUT = "pip install 'kernel-zoo[serve]', or in a checkout ./zoo setup --serve"


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["serve"]:
        # A virtual environment has its own packages; those of a distribution may be too old.
        if sys.prefix == sys.base_prefix or importlib.util.find_spec("fastapi") is None:
            data = os.environ.get("XDG_DATA_HOME", "")
            folder = Path(data) if data.startswith("/") else Path.home() / ".local" / "share"
            sys.path.insert(0, str(folder / "kernel-zoo" / "serve"))  # of ./zoo setup --serve
        try:
            from ._serve import serve
        except ImportError as fault:
            print(f"error: {fault}; serve needs FastAPI and uvicorn: {_WAY_OUT}", file=sys.stderr)
            return 2
        return serve(words[1:])
    if words[:1] == ["judge"] and _judge.is_asked(words):
        return _judge.main(words[1:])
    try:
        program = find()
    except Error as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    os.execv(program, ["kernel-zoo", *words])


if __name__ == "__main__":
    sys.exit(main())
