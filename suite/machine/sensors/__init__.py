# SPDX-License-Identifier: MIT
"""What drivers and the system tell of a device, once or while it works: a module a source."""
