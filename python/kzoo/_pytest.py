"""For pytest: the fixture `kzoo_judge`, which fails a test whose kernel does not pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from ._sources import is_text
from ._verdict import Verdict, judge


class Judge(Protocol):
    """`kzoo.judge`; a relative path is one from the test's folder."""

    def __call__(self, kernel: Any, **options: Any) -> Verdict: ...


def kzoo_judge(request: pytest.FixtureRequest) -> Judge:
    """Judges a kernel, with the options of `kzoo.judge`, and fails the test unless it passes."""

    def judged(kernel: Any, **options: Any) -> Verdict:
        if isinstance(kernel, str | Path) and not is_text(kernel):
            kernel = request.path.parent / kernel
        verdict = judge(kernel, **options)
        if not verdict.passed:
            pytest.fail(str(verdict), pytrace=False)
        return verdict

    return judged


kzoo_judge = pytest.fixture(kzoo_judge)
