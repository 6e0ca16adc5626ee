# SPDX-License-Identifier: MIT
"""What machines are told of a site: schema.org's words in each page, an RO-Crate beside the index.

Both say what was measured and in which units, under which licence it may be used, and how to cite
it. Who measured a run is not stored, so they name no person.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec

from reports.cache import Marks
from reports.summary import Summary
from reports.words import printable

CRATE = "ro-crate-metadata.json"
VERSION = "https://w3id.org/ro/crate/1.2"
MEDIA = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
}
"""Files that hold data, by their suffix; all others show it."""
VARIABLES = {
    "seconds": ("Time of one call", "s"),
    "low": ("Lower end of the 95% interval of the time", "s"),
    "high": ("Upper end of the 95% interval of the time", "s"),
    "log_error": ("Standard error of the natural logarithm of the time", "1"),
    "flop_rate": ("Floating-point operations by time", "FLOP/s"),
    "byte_rate": ("Bytes moved by time", "B/s"),
}
"""Columns of the estimates that were measured: what they hold, and its unit."""
TECHNIQUE = (
    "Median over fresh processes of the medians of each; "
    "a 95% interval that takes the process, not the sample, as the unit of replication"
)
KEYWORDS = ("benchmark", "PyTorch", "GPU", "performance", "reproducibility")
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

    Parameters
    ----------
    address
        Where it will lie: the folder of the index, ending in a slash. Empty if that is not known.
    licence
        Under which its data may be used, as SPDX names it.
    """

    address: str = ""
    licence: str = "CC-BY-4.0"

    def url(self, href: str) -> str:
        """Return where a file of the site will lie: relative to the site if that is not known."""
        return f"{self.address}{href}"

    @property
    def licence_url(self) -> str:
        """Address of the licence's text."""
        return f"https://spdx.org/licenses/{self.licence}"


ANYWHERE = Publication()
"""A site whose address is not known."""


class Head(NamedTuple):
    """What the head of a page tells machines.

    dataset : the data of the page, in schema.org's words
    url, image : where the page and its picture will lie; empty if that is not known, since
        both must be absolute
    """

    dataset: Entity
    url: str = ""
    image: str = ""


class Described(NamedTuple):
    """What a page holds, as people would say it.

    href : of the page, below the site, empty for the index; ``image`` of its picture likewise
    date : when it was measured, ISO 8601
    """

    name: str
    text: str
    href: str
    image: str
    date: str


def head(about: Described, files: Marks, publication: Publication) -> Head:
    """Return what the head of a page tells machines.

    Parameters
    ----------
    files
        What belongs to the page, by paths below the site; those that hold data are offered.
    """
    known = bool(publication.address)
    folder = PurePosixPath(about.href).parent
    dataset: Entity = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": about.name,
        "description": about.text,
        **_published(about),
        "license": publication.licence_url,
        "creator": CREATORS,
        "citation": PROJECT | {"author": AUTHORS},
        "creditText": credit(about),
        "isAccessibleForFree": True,
        "keywords": list(KEYWORDS),
        "measurementTechnique": TECHNIQUE,
        "variableMeasured": [variable(name) for name in VARIABLES],
        "distribution": [
            {"@type": "DataDownload", **_told(name, files)}
            | {
                "contentUrl": publication.url(name)
                if known
                else PurePosixPath(name).relative_to(folder).as_posix()
            }
            for name in _data(files)
        ],
    }
    if not known:
        return Head(dataset)
    url, image = publication.url(about.href), publication.url(about.image)
    return Head(dataset | {"@id": url, "url": url, "image": image}, url, image)


def crate(
    about: Described,
    runs: Sequence[Summary],
    files: Mapping[str, Marks],
    common: Marks,
    publication: Publication,
) -> bytes:
    """Return the site's RO-Crate, version 1.2: its data files, each with its licence.

    Parameters
    ----------
    runs
        All.
    files
        What was written for each run, by the digest of its stored file.
    common
        What was written for all runs together.
    """
    licence: Entity = {"@id": publication.licence_url}
    folders: dict[str, list[Entity]] = {}
    for run in runs:
        place = f"{PurePosixPath(run.href).parent}/"
        folders.setdefault(place, []).extend(_of_run(run, files[run.sha256], licence))
    together = [_file(name, common, licence) for name in _data(common)]
    directories = [_directory(place, parts) for place, parts in folders.items()]
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": VERSION},
            "about": {"@id": publication.address or "./"},
        },
        _root(about, [*together, *directories], publication),
        licence | {"@type": "CreativeWork", "name": publication.licence, "description": _TERMS},
        {"@id": "#creators", **CREATORS},
        {"@id": "#authors", **AUTHORS},
        {"@id": "#frobench", **PROJECT, "author": {"@id": "#authors"}},
        *({"@id": f"#{name}", **variable(name)} for name in VARIABLES),
        *together,
        *directories,
        *(one for parts in folders.values() for one in parts),
    ]
    return msgspec.json.format(
        msgspec.json.encode({"@context": f"{VERSION}/context", "@graph": graph}), indent=1
    )


_TERMS = "The terms under which the data may be used; the suite itself has a licence of its own."


def _root(about: Described, parts: Iterable[Entity], publication: Publication) -> Entity:
    root: Entity = {
        "@id": publication.address or "./",
        "@type": "Dataset",
        "name": about.name,
        "description": about.text,
        **_published(about),
        "license": {"@id": publication.licence_url},
        "creator": {"@id": "#creators"},
        "citation": {"@id": "#frobench"},
        "creditText": credit(about),
        "keywords": ", ".join(KEYWORDS),
        "measurementTechnique": TECHNIQUE,
        "variableMeasured": _links(f"#{name}" for name in VARIABLES),
        "hasPart": _links(part["@id"] for part in parts),
    }
    return root | ({"url": publication.address} if publication.address else {})


def _directory(place: str, parts: Iterable[Entity]) -> Entity:
    return {
        "@id": place,
        "@type": "Dataset",
        "name": place.rstrip("/"),
        "description": "The runs of one kind of machine, each with its tables.",
        "hasPart": _links(part["@id"] for part in parts),
    }


def _of_run(run: Summary, files: Marks, licence: Entity) -> Iterator[Entity]:
    """Describe the files of a run, the stored one first, from which the others were made."""
    stored = PurePosixPath(run.href).with_suffix(".json").as_posix()
    yield _file(stored, files, licence) | {
        "name": printable(f"Run {run.run} of {run.title}"),
        "description": f"The stored run of the {run.profile} profile, with every sample",
        "dateCreated": printable(run.datetime),
    }
    for name in _data(files):
        if name != stored:
            yield _file(name, files, licence) | {"isBasedOn": {"@id": stored}}


def _file(name: str, files: Marks, licence: Entity) -> Entity:
    return {"@id": name, "@type": "File", **_told(name, files), "license": licence}


def _told(name: str, files: Marks) -> Entity:
    """Say what a file is called and which kind it is, how large, and by what it is known."""
    path, mark = PurePosixPath(name), files[name]
    return {
        "name": path.name,
        "encodingFormat": MEDIA[path.suffix],
        "contentSize": str(mark.size),
        "sha256": mark.sha256,
    }


def _data(files: Marks) -> list[str]:
    return sorted(name for name in files if PurePosixPath(name).suffix in MEDIA)


def _links(names: Iterable[str]) -> list[Entity]:
    return [{"@id": name} for name in names]


def variable(name: str) -> Entity:
    """Return a column that was measured, in schema.org's words."""
    text, unit = VARIABLES[name]
    return {"@type": "PropertyValue", "name": name, "description": text, "unitText": unit}


def _published(about: Described) -> Entity:
    """Say when the newest of the data was measured: the same data give the same words."""
    return {"datePublished": day} if (day := date(about.date)) else {}


def credit(about: Described) -> str:
    """Return how to cite some data in one line."""
    year = date(about.date)[:4] or "n.d."
    return f"{CREATORS['name']} ({year}). {about.name}. Measured with Frobench."


def date(text: str) -> str:
    """Return the day of an ISO 8601 time in UTC, ``YYYY-MM-DD``; empty if it is none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).date().isoformat()
    except (ValueError, OverflowError):
        return ""
