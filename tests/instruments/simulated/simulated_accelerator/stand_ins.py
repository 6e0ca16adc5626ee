# SPDX-License-Identifier: MIT
"""Modules that PyTorch would import, at a second in all, for what nothing here uses.

The real ones also set variables of the environment, which a run would say of itself.

PyTorch looks for distributed tensors at the first call of a tensor's own dispatch, and keeps
what it finds. The meta kernels ask the compiler not to look into them, and reason about sizes
as if these were symbols.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

_STAND_INS: dict[str, dict[str, Any]] = {
    "torch.distributed.tensor": {"DTensor": type("DTensor", (), {})},
    "torch._dynamo": {"disable": lambda function, *_, **__: function},
    "torch.fx.experimental.symbolic_shapes": {
        "expect_true": bool,
        "guard_or_false": bool,
        "guard_or_true": bool,
        "guard_size_oblivious": bool,
        "guarding_hint_or_throw": lambda size: size,
        "has_guarding_hint": lambda _: True,
        "has_hint": lambda _: True,  # torch 2.11 has this and `size_hint` instead
        "is_nested_int": lambda _: False,
        "size_hint": lambda size: size,
        "statically_known_true": bool,
        "sym_eq": lambda one, other: one == other if type(one) is int else [*one] == [*other],
        "sym_and": lambda *conditions: all(conditions),
        "sym_or": lambda *conditions: any(conditions),
    },
    "torch.utils._sympy.functions": {"Max": max},
    "sympy": {"Basic": type("Basic", (), {})},
}


class _StandIn(ModuleType):
    """Has what is given to it; whoever wants more gets the real module's."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the module has)
        if name.startswith("__"):  # the import system asks for these
            raise AttributeError(name)
        _leave()
        return getattr(import_module(self.__name__), name)


@contextmanager
def standing_in() -> Iterator[None]:
    """Let these imports find little that is quick, unless the real thing is there already."""
    for name in _STAND_INS.keys() - sys.modules.keys():
        sys.modules[name] = _StandIn(name)
        vars(sys.modules[name]).update(_STAND_INS[name])
    try:
        yield
    finally:
        _leave()


def _leave() -> None:
    for name in _STAND_INS:
        if isinstance(sys.modules.get(name), _StandIn):
            del sys.modules[name]
