"""Kernels and problems as a caller gives them: paths, names, or texts."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel for a GPU, and how it is launched: a manifest, as in docs/compiled-kernels.md."""

    name: str
    code: bytes = field(repr=False)  # a cubin, called NAME.cubin in the manifest
    manifest: str
    note: str = ""  # for the reason of its verdict

    def save(self, folder: str | Path = ".") -> Path:
        """Writes both; returns the manifest's path, which is the kernel for the program."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{self.name}.cubin").write_bytes(self.code)
        file = place / f"{self.name}.toml"
        file.write_text(self.manifest, encoding="utf-8")
        return file


Kernel = str | Path | CompiledKernel
"""A path, CUDA source as text, or what triton_kernel makes; among plugins also "naive:32x32"."""

Size = int | str | tuple[int, int, int]
"""64, "64x32x16", or (64, 32, 16): M, N and K."""

JitFunction = Callable[..., Any]
"""Of `@triton.jit`."""


def as_list(given: Any) -> list[Any]:
    """A list of the only one, or of several."""
    is_one = isinstance(given, str | int | Path | CompiledKernel) or callable(given)
    return [given] if is_one else list(given)


def is_text(given: object) -> bool:
    """Whether it is the content of a file: a path has no line break."""
    return isinstance(given, str) and "\n" in given


def size_word(size: Size) -> str:
    return "x".join(map(str, size)) if isinstance(size, tuple) else str(size)


class Sources:
    """Files for texts, which are there as long as the context lasts."""

    def __enter__(self) -> Sources:
        # The program removes such a folder when nobody holds the lock: its process was killed.
        self._folder = tempfile.TemporaryDirectory(prefix="kernel-zoo-")
        self._lock = os.open(self._folder.name, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.path = Path(self._folder.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._lock)
        self._folder.cleanup()

    def file(self, text: str, name: str) -> str:
        """A new file in a folder of its own, since a plugin is called as its file."""
        file = self._new_folder() / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def kernel(self, given: Kernel, name: str = "kernel") -> str:
        if isinstance(given, CompiledKernel):
            return str(given.save(self._new_folder()))
        if is_text(given):
            return self.file(str(given), f"{name}.cu")
        if callable(given):
            raise TypeError("a function of @triton.jit is given as what kzoo.triton_kernel makes of it")
        return str(Path(given).absolute())

    def plugins(self, given: Kernel | Iterable[Kernel]) -> list[str]:
        words = []
        for index, one in enumerate(as_list(given)):
            is_name = isinstance(one, str) and not is_text(one)
            word = str(one) if is_name else self.kernel(one, f"kernel{index or ''}")
            if "," in word:
                raise ValueError(f"a plugin is named without a comma: {word}")
            words.append(word)
        return words

    def experiment(self, given: str | Path) -> str:
        return self.file(str(given), "problems.toml") if is_text(given) else str(given)

    def _new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.path))


def without_folders(text: str) -> str:
    """With the files of Sources as their authors know them: "kernel.cu:2:11: error: …"."""
    place = re.escape(tempfile.gettempdir())
    return re.sub(rf"{place}/kernel-zoo-\w{{8}}/tmp\w{{8}}/", "", text)
