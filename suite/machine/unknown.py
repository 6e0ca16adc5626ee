# SPDX-License-Identifier: MIT
"""Facts that cannot always be known: a value, or `None` and the reason beside it."""

from typing import TypeVar

T = TypeVar("T")


class Facts:
    """Gathers the reasons for the facts of one part of the environment that are not known.

    part : dotted path of the part, such as `cpu` or `accelerators.0`
    unknown : takes the reasons, by the dotted path of the fact
    """

    def __init__(self, part: str, unknown: dict[str, str]) -> None:
        self._part = part
        self._unknown = unknown

    def note(self, name: str, value: T | None, otherwise: str) -> T | None:
        """Return the value; where it is `None`, keep `otherwise` as the reason."""
        if value is None:
            self._unknown[f"{self._part}.{name}"] = otherwise
        return value
