# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of an image, C(inputs.lock): every package file and download of a bake, with URL, SHA-256 digest and size.

The action C(image_lock) makes it, C(image_fetch) fills a folder from it, and C(image_packages) installs from that folder only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import Problem, Problems, SpecError, joined
from ..formats import json
from ..model.plain import INVALID
from ..model.schema import Kind, integer, list_of, record, text, type_name

FORMAT = 1
FILE = "inputs.lock"
"""The name of a lock. The folder that C(image_fetch) fills contains a copy."""

PACKAGES, DOWNLOADS = "packages", "downloads"
"""The fields with the files of a lock, and the directories of the folder."""

MAKE_AGAIN = "make the lock again (tasks_from: lock)"

_LARGEST = 1 << 40


@dataclass(frozen=True)
class System:
    """The machine on which a lock was made: C(ID) and C(VERSION_ID) of os-release, and the machine name of C(uname -m)."""

    id: str
    version_id: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.id} {self.version_id} {self.architecture}"


@dataclass(frozen=True)
class Package:
    """A package file. version: as the package manager compares it, with the epoch if it is not 0."""

    name: str
    version: str
    architecture: str
    file: str
    url: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Download:
    """A program, an archive or a container image."""

    name: str
    file: str
    url: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Lock:
    """The inputs of an image. requested: the packages that the description asks for; C(packages) has their dependencies, too."""

    system: System
    requested: tuple[str, ...]
    packages: tuple[Package, ...]
    downloads: tuple[Download, ...]


@dataclass(frozen=True)
class Input:
    """A file of a lock. path: the entry in the lock. place: the path of the file in the folder."""

    path: str
    place: str
    url: str
    sha256: str
    size: int


def inputs(lock: Lock) -> Iterator[Input]:
    """Every file of a lock: the packages, then the downloads."""
    kinds: dict[str, tuple[Package | Download, ...]] = {PACKAGES: lock.packages, DOWNLOADS: lock.downloads}
    for kind, entries in kinds.items():
        for number, entry in enumerate(entries):
            yield Input(joined(f"lock.{kind}", number), f"{kind}/{entry.file}", entry.url, entry.sha256, entry.size)


def dump(lock: Lock) -> str:
    """The text of a lock. The same inputs give the same bytes, in whatever order they come."""
    document = {
        "format": FORMAT,
        "system": asdict(lock.system),
        "requested": sorted(set(lock.requested)),
        PACKAGES: [asdict(one) for one in sorted(lock.packages, key=lambda one: (one.name, one.architecture, one.version))],
        DOWNLOADS: [asdict(one) for one in sorted(lock.downloads, key=lambda one: one.file)],
    }
    return json.dump(document, indent=2)


# --- reading ---------------------------------------------------------------------------------------------------------------------------

_WORD = text(pattern=r"\S{1,255}", what="one word", allowed="at most 255 characters without spaces")
_SHA256 = text(pattern="[0-9a-f]{64}", what="a SHA-256 digest", allowed="64 hexadecimal digits in lower case")
_NAME = text(
    pattern="[0-9A-Za-z][0-9A-Za-z._+~%^:@=-]{0,199}",
    what="a file name",
    allowed="a letter or digit, then letters, digits and ._+~%^:@=-, at most 200 characters",
)
_URL = text(
    pattern=r"(?:https?://[^\s/@]+|file://)/\S+",
    what="a URL of a file",
    allowed="http://, https:// or file:///, without user name and password",
    secret=True,
)
_SIZE = integer(0, _LARGEST)


def _fields(**fields: Kind) -> Kind:
    return record(fields, {name: f"as {FILE} of the role has it" for name in fields})


def _format(value: Any, path: str, problems: Problems) -> Any:
    if value == FORMAT and isinstance(value, int) and not isinstance(value, bool):
        return value
    fix = f"update the collection, or {MAKE_AGAIN}"
    problems.add("lock.unreadable", path, "is not a format that this collection reads", value=value, allowed=str(FORMAT), fix=fix)
    return INVALID


_ENTRY = {"name": _WORD, "file": _NAME, "url": _URL, "sha256": _SHA256, "size": _SIZE}
_LOCK = _fields(
    format=Kind(_format, {"type": "integer", "const": FORMAT}),
    system=_fields(id=_WORD, version_id=_WORD, architecture=_WORD),
    requested=list_of(_WORD),
    packages=list_of(_fields(version=_WORD, architecture=_WORD, **_ENTRY)),
    downloads=list_of(_fields(**_ENTRY)),
)


def load(content: str) -> Lock:
    """The lock of a text. Raises C(SpecError) with every problem; paths begin with C(lock)."""
    try:
        document = json.load(content)
    except json.JsonError as error:
        raise SpecError([Problem("lock.unreadable", "lock", f"is not JSON: {error}", fix=MAKE_AGAIN)]) from None
    return of_document(document)


def of_document(document: Any) -> Lock:
    """The lock of a document. Raises C(SpecError) with every problem."""
    if not isinstance(document, dict):
        raise SpecError([Problem("lock.unreadable", "lock", f"must be a mapping, not {type_name(document)}", fix=MAKE_AGAIN)])
    problems = Problems()
    found = _LOCK(document, "lock", problems)
    for kind in (PACKAGES, DOWNLOADS):
        _check_files([entry.get("file") for entry in found.get(kind, ())], f"lock.{kind}", problems)
    problems.raise_any()
    return Lock(
        System(**found["system"]),
        tuple(found["requested"]),
        tuple(Package(**entry) for entry in found[PACKAGES]),
        tuple(Download(**entry) for entry in found[DOWNLOADS]),
    )


def _check_files(files: Iterable[str | None], path: str, problems: Problems) -> None:
    first: dict[str | None, int] = {}
    for number, file in enumerate(files):
        if file is not None and first.setdefault(file, number) != number:
            message = f"is also the file of {joined(path, first[file])}"
            problems.add("lock.duplicate_file", f"{joined(path, number)}.file", message, value=file, fix=MAKE_AGAIN)


# --- comparing -------------------------------------------------------------------------------------------------------------------------


def check_plan(lock: Lock, plan: Mapping[str, Any], problems: Problems) -> None:
    """Report what the plan of an image asks for and the lock lacks, and the reverse. plan: the result of C(image_plan)."""
    wanted, locked = set(plan.get("packages", ())), set(lock.requested)
    for spec in sorted(wanted - locked):
        _report_outdated("lock.requested", f"lacks the package {spec}", problems)
    for spec in sorted(locked - wanted):
        _report_outdated("lock.requested", f"contains the package {spec}, which the description does not have", problems)
    files = {entry["file"]: entry["sha256"] for entry in (*plan.get("downloads", ()), *plan.get("images", ()))}
    digests = {entry.file: entry.sha256 for entry in lock.downloads}
    for file in sorted(files.keys() - digests.keys()):
        _report_outdated("lock.downloads", f"lacks the file {file}", problems)
    for number, entry in enumerate(lock.downloads):
        path = joined("lock.downloads", number)
        if entry.file not in files:
            _report_outdated(path, f"is the file {entry.file}, which the description does not have", problems)
        elif files[entry.file] != entry.sha256:
            message = f"is not the digest of {entry.file} in the description, {files[entry.file]}"
            _report_outdated(f"{path}.sha256", message, problems, value=entry.sha256)


def _report_outdated(path: str, message: str, problems: Problems, **value: str) -> None:
    problems.add("lock.outdated", path, message, fix=MAKE_AGAIN, **value)


def check_system(lock: Lock, builder: Mapping[str, Any], problems: Problems) -> None:
    """Report a lock that was made on another system. builder: C(id), C(version_id) and C(architecture) of the machine."""
    found = System(*(str(builder.get(name, "")) for name in ("id", "version_id", "architecture")))
    if found != lock.system:
        message = f"was made on {lock.system}, and this machine is {found}"
        problems.add("lock.other_system", "lock.system", message, fix=f"use the system of the lock, or {MAKE_AGAIN}")
