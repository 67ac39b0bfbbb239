"""Kernels and problems as a caller gives them: paths, names, or texts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

Kernel = str | Path
"""A path, or CUDA source as text; among plugins also a name such as "naive:32x32"."""

Size = int | str | tuple[int, int, int]


def is_text(given: str | Path) -> bool:
    """Whether it is the content of a file: a path has no line break."""
    return isinstance(given, str) and "\n" in given


def size_word(size: Size) -> str:
    return "x".join(map(str, size)) if isinstance(size, tuple) else str(size)


class Sources:
    """Files for texts, which are there as long as the context lasts."""

    def __enter__(self) -> Sources:
        self._folder = tempfile.TemporaryDirectory(prefix="kzoo-")
        self.path = Path(self._folder.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def file(self, text: str, name: str) -> str:
        """A new file in a folder of its own, since a plugin is called as its file."""
        folder = Path(tempfile.mkdtemp(dir=self.path))
        (folder / name).write_text(text, encoding="utf-8")
        return str(folder / name)

    def kernel(self, given: Kernel, name: str = "kernel") -> str:
        if is_text(given):
            return self.file(str(given), f"{name}.cu")
        return str(Path(given).absolute())

    def plugins(self, given: Iterable[Kernel]) -> list[str]:
        words = []
        for index, one in enumerate(given):
            if is_text(one):
                one = self.file(str(one), f"kernel{index or ''}.cu")
            elif isinstance(one, Path):
                one = one.absolute()
            if "," in str(one):
                raise ValueError(f"a plugin is named without a comma: {one}")
            words.append(str(one))
        return words

    def experiment(self, given: str | Path) -> str:
        return self.file(str(given), "problems.toml") if is_text(given) else str(given)
