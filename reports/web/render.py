# SPDX-License-Identifier: MIT
"""Templates filled in: numbers with their intervals, escaped text, strict styles and scripts."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from frobench.reports.web.theme import DARK, LIGHT
from frobench.suite.checks import case_facts
from frobench.suite.printable import printable
from frobench.suite.stored.types import Estimate
from frobench.suite.units import counted, format_estimate

HERE = Path(__file__).parent
ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path stroke='#2a6fbf' "
    "stroke-width='2' d='M8 1v14M4 2h8M4 14h8'/>"
    "<circle cx='8' cy='7' r='3.5' fill='#b5440c'/></svg>"
)
LONGEST = 200
"""Characters of a name or a reason on the index."""
_INTERVAL = re.compile(r"\[[^\[\]]*\]|\(no interval: [^()]*\)")
_UNIT = re.compile(r"(?<=\d) (?=(?:[n\N{MICRO SIGN}mkMGTP]|[KMGT]i)?(?:FLOP/s|B/s|s|B)\b)")
_FIGURE = re.compile(r"(?:\d[\d,.]*(?:\u00a0\S+)? to )?\d[\d,.]*\u00a0\S*(?:FLOP/s|B/s|s)\b")
"""A number with a unit that has prefixes, or a range of them."""
_ESTIMATED = re.compile(
    r'(-?\d[\d,.]*[ \u00a0]?[^\s\d<>(),;]*)(?= <span class="interval">)'
    r"|(?<=t least )\d[\d,.]*\u00a0[^\s<>(),;]+"
)
"""A number, maybe with its unit, before its interval, or one that is reached at least."""
_CODE = re.compile(r"(`+)(.+?)\1")
_COMMENT = re.compile(r"^ *(?://(?! SPDX).*|/\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
"""Lines of a script that are comments, which no page carries, but the one about the licence."""


def render(
    template: str, scripts: Sequence[str] = (), styles: Sequence[str] = (), **context: object
) -> str:
    """Fill in a template; all text is escaped, and control characters are made visible.

    template : a file in `templates/` that extends `base.html`
    scripts : files in `static/` that the page runs, in order, once it is read. It runs no other
    styles : files in `static/` that follow the style all pages share
    context : what the template names. Data for a script goes into a block of its own:
        `<script type="application/json" id="data">{{ data | json }}</script>`
    """
    style = "".join([_style(), *map(static, styles)])
    programs = [_COMMENT.sub("", static(name)) for name in scripts]
    return filled(
        template,
        style=Markup(style),  # noqa: S704 - our own files
        scripts=[Markup(program) for program in programs],  # noqa: S704 - likewise
        policy=_policy(style, programs),
        icon=f"data:image/svg+xml,{quote(ICON)}",
        **context,
    )


def filled(template: str, **context: object) -> str:
    """Fill in a template that is no page; all text is escaped as `render` does."""
    return _templates().get_template(template).render(**context)


@cache
def _templates() -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(str(value)),
    )
    templates.filters |= {
        "bibtex": _bibtex,
        "counted": counted,
        "cut": lambda text: text[:LONGEST] + "\N{HORIZONTAL ELLIPSIS}" * (len(text) > LONGEST),
        "estimate": _estimate,
        "json": _json,
        "lead": _lead,
        "moment": moment,
        "prose": _prose,
        "sentence": _sentence,
    }
    return templates


@cache
def _style() -> str:
    """Return the style sheet below the colours of both themes."""
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in theme.items()) for theme in (LIGHT, DARK)
    )
    themes = f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    return themes + static("tokens.css")


@cache
def static(name: str) -> str:
    """Return the text of a file in `static/`."""
    return (HERE / "static" / name).read_text(encoding="utf-8")


def _policy(style: str, programs: Iterable[str]) -> str:
    """Allow this style sheet, these scripts and the icon, and nothing else."""

    def source(text: str) -> str:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return f"'sha256-{digest}'"

    allowed = " ".join(map(source, programs))
    return (
        f"default-src 'none'; style-src {source(style)}; "
        + (f"script-src {allowed}; " if allowed else "")
        + "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _json(value: object) -> Markup:
    """Spell data for a script: ASCII alone, nothing that could end the element it stands in."""
    text = json.dumps(harmless(value), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped just now


def harmless(value: object) -> object:
    """Make control characters visible in all strings of some JSON data."""
    match value:
        case str():
            return printable(value)
        case dict():
            return {printable(str(name)): harmless(part) for name, part in value.items()}
        case list() | tuple():
            return [harmless(part) for part in value]
        case _:
            return value


def _estimate(value: Estimate, unit: str) -> Markup:
    text = format_estimate(value, unit)
    interval = _INTERVAL.search(text)
    middle = text[: interval.start()].strip() if interval else text
    behind = _sentence(text[len(middle) :].strip())
    return Markup('<span class="value">{}</span> {}').format(middle, behind)


def _sentence(text: str) -> Markup:
    """Set the intervals of a sentence apart, and keep numbers and their units on one line."""
    marked = _INTERVAL.sub(r'<span class="interval">\g<0></span>', _fixed(text))
    return Markup(_ESTIMATED.sub(r"<b>\g<0></b>", marked))  # noqa: S704 - escaped just now


def _lead(text: str) -> Markup:
    """Set the figures of a sentence in bold, each with its unit on one line."""
    return Markup(_FIGURE.sub(r"<b>\g<0></b>", _fixed(text)))  # noqa: S704 - escaped just now


def _bibtex(title: str, day: str, url: str) -> str:
    """Return how to cite a page, for BibTeX.

    day, url : of the newest run, and of the page; empty where they are not known
    """
    fields = {
        "title": re.sub(r"([&%$#_{}])", r"\\\1", title.replace("\\", "/")),
        "author": "{Contributors to Frobench}",
        "year": day[:4],
        "note": "Measured with Frobench",
        "url": url,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    key = re.sub(r"\W+", "-", f"frobench {day[:4]} {title}".lower(), flags=re.ASCII)[:48].strip("-")
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _fixed(text: str) -> str:
    """Escape a text, with numbers and their units on one line and visible control characters."""
    return str(escape(_UNIT.sub("\N{NO-BREAK SPACE}", printable(text))))


def _prose(text: str) -> Markup:
    """Set paragraphs and `code` of a docstring."""
    paragraphs = (str(escape(printable(" ".join(part.split())))) for part in text.split("\n\n"))
    coded = (_CODE.sub(r"<code>\2</code>", paragraph) for paragraph in paragraphs if paragraph)
    return Markup("\n".join(f"<p>{paragraph}</p>" for paragraph in coded))  # noqa: S704 - escaped


def moment(text: str) -> str:
    """Spell an ISO 8601 time in UTC; what is none stays as it is."""
    when = case_facts.moment(text)
    return f"{when.day} {when:%B %Y, %H:%M} UTC" if when else text
