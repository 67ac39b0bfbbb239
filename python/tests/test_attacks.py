"""Attacks that are known from judges of Python kernels, as submissions.

KZOO_RUNNER names the program, KZOO_BUILD the build folder with tests/hostile, where most of them are."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import kzoo

HOSTILE = Path(os.environ["KZOO_BUILD"]) / "hostile"
PROBLEMS = """plugins = ["serial"]
[problem]
sizes = [64]
[timing]
rounds = 5
min_samples = 10
max_seconds = 0.2
"""

_kept = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = _kept.name
unittest.addModuleCleanup(_kept.cleanup)


class Attack(NamedTuple):
    what: str
    kernel: str  # a file of attacks/, or of tests/hostile with its variant
    status: str
    check: str | None
    reason: str  # an expression that it contains


HACK, WRONG, FAILED = "REWARD_HACK", "INCORRECT_NUMERICAL", "RUNTIME_ERROR"
ATTACKS = [
    Attack("keeps results by address", "keeps_results.cu:by_address", HACK, "kept result", "kept from an earlier call"),
    Attack("keeps results by shape", "keeps_results.cu:by_shape", HACK, "kept result", "kept from an earlier call"),
    Attack("computes once", "state:computes_once", WRONG, "new contents", "right at first.*wrote nothing"),
    Attack("launches nothing", "launches:unchecked", WRONG, "result", "wrote nothing"),
    Attack("writes constants", "wrong_results:constant_output", WRONG, "result", "every element is 0"),
    Attack("reads what is expected", "reads_expected.cu", FAILED, None, "the judge's memory cannot be read"),
    Attack("answers for its worker", "process:forges_reply", HACK, "channel", "worker's own channel"),
    Attack("TF32 for fp32", "precision:tf32_inputs", WRONG, "result", "rounded to TF32"),
    Attack("computes when it is read", "native:computes_when_read", WRONG, "result", "wrote nothing"),
    Attack("replaces a timer in Python", "patches_timer.py", "COMPILE_ERROR", "source", "Python"),
    Attack("writes past C", "memory:writes_outside", WRONG, "memory writes", "written outside C"),
    Attack("rounds its inputs", "memory:rounds_in_place", WRONG, "memory writes", "wrote to its input A"),
    Attack("changes an input for a while", "native:writes_and_restores", WRONG, "memory writes", "put back"),
]  # fmt: skip
ON_A_GPU = [
    Attack("works on a stream of its own", "cuda_runtime:other_stream", HACK, "stream", "stream that it is given"),
    Attack("works on the default stream", "cuda_runtime:default_stream", HACK, "stream", "stream that it is given"),
]  # fmt: skip


def submission(name: str, device: str) -> str:
    if "." in name:  # a suffix
        return str(ROOT / "python" / "tests" / "attacks" / name)
    library, variant = name.split(":")
    return f"{HOSTILE / device / library}.so:{variant}"


class Attacks(unittest.TestCase):
    def check(self, attacks: list[Attack], device: str, problems: str) -> None:
        files = [submission(attack.kernel, device) for attack in attacks]
        verdicts = kzoo.judge_all(files, problems=problems, device=device)
        for attack, verdict in zip(attacks, verdicts, strict=True):
            with self.subTest(attack.what):
                self.assertEqual((verdict.status, verdict.check), (attack.status, attack.check), verdict)
                self.assertRegex(verdict.reason, attack.reason)
                self.assertIsNone(verdict.speedup)

    def test_they_are_found(self) -> None:
        self.check(ATTACKS, "cpu", PROBLEMS)

    def test_they_are_found_on_a_gpu(self) -> None:
        if not (HOSTILE / "cuda" / "cuda_runtime.so").exists():
            self.skipTest("it is not built for GPUs")
        try:
            self.check(ON_A_GPU, "cuda", PROBLEMS.replace("64", "1024"))
        except kzoo.NoSuchDevice:
            self.skipTest("there is no GPU here")

    def test_a_thread_that_finishes_late_is_found(self) -> None:
        """Where it waits for a core until C has been read, nothing of its rows is there."""
        late = submission("threads:finishes_later", "cpu")
        verdict = kzoo.judge(late, problems=PROBLEMS.replace("64", "256"), device="cpu", tier="quick")
        found = {(HACK, "unfinished work"): "C still changes", (WRONG, "result"): "not written"}
        self.assertIn(found[verdict.status, verdict.check], verdict.reason)

    def test_those_without_effect_take_their_time(self) -> None:
        """Timers of the same names, and clocks of the worker, which does not time itself."""
        kernels = ["replaces_timers.cu", "native:slows_clock", "native:patches_clock", "native:honest"]
        files = [submission(kernel, "cpu") for kernel in kernels]
        verdicts = kzoo.judge_all(files, problems=PROBLEMS.replace("64", "96"), device="cpu", tier="quick")
        self.assertEqual([v.status for v in verdicts], ["PASSED"] * 4, verdicts)
        replaced, slow, patched, honest = (v.problems[0].time_ms for v in verdicts)
        self.assertGreater(replaced, 20)
        self.assertGreater(slow, 0.5 * honest)
        self.assertGreater(patched, 0.5 * honest)


if __name__ == "__main__":
    unittest.main()
