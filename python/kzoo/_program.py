"""Finds and runs the program."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NoReturn

from ._sources import as_list

Tier = Literal["quick", "full", "paranoid"]
"""How much is checked: docs/verdicts.md."""


class Error(RuntimeError):
    """The program could not do what it was asked; its own words say why."""


class BadInput(Error):
    """Bad usage, a bad experiment, or a source that does not compile."""


class NoSuchDevice(Error):
    """The device that was asked for is not there."""


class NotWritten(Error):
    """Results, or what a compiler makes, could not be written."""


class TimedOut(Error):
    """It took longer than the caller gave it, and was ended."""


class Stopped(Error):
    """Another thread has ended it."""


_ERRORS: dict[int, type[Error]] = {2: BadInput, 3: NoSuchDevice, 5: NotWritten}


def exit_code(fault: BaseException) -> int:
    """Of a command that this ends: docs/ci.md."""
    return next((code for code, kind in _ERRORS.items() if isinstance(fault, kind)), 2)


_SECONDS_TO_END = 20.0  # for the program, to end its workers and what it computes


def find() -> str:
    """The program: that of KZOO_RUNNER, of the wheels or tree that this module is in, or of PATH."""
    if named := os.environ.get("KZOO_RUNNER"):
        return named
    here = Path(__file__).resolve()
    prefixes = [here.parent / "_prefix_cuda", here.parent / "_prefix"]  # of python/cuda, of the wheel
    for above in (*prefixes, here.parents[2] / "build" / "release"):
        if (above / "bin" / "runner").exists():
            return str(above / "bin" / "runner")
    if (found := shutil.which("runner")) is not None:
        return found
    raise Error(
        "the program of kernel-zoo is not here: build it with ./zoo build, "
        "or name it in the environment variable KZOO_RUNNER"
    )


@functools.cache
def version() -> str:
    """Of the program, and of this module, which comes with it."""
    return call(["--version"]).out.split()[-1]


def cmake_folder() -> Path:
    """The folder that CMake is given as kernel-zoo_DIR, for find_package(kernel-zoo)."""
    program = shutil.which(find()) or ""
    above = Path(program).resolve().parents[1]
    for folder in (above / "package", *above.glob("lib/**/cmake/kernel-zoo")):
        if (folder / "kernel-zoo-config.cmake").exists():
            return folder
    raise Error(f"beside the program, {program}, there is no package for CMake")


@dataclass(frozen=True)
class Ran:
    """What a command has printed, and its exit code."""

    code: int
    out: str
    err: str

    def error(self) -> Error:
        """The exception for a command that has no result."""
        words = self.err.strip().removeprefix("error: ")[-_LONGEST_ERROR:]
        kind = _ERRORS.get(self.code, Error)
        return kind(words or f"the program ended with exit code {self.code}")


def common_options(
    device: str | None,
    tier: str | None,
    baseline: str | None,
    build_args: str | Iterable[str],
) -> list[str]:
    """What several commands are told alike."""
    words = []
    for flag, value in (("--device", device), ("--verify", tier), ("--baseline", baseline)):
        if value is not None:
            words += [flag, value]
    if given := as_list(build_args):
        words.append(f"--build-args={' '.join(given)}")
    return words


def joined(lists: Mapping[str, Sequence[str]]) -> list[str]:
    """Options with lists, which are not empty."""
    return [word for flag, values in lists.items() if values for word in (flag, ",".join(values))]


def shows_progress() -> bool:
    """Whether somebody watches: a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


_LONGEST_ERROR = 20_000  # characters of an exception's message


class _Reader(threading.Thread):
    """Collects what a pipe brings, and passes it on, line by line: \\n alone ends one."""

    def __init__(self, pipe: IO[bytes], pass_on: bool) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._pass_on = pass_on
        self.text = ""
        self.start()

    def run(self) -> None:
        for part in self._pipe:
            line = part.decode("utf-8", "replace")
            self.text += line
            if self._pass_on:
                sys.stderr.write(line)
                sys.stderr.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program, which ends its workers; kills what does not end."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_SECONDS_TO_END)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _leave(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


@contextlib.contextmanager
def _left_by_sigterm() -> Iterator[None]:
    """The default action of SIGTERM would leave the program running, and temporary files."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _wait(process: subprocess.Popen[bytes], timeout: float | None, stop: threading.Event | None) -> int:
    """The exit code. It looks at `stop` every 50 ms, as Popen.wait does at the process."""
    if stop is None:
        return process.wait(timeout)
    end = None if timeout is None else time.monotonic() + timeout
    while process.poll() is None:
        if stop.wait(0.05):
            raise Stopped("it was ended")
        if end is not None and time.monotonic() > end:
            raise subprocess.TimeoutExpired(process.args, timeout or 0)
    return process.returncode


def call(
    arguments: Sequence[str],
    *,
    progress: bool = False,
    timeout: float | None = None,
    stop: threading.Event | None = None,
) -> Ran:
    """Runs a command of the program. When this is left, however that happens, it has ended.

    The program ends by itself if this process is killed. `stop` ends it from another thread.
    """
    with _left_by_sigterm():
        return _called(arguments, progress, timeout, stop)


def _called(
    arguments: Sequence[str], progress: bool, timeout: float | None, stop: threading.Event | None
) -> Ran:
    environment = {name: value for name, value in os.environ.items() if name != "KZOO_TOKEN"}
    # In a session of its own, so that Ctrl-C reaches it once, from here.
    process = subprocess.Popen(
        [find(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment | {"KZOO_CALLER": str(os.getpid())},
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    out, err = _Reader(process.stdout, False), _Reader(process.stderr, progress)
    try:
        code = _wait(process, timeout, stop)
    except subprocess.TimeoutExpired:
        raise TimedOut(f"it took longer than {timeout:g} seconds, and was ended") from None
    finally:
        if process.poll() is None:
            _end(process)
        for reader in (out, err):
            reader.join()
        process.stdout.close()
        process.stderr.close()
    return Ran(code, out.text, err.text)


def written(
    words: Sequence[str], file: Path, *, progress: bool | None, timeout: float | None
) -> str:
    """What a command that runs kernels writes into the file; kernels that fail are part of it."""
    show = shows_progress() if progress is None else progress
    ran = call([*words, "--json", str(file), "--no-journal"], progress=show, timeout=timeout)
    if ran.code not in (0, 1) or not file.exists():
        raise ran.error()
    return file.read_text(encoding="utf-8")
