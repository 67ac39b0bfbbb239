"""Results of experiments: `runner run`, `report` and `compare`."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _program
from ._program import Tier
from ._sources import Kernel, Size, Sources, as_list, size_word

if TYPE_CHECKING:
    import pandas


class Document:
    """What the program has written as JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.document: dict[str, Any] = json.loads(text)

    def save(self, file: str | Path) -> None:
        Path(file).write_text(self._text, encoding="utf-8")


class Result(Document):
    """The results of a run, as docs/formats.md describes them."""

    @classmethod
    def load(cls, file: str | Path) -> Result:
        """From a journal, or what --json or save() wrote."""
        return cls(_report(str(Path(file).absolute()), "--json"))

    @property
    def cells(self) -> list[dict[str, Any]]:
        """One for each kernel on each problem."""
        cells: list[dict[str, Any]] = self.document["cells"]
        return cells

    @property
    def passed(self) -> bool:
        """Whether no kernel failed, and some passed."""
        verdicts = {cell["verdict"] for cell in self.cells}
        return "pass" in verdicts and verdicts <= {"pass", "unsupported", "unavailable"}

    def best(self) -> dict[str, dict[str, Any]]:
        """The fastest kernel that passes, by problem; the simulator's times say nothing."""
        fastest: dict[str, dict[str, Any]] = {}
        for cell in self.cells:
            timed = cell["verdict"] == "pass" and cell["time"] is not None
            if not timed or cell["time"]["clock"] == "simulator":
                continue
            known = fastest.setdefault(cell["problem"]["name"], cell)
            if cell["time"]["median_ms"] < known["time"]["median_ms"]:
                fastest[cell["problem"]["name"]] = cell
        return fastest

    def table(self, *, markdown: bool = False) -> str:
        """The program's tables."""
        return self._reported("--md") if markdown else self._reported()

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each cell. Needs pandas."""
        import pandas

        return pandas.read_csv(io.StringIO(self._reported("--csv")))

    def to_html(self) -> str:
        """The program's page: what the run comes to, charts, tables."""
        return self._reported("--html", "-")

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'

    def __repr__(self) -> str:
        title = self.document["experiment"]["title"]
        return f"<kzoo.Result of {title!r}: {len(self.cells)} cells on {self.document['device']['id']}>"

    def _reported(self, *words: str) -> str:
        with Sources() as sources:
            return _report(sources.file(self._text, "result.json"), *words)


def _report(file: str, *words: str) -> str:
    ran = _program.call(["report", file, *words])
    if ran.code != 0:
        raise ran.error()
    return ran.out


@dataclass(frozen=True)
class Comparison:
    """Two results beside each other, or the kernels of one."""

    regression: bool
    """Whether something that passed is slower, fails or declines."""
    text: str

    def table(self) -> str:
        """What `compare` prints."""
        return self.text

    def __str__(self) -> str:
        return self.text


def run(
    experiment: str | Path = "quick",
    *,
    plugins: Kernel | Iterable[Kernel] = (),
    sizes: Size | Iterable[Size] = (),
    device: str | None = None,
    tier: Tier | None = None,
    layouts: str | Iterable[str] = (),
    batches: int | Iterable[int] = (),
    build_args: str | Iterable[str] = (),
    timeout: float | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs an experiment. Kernels that are wrong or crash are part of the result.

    What is given replaces what the experiment says; what is empty or None does not. One plugin,
    size, layout or batch needs no list.

    Parameters:
        experiment: its name or its file, or its text, with a line break in it
            (docs/experiments.md).
        plugins: names ("naive", "naive:32x32"), paths with a slash or a suffix, CUDA source as a
            `str` with a line break in it, or what `triton_kernel` makes.
        sizes: 64, "64x32x16", or in a list (64, 32, 16): M, N and K. A tuple alone is three sizes.
        device: "auto", "cpu" (the simulator), "cuda" or "cuda:N".
        tier: "quick", "full" or "paranoid": how much is checked (docs/verdicts.md).
        layouts: "nn", "nt", "tn" or "tt": whether A, and whether B, is transposed in memory.
        batches: how many products there are in each problem.
        build_args: more options of the compiler: "-DTILE=64", or a list of them.
        timeout: seconds, for compiling and running. None: no limit.
        progress: whether the program's messages are shown on stderr. None: in a terminal or a
            notebook.

    Returns:
        A `Result`: `cells`, `best()`, `table()`, `to_pandas()` and more.

    Raises:
        BadInput: the experiment or an option is wrong, or a source does not compile.
        NoSuchDevice: the device is not there.
        NotWritten: there is no room for what the compiler or the program writes.
        TimedOut: it took longer than `timeout`.
        Error: the program is not here, or has failed. All of the above are such errors.
    """
    with Sources() as sources:
        words = ["run", sources.experiment(experiment)]
        words += _program.joined(
            {
                "--plugins": sources.plugins(plugins),
                "--sizes": [size_word(size) for size in as_list(sizes)],
                "--layouts": as_list(layouts),
                "--batches": [str(count) for count in as_list(batches)],
            }
        )
        words += _program.common_options(device, tier, None, build_args)
        file = sources.path / "result.json"
        return Result(_program.written(words, file, progress=progress, timeout=timeout))


def compare(
    old: Result | str | Path,
    new: Result | str | Path | None = None,
    *,
    threshold: str = "3%",
    baseline: str | None = None,
    markdown: bool = False,
) -> Comparison:
    """What became slower from one result to the other, or the kernels of one against a baseline."""
    with Sources() as sources:
        words = ["compare"]
        for given in (old, new):
            if isinstance(given, Result):
                words.append(sources.file(given._text, "result.json"))
            elif given is not None:
                words.append(str(Path(given).absolute()))
        words += ["--threshold", threshold]
        if baseline is not None:
            words += ["--baseline", baseline]
        if markdown:
            words.append("--md")
        ran = _program.call(words)
    regression = 4
    if ran.code not in (0, regression):
        raise ran.error()
    return Comparison(ran.code == regression, ran.out)
