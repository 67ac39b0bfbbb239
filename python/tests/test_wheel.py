"""What is installed, laid out as in the wheel, from the build folder KZOO_BUILD by CMAKE."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from action_steps import script

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETTINGS = PYPROJECT["tool"]["scikit-build"]
VERSION = re.search(
    SETTINGS["metadata"]["version"]["regex"], (ROOT / "CMakeLists.txt").read_text()
)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        kept = tempfile.TemporaryDirectory(prefix="a b é ")
        cls.addClassCleanup(kept.cleanup)
        cls.folder = Path(kept.name)
        cls.site = cls.folder / "site-packages"
        for package in SETTINGS["wheel"]["packages"]:
            shutil.copytree(ROOT / package, cls.site / Path(package).name)
        cls.prefix = cls.site / SETTINGS["wheel"]["install-dir"]
        subprocess.run(
            [os.environ["CMAKE"], "--install", os.environ["KZOO_BUILD"], "--prefix", cls.prefix],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        # As KZOO_STANDALONE writes them.
        for recipe in (cls.prefix / "lib/kernel-zoo/recipes").glob("cpu*.toml"):
            text = recipe.read_text()
            cls.compiler = Path(re.search("^compiler = '(.*)'$", text, re.M)[1])
            text = text.replace(f"compiler = '{cls.compiler}'", f"compiler = '{cls.compiler.name}'")
            recipe.write_text(text)
        cls.before = sorted(cls.site.rglob("*"))

    def python(
        self, code: str, *words: str, path: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Where the program is found by the module alone."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("KZOO_")
        }
        environment |= {
            "HOME": str(self.folder / "home"),
            "PATH": path or f"{self.compiler.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.site),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            env=environment,
            cwd=self.folder,
            text=True,
            capture_output=True,
            check=False,
        )

    def program(self, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        """As the console script starts it."""
        module, function = PYPROJECT["project"]["scripts"]["kernel-zoo"].split(":")
        start = f"import sys; from {module} import {function}; sys.exit({function}())"
        return self.python(start, *words, path=path)

    def test_the_version_is_the_program_s(self) -> None:
        assert VERSION is not None
        self.assertEqual(self.program("--version").stdout, f"kernel-zoo {VERSION['value']}\n")

    def test_a_new_source_is_compiled_and_run(self) -> None:
        made = self.program("new", "mine")
        self.assertIn("kernel-zoo run quick --plugins mine/mine.cu,naive", made.stdout)
        ran = self.program("run", "quick", "--plugins", "mine/mine.cu,naive", "--sizes", "33x9x5",
                           "--device", "cpu")  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, "mine:16x16 +. pass")
        self.assertTrue(list((self.folder / "results").iterdir()))
        # Nothing was written where it is installed.
        self.assertEqual(sorted(self.site.rglob("*")), self.before)

    def test_the_program_for_gpus_is_preferred(self) -> None:
        program = self.site / "kzoo" / "_prefix_cuda" / "bin" / "runner"
        program.parent.mkdir(parents=True)
        self.addCleanup(shutil.rmtree, program.parents[1])
        program.write_text("#!/bin/sh\necho of the second wheel\n")
        program.chmod(0o755)
        self.assertEqual(self.program("--version").stdout, "of the second wheel\n")

    def test_wrong_usage_names_the_command(self) -> None:
        self.assertIn("Try `kernel-zoo --help`", self.program("list", "--bogus").stderr)

    def test_the_module_knows_the_package_for_cmake(self) -> None:
        folder = Path(self.python("import kzoo; print(kzoo.cmake_folder())").stdout.strip())
        self.assertTrue(folder.is_relative_to(self.prefix), folder)
        self.assertTrue((folder / "kernel-zoo-config.cmake").exists())

    def test_without_a_compiler_there_is_what_is_compiled(self) -> None:
        nowhere = str(self.folder / "none")
        ran = self.program("run", "quick", "--plugins", "naive:8x8", "--sizes", "33x9x5",
                           "--device", "cpu", path=nowhere)  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stderr)
        source = self.prefix / "share/kernel-zoo/template/mine.cu"
        refused = self.program("run", "quick", "--plugins", str(source), "--device", "cpu",
                               path=nowhere)  # fmt: skip
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn(f"there is no {self.compiler.name} in PATH", refused.stderr)
        code = "import kzoo, sys; v = kzoo.judge(sys.argv[1], device='cpu'); print(v.status, v.reward())"
        judged = self.python(code, str(source), path=nowhere)
        self.assertEqual(judged.stdout, "JUDGE_ERROR None\n", judged.stderr)

    def test_the_action_judges_kernels(self) -> None:
        temp, work = self.folder / "runner temp", self.folder / "work"
        program = temp / "kernel-zoo" / "bin" / "kernel-zoo"
        program.parent.mkdir(parents=True)
        start = "import sys; from kzoo.__main__ import main; sys.exit(main())"
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{start}' \"$@\"\n")
        program.chmod(0o755)
        (work / "kernels").mkdir(parents=True)
        (work / "kernels" / "none.cu").write_text("__global__ void f() {}\n")
        shutil.copy(self.prefix / "share/kernel-zoo/template/mine.cu", work / "kernels")
        files = {"GITHUB_OUTPUT": temp / "output", "GITHUB_STEP_SUMMARY": temp / "summary"}
        given = {"KERNELS": "kernels/*.cu\n", "PROBLEMS": "quick", "VERIFY": "quick", "DEVICE": "cpu"}
        ran = subprocess.run(
            ["bash", "-e", "-c", script("judge")],
            env={
                name: str(value)
                for name, value in (
                    os.environ | given | files | {
                        "BENCHMARK": "", "BASELINE": "", "RUNNER_TEMP": temp, "PYTHONPATH": self.site,
                        "KZOO_RUNNER": self.prefix / "bin" / "runner",
                        "PATH": f"{self.compiler.parent}:{os.environ['PATH']}",
                        "XDG_CACHE_HOME": self.folder / "cache",
                    }
                ).items()
            },
            cwd=work,
            text=True,
            capture_output=True,
            check=False,
        )  # fmt: skip
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("::error file=kernels/none.cu::COMPILE_ERROR", ran.stderr)
        summary = files["GITHUB_STEP_SUMMARY"].read_text()
        for row in ("| kernels/mine.cu | PASSED |", "| kernels/none.cu | COMPILE_ERROR |"):
            self.assertIn(row, summary)
        self.assertEqual(files["GITHUB_OUTPUT"].read_text(), f"verdicts={temp}/verdicts.jsonl\n")


if __name__ == "__main__":
    unittest.main()
