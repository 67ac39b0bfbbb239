"""The exercises of the course: each starter can be made, fails with the words of its page, and passes when it is mended.

exercises.py RUNNER: all are made, some are judged; with KZOO_ALL_EXERCISES=1 all are, and steps are counted, in minutes.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import course
import learn

RUNNER = str(Path(sys.argv.pop(1)).resolve())
SAMPLE = ("01", "03", "05", "12", "t05", "t08")
ALL = os.environ.get("KZOO_ALL_EXERCISES") == "1"
EXERCISES = {exercise.number: exercise for exercise in learn.exercises()}
JUDGED = [EXERCISES[number] for number in (EXERCISES if ALL else SAMPLE)]


def in_order(parts: list[str], text: str) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def printed(numbers: list[str]) -> tuple[int, str]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = learn.main(RUNNER, numbers)
    return code, out.getvalue()


class Exercises(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="exercises ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(self.folder)

    def test_each_step_has_one(self) -> None:
        steps = [
            step
            for ladder in learn.LADDERS
            for step in (learn.ROOT / "plugins" / ladder).glob("[0-9]*")
        ]
        self.assertEqual({exercise.folder for exercise in EXERCISES.values()}, set(steps))

    def test_each_can_be_made_and_says_what_to_do(self) -> None:
        for exercise in EXERCISES.values():
            with self.subTest(exercise.number):
                code, text = printed([exercise.number])
                self.assertEqual(code, 0)
                self.assertIn(f"./zoo learn {exercise.number}", text)
                made = {file.name for file in (self.folder / exercise.plugin).rglob("*")}
                self.assertNotIn("starter.toml", made)
                self.assertTrue(exercise.says or exercise.goal)

    def test_what_is_there_is_not_overwritten(self) -> None:
        source = learn.set_up(EXERCISES["01"], RUNNER, self.folder)
        source.write_text("mine")
        with self.assertRaisesRegex(SystemExit, "my_naive"):
            learn.set_up(EXERCISES["01"], RUNNER, self.folder)
        self.assertEqual(source.read_text(), "mine")

    def test_a_number_that_is_none(self) -> None:
        code, text = printed(["99"])
        self.assertEqual((code, "not '99'" in text), (2, True))
        self.assertIn("05           10  float4", printed([])[1])

    def test_starters_fail_as_their_pages_say(self) -> None:
        def judged(exercise: learn.Exercise) -> tuple[learn.Exercise, int, str]:
            source = learn.set_up(exercise, RUNNER, self.folder)
            said = learn.judge(exercise, RUNNER, source)
            return exercise, said.returncode, said.stdout + said.stderr

        with ThreadPoolExecutor(2) as pool:
            for exercise, code, text in pool.map(judged, JUDGED):
                with self.subTest(exercise.number):
                    self.assertEqual(code, 1 if exercise.says else 0, text)
                    self.assertTrue(in_order(exercise.says, text), text)

    def test_a_mended_starter_is_solved(self) -> None:
        for exercise in (EXERCISES["03"], EXERCISES["06"]):
            source = learn.set_up(exercise, RUNNER, self.folder)
            for _, before, after in exercise.changes:
                source.write_text(learn.change(source.read_text(), after, before))
            code, text = printed([exercise.number])
            self.assertEqual(code, 0, text)
            self.assertIn("solved. The prediction: ", text)
            self.assertNotIn("yours differs", text)

    def test_other_ways_are_told(self) -> None:
        both_contiguous = learn.set_up(EXERCISES["04"], RUNNER, self.folder)
        text = both_contiguous.read_text()
        columns = ("col0 + tx + j * Tile::kThreadsX, acc", "col0 + tx * Tile::kTN + j, acc")
        both_contiguous.write_text(learn.change(text, *columns))
        code, text = printed(["04"])
        self.assertEqual(code, 1, text)
        self.assertIn("of shared loads; the goal is 12288", text)

        forwards = learn.set_up(EXERCISES["07"], RUNNER, self.folder)
        forwards.write_text(learn.change(forwards.read_text(), "acc[i][j] +=", "acc[i][x] +="))
        code, text = printed(["07"])
        self.assertEqual(code, 0, text)
        self.assertIn("outer_product.cu (yours differs in 1 line)", text)

    def test_the_solution_is_where_the_fault_was(self) -> None:
        for number, file in {
            "t02": "plugins/tensor_cores/common/wmma_tile.hpp",
            "t05": "plugins/tensor_cores/05_mma/mma_tile.hpp",
        }.items():
            source = learn.set_up(EXERCISES[number], RUNNER, self.folder)
            [name] = {name for name, _, _ in EXERCISES[number].changes}
            said = learn.solution(EXERCISES[number], source, name)
            self.assertEqual(said, f"{file} (yours differs in 1 line)")

    def test_a_kernel_without_what_the_goal_counts(self) -> None:
        found = json.dumps({"cells": [{"launches": [{"totals": {}}]}]})
        ran = subprocess.CompletedProcess([], 0, found, "")
        learn.set_up(EXERCISES["10"], RUNNER, self.folder)
        with mock.patch.object(learn.subprocess, "run", return_value=ran):
            code, text = printed(["10"])
        self.assertEqual(code, 1)
        self.assertIn("0 wavefronts of shared loads; the goal is 1 to 8192", text)

    def test_goals_are_what_the_steps_reach_and_starters_do_not(self) -> None:
        for exercise in EXERCISES.values():
            if exercise.goal is None or (exercise.number != "02" and not ALL):
                continue
            with self.subTest(exercise.number):
                source = learn.set_up(exercise, RUNNER, self.folder)
                code, text = printed([exercise.number])
                self.assertEqual(code, 1)
                if exercise.says:
                    self.assertTrue(in_order(exercise.says, text), text)
                else:
                    self.assertIn("the goal is", text)
                source.write_text((exercise.folder / f"{exercise.step}.cu").read_text())
                self.assertEqual(printed([exercise.number])[0], 0)

    @unittest.skipUnless(ALL, "KZOO_ALL_EXERCISES=1 counts")
    def test_counts_are_those_of_the_steps(self) -> None:
        self.assertEqual(course.count(RUNNER), course.COUNTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
