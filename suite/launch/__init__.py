# SPDX-License-Identifier: MIT
"""One launch: a fresh pytest process that measures every case of the plan once."""
