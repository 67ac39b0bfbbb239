"""The fastest of a kernel's points: `runner tune` and `export`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
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


def tune(
    kernel: Kernel,
    sizes: Size | Iterable[Size] = (),
    *,
    problems: str | Path | None = None,
    baseline: str | None = None,
    budget: str | None = None,
    device: str | None = None,
    tier: Tier | None = None,
    layouts: str | Iterable[str] = (),
    allow: str | Iterable[str] = (),
    build_args: Sequence[str] = (),
    timeout: float | None = None,
    progress: bool | None = None,
) -> Tuned:
    """Finds the fastest of the kernel's points for each size; its `// kzoo: tune` line has them.

    Points that fail, or that are not timed, are left out of the outcome.

    Parameters:
        kernel: a path, or CUDA source as text.
        sizes: as in `run`; they replace the sizes of `problems`.
        problems: an experiment: its name, its file, or its text.
        baseline: the kernel that speedups are over.
        budget: a time such as "60s", after which no round begins.
        allow: precisions, such as "tf32", that are enough although the matrices hold more.
        timeout: in seconds; None: no limit.

    Raises:
        BadInput: an option is wrong, or no point compiles.
        NoSuchDevice: the device is not there.
        TimedOut: it took longer than `timeout`.
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
                "--budget": [budget] if budget else [],
            }
        )
        words += _program.common_options(device, tier, baseline, build_args)
        outcome = sources.path / "tuned.json"
        return Tuned(_program.written(words, outcome, progress=progress, timeout=timeout))
