"""What scripts/course.py makes is in the tree, and its figures have the wavefronts and sectors that xray counts."""

import json
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import course
import figures

COUNTS = json.loads(course.COUNTS.read_text(encoding="utf-8"))  # by size


def drawn(name: str) -> list[int]:
    """The numbers of sectors or wavefronts in the titles of a step's figure."""
    [step] = [
        one
        for ladder in ("fp32", "tensor_cores")
        for one in course.steps_of(ladder)
        if one.name == name
    ]
    svg = figures.figure(step.name, step.folder, step.variant)
    return [int(number) for number in re.findall(r": (\d+) (?:sector|wavefront)", svg)]


class Course(unittest.TestCase):
    def test_what_is_made_is_in_the_tree(self) -> None:
        self.assertEqual(course.main(["--check"]), 0)

    def test_the_site_has_lines_and_counters_of_all_steps(self) -> None:
        text = course.pages()["docs/ladder.md"]
        for ladder in course.learn.LADDERS:
            for step in course.steps_of(ladder):
                self.assertRegex(text, rf"\| {step.name} \| [\d.]+ (\| \d+ ){{5}}\| \w", step.name)
                self.assertRegex(text, rf"\| {step.name} \| \d+ \| .*\| \d+ / \d+ \|", step.name)

    def test_the_site_has_the_differences(self) -> None:
        pages = course.pages()
        del pages["docs/ladder.md"]
        self.assertEqual(
            len(pages), sum(len(course.steps_of(ladder)) - 1 for ladder in course.learn.LADDERS)
        )
        for name, text in pages.items():
            self.assertRegex(text, r"```diff\n(.*\n)*[-+]", name)
            self.assertNotIn("git diff", text, name)

    def test_a_page_without_a_place_for_the_difference_is_refused(self) -> None:
        before, step = course.steps_of("fp32")[:2]
        text = step.readme.read_text(encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "coalesced/README.md does not have this line once"):
            course.with_difference(text.replace("**Difference**", "**Differences**"), step, before)

    def test_each_step_is_counted(self) -> None:
        for ladder in ("fp32", "tensor_cores"):
            for step in course.steps_of(ladder):
                counts = COUNTS[str(step.counted_size)][step.name]
                self.assertGreater(sum(map(len, counts.values())), 2, step.name)

    def test_sectors(self) -> None:
        for name in ("naive", "coalesced"):
            a, b, c = drawn(name)
            counts = COUNTS["128"][name]
            self.assertEqual(
                counts["global load"]["sectors"], counts["global load"]["requests"] // 2 * (a + b)
            )
            self.assertEqual(
                counts["global store"]["sectors"], counts["global store"]["requests"] * c
            )

    def test_wavefronts(self) -> None:
        for name in ("float4", "bank_conflict_free"):
            a, b, store = drawn(name)
            loads, stores = COUNTS["128"][name]["shared load"], COUNTS["128"][name]["shared store"]
            self.assertEqual(loads["wavefronts"], loads["requests"] // 2 * (a + b))
            # Of five stores, four are of A's elements; the fifth stores 16 bytes of B for each lane.
            self.assertEqual(stores["wavefronts"], stores["requests"] // 5 * (4 * store + 4))
        a, b = drawn("warp_tiles")
        loads = COUNTS["128"]["warp_tiles"]["shared load"]
        self.assertEqual(loads["wavefronts"], loads["requests"] // 2 * (a + b))


if __name__ == "__main__":
    unittest.main()
