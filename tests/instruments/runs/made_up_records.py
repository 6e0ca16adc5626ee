# SPDX-License-Identifier: MIT
"""Records of a journal, made up."""

from typing import Any

from msgspec.structs import replace

from frobench.suite.journal import Measured
from frobench.suite.stored.types import Work

_MEASURED = Measured(
    launch=0,
    case="",
    order=1,
    samples=[1.0],
    iterations=1,
    warmup=0.0,
    sampled=1.0,
    work=Work(),
    check=None,
    parts={},
    peak_bytes=None,
)


def measured(case: str, **changed: Any) -> Measured:  # noqa: ANN401 - as the record has them
    """Return the record of a case that took a second in the first launch, with some changes."""
    return replace(_MEASURED, case=case, **changed)
