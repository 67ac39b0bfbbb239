"""The notebook in examples/: its cells run in order, as Jupyter would run them, without Jupyter."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "notebook" / "judge.ipynb"

# Runs the cells of standard input, and writes what each has printed and shown: of its last line, if
# that is an expression, the value.
RUN = r"""
import ast, contextlib, io, json, sys

scope = {"__name__": "__main__"}
shown = []
for source in json.load(sys.stdin):
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), scope)
        value = last and eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
    if value is not None:
        printed.write(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    shown.append(printed.getvalue())
json.dump(shown, sys.stdout)
"""


def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return found


class Notebook(unittest.TestCase):
    def test_it_is_stored_without_what_it_printed(self) -> None:
        for cell in cells():
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), cell["id"])

    def test_its_cells_run(self) -> None:
        sources = ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]
        with tempfile.TemporaryDirectory(prefix="a b é ") as folder:
            places = {"PYTHONPATH": str(ROOT / "python"), "XDG_CACHE_HOME": folder}
            ran = subprocess.run(
                [sys.executable, "-c", RUN],
                input=json.dumps(sources),
                capture_output=True,
                text=True,
                check=False,
                cwd=folder,
                env=os.environ | places,
            )
        self.assertEqual(ran.returncode, 0, ran.stderr)
        shown = dict(zip(sources, json.loads(ran.stdout), strict=True))
        for beginning, words in (
            ("SOURCE", ["PASSED"]),
            ("for problem in", ["32x32x32 f32 PASSED", "33x17x40 f32 PASSED", "simulator"]),
            ("wrong", ["INCORRECT_NUMERICAL", "result"]),
            ("result", ["<iframe srcdoc="]),
            ("print(result.table", ["kernel:sgemm", "naive:16x16", "smem:16x16", "33x17x40"]),
            ("for problem, cell", ["32x32x32 f32 ", "33x17x40 f32 "]),
            ("comparison", ["kernel:sgemm", "naive:16x16", "smem:16x16"]),
            ("try", ["laddr", "ladder"]),
        ):
            [found] = [text for source, text in shown.items() if source.startswith(beginning)]
            for word in words:
                with self.subTest(beginning):
                    self.assertIn(word, found)


if __name__ == "__main__":
    unittest.main()
