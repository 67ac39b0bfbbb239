"""The fastest of a kernel's points: `runner tune` and `export`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _program
from ._program import Tier
from ._result import Document
from ._sources import Kernel, Size, Sources, as_list, size_word

if TYPE_CHECKING:
    import pandas


class Tuned(Document):
    """The outcome of a tuning, as docs/formats.md describes it."""

    @classmethod
    def load(cls, file: str | Path) -> Tuned:
        """From what save() or `runner tune --json` wrote."""
        return cls(Path(file).read_text(encoding="utf-8"))

    def best(self) -> dict[str, dict[str, Any]]:
        """The fastest kernel, by problem; problems for which none was timed are left out."""
        return {
            of["problem"]["name"]: of["ranked"][0]
            for of in self.document["problems"]
            if of["ranked"]
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each kernel that was timed, with a column for each parameter. Needs pandas."""
        import pandas

        rows = [
            {"problem": of["problem"]["name"], **kernel.pop("parameters"), **kernel}
            for of in json.loads(self._text)["problems"]
            for kernel in of["ranked"]
        ]
        return pandas.DataFrame(rows)

    def export(self, folder: str | Path) -> Path:
        """Makes the best kernels a project that needs nothing of this; their sources must be there."""
        with Sources() as sources:
            words = ["export", sources.file(self._text, "tuned.json"), "--out", str(folder)]
            ran = _program.call(words)
        if ran.code != 0:
            raise ran.error()
        return Path(folder)

    def __repr__(self) -> str:
        names = {of["plugin"] + ":" + of["variant"] for of in self.best().values()}
        return f"<kzoo.Tuned on {self.document['device']['id']}: {', '.join(sorted(names)) or 'none'}>"


def _time(given: str | float) -> str:
    return given if isinstance(given, str) else f"{given:g}s"


def tune(
    kernel: Kernel,
    sizes: Size | Iterable[Size] = (),
    *,
    problems: str | Path | None = None,
    baseline: str | None = None,
    budget: str | float | None = None,
    device: str | None = None,
    tier: Tier | None = None,
    layouts: str | Iterable[str] = (),
    allow: str | Iterable[str] = (),
    build_args: str | Iterable[str] = (),
    timeout: float | None = None,
    progress: bool | None = None,
) -> Tuned:
    """Finds the fastest of a kernel's configurations for each size (docs/tuning.md).

    Its `// kzoo: tune` line, or the experiment, has the values of its parameters. Configurations
    that fail, or that are not timed, are left out of the outcome. The simulator ranks none.

    Parameters:
        kernel: a path, or CUDA source as a `str` with a line break in it.
        sizes: 64, "64x32x16", or in a list (64, 32, 16): M, N and K. They replace those of
            `problems`; one of the two is needed.
        problems: an experiment: its name or its file, or its text, with a line break in it.
        baseline: the kernel that speedups are over, such as "cublas:fp32".
        budget: for compiling, judging and timing: seconds, or a time such as "5m". When it is used
            up, the outcome is what is known by then. None: until all is decided.
        device: "auto", "cpu" (the simulator), "cuda" or "cuda:N". None: the experiment's, else
            "auto".
        tier: "quick", "full" or "paranoid": how much is checked (docs/verdicts.md).
        layouts: "nn", "nt", "tn" or "tt": whether A, and whether B, is transposed in memory.
        allow: precisions, such as "tf32", that are enough although the matrices hold more.
        build_args: more options of the compiler: "-DUNROLL=4", or a list of them.
        timeout: seconds, after which it fails. None: no limit.
        progress: whether the program's messages are shown on stderr. None: in a terminal or a
            notebook.

    Returns:
        A `Tuned`: `best()`, `to_pandas()`, `export()` and more.

    Raises:
        BadInput: an option is wrong, or no configuration compiles.
        NoSuchDevice: the device is not there.
        NotWritten: there is no room for what the compiler or the program writes.
        TimedOut: it took longer than `timeout`.
        Error: the program is not here, or has failed. All of the above are such errors.
    """
    with Sources() as sources:
        file = sources.kernel(kernel)
        words = ["tune", file if problems is None else sources.experiment(problems)]
        words += _program.joined(
            {
                "--plugins": [] if problems is None else sources.plugins(Path(file)),
                "--sizes": [size_word(size) for size in as_list(sizes)],
                "--layouts": as_list(layouts),
                "--allow": as_list(allow),
                "--budget": [] if budget is None else [_time(budget)],
            }
        )
        words += _program.common_options(device, tier, baseline, build_args)
        outcome = sources.path / "tuned.json"
        return Tuned(_program.written(words, outcome, progress=progress, timeout=timeout))
