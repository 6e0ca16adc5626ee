# SPDX-License-Identifier: MIT
"""What programs are told of a page, in schema.org's words.

It says which files hold the data, under which licence they may be used, and how to cite them. Who
measured a run is not stored, so it names no person.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from frobench.reports.making.cache import Marks
from frobench.suite.checks import case_facts

MEDIA = {"csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
"""Files that hold data, by their suffix; all others show it."""
PROJECT = {
    "@type": "SoftwareApplication",
    "name": "Frobench",
    "description": "A reproducible PyTorch benchmark suite with reports.",
    "applicationCategory": "Benchmark",
    "license": "https://spdx.org/licenses/MIT",
}
"""The suite, which whoever uses a result is asked to cite (`CITATION.cff`)."""
AUTHORS = {"@type": "Organization", "name": "The Frobench authors"}
CREATORS = {
    "@type": "Organization",
    "name": "Contributors to Frobench",
    "description": "Those who measured the runs; a stored run names nobody.",
}

Entity = dict[str, Any]


@dataclass(frozen=True)
class Publication:
    """What no run can tell of a site.

    address : where it will lie: the folder of the index, ending in a slash; empty if not known
    licence : under which its data may be used, as SPDX names it
    """

    address: str = ""
    licence: str = "CC-BY-4.0"

    def url(self, href: str) -> str:
        """Return where a file of the site will lie: relative to the site if that is not known."""
        return f"{self.address}{href}"


ANYWHERE = Publication()
"""A site whose address is not known."""


class Head:
    """What the head of a page tells machines.

    dataset : the data of the page, in schema.org's words
    licence : the name of theirs
    url, image : where the page and its picture will lie; empty if that is not known, since
        both must be absolute
    """

    def __init__(  # noqa: PLR0913, PLR0917 - one for each thing that machines are told
        self,
        name: str,
        text: str,
        when: str,
        files: Marks,
        publication: Publication,
        href: str = "",
        image: str = "",
    ) -> None:
        """Compute what machines are told.

        name, text : what the page holds, as people would say it
        when : it was measured, ISO 8601
        files : what belongs to the page, by paths below the site; those that hold data are offered
        href, image : the page below the site, empty for the index, and its picture, if it has one
        """
        folder, address = PurePosixPath(href).parent, publication.address
        day = date(when)  # when the newest was measured, so that words never change
        self.licence = publication.licence
        self.url = publication.url(href) if address else ""
        self.image = publication.url(image) if address and image else ""
        places = {"@id": self.url, "url": self.url, "image": self.image}
        self.dataset: Entity = {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": name,
            "description": text,
            **({"datePublished": day} if day else {}),
            "license": f"https://spdx.org/licenses/{publication.licence}",
            "creator": CREATORS,
            "citation": PROJECT | {"author": AUTHORS},
            "distribution": [
                {
                    "@type": "DataDownload",
                    "name": file.rpartition("/")[2],
                    "encodingFormat": MEDIA[file.rpartition(".")[2]],
                    "sha256": files[file].sha256,
                    "contentUrl": publication.url(file)
                    if address
                    else PurePosixPath(file).relative_to(folder).as_posix(),
                }
                for file in sorted(files)
                if file.rpartition(".")[2] in MEDIA
            ],
            **{name: place for name, place in places.items() if place},
        }


def date(text: str) -> str:
    """Return the day of an ISO 8601 time in UTC, ``YYYY-MM-DD``; empty if it is none."""
    when = case_facts.moment(text)
    return when.date().isoformat() if when else ""
