# SPDX-License-Identifier: MIT
"""What may hold an accelerator's clock down, and what mends it."""

HELD_BACK = {
    "ApplicationsClocksSetting": (
        "somebody set its clocks",
        "sudo nvidia-smi -i {0} -rac; sudo nvidia-smi -i {0} -rgc",
    ),
    "SwPowerCap": (
        "it draws all the power that it may",
        "end what computes on it; raise its limit: sudo nvidia-smi -i {0} -pl WATTS (in no laptop)",
    ),
    "HwSlowdown": (
        "its hardware slowed it down, for heat or power",
        "check its cooling and its power cables",
    ),
    "SyncBoost": (
        "it keeps to the clock of the slowest in its group",
        "take it out of the group that nvidia-smi or DCGM put it into",
    ),
    "SwThermalSlowdown": ("it is too hot", "check its cooling, and let it cool down"),
    "HwThermalSlowdown": (
        "it is so hot that its hardware slowed it down",
        "check its cooling, and let it cool down",
    ),
    "HwPowerBrakeSlowdown": (
        "the power supply told it to slow down",
        "check the power supply and its cables",
    ),
    "DisplayClockSetting": ("its display holds its clock", "measure on a card without a display"),
    "BoardLimit": ("its board gives no more power", "check its cooling and its power cables"),
    "Reliability": ("its voltage may not rise further", "undo what was set to overclock it"),
}
"""What may hold a clock down, by NVML's names: in words, and what mends it for a GPU's number.

https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html
"""
IDLE = "GpuIdle"
