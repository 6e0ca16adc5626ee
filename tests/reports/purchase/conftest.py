# SPDX-License-Identifier: MIT
"""What the tests of the purchase page share."""

import sys
from collections.abc import Iterator

import pytest

from frobench.reports.purchase import script


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing be there that runs scripts."""
    monkeypatch.setitem(sys.modules, "quickjs", None)
    script.context.cache_clear()
    yield
    script.context.cache_clear()
