# SPDX-License-Identifier: MIT
"""Every link of a site followed."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.instruments.site_checker.pages import Element
from tests.instruments.site_checker.report import LINKS, Report

ATTRIBUTES = ("href", "src", "srcset", "action", "data", "poster", "xlink:href")


def check(folder: Path, pages: Mapping[str, Element], address: str, report: Report) -> None:
    """Follow all links of all pages.

    pages : by their path from the site's folder
    address : of the site, if it was told its own; else empty
    """
    ids = {
        (folder / name).resolve(): {one.attributes.get("id") for one in page.every()}
        for name, page in pages.items()
    }
    for name, page in pages.items():
        for element in page.every():
            for link in (
                element.attributes[one] for one in ATTRIBUTES if one in element.attributes
            ):
                outside = urlsplit(link).scheme or urlsplit(link).netloc
                if outside:
                    fault = "" if _may(element, link, address) else "leads away from the site"
                else:
                    fault = _followed(folder.resolve(), (folder / name).resolve(), link, ids)
                report.check(not fault, LINKS, f"{name}: {link!r} {fault}")


def _may(element: Element, link: str, address: str) -> bool:
    """Tell whether a link may leave: to the site's own address, or to a source that is marked."""
    source = "external" in element.attributes.get("rel", "").split()
    return (
        (bool(address) and link.startswith(address))
        or (link.startswith("data:") and element.name == "link")
        or (link.startswith("https:") and source)
    )


def _followed(folder: Path, page: Path, link: str, ids: Mapping[Path, set[str | None]]) -> str:
    """Say what is wrong with a link; nothing if it leads somewhere."""
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if folder not in target.parents or parts.path.startswith("/") or not target.is_file():
        return "leads to no file of the site"
    if parts.fragment and target in ids and unquote(parts.fragment) not in ids[target]:
        return "leads to no place of its page"
    return ""
