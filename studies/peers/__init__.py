# SPDX-License-Identifier: MIT
"""Frobench beside the tools that one would take instead: the same bodies, timed in one run.

`python -m studies.peers` measures for about twelve minutes and writes `docs/peers.json` and
the tables of `docs/peers.md`; with ``--quick`` it measures a little of everything and writes
nothing.

A tool is one module of `adapters`, which says how a user runs it (`tool.Tool`); a further one
needs nothing else. `plan` says what is measured in which order, `studies`, `effort`, `alarms`
and `goals` what follows from it, `figures` how it is stored and `page` how it is shown.
"""
