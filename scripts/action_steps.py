"""The script of a step of action.yml: python3 scripts/action_steps.py install."""

import re
import sys
import textwrap
from pathlib import Path

ACTION = Path(__file__).resolve().parents[1] / "action.yml"


def script(step: str) -> str:
    """What its bash is given."""
    text = ACTION.read_text(encoding="utf-8")
    [found] = re.findall(
        rf"^    - name: {step}\n.*?^      run: \|\n((?:        [^\n]*\n|\n)+)", text, re.M | re.S
    )
    return textwrap.dedent(found)


if __name__ == "__main__":
    print(script(sys.argv[1]))
