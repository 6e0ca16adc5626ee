# SPDX-License-Identifier: MIT
"""Matplotlib's SVG made fit to stand inside a page.

What comes in has inline styles, fixed colours, metadata and identifiers that collide. What
goes out has presentation attributes only (a strict Content-Security-Policy leaves them
alone), colours that follow the page's theme, hover texts and a text alternative.
"""

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_TARGET = re.compile(r"#([\w.-]+)")
_SPACE = re.compile(r"\s+")
_DROPPED = {"font-family", "stroke-linejoin", "stroke-linecap"}  # the page's style sheet has them


def clean(
    raw: str,
    *,
    prefix: str,
    label: str,
    colours: Mapping[str, str],
    hover: Mapping[str, Sequence[str]],
) -> str:
    """Return `raw` as an inline SVG element.

    Parameters
    ----------
    prefix
        Put before every identifier, so that several charts can share a page.
    label
        The text alternative of the whole chart.
    colours
        What each colour of the drawing becomes, such as ``var(--c1, #2a6fbf)``.
    hover
        Texts for the marks of all groups with a ``gid``, in drawing order.
    """
    root = ET.fromstring(raw)  # noqa: S314 - drawn by matplotlib a moment ago, not received
    _strip(root)
    texts = {gid: iter(spelled) for gid, spelled in hover.items()}
    for group in root.iter("g"):
        for mark in _marks(group) if group.get("id") in texts else ():
            ET.SubElement(mark, "title").text = next(texts[group.attrib["id"]])
    used = _used(root)
    for element in root.iter():
        _restyle(element, colours)
        _rename(element, prefix, used)
    _, _, width, height = root.get("viewBox", "").split()
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "fill": "currentColor",
        "role": "img",
        "aria-label": label,
    }
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _strip(root: ET.Element) -> None:
    """Drop metadata, style sheets, namespaces and layout white space."""
    for element in list(root.iter()):
        for child in list(element):
            if child.tag in {f"{_SVG}metadata", f"{_SVG}style"}:
                element.remove(child)
        element.tag = element.tag.removeprefix(_SVG)
        element.tail = None
        if element.text is not None and not element.text.strip():
            element.text = None


def _marks(group: ET.Element) -> list[ET.Element]:
    """Return the marks of a group: its reused shapes, or else its paths."""
    return list(group.iter("use")) or list(group.iter("path"))


def _used(root: ET.Element) -> set[str]:
    """Collect the identifiers that something refers to."""
    values = (value for element in root.iter() for value in element.attrib.values())
    return {target for value in values for target in _TARGET.findall(value)}


def _restyle(element: ET.Element, colours: Mapping[str, str]) -> None:
    """Turn the inline style into presentation attributes in the page's colours."""
    style = element.attrib.pop("style", "")
    for declaration in filter(None, (part.strip() for part in style.split(";"))):
        name, _, value = declaration.partition(": ")
        if name not in _DROPPED:
            element.set(name, colours.get(value, value))
    if "d" in element.attrib:
        element.set("d", _SPACE.sub(" ", element.attrib["d"]).strip())
    if element.get("transform", "").startswith("rotate(-0"):
        del element.attrib["transform"]


def _rename(element: ET.Element, prefix: str, used: set[str]) -> None:
    """Prefix identifiers and what refers to them; drop those that nothing refers to."""
    identifier = element.attrib.pop("id", None)
    if identifier in used:
        element.set("id", f"{prefix}-{identifier}")
    if _HREF in element.attrib:
        element.set("href", element.attrib.pop(_HREF).replace("#", f"#{prefix}-"))
    if "clip-path" in element.attrib:
        element.set("clip-path", element.attrib["clip-path"].replace("#", f"#{prefix}-"))
