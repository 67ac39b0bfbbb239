"""The module over the program that is built: KZOO_RUNNER names it."""

import contextlib
import dataclasses
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import kzoo

MINE = (ROOT / "sdk" / "template" / "mine.cu").read_text()
EXPERIMENT = """title = "Für später"
plugins = ["serial:ikj"]
baseline = "serial:ikj"
[problem]
sizes = [16]
[timing]
rounds = 5
min_samples = 5
max_seconds = 0.1
"""


_kept = tempfile.TemporaryDirectory(prefix="a b é ")
os.environ["XDG_CACHE_HOME"] = _kept.name
unittest.addModuleCleanup(_kept.cleanup)


def stored(name: str, text: str) -> Path:
    """A file of always the same name, which is compiled once."""
    file = Path(_kept.name) / name
    file.write_text(text)
    return file


WRONG = MINE.replace("float sum = 0;", "float sum = 1;")
LOW = """// kzoo: entry=f grid=M,N block=1 precision=tf32 arguments=A,B,C,N,K
__global__ void f(const float* a, const float* b, float* c, int n, int k) {
  float sum = 0;
  const int row = blockIdx.x, col = blockIdx.y;
  for (int l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + col];
  c[row * n + col] = sum;
}
"""
BROKEN = MINE.replace("float sum = 0;", "flaot sum = 0;")


class Judging(unittest.TestCase):
    def test_a_text_is_judged(self) -> None:
        verdict = kzoo.judge(MINE, problems=EXPERIMENT, tier="quick", device="cpu")
        self.assertTrue(verdict.passed, verdict)
        self.assertEqual((verdict.status, verdict.verdict, verdict.tier), ("PASSED", "pass", "quick"))
        self.assertEqual(verdict.problems[0].kernel, "kernel:16x16")
        self.assertEqual(verdict.problems[0].problem["m"], 16)
        self.assertIsNone(verdict.speedup)  # of a simulator
        self.assertEqual(verdict.document["schema"], "kzoo.judgement/1")
        self.assertEqual(verdict.precisions, ("fp32",))
        self.assertEqual(verdict.problems[0].precision, "fp32")
        self.assertTrue(verdict.host_code)

    def test_verdicts_are_in_the_order_of_the_kernels(self) -> None:
        kernels = [BROKEN, stored("wrong.cu", WRONG), str(stored("mine.cu", MINE))]
        all_of_them = kzoo.judge_all(kernels, problems=EXPERIMENT, tier="quick", device="cpu")
        self.assertEqual(
            [v.status for v in all_of_them], ["COMPILE_ERROR", "INCORRECT_NUMERICAL", "PASSED"]
        )
        self.assertRegex(all_of_them[0].reason, r"(?m)^kernel\.cu:\d+:.*flaot")
        self.assertEqual(all_of_them[1].check, "result")
        self.assertTrue(str(all_of_them[1]).startswith("INCORRECT_NUMERICAL in fp32: "))

    def test_the_problem_says_how_precise(self) -> None:
        file = stored("low.cu", LOW)
        declined = kzoo.judge(file, problems=EXPERIMENT, tier="quick", device="cpu")
        self.assertEqual((declined.status, declined.check), ("INCORRECT_DTYPE", "precision"))
        self.assertIn('allow = ["tf32"]', declined.reason)
        allowed = 'allow = ["tf32"]\n' + EXPERIMENT
        verdict = kzoo.judge(file, problems=allowed, tier="quick", device="cpu")
        self.assertEqual(str(verdict), "PASSED in tf32")
        self.assertEqual(verdict.problems[0].problem["allow"], ["tf32"])

    def test_on_the_cpu_no_kernel_is_device_code_alone(self) -> None:
        with self.assertRaisesRegex(kzoo.BadInput, "on the cpu device a kernel is host code"):
            kzoo.judge(MINE, problems=EXPERIMENT, device="cpu", device_code_only=True)

    def test_an_option_of_the_compiler_needs_no_list(self) -> None:
        text = MINE + "#if WORD != 4\n#error it is not said\n#endif\n"
        for given in ("-DWORD=4", ["-DWORD=4"]):
            verdict = kzoo.judge(text, problems=EXPERIMENT, tier="quick", device="cpu", build_args=given)
            self.assertTrue(verdict.passed, verdict)

    def test_no_kernels_have_no_verdicts(self) -> None:
        self.assertEqual(kzoo.judge_all([]), [])

    def test_a_text_that_was_judged_costs_no_compiler(self) -> None:
        for text in (MINE, stored("kernel.cu", MINE), MINE):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                verdict = kzoo.judge(text, problems=EXPERIMENT, tier="quick", device="cpu", progress=True)
            self.assertEqual((verdict.status, verdict.reward()), ("PASSED", 1.0))
        self.assertNotIn("compiled", said.getvalue())

    def test_rewards_follow_from_the_status(self) -> None:
        verdict = kzoo.judge(stored("wrong.cu", WRONG), problems=EXPERIMENT, tier="quick", device="cpu")
        self.assertEqual(verdict.reward(), 0)
        self.assertIsNone(dataclasses.replace(verdict, status="JUDGE_ERROR").reward())
        passed = dataclasses.replace(verdict, status="PASSED", speedup=1.5)
        self.assertEqual(passed.reward(), 1.5)

    def test_no_gpu_is_not_charged_to_a_kernel_for_one(self) -> None:
        stored("f.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 c) { ret; }\n")
        manifest = stored("f.toml", 'kernel = "f.ptx"\nentry = "f"\ngrid = [1]\nblock = 32\narguments = ["C"]\n')
        verdict = kzoo.judge(manifest, problems=EXPERIMENT, device="cpu")
        self.assertEqual((verdict.status, verdict.check), ("JUDGE_ERROR", "judge"), verdict)
        self.assertIn("there is no cpu build of it here", verdict.reason)

    def test_a_function_of_triton_is_compiled_first(self) -> None:
        no_triton = mock.patch.dict(sys.modules, {"triton": None})
        with no_triton, self.assertRaisesRegex(kzoo.Error, "pip install triton"):
            kzoo.judge(len, grid=1)
        with self.assertRaisesRegex(TypeError, "grid: only for a function of @triton.jit"):
            kzoo.judge("mine.cu", grid=1)

    def test_a_function_of_triton_is_no_list_of_kernels(self) -> None:
        class Function:  # as of @triton.jit
            def __call__(self) -> None:
                pass

            def __getitem__(self, grid: object) -> "Function":
                return self

        for given in (Function(), [Function()]):
            for call in (kzoo.judge_all, lambda one: kzoo.run(plugins=one)):
                with self.assertRaisesRegex(TypeError, "what kzoo.triton_kernel makes of it"):
                    call(given)


class Compiling(unittest.TestCase):
    def test_a_library_is_judged_as_its_source(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            library = kzoo.compile(stored("mine.cu", MINE), Path(folder) / "built", device="cpu")
            self.assertEqual(library.name, "mine.so")
            self.assertTrue(kzoo.judge(library, problems=EXPERIMENT, tier="quick", device="cpu").passed)
        with self.assertRaisesRegex(kzoo.BadInput, "flaot"):
            kzoo.compile(BROKEN, device="cpu")


class Names(unittest.TestCase):
    def test_the_module_has_a_version(self) -> None:
        self.assertRegex(kzoo.__version__, r"^\d+\.\d+\.\d+$")
        with self.assertRaises(AttributeError):
            kzoo.nothing  # noqa: B018

    def test_they_are_as_users_import_them(self) -> None:
        self.assertEqual(repr(kzoo.BadInput), "<class 'kzoo.BadInput'>")
        self.assertEqual({getattr(kzoo, name).__module__ for name in kzoo.__all__}, {"kzoo"})

    def test_each_parameter_is_described(self) -> None:
        for function in (kzoo.judge, kzoo.run, kzoo.tune):
            self.assertIn("Parameters:", function.__doc__)
            self.assertIn("Raises:", function.__doc__)


class Tuning(unittest.TestCase):
    SPACE = """// kzoo: native
// kzoo: tune STEP=1,2
#include <kzoo/plugin.hpp>
struct steps {
  void run(const kzoo::gemm<float>& g, kzoo::stream_t) const {
    for (int i = 0; i < g.m; i += STEP)
      for (int row = i; row < i + STEP && row < g.m; ++row)
        for (int j = 0; j < g.n; ++j) {
          float sum = 0;
          for (int k = 0; k < g.k; ++k) sum += g.a_at(row, k) * g.b_at(k, j);
          g.store(row, j, sum);
        }
  }
};
KZOO_PLUGIN("steps", "A product", kzoo::variant<steps>("all", "STEP rows"));
"""

    def test_the_fastest_point_is_found_and_exported(self) -> None:
        source = stored("steps.cpp", self.SPACE)
        tuned = kzoo.tune(source, [(8, 9, 10)], device="cpu", budget="20s", baseline="serial:ikj")
        best = tuned.best()["8x9x10 f32"]
        self.assertIn(best["parameters"], ({"STEP": 1}, {"STEP": 2}))
        self.assertIn("steps:STEP", repr(tuned))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tuned.json"
            tuned.save(file)
            project = kzoo.Tuned.load(file).export(Path(folder) / "fastest")
            self.assertIn("fastest_f32_nn(", (project / "fastest.h").read_text())
            with self.assertRaisesRegex(kzoo.BadInput, "is there already"):
                tuned.export(project)

    def test_the_problems_are_those_of_an_experiment(self) -> None:
        source = stored("steps.cpp", self.SPACE)
        problems = '[problem]\nsizes = ["6x5x4"]\nbeta = 0.5\n'
        tuned = kzoo.tune(
            source, problems=problems, device="cpu", budget=20, baseline="serial:ikj"
        )
        self.assertEqual(["6x5x4 f32 beta=0.5"], list(tuned.best()))

    def test_a_wrong_call_is_refused_in_the_program_s_words(self) -> None:
        with self.assertRaisesRegex(kzoo.BadInput, "expected a time such as 60s"):
            kzoo.tune(stored("steps.cpp", self.SPACE), [16], device="cpu", budget="soon")


class Running(unittest.TestCase):
    def test_a_result_has_cells_tables_and_a_page(self) -> None:
        result = kzoo.run(EXPERIMENT, plugins=["serial", "naive:8x8"], sizes=[8, (9, 10, 11)], device="cpu")
        self.assertTrue(result.passed)
        self.assertEqual({c["problem"]["name"] for c in result.cells}, {"8x8x8 f32", "9x10x11 f32"})
        best = result.best()
        self.assertEqual(set(best), {"8x8x8 f32", "9x10x11 f32"})
        for name, cell in best.items():
            times = [
                c["time"]["median_ms"]
                for c in result.cells
                if c["problem"]["name"] == name and c["plugin"] == "serial"
            ]
            self.assertEqual(cell["time"]["median_ms"], min(times))
        self.assertIn("naive:8x8", result.table())
        self.assertIn("| naive:8x8", result.table(markdown=True))
        self.assertIn("Für später", repr(result))
        self.assertIn("<iframe srcdoc=", result._repr_html_())
        self.assertIn("&lt;html", result._repr_html_())

    def test_one_needs_no_list_and_a_simulator_ranks_nothing(self) -> None:
        result = kzoo.run(EXPERIMENT, plugins="naive:8x8", sizes=8, device="cpu", batches=2, layouts="nt")
        self.assertEqual([c["problem"]["name"] for c in result.cells], ["8x8x8 f32 nt batch=2"])
        self.assertEqual(result.best(), {})

    def test_results_are_stored_and_compared(self) -> None:
        result = kzoo.run(EXPERIMENT, device="cpu")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "r.json"
            result.save(file)
            again = kzoo.Result.load(file)
            self.assertEqual(again.cells, result.cells)
            same = kzoo.compare(file, again)
        self.assertFalse(same.regression)
        self.assertIn("serial:ikj", same.table())
        self.assertIn("serial:ikj", kzoo.compare(result, baseline="serial:ikj").table())

    def test_a_kernel_that_fails_is_part_of_the_result(self) -> None:
        result = kzoo.run(EXPERIMENT, plugins=[stored("wrong.cu", WRONG)], device="cpu")
        self.assertFalse(result.passed)
        self.assertEqual(result.cells[0]["verdict"], "wrong")
        self.assertEqual(result.best(), {})

    def test_pandas_has_a_row_for_each_cell(self) -> None:
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = kzoo.run(EXPERIMENT, sizes=[8, 9], device="cpu").to_pandas()
        self.assertEqual(len(frame), 2)
        self.assertEqual(set(frame["verdict"]), {"pass"})

    def test_what_the_program_says_is_passed_on_to_who_watches(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            kzoo.run(EXPERIMENT, device="cpu", progress=True)
        self.assertIn("16x16x16", shown.getvalue())


class Errors(unittest.TestCase):
    def fails(self, kind: type[kzoo.Error], words: str, **given: object) -> None:
        with self.assertRaises(kind) as caught:
            kzoo.run(**{"experiment": EXPERIMENT, "device": "cpu", **given})  # type: ignore[arg-type]
        self.assertIn(words, str(caught.exception))
        self.assertFalse(str(caught.exception).startswith("error: "))

    def test_the_program_says_what_is_wrong(self) -> None:
        self.fails(kzoo.BadInput, "ladder", experiment="laddr")
        self.fails(kzoo.BadInput, "names no plugin", plugins=["nosuch"])
        self.fails(kzoo.BadInput, "does not compile for cpu", plugins=[BROKEN])
        with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""):
            self.fails(kzoo.NoSuchDevice, "There is no CUDA device", device="cuda")

    def test_a_comma_is_no_part_of_a_plugin(self) -> None:
        with self.assertRaises(ValueError):
            kzoo.run(EXPERIMENT, plugins=["naive,serial"], device="cpu")

    def test_a_program_that_is_not_there(self) -> None:
        no_program = mock.patch.dict(os.environ, KZOO_RUNNER="/nonexistent/runner")
        with no_program, self.assertRaises(FileNotFoundError):
            kzoo.run(EXPERIMENT)

    def test_time_runs_out(self) -> None:
        start = time.monotonic()
        with self.assertRaises(kzoo.TimedOut):
            kzoo.run(EXPERIMENT, plugins=["naive:8x8"], sizes=[4096], device="cpu", timeout=1)
        self.assertLess(time.monotonic() - start, 30)


LONG_RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import kzoo
kzoo.run(sys.argv[2], plugins="naive:8x8", sizes=2048, device="cpu")
"""


def descendants(pid: int) -> set[int]:
    """Processes that this one has started, or that have those as parents."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


class Interrupting(unittest.TestCase):
    def test_ctrl_c_leaves_nothing_behind(self) -> None:
        self.assertIn("KeyboardInterrupt", self.ends_by(signal.SIGINT))

    def test_a_trainer_that_is_ended_or_killed_leaves_no_program(self) -> None:
        self.assertEqual(self.ends_by(signal.SIGTERM), "")
        self.assertEqual(self.ends_by(signal.SIGKILL), "")

    def ends_by(self, number: int) -> str:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        python = subprocess.Popen(
            [sys.executable, "-c", LONG_RUN, str(ROOT / "python"), EXPERIMENT],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": kept.name},
        )
        for _ in range(600):  # until the kernel's worker is there
            started = descendants(python.pid)
            if len(started) >= 2:
                break
            time.sleep(0.05)
        self.assertGreaterEqual(len(started), 2)
        time.sleep(0.5)  # until the program catches signals
        python.send_signal(number)
        _, said = python.communicate(timeout=60)
        for _ in range(200):
            left = [pid for pid in started if Path(f"/proc/{pid}").exists()]
            if not left:
                break
            time.sleep(0.05)
        self.assertEqual(left, [])
        if number != signal.SIGKILL:
            self.assertEqual(list(Path(kept.name).iterdir()), [])
        return said


class Pytest(unittest.TestCase):
    def test_a_kernel_that_fails_fails_its_test(self) -> None:
        try:
            import pytest  # noqa: F401
        except ImportError:
            self.skipTest("pytest is not installed")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "mine.cu").write_text(MINE)
            (Path(folder) / "wrong.cu").write_text(WRONG)
            (Path(folder) / "test_both.py").write_text(
                f"P = {EXPERIMENT!r}\n"
                "def test_mine(kzoo_judge):\n"
                "    assert kzoo_judge('mine.cu', problems=P, tier='quick', device='cpu').passed\n"
                "def test_wrong(kzoo_judge):\n"
                "    kzoo_judge('wrong.cu', problems=P, tier='quick', device='cpu')\n"
            )
            command = [sys.executable, "-m", "pytest", "-q", "-p", "kzoo._pytest", folder]
            environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
            ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        self.assertIn("1 failed, 1 passed", ran.stdout)
        self.assertIn("INCORRECT_NUMERICAL in fp32: ", ran.stdout)


class Types(unittest.TestCase):
    def test_they_are_right(self) -> None:
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache]
            command += ["--ignore-missing-imports", str(ROOT / "python" / "kzoo")]
            checked = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)


if __name__ == "__main__":
    unittest.main()
