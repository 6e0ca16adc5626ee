# SPDX-License-Identifier: MIT
"""Plays all scenes, with stand-ins where PyTorch lacks what they need; writes one JSON object.

``python -m tests.instruments.data_parallel FOLDER`` needs a folder for changed copies of
benchmarks.
"""

import json
import sys
from pathlib import Path

from tests.instruments.data_parallel import stand_ins
from tests.instruments.data_parallel.benches import play
from tests.instruments.data_parallel.replicas import SCENES

stand_ins.install()
seen = {scene.__name__: scene() for scene in SCENES}
json.dump(seen | {"benches": play(Path(sys.argv[1]))}, sys.stdout)
