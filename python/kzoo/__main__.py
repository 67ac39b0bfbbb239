"""`python3 -m kzoo serve` is the module's, all else the program's: `python3 -m kzoo run quick`."""

import os
import sys

from ._program import Error, find
from ._serve import serve


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["serve"]:
        return serve(words[1:])
    try:
        program = find()
    except Error as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    os.execv(program, ["kernel-zoo", *words])


if __name__ == "__main__":
    sys.exit(main())
