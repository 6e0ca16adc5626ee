# SPDX-License-Identifier: MIT
"""Every link of a site followed, and every file that it offers looked at."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.instruments.site_checker.files import table
from tests.instruments.site_checker.report import LINKS, Report
from tests.instruments.site_checker.tree import Element

ATTRIBUTES = ("href", "src", "srcset", "action", "data", "poster", "xlink:href")
MAGIC = b"PAR1"
"""At both ends of a Parquet file."""


def check(folder: Path, pages: Mapping[str, Element], address: str, report: Report) -> None:
    """Follow all links of all pages.

    Parameters
    ----------
    pages
        By their path from the site's folder.
    address
        Of the site, if it was told its own; else empty.
    """
    ids = {
        (folder / name).resolve(): {one.attributes.get("id") for one in page.every()}
        for name, page in pages.items()
    }
    for name, page in pages.items():
        for element, link in _links(page):
            fault = _followed(folder, name, element, link, ids, address)
            report.check(not fault, LINKS, f"{name}: {link!r} {fault}")
    for cells in table(folder / "runs.csv"):
        stored = (folder / cells["href"]).with_suffix(".json")
        digest = hashlib.sha256(stored.read_bytes()).hexdigest() if stored.is_file() else "missing"
        fault = f"runs.csv: {stored.name} is not the stored file: {digest}"
        report.check(digest == cells["sha256"], LINKS, fault)


def _links(page: Element) -> Iterator[tuple[Element, str]]:
    for element in page.every():
        for name in ATTRIBUTES:
            if name in element.attributes:
                yield element, element.attributes[name]


def _followed(  # noqa: PLR0913, PLR0917 - what a link may lead to
    folder: Path,
    name: str,
    element: Element,
    link: str,
    ids: Mapping[Path, set[str | None]],
    address: str,
) -> str:
    """Say what is wrong with a link; nothing if it leads somewhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        told = bool(address) and link.startswith(address)
        told |= parts.scheme == "data" and element.name == "link"
        source = parts.scheme == "https" and "external" in element.attributes.get("rel", "").split()
        return "" if told or source else "leads away from the site"
    page = (folder / name).resolve()
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    inside = folder.resolve() in target.parents and not parts.path.startswith("/")
    if not inside or not target.is_file():
        return "leads to no file of the site"
    if parts.fragment and target in ids and unquote(parts.fragment) not in ids[target]:
        return "leads to no place of its page"
    if "download" in element.attributes and target.suffix in {".csv", ".parquet"}:
        return _offered(target)
    return ""


def _offered(target: Path) -> str:
    """Say what is wrong with a table that is offered, of which there are always two forms."""
    parquet, csv = target.with_suffix(".parquet"), target.with_suffix(".csv")
    if not parquet.is_file() or not csv.is_file():
        return "has not both of its forms"
    content = parquet.read_bytes()
    if len(content) <= 2 * len(MAGIC) or content[:4] != MAGIC or content[-4:] != MAGIC:
        return "has a form that is no Parquet"
    return ""
