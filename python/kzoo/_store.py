"""What the service keeps in one file of SQLite: submissions, their verdicts, and the ranking."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

State = Literal["waiting", "running", "done", "failed", "cancelled"]
ENDED = ("done", "failed", "cancelled")

_TABLES = """
CREATE TABLE IF NOT EXISTS submissions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, name TEXT NOT NULL,
  source TEXT NOT NULL, key TEXT, state TEXT NOT NULL, judgement TEXT, error TEXT,
  submitted REAL NOT NULL, ended REAL, UNIQUE (owner, key));
CREATE INDEX IF NOT EXISTS by_state ON submissions (state, id);
CREATE INDEX IF NOT EXISTS by_owner ON submissions (owner, state, id);
CREATE TABLE IF NOT EXISTS ranked (
  id INTEGER NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL, problem TEXT NOT NULL,
  speedup REAL NOT NULL, low REAL, high REAL, PRIMARY KEY (id, problem));
PRAGMA user_version = 1;
"""
_COLUMNS = "id, name, state, judgement, error, submitted, ended"
# The best verdict of each owner's name comes first.
_RANKING = """
SELECT problem, owner, name, id, speedup, low, high, max(speedup) FROM ranked
GROUP BY problem, owner, name ORDER BY problem, speedup DESC
"""


@dataclass(frozen=True)
class Submission:
    """What a client learns of a submission."""

    id: int
    name: str
    state: State
    judgement: dict[str, Any] | None
    """Its fields: docs/formats.md. None as long as there is none."""
    error: str | None
    """Why the judge could not run."""
    submitted: float
    ended: float | None
    """As `submitted`, in seconds since 1970."""


@dataclass(frozen=True)
class Ranked:
    """The best verdict on a name for a problem."""

    problem: str
    rank: int
    owner: str
    name: str
    id: int
    speedup: float
    interval: tuple[float, float] | None
    tie: bool
    """Whether the interval overlaps with the interval of the rank before."""


class Conflict(Exception):
    """Another submission has the key."""


class Store:
    """Used by one thread. What is here when it is opened and did not end is waiting again."""

    def __init__(self, file: Path) -> None:
        self._lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._base = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.executescript(_TABLES)
        self._base.execute("UPDATE submissions SET state = 'waiting' WHERE state = 'running'")

    def close(self) -> None:
        self._base.close()
        os.close(self._lock)

    def add(self, owner: str, given: Iterable[tuple[str, str, str | None]]) -> list[Submission]:
        """All of these names, sources and keys, or none. A known key's submission is not added."""
        ids = []
        self._base.execute("BEGIN IMMEDIATE")
        try:
            for name, source, key in given:
                known = self._base.execute(
                    "SELECT id, name, source FROM submissions WHERE owner = ? AND key = ?",
                    (owner, key),
                ).fetchone()
                if known is not None and known[1:] != (name, source):
                    raise Conflict(f"another submission has this key: {known[0]}")
                ids.append(known[0] if known else self._insert(owner, name, source, key))
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise
        return [found for each in ids if (found := self.find(owner, each))]

    def _insert(self, owner: str, name: str, source: str, key: str | None) -> int:
        added = self._base.execute(
            "INSERT INTO submissions (owner, name, source, key, state, submitted) "
            "VALUES (?, ?, ?, ?, 'waiting', ?)",
            (owner, name, source, key, time.time()),
        )
        assert added.lastrowid is not None
        return added.lastrowid

    def find(self, owner: str, number: int) -> Submission | None:
        row = self._base.execute(
            f"SELECT {_COLUMNS} FROM submissions WHERE id = ? AND owner = ?", (number, owner)
        ).fetchone()
        return None if row is None else _submission(row)

    def listed(self, owner: str, state: State | None, after: int, limit: int) -> list[Submission]:
        """In the order of their ids."""
        rows = self._base.execute(
            f"SELECT {_COLUMNS} FROM submissions "
            "WHERE owner = ? AND (? IS NULL OR state = ?) AND id > ? ORDER BY id LIMIT ?",
            (owner, state, state, after, limit),
        )
        return [_submission(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Of submissions, by their state."""
        return dict(self._base.execute("SELECT state, count(*) FROM submissions GROUP BY state"))

    def waiting(self, owner: str | None = None) -> int:
        whose = "" if owner is None else " AND owner = ?"
        row = self._base.execute(
            "SELECT count(*) FROM submissions WHERE state = 'waiting'" + whose,
            () if owner is None else (owner,),
        ).fetchone()
        return int(row[0])

    def state_of(self, number: int) -> str | None:
        row = self._base.execute("SELECT state FROM submissions WHERE id = ?", (number,)).fetchone()
        return None if row is None else str(row[0])

    def take(self) -> tuple[int, str, str] | None:
        """The next one, which then is running: its id, name and source."""
        row: tuple[int, str, str] | None = self._base.execute(
            "SELECT id, name, source FROM submissions WHERE state = 'waiting' ORDER BY id LIMIT 1"
        ).fetchone()
        if row is not None:
            self._base.execute("UPDATE submissions SET state = 'running' WHERE id = ?", (row[0],))
        return row

    def end(
        self, number: int, state: State, judgement: Mapping[str, Any] | None, error: str | None
    ) -> None:
        text = None if judgement is None else json.dumps(judgement)
        self._base.execute("BEGIN IMMEDIATE")
        try:
            self._base.execute(
                "UPDATE submissions SET state = ?, judgement = ?, error = ?, ended = ? WHERE id = ?",
                (state, text, error, time.time(), number),
            )
            if judgement is not None and judgement["status"] == "PASSED":
                self._base.executemany(
                    "INSERT OR REPLACE INTO ranked "
                    "SELECT id, owner, name, ?, ?, ?, ? FROM submissions WHERE id = ?",
                    [
                        (each["problem"]["name"], each["speedup"], *(each["speedup_interval"] or (None, None)), number)
                        for each in judgement["problems"]
                        if each["speedup"] is not None and each["clock"] != "simulator"
                    ],
                )
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    def ranking(self) -> list[Ranked]:
        """By problem, the fastest first."""
        found: list[Ranked] = []
        for problem, owner, name, number, speedup, low, high, _ in self._base.execute(_RANKING):
            before = found[-1] if found and found[-1].problem == problem else None
            interval = None if low is None else (low, high)
            tie = bool(before and before.interval and interval and high >= before.interval[0])
            rank = before.rank + 1 if before else 1
            found.append(Ranked(problem, rank, owner, name, number, speedup, interval, tie))
        return found

    def forget(self, most: int) -> None:
        """Removes what has ended, but for the last so many ids."""
        self._base.execute(
            "DELETE FROM submissions WHERE ended IS NOT NULL "
            "AND id <= (SELECT max(id) FROM submissions) - ?",
            (most,),
        )


def _submission(row: tuple[Any, ...]) -> Submission:
    number, name, state, judgement, error, submitted, ended = row
    document = None if judgement is None else json.loads(judgement)
    return Submission(number, name, state, document, error, submitted, ended)


def as_json(submission: Submission) -> dict[str, Any]:
    return asdict(submission)
