# SPDX-License-Identifier: MIT
"""The commands of docs/fleet.md are ones that the program takes, as they are written there."""

import re
import shlex
from pathlib import Path

import pytest

from frobench.command import main

GUIDE = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
CALLED = re.compile(r"(?:^|srun |bash -c '|sh, -c, '|-m )(frobench [^'\n]*)", re.MULTILINE)
COMMANDS = [
    command for _, block in BLOCKS for command in CALLED.findall(block.replace("\\\n", " "))
]


def test_the_guide_has_commands_for_ray_torchrun_slurm_and_kubernetes() -> None:
    assert [kind for kind, _ in BLOCKS] == ["console", "sh", "yaml", "console", "sh"]
    assert sum(" --label " in command for command in COMMANDS) == 2
    assert sum(" --nodes" in command for command in COMMANDS) == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide_has_the_options_of_its_verb(command: str, tmp_path: Path) -> None:
    _, verb, *arguments = shlex.split(command.replace("/shared/results", str(tmp_path)))
    main.commands[verb].make_context(verb, arguments)


def test_three_commands_lead_from_a_fresh_cluster_to_the_page() -> None:
    """A copy that is not editable would be hidden by the clone, where the second one is called."""
    ray = next(block for kind, block in BLOCKS if kind == "console").splitlines()
    assert ray[0] == 'pip install --constraint constraints.txt --editable ".[fleet]"'
    assert ray[1].startswith("frobench fleet")
    assert len(ray) == 3
