# SPDX-License-Identifier: MIT
"""Calls the benchmarks with stand-ins for what PyTorch lacks; writes one JSON object.

``python -m tests.instruments.data_parallel FOLDER`` needs a folder for changed copies of
benchmarks.
"""

import json
import sys
from pathlib import Path

from tests.instruments.data_parallel import stand_ins
from tests.instruments.data_parallel.benches import play

stand_ins.install()
json.dump(play(Path(sys.argv[1])), sys.stdout)
