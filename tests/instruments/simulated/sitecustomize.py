# SPDX-License-Identifier: MIT
"""Imports torch as Python starts, where simulated devices have a clock of their own.

They replace the clock when torch is imported, which is in time only for what is imported later.
"""

import json
import os

if json.loads(os.environ.get("SIM_SPEC", "{}")).get("virtual"):
    import torch  # noqa: F401
