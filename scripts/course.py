"""The part of each step's README that is made: its figure, its counts, its speed. The site adds the difference to
the step before, and to docs/ladder.md how far apart steps are, and what a GPU's counters say of them.

course.py RUNNER --count       counts memory accesses of all steps, into tests/fixtures
course.py --profile FILE...    keeps there what the site shows of counters that `profile --json FILE` wrote
course.py                      writes the parts and the figures
course.py --check              says where they are not what it would write
"""

import difflib
import json
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import figures
import learn

ROOT = learn.ROOT
FIXTURES = ROOT / "tests" / "fixtures"
COUNTS = FIXTURES / "course-counts.json"
LADDER = ROOT / "docs" / "ladder.md"
PROFILE = FIXTURES / "course-profile.json"
BEGIN, END = "<!-- made by scripts/course.py -->\n", "<!-- /made -->\n"
# One variant of each step on tensor cores; those of fp32 are in the experiment ladder.
TENSOR_CORES = {
    "wmma_simple": "64x64x32_16x16",
    "wmma_warp_tiles": "128x128x32_64x64",
    "wmma_stages": "128x256x32_64x64",
    "wmma": "128x256x32_64x64",
    "mma": "128x256x64_64x64",
    "wgmma": "128x128x64",
    "tma": "128x128x64",
    "warp_specialized": "128x128x64",
    "wide_tiles": "128x256x64",
    "tile_scheduler": "128x256x64",
    "tma_store": "128x256x64",
    "clusters": "128x256x64_2x1",
}
# Steps of fp32 with tiles of 128 x 256, and what comes after them: counted where no tile extends past an edge of C.
WIDE = {"cp_async", "multistage", "stream_k", "pipelined", "sliced_k"}
# Steps whose fragments warp-wide operations load.
FRAGMENTS = {"wmma_simple", "wmma_warp_tiles", "wmma_stages", "wmma", "mma"}
# Steps whose threads store two neighbours of 16 bits at a time: one instruction on a GPU, two in the simulator.
PAIRS = {"mma", "wgmma", "tma", "warp_specialized", "wide_tiles", "tile_scheduler"}
# Stored results with the steps as they are, and the problem that a page quotes.
RESULTS = {
    "fp32": ("h100-ladder.json", "4096x4096x4096 f32"),
    "tensor_cores": ("h100-tensor.json", "4096x4096x4096 bf16"),
}
# Steps whose source changed after these results.
CHANGED: set[str] = set()
COLUMNS = {
    "global load requests": ("global load", "requests"),
    "global load sectors": ("global load", "sectors"),
    "`cp.async` requests": ("cp.async", "requests"),
    "`cp.async` sectors": ("cp.async", "sectors"),
    "TMA loads": ("TMA load", "requests"),
    "TMA load sectors": ("TMA load", "sectors"),
    "shared load requests": ("shared load", "requests"),
    "shared load wavefronts": ("shared load", "wavefronts"),
    "shared store wavefronts": ("shared store", "wavefronts"),
    "`wgmma`": ("wgmma", "requests"),
    "`wgmma` wavefronts": ("wgmma", "wavefronts"),
    "global store sectors": ("global store", "sectors"),
    "TMA store sectors": ("TMA store", "sectors"),
    "barriers": ("barriers", "requests"),
}


@dataclass(frozen=True)
class Step:
    folder: Path
    variant: str

    @property
    def name(self) -> str:
        return self.folder.name.partition("_")[2]

    @property
    def ladder(self) -> str:
        return self.folder.parent.name

    @property
    def readme(self) -> Path:
        return self.folder / "README.md"

    @property
    def cell(self) -> str:
        return f"{self.name}:{self.variant}"

    @property
    def counted_size(self) -> int:
        """M, N and K of the problem at which it is compared with the step before."""
        return 256 if self.ladder == "tensor_cores" or self.name in WIDE else 128


def steps_of(ladder: str) -> list[Step]:
    if ladder == "fp32":
        experiment = (ROOT / "configs/experiments/ladder.toml").read_text(encoding="utf-8")
        variants = dict(cell.split(":") for cell in tomllib.loads(experiment)["plugins"])
    else:
        variants = TENSOR_CORES
    folders = sorted((ROOT / "plugins" / ladder).glob("[0-9]*"))
    return [Step(folder, variants[folder.name.partition("_")[2]]) for folder in folders]


def filled(words: str) -> str:
    return textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def count(runner: str) -> str:
    """The counts of all steps by size, as JSON."""
    counts: dict[str, dict[str, dict[str, dict[str, int]]]] = {"128": {}, "256": {}}
    for ladder, dtype in (("fp32", "f32"), ("tensor_cores", "f16")):
        steps = steps_of(ladder)
        for size, counted_there in counts.items():
            shown = [
                before.cell + "," + step.cell
                for before, step in zip([steps[0], *steps], steps, strict=False)
                if step.counted_size == int(size)
            ]
            if shown:
                counted_there.update(counts_of(runner, ",".join(shown), size, dtype))
    return json.dumps(counts, indent=1) + "\n"


def counts_of(
    runner: str, cells: str, size: str, dtype: str
) -> dict[str, dict[str, dict[str, int]]]:
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as problem:
        problem.write(f'device = "cpu"\n[problem]\nsizes = [{size}]\ndtype = "{dtype}"\n')
        problem.flush()
        command = [runner, "xray", problem.name, "--cell", cells, "--json", "-"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise SystemExit(ran.stderr.strip())
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for cell in json.loads(ran.stdout)["cells"]:
        totals: dict[str, dict[str, int]] = {}
        for launch in cell["launches"]:
            for access, numbers in launch["totals"].items():
                total = totals.setdefault(access, {})
                for counter in ("requests", "sectors", "wavefronts"):
                    if counter in numbers:
                        total[counter] = total.get(counter, 0) + numbers[counter]
        barriers = sum(launch["barriers"] for launch in cell["launches"])
        counts[cell["plugin"]] = totals | {"barriers": {"requests": barriers}}
    return counts


def counted(step: Step, before: Step | None) -> str:
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))[str(step.counted_size)]
    shown = [one for one in (before, step) if one is not None]

    def number(one: Step, title: str) -> int:
        access, counter = COLUMNS[title]
        return int(counts[one.name].get(access, {}).get(counter, 0))

    columns = [
        title
        for title in COLUMNS
        if (number(step, title) if before is None else number(step, title) != number(before, title))
    ]
    note = f"**Counted** by [xray](../../../docs/xray.md#what-is-counted) at {step.counted_size}³"
    if before is None:
        lines = [f"- {title}: {number(step, title)}" for title in columns]
        note += f", `{step.cell}`:"
    elif not columns:
        return filled(f"{note}: all counts are {before.name}'s.")
    else:
        lines = [f"- {title}: {number(before, title)} → {number(step, title)}" for title in columns]
        note += f", `{before.cell}` → `{step.cell}`, where counts differ:"
    remarks = []
    if step.name in FRAGMENTS:
        remarks.append("WMMA's loads and stores of fragments are not counted.")
    if "global store sectors" in columns and any(one.name in PAIRS for one in shown):
        remarks.append(
            "A store of two 16-bit elements counts as two stores: the simulator's compiler makes two of it."
        )
    lines = [filled(note), *lines]
    if remarks:
        lines += ["", filled(" ".join(remarks)).rstrip()]
    return "\n".join(lines) + "\n"


# Percent of what a pipe or a memory can, and registers of a thread.
METRICS = {
    "FMA pipe": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "tensor pipe": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "L1 and shared memory": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "DRAM": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "registers": "launch__registers_per_thread",
}
WAIT = re.compile(r"smsp__average_warps_issue_stalled_(?!selected)(\w+)_per_issue_active\.ratio")


def profile(files: list[str]) -> str:
    """Of each cell's longest launch: METRICS, and the two reasons for which its warps wait most. As JSON."""
    kept: dict[str, Any] = {}
    for file in files:
        stored = json.loads(Path(file).read_text(encoding="utf-8"))
        for cell in stored["cells"]:
            metrics = max(
                (launch["metrics"] for launch in cell["launches"]),
                key=lambda each: float(each["gpu__time_duration.sum"]),
            )
            waits = {m[1]: metrics[name] for name in metrics if (m := WAIT.fullmatch(name))}
            longest = sorted(waits, key=lambda reason: -waits[reason])[:2]
            kept[f"{cell['plugin']}:{cell['variant']}"] = {
                "device": stored["device"]["name"],
                "problem": cell["problem"],
                **{title: round(metrics[name]) for title, name in METRICS.items()},
                "waits": {reason.replace("_", " "): round(waits[reason], 2) for reason in longest},
            }
    return json.dumps(kept, indent=1) + "\n"


def profiled(ladder: str) -> str:
    """A table: the speed of each step, and what Nsight Compute says of it."""
    kept = json.loads(PROFILE.read_text(encoding="utf-8"))
    titles = ["FMA pipe" if ladder == "fp32" else "tensor pipe", *list(METRICS)[2:]]
    rows = [["step", "× cuBLAS", *titles, "warps wait most for"]]
    for step in steps_of(ladder):
        cell = kept[step.cell]
        numbers = [over_cublas(step), *(str(cell[title]) for title in titles)]
        rows.append([step.name, *numbers, ", ".join(cell["waits"])])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---|" + "---:|" * (len(titles) + 1) + "---|")
    return "\n".join(lines) + "\n"


def with_tables(text: str) -> str:
    """docs/ladder.md with tables in place of the lines that name them."""
    for ladder in learn.LADDERS:
        steps = (FIXTURES / f"steps-{ladder}.txt").read_text(encoding="utf-8")
        for name, table in (("steps", steps), ("counters", profiled(ladder))):
            line = f"<!-- {name}: {ladder} -->\n"
            if text.count(line) != 1:
                raise ValueError(f"{LADDER.relative_to(ROOT)} does not have this line once: {line}")
            text = text.replace(line, "\n" + table)
    return text


def over_cublas(step: Step) -> str:
    """Its speed over cuBLAS as a report of the stored result has it; empty if it has changed since."""
    file, problem = RESULTS[step.ladder]
    cells = json.loads((ROOT / "docs" / "results" / file).read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        named = (cell["plugin"], cell["variant"], cell["problem"]["name"])
        if named == (step.name, step.variant, problem) and step.name not in CHANGED:
            return f"{cell['speedup_over_baseline']:#.3g}" if cell.get("time") else ""
    return ""


def measured(step: Step, before: Step | None) -> str:
    file, problem = RESULTS[step.ladder]
    result = json.loads((ROOT / "docs" / "results" / file).read_text(encoding="utf-8"))
    own, earlier = over_cublas(step), over_cublas(before) if before is not None else ""
    gpu = result["device"]["name"].removeprefix("NVIDIA ").partition(" ")[0]
    words = f"{own} × cuBLAS" if own else "not since the step was changed"
    if own and earlier:
        words += f", after {earlier}"
    return filled(
        f"**Measured** at 4096³ in {problem.split()[1]} on one {gpu}: {words} ([stored run](../../../docs/results/{file}), [counters](../../../docs/ladder.md#counters))."
    )


def code_of(step: Step) -> list[str]:
    """Its source without the first comment, includes and table of variants."""
    lines: list[str] = []
    for kind in (".hpp", ".cu"):
        file = step.folder / (step.name + kind)
        if not file.exists():
            continue
        text = file.read_text(encoding="utf-8").partition("KZOO_PLUGIN")[0]
        text = re.sub(r"\A(?:(?://|#).*\n|\n)+", "", text)
        lines += text.rstrip().split("\n")
    return lines


def difference(step: Step, before: Step) -> tuple[str, int]:
    """As Markdown, and how many lines it adds."""
    own = code_of(step)
    name = rf"(?<=namespace ){before.name}\b|(?<=struct ){before.name}\b|\b{before.name}(?=_kernel\b|::)"
    earlier = [re.sub(name, step.name, line) for line in code_of(before)]
    lines = list(difflib.unified_diff(earlier, own, n=1, lineterm=""))[2:]
    lines = ["" if line.startswith("@@") else line for line in lines][1:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    summary = f"The difference to {before.name}: {removed} lines less, {added} more"
    return f"<details markdown>\n<summary>{summary}</summary>\n\n```diff\n" + "\n".join(
        lines
    ) + "\n```\n\n</details>\n", added


def kernel_file(step: Step) -> Path:
    header = step.folder / f"{step.name}.hpp"
    return header if header.exists() else step.folder / f"{step.name}.cu"


def how_to_see(step: Step, before: Step) -> str:
    """The line of the README in whose place the site has the difference."""
    files = [str(kernel_file(one).relative_to(ROOT)) for one in (before, step)]
    return f"**Difference** to {before.name}: `git diff --no-index {' '.join(files)}`\n"


def with_difference(text: str, step: Step, before: Step) -> str:
    line = how_to_see(step, before)
    if text.count(line) != 1:
        raise ValueError(f"{step.readme.relative_to(ROOT)} does not have this line once: {line}")
    return text.replace(line, difference(step, before)[0])


def pages() -> dict[str, str]:
    """The READMEs as the site has them, with the difference to the step before; and docs/ladder.md."""
    ladder = {LADDER.relative_to(ROOT).as_posix(): with_tables(LADDER.read_text(encoding="utf-8"))}
    return ladder | {
        step.readme.relative_to(ROOT).as_posix(): with_difference(
            step.readme.read_text(encoding="utf-8"), step, before
        )
        for steps in map(steps_of, learn.LADDERS)
        for before, step in pairwise(steps)
    }


def lines_of_new_headers(step: Step) -> int:
    """All lines of the headers in plugins/ that no step before it has."""
    table = (FIXTURES / f"steps-{step.ladder}.txt").read_text(encoding="utf-8")
    [row] = [line for line in table.splitlines() if line.startswith(f"| {step.name} |")]
    names = row.split("|")[5].strip()
    folders = (step.folder, step.folder.parent / "common")
    headers = [folder / name for name in names.split(", ") for folder in folders if name]
    return sum(
        len(header.read_text(encoding="utf-8").splitlines())
        for header in headers
        if header.exists()
    )


def part_of(step: Step, before: Step | None, after: Step | None) -> str:
    exercise = next(one for one in learn.exercises() if one.folder == step.folder)
    own_text = step.readme.read_text(encoding="utf-8").partition(BEGIN)[0]
    added = difference(step, before)[1] if before is not None else len(code_of(step))
    read = len(own_text.split()) / 150 + added / 5 + lines_of_new_headers(step) / 15
    minutes = max(5, round(read / 5) * 5)
    parts = [
        BEGIN + f"[![{figures.CAPTIONS[step.name]}](figure.svg)](figure.svg)\n",
        counted(step, before),
        measured(step, before),
        how_to_see(step, before) if before is not None else "",
        filled(
            f"**Exercise.** [{exercise.title[0].upper()}{exercise.title[1:]}](exercise.md), {exercise.fields['minutes']} minutes: "
            f"`./zoo learn {exercise.number}`. Reading takes about {minutes} minutes."
            + (f" Next: [{after.name}](../{after.folder.name})." if after is not None else "")
        )
        + END,
    ]
    return "\n".join(part for part in parts if part)


def files() -> dict[Path, str]:
    """All that this script writes."""
    made: dict[Path, str] = {}
    for ladder in learn.LADDERS:
        steps = steps_of(ladder)
        for i, step in enumerate(steps):
            before, after = (
                steps[i - 1] if i > 0 else None,
                steps[i + 1] if i + 1 < len(steps) else None,
            )
            text = step.readme.read_text(encoding="utf-8").partition(BEGIN)[0].rstrip()
            made[step.readme] = f"{text}\n\n{part_of(step, before, after)}"
            made[step.folder / "figure.svg"] = figures.figure(step.name, step.folder, step.variant)
    return made


def main(arguments: list[str]) -> int:
    if arguments[1:] == ["--count"]:
        COUNTS.write_text(count(arguments[0]), encoding="utf-8")
        return 0
    if arguments[:1] == ["--profile"]:
        PROFILE.write_text(profile(arguments[1:]), encoding="utf-8")
        return 0
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    made = files()
    old = [
        path
        for path, text in made.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if arguments == ["--check"]:
        for path in old:
            print(
                f"{path.relative_to(ROOT)} is not what scripts/course.py writes: python3 scripts/course.py"
            )
        return 1 if old else 0
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
