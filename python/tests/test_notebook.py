"""The notebooks in examples/: their cells run in order, as Jupyter would run them, without Jupyter."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "examples" / "notebook"

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


def cells(notebook: str) -> list[dict[str, Any]]:
    text = (NOTEBOOKS / notebook).read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["cells"]
    return found


class Notebook(unittest.TestCase):
    def test_they_are_stored_without_what_they_printed(self) -> None:
        for notebook in ("judge.ipynb", "first_steps.ipynb"):
            for cell in cells(notebook):
                if cell["cell_type"] == "code":
                    printed = (cell["outputs"], cell["execution_count"])
                    self.assertEqual(printed, ([], None), cell["id"])

    def shown_by(self, notebook: str) -> dict[str, str]:
        """What each cell has printed and shown, by its source."""
        sources = [
            "".join(cell["source"]) for cell in cells(notebook) if cell["cell_type"] == "code"
        ]
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
        return dict(zip(sources, json.loads(ran.stdout), strict=True))

    def test_the_first_steps_run(self) -> None:
        shown = self.shown_by("first_steps.ipynb")
        for beginning, words in (
            ("NAIVE", ["PASSED", "16.5 sectors for each request where 2.5 would do"]),
            ("COALESCED", ["PASSED", "2.50"]),
            ("SMEM", ["PASSED", "shared loads"]),
        ):
            [found] = [text for source, text in shown.items() if source.startswith(beginning)]
            for word in words:
                with self.subTest(beginning):
                    self.assertIn(word, found)

    def test_its_cells_run(self) -> None:
        shown = self.shown_by("judge.ipynb")
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
