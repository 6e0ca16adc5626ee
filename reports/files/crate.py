# SPDX-License-Identifier: MIT
"""The site as an RO-Crate: all its files that hold data, each with its licence and its digest.

RO-Crate 1.2, https://www.researchobject.org/ro-crate/specification/1.2/, in which a file that lies
in the crate is named by its path, wherever the crate lies itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from frobench.reports.files import metadata
from frobench.reports.files.metadata import Described, Entity, Publication
from frobench.reports.making.cache import Marks
from frobench.reports.summary.model import Summary
from frobench.suite.printable import printable

CRATE = "ro-crate-metadata.json"
VERSION = "https://w3id.org/ro/crate/1.2"
TERMS = "The terms under which the data may be used; the suite itself has a licence of its own."


def crate(
    about: Described,
    runs: Sequence[Summary],
    files: Mapping[str, Marks],
    common: Marks,
    publication: Publication,
) -> bytes:
    """Return the crate.

    files : what was written for each run, by the digest of its stored file
    common : what was written for all runs together
    """
    licence: Entity = {"@id": publication.licence_url}
    folders: dict[str, list[Entity]] = {}
    for run in runs:
        folder = f"{PurePosixPath(run.href).parent}/"
        folders.setdefault(folder, []).extend(_of_run(run, files[run.sha256], licence))
    together = [_file(name, common, licence) for name in metadata.data(common)]
    directories = [_directory(folder, parts) for folder, parts in folders.items()]
    graph = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": VERSION},
            "about": {"@id": publication.address or "./"},
        },
        _root(about, [*together, *directories], publication),
        licence | {"@type": "CreativeWork", "name": publication.licence, "description": TERMS},
        {"@id": "#creators", **metadata.CREATORS},
        {"@id": "#authors", **metadata.AUTHORS},
        {"@id": "#frobench", **metadata.PROJECT, "author": {"@id": "#authors"}},
        *({"@id": f"#{one['name']}", **one} for one in metadata.variables()),
        *together,
        *directories,
        *(part for parts in folders.values() for part in parts),
    ]
    return msgspec.json.format(
        msgspec.json.encode({"@context": f"{VERSION}/context", "@graph": graph}), indent=1
    )


def _root(about: Described, parts: Iterable[Entity], publication: Publication) -> Entity:
    licence, creator, citation = _links([publication.licence_url, "#creators", "#frobench"])
    root: Entity = {
        "@id": publication.address or "./",
        **metadata.dataset_of(about, licence, creator, citation),
        "keywords": ", ".join(metadata.KEYWORDS),
        "measurementTechnique": metadata.TECHNIQUE,
        "variableMeasured": _links(f"#{name}" for name in metadata.VARIABLES),
        "hasPart": _links(part["@id"] for part in parts),
    }
    return root | ({"url": publication.address} if publication.address else {})


def _directory(folder: str, parts: Iterable[Entity]) -> Entity:
    return {
        "@id": folder,
        "@type": "Dataset",
        "name": folder.rstrip("/"),
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
    for name in metadata.data(files):
        if name != stored:
            yield _file(name, files, licence) | {"isBasedOn": {"@id": stored}}


def _file(name: str, files: Marks, licence: Entity) -> Entity:
    return {"@id": name, "@type": "File", **metadata.file_entity(name, files), "license": licence}


def _links(names: Iterable[str]) -> list[Entity]:
    return [{"@id": name} for name in names]
