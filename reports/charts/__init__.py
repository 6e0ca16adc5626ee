# SPDX-License-Identifier: MIT
"""Plots drawn as SVG that follows the page's theme.

Each plot is drawn in two forms, one for a desk and one for a telephone, because text that is
scaled down with its chart cannot be read. The page shows the one that fits.
"""

from markupsafe import Markup

from frobench.reports.charts import categories, curves
from frobench.reports.charts.words import describe
from frobench.reports.findings.finding import Plot
from frobench.reports.web.theme import Form


def draw(plot: Plot, form: Form) -> Markup:
    """Return the plot as an inline SVG element."""
    painter = curves.draw if plot.kind in {"curve", "points"} else categories.draw
    return painter(plot, form).svg(describe(plot))
