# SPDX-License-Identifier: MIT
"""PyTorch, imported when it is first used: benchmarks of other code do without.

`from frobench.suite.lazy_torch import torch` stands for `import torch`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch  # noqa: PLC0414 - for those who import it from here
else:

    class _Torch(ModuleType):
        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever torch has
            return getattr(import_module(self.__name__), name)

    torch = _Torch("torch")


def is_imported() -> bool:
    """Tell whether anything in this process has imported PyTorch."""
    return "torch" in sys.modules
