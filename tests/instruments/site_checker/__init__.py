# SPDX-License-Identifier: MIT
"""A second opinion on a site: what its pages print, computed anew from what can be downloaded."""
