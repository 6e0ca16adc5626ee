# SPDX-License-Identifier: MIT
"""What may hold a clock back, by the name that NVML, the kernel or amdsmi has for it.

https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html,
https://rocm.docs.amd.com/projects/amdsmi/en/develop/conceptual/gpu-violations.html
"""

from typing import Literal, NamedTuple

IDLE = "GpuIdle"
"""The name of what holds down the clock of a GPU that rests."""
THROTTLED = "PackageThrottle"
"""The processor became too hot and slowed itself down."""
COOL = "check its cooling, and let it cool down"
CABLES = "check its cooling and its power cables"
RAISE_NVIDIAS_LIMIT = (
    "end what computes on it; raise its limit: sudo nvidia-smi -i {0} -pl WATTS (in no laptop)"
)
RAISE_AMDS_LIMIT = (
    "end what computes on it; raise its limit: sudo amd-smi set -g {0} --power-cap WATTS"
)
FREE_CLOCKS = "sudo nvidia-smi -i {0} -rac; sudo nvidia-smi -i {0} -rgc"
LEAVE_GROUP = "take it out of the group that nvidia-smi or DCGM put it into"


class Cause(NamedTuple):
    """What holds a clock back.

    kind : whether it is a limit of the design, something wrong, or a clock that was chosen
    mend : for the device with the number `{0}`
    """

    kind: Literal["limit", "wrong", "chosen", "other"]
    words: str
    mend: str


CAUSES = {
    "SwPowerCap": Cause("limit", "its power limit", RAISE_NVIDIAS_LIMIT),
    "BoardLimit": Cause("limit", "its board's limit", CABLES),
    "ppt_pwr": Cause("limit", "its power limit", RAISE_AMDS_LIMIT),
    "gfx_clk_below_host_limit_pwr": Cause("limit", "its power limit", RAISE_AMDS_LIMIT),
    "HwSlowdown": Cause("wrong", "its hardware", CABLES),
    "SwThermalSlowdown": Cause("wrong", "heat", COOL),
    "HwThermalSlowdown": Cause("wrong", "heat", COOL),
    "HwPowerBrakeSlowdown": Cause("wrong", "its power supply", CABLES),
    THROTTLED: Cause("wrong", "heat", COOL),
    "prochot_thrm": Cause("wrong", "heat", COOL),
    "socket_thrm": Cause("wrong", "heat", COOL),
    "vr_thrm": Cause("wrong", "hot voltage regulators", COOL),
    "hbm_thrm": Cause("wrong", "hot memory", COOL),
    "gfx_clk_below_host_limit_thm": Cause("wrong", "heat", COOL),
    "ApplicationsClocksSetting": Cause("chosen", "clocks that somebody set", FREE_CLOCKS),
    "SyncBoost": Cause("chosen", "the slowest device of its group", LEAVE_GROUP),
    "DisplayClockSetting": Cause(
        "chosen", "its display's clock", "measure on a card without a display"
    ),
    "Reliability": Cause(
        "other", "the highest reliable voltage", "undo what was set to overclock it"
    ),
}


def of_kind(kind: str) -> dict[str, str]:
    """Return the words for each cause of a kind, by its name."""
    return {name: cause.words for name, cause in CAUSES.items() if cause.kind == kind}
