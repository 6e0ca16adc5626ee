# SPDX-License-Identifier: MIT
"""A text is searched in a time that grows with its length, and nothing is passed over for that."""

from random import Random
from time import process_time

import pytest

from frobench.suite import privacy
from frobench.suite.privacy import FOUR_NUMBERS, LOOKS, in_lower_case, matches, possible
from tests.instruments.faults.secrets import SECRETS
from tests.suite.checks.test_checks_privacy import TELLING, UNITS

LETTERS = 2**17
TEXTS = {
    "tokens without an end": "eyJ-" * (LETTERS // 4),
    "long tokens without an end": "eyJaaaaaa-" * (LETTERS // 10),
    "a port that ends with a letter": f"a{'1' * LETTERS}:1234x",
    "a host with hyphens whose port ends with a letter": f"{'a-' * (LETTERS // 2)}1:1234x",
    "addresses without a password": ("://" + ":" * 125) * (LETTERS // 128),
}
"""Texts of which each beginning of something was once searched to the end."""
JOINTS = (" ", "", "\n", ": ", "/", "-", "=", ".", "\u0130 ", "\u2028")
PARTS = (*SECRETS.values(), *SECRETS, *TELLING, *UNITS)


@pytest.mark.parametrize("name", TEXTS)
def test_a_long_text_is_searched_in_time(name: str) -> None:
    begun = process_time()
    privacy.hide(TEXTS[name])
    assert process_time() - begun < 15  # of which it takes 0.1; the square of its length, minutes


@pytest.mark.parametrize("seed", range(4))
def test_what_is_not_searched_holds_nothing(seed: int) -> None:
    """Compare each search with its pattern alone, which looks everywhere."""
    random = Random(seed)  # noqa: S311 - no secret
    for _ in range(500):
        parts = [random.choice(PARTS) for _ in range(random.randint(1, 5))]
        text = random.choice(JOINTS).join(
            part.swapcase() if random.random() < 0.1 else part for part in parts
        )
        lower = in_lower_case(text)
        assert len(lower) == len(text)
        for look in (*LOOKS, FOUR_NUMBERS):
            everywhere = look.pattern.finditer(lower if look.folded else text)
            spans = [
                match.span()
                for match in everywhere
                if "proof" not in look.pattern.groupindex or match["proof"]
            ]
            searched = [
                one for each in possible([look], lower) for one in matches(each, text, lower)
            ]
            assert [match.span() for match in searched] == spans, text


@pytest.mark.parametrize("text", PARTS)
def test_a_kind_is_told_once_of_a_text_and_of_each_that_is_found(text: str) -> None:
    kinds = list(dict.fromkeys(secret.kind for secret in privacy.find(text)))
    said = [f"$.reason holds {kind}" for kind in kinds]
    assert [*privacy.disclosures({"reason": text})] == said
