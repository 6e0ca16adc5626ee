# SPDX-License-Identifier: MIT
"""A case that stands beside another version of its body says which is faster."""

import pytest
from msgspec.structs import replace

from frobench.suite.stored.types import Case
from tests.instruments.runs.exact_runs import WOBBLE, answer, by_name, case


def beside(slower: float) -> Case:
    """Build a case whose other version takes so many times as long, whatever the launch does."""
    one = case("bench_new", 1e-3)
    against = [1e-3 * slower * factor for factor in WOBBLE]
    return replace(one, extra_info=replace(one.extra_info, against=against))


@pytest.mark.parametrize(
    ("slower", "words"),
    [(1.25, "It is faster"), (0.8, "It is slower"), (1.001, "They are the same to half a percent")],
)
def test_the_ratio_is_found_through_all_noise_that_both_share(slower: float, words: str) -> None:
    (found,) = (
        finding
        for name, finding in by_name(answer("sorting", [beside(slower)])).items()
        if name.startswith("versions-")
    )
    assert found.value.value == pytest.approx(1 / slower)
    assert words in found.answer


def test_a_case_that_stands_alone_says_nothing_of_versions() -> None:
    names = by_name(answer("sorting", [case("bench_new", 1e-3)]))
    assert not any(name.startswith("versions-") for name in names)
