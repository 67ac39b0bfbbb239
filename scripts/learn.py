"""Exercises for the steps of both ladders: `./zoo learn`.

A step's exercise.md says what is asked. Its starter.toml has changes to the step's own source, which make the
starter. The step itself is the solution.
"""

import difflib
import json
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LADDERS = {"fp32": "", "tensor_cores": "t"}  # what numbers of exercises begin with


@dataclass(frozen=True)
class Goal:
    """What xray has to count at 128 x 128 x 128."""

    access: str
    counter: str
    limit: int


@dataclass(frozen=True)
class Exercise:
    number: str
    folder: Path
    title: str
    page: str
    fields: dict[str, Any]
    changes: list[
        tuple[str, str, str]
    ]  # file (empty: the source), text of the step, text of the starter

    @property
    def step(self) -> str:
        return self.folder.name.partition("_")[2]

    @property
    def plugin(self) -> str:
        return f"my_{self.step}"

    @property
    def says(self) -> list[str]:
        """The parts of what `judge` says of the starter; none: it is right, and the goal is elsewhere."""
        said = re.search(r"\*\*It says\.\*\* `(.+)`", self.page)
        return said.group(1).split(" … ") if said else []

    @property
    def goal(self) -> Goal | None:
        if "goal" not in self.fields:
            return None
        words = self.fields["goal"].split()
        return Goal(" ".join(words[:2]), words[2], int(words[4]))

    def problems(self) -> str:
        sizes = ", ".join(f'"{size}"' for size in self.fields["sizes"])
        dtype = "f32" if self.folder.parent.name == "fp32" else "f16"
        return (
            f'device = "auto"\n[problem]\nsizes = [{sizes}]\ndtype = "{dtype}"\n'
            "[timing]\nrounds = 1\nmin_samples = 1\nmax_seconds = 0.01\n"
        )


def read_changes(text: str) -> list[tuple[str, str, str]]:
    changes = []
    for hunk in re.split(r"(?m)^@@", "\n" + text.strip("\n")):
        file, _, body = hunk.partition("\n")
        lines = body.strip("\n").split("\n") if body.strip() else []
        before, after = (
            "\n".join(line[1:] for line in lines if line[:1] in mark) for mark in (" -", " +")
        )
        if lines:
            changes.append((file.strip(), before, after))
    return changes


def read_exercise(page: Path) -> Exercise:
    text = page.read_text(encoding="utf-8")
    fields = tomllib.loads(page.with_name("starter.toml").read_text(encoding="utf-8"))
    number = LADDERS[page.parents[1].name] + page.parent.name.partition("_")[0]
    title = text.partition("\n")[0].removeprefix("# Exercise: ")
    return Exercise(number, page.parent, title, text, fields, read_changes(fields["changes"]))


def exercises() -> list[Exercise]:
    return [
        read_exercise(page)
        for ladder in LADDERS
        for page in sorted((ROOT / "plugins" / ladder).glob("*/exercise.md"))
    ]


def change(text: str, before: str, after: str) -> str:
    if not after:
        before += "\n"  # leaves no empty line where lines were
    if text.count(before) != 1:
        raise ValueError(f"the step has this {text.count(before)} times, not once:\n{before}")
    return text.replace(before, after)


def set_up(exercise: Exercise, runner: str, where: Path) -> Path:
    """Makes a folder with the starter, and returns the source in it."""
    start = exercise.fields.get("from", exercise.folder.name).partition("_")[2]
    made = subprocess.run(
        [runner, "new", exercise.plugin, "--from", start],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise SystemExit(made.stderr.strip())
    folder = where / exercise.plugin
    source = folder / f"{exercise.plugin}.cu"
    try:
        for name, before, after in exercise.changes:
            file = folder / name if name else source
            text = change(file.read_text(encoding="utf-8"), before, after)
            file.write_text(text, encoding="utf-8")
    except ValueError as e:
        shutil.rmtree(folder)  # a step without its hole is the solution
        raise SystemExit(f"zoo: exercise {exercise.number} cannot be made: {e}") from e
    (folder / "README.md").write_text(
        f"{exercise.page}\n```sh\n{commands(exercise, source)}\n```\n", encoding="utf-8"
    )
    (folder / "problems.toml").write_text(exercise.problems(), encoding="utf-8")
    return source


def judge(exercise: Exercise, runner: str, source: Path) -> subprocess.CompletedProcess[str]:
    """Whether the kernel is right: in the simulator, exit code 0."""
    problems = str(source.with_name("problems.toml"))
    cell = f"{source}:{exercise.fields['variant']}"
    command = [
        runner,
        "judge",
        cell,
        "--problems",
        problems,
        "--device",
        "cpu",
        "--verify",
        "quick",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def count(exercise: Exercise, goal: Goal, runner: str, source: Path) -> int:
    experiment = str(source.with_name("problems.toml"))
    cell = f"./{source.name}:{exercise.fields['variant']}@128"  # commas separate cells
    command = [runner, "xray", experiment, "--sizes", "128", "--cell", cell, "--json", "-"]
    found = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise SystemExit(found.stderr.strip())
    launches = json.loads(found.stdout)["cells"][0]["launches"]
    totals = [launch["totals"].get(goal.access, {}) for launch in launches]
    return sum(int(total.get(goal.counter, 0)) for total in totals)


def code_of(file: Path) -> list[str]:
    """Its lines without comments, indentation and the table of variants."""
    text = file.read_text(encoding="utf-8").partition("KZOO_PLUGIN")[0]
    lines = (line.partition("//")[0].strip() for line in text.split("\n"))
    return [line for line in lines if line]


def solution(exercise: Exercise, source: Path, name: str) -> str:
    """Where the step has what was to be mended, and how much differs there: more ways than one are right."""
    own = exercise.folder / (name or f"{exercise.step}.cu")
    if not own.exists():  # a header of several steps
        own = ROOT / "plugins" / name
    where = str(own.relative_to(ROOT))
    if "from" in exercise.fields:  # the starter is another step's
        return where
    mine = code_of(source.parent / name if name else source)
    changes = difflib.SequenceMatcher(None, mine, code_of(own), autojunk=False).get_opcodes()
    lines = sum(max(b - a, d - c) for tag, a, b, c, d in changes if tag != "equal")
    return where if lines == 0 else f"{where} (yours differs in {lines} line{'s' * (lines > 1)})"


def check(exercise: Exercise, runner: str, source: Path) -> int:
    """Says whether an exercise is solved, as an exit code, too."""
    judged = judge(exercise, runner, source)
    print((judged.stdout or judged.stderr).strip().replace("; ", ";\n  "))
    if judged.returncode != 0:
        return 1
    if (goal := exercise.goal) is not None:
        counted = count(exercise, goal, runner, source)
        if not 0 < counted <= goal.limit:
            wanted = goal.limit if counted else f"1 to {goal.limit}"
            print(f"right, with {counted} {goal.counter} of {goal.access}s; the goal is {wanted}")
            return 1
    print(f"solved. The prediction: {exercise.fields['answer']}")
    for name in dict.fromkeys(name for name, _, _ in exercise.changes):
        print(f"The step's own source: {solution(exercise, source, name)}")
    return 0


def list_exercises() -> None:
    print("number  minutes  step                exercise")
    for exercise in exercises():
        print(
            f"{exercise.number:6}  {exercise.fields['minutes']:>7}  {exercise.step:18}  {exercise.title}"
        )
    print(
        "\n./zoo learn 05 makes a folder with the starter of 05; again, it says whether it is solved."
    )


def commands(exercise: Exercise, source: Path) -> str:
    folder = source.parent.name
    file, problems = f"{folder}/{source.name}", f"{folder}/problems.toml"
    return (
        f"# The step: {exercise.folder.relative_to(ROOT)}/README.md\n"
        f"./zoo judge {file} --problems {problems}   # what is wrong with it\n"
        f"./zoo watch {file} {problems}   # the same whenever you save it\n"
        f"./zoo xray {problems} --cell {file}:{exercise.fields['variant']} --lines   # its accesses\n"
        f"./zoo learn {exercise.number}   # whether it is solved"
    )


def introduce(exercise: Exercise, source: Path) -> None:
    parts = (part.replace("**", "") for part in exercise.page.split("\n\n")[1:])
    print(f"Exercise: {exercise.title}", *(textwrap.fill(part, 100) for part in parts), sep="\n\n")
    print(f"\n{commands(exercise, source)}")


def main(runner: str, numbers: list[str]) -> int:
    if not numbers:
        list_exercises()
        return 0
    found = [exercise for exercise in exercises() if exercise.number == numbers[0]]
    if not found or len(numbers) > 1:
        print(
            f"zoo: learn takes the number of one exercise, as ./zoo learn lists them, not '{' '.join(numbers)}'"
        )
        return 2
    source = Path.cwd() / found[0].plugin / f"{found[0].plugin}.cu"
    if source.exists():
        return check(found[0], runner, source)
    introduce(found[0], set_up(found[0], runner, Path.cwd()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
