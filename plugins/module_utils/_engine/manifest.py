# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest of a node: what this collection has put there, and what was there before. C(Store) keeps it as a JSON document."""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple

from .._node.errors import ApplyRefused
from .plan import Cluster, Registration

FORMAT = 1


class Original(NamedTuple):
    """A file that was on the node before us. C(kept): the name of its content below C(originals/) of the state folder."""

    kept: str
    mode: int
    uid: int
    gid: int


class ManagedFile(NamedTuple):
    """A file of the last plan. C(original): the file that it replaced; None if there was no file."""

    sha256: str
    read_by: tuple[str, ...]
    sensitive: bool
    original: Original | None


class NodeadmSources(NamedTuple):
    """Digests of the other sources of nodeadm. C(user_data): None if it was never read."""

    drop_ins: str
    user_data: str | None


class RegistrationChange(NamedTuple):
    """What must change in the Node object of a registered node. A label that is None must be removed."""

    labels: Mapping[str, str | None]
    set_taints: tuple[str, ...]
    remove_taints: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """The change as plain data."""
        return {"labels": dict(self.labels), "taints": {"set": list(self.set_taints), "remove": list(self.remove_taints)}}


class Effective(NamedTuple):
    """What a program of the image left at one source. C(sha256): of the file; empty if the source is not a file. C(values): by setting."""

    sha256: str
    values: Mapping[str, Any]


class Repair(NamedTuple):
    """A repaired setting. C(found): the value before the repair. C(at): when that was, as text."""

    found: Any
    at: str


class Moment(NamedTuple):
    """A time in one boot of the machine. C(seconds): of the monotonic clock."""

    boot: str
    seconds: float


class Manifest(NamedTuple):
    """What the last run has left. C(Manifest()) is the manifest of a node that we have never changed.

    C(once), C(scripts): digests of scripts that have run, by step. C(image): originals of the files that the image's programs write.
    C(pending): steps that a run with C(restart: never) has left to do. C(folders): folders that exist because of us. C(snap): settings
    of snaps before us. C(registered): what the node registered with. C(patched): everything that had to be patched since. C(joined):
    whether the node has been seen in its cluster; None if no run has checked that. C(effective): what programs of the image left, recorded
    after a verified success; empty if a program has run since, None if there never was a record. C(repaired): repaired settings, by
    C(Drift.key). C(restarted): when kubelet last had to restart; a kubelet that is older runs with an older configuration.
    """

    family: str | None = None
    strategy: str | None = None
    cluster: Cluster | None = None
    kubelet: str | None = None
    units: tuple[str, ...] = ()
    files: Mapping[str, ManagedFile] = {}
    owned: tuple[str, ...] = ()
    once: Mapping[str, str] = {}
    image: Mapping[str, Original | None] = {}
    scripts: Mapping[str, str] = {}
    pending: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()
    snap: Mapping[str, Mapping[str, Any]] = {}
    sources: NodeadmSources | None = None
    registered: Registration | None = None
    patched: RegistrationChange | None = None
    joined: bool | None = None
    effective: Mapping[str, Effective | None] | None = None
    repaired: Mapping[str, Repair] = {}
    restarted: Moment | None = None

    @property
    def is_empty(self) -> bool:
        """Whether we have never changed this node."""
        return self == Manifest()

    @property
    def is_sensitive(self) -> bool:
        """Whether what we have written may hold secrets."""
        return any(file.sensitive for file in self.files.values())

    def plain(self) -> dict[str, Any]:
        """The manifest as the store keeps it."""
        if self.is_empty:
            return {}
        present = {name: value for name, value in self._asdict().items() if value is not None}
        content: dict[str, Any] = {
            name: list(value) if isinstance(value, tuple) and not hasattr(value, "_fields") else value for name, value in present.items()
        }
        content["files"] = {path: _plain_file(file) for path, file in self.files.items()}
        content["image"] = {path: entry and dict(entry._asdict()) for path, entry in self.image.items()}
        if self.effective is not None:
            content["effective"] = {source: entry and dict(entry._asdict()) for source, entry in self.effective.items()}
        content["repaired"] = {key: dict(repair._asdict()) for key, repair in self.repaired.items()}
        for name in ("cluster", "sources", "registered", "restarted"):
            if name in content:
                content[name] = dict(content[name]._asdict())
        if self.registered is not None:
            content["registered"] = {"labels": dict(self.registered.labels), "taints": list(self.registered.taints)}
        if self.patched is not None:
            content["patched"] = self.patched.plain()
        return {"format": FORMAT, **content}


def parse(content: Mapping[str, Any], path: str) -> Manifest:
    """The manifest that a store has read from C(path). Raises ApplyRefused if it is damaged or of a newer format."""
    if content.get("format", FORMAT) != FORMAT:
        raise ApplyRefused(
            f"{path} has format {content['format']}: a newer nodebootstrap.eks has set up this node", "use that version or a newer one"
        )
    try:
        return _parse(content)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ApplyRefused(
            f"{path} is damaged ({type(error).__name__}: {error})", "move it away, then the next run treats this node as new"
        ) from None


def _parse(content: Mapping[str, Any]) -> Manifest:
    fields = {name: value for name, value in content.items() if name in Manifest._fields and value is not None}
    for name in ("units", "owned", "pending", "folders", "enabled"):
        if name in fields:
            fields[name] = tuple(fields[name])
    readers: dict[str, Callable[[Any], Any]] = {
        "cluster": _cluster,
        "sources": _sources,
        "registered": _registration,
        "patched": _change,
        "files": _files,
        "image": _image,
        "effective": _effective,
        "repaired": _repaired,
        "restarted": _moment,
    }
    for name, reader in readers.items():
        if name in fields:
            fields[name] = reader(fields[name])
    return Manifest(**fields)


def _cluster(value: Mapping[str, Any]) -> Cluster:
    return Cluster(value["name"], value["endpoint"])


def _sources(value: Mapping[str, Any]) -> NodeadmSources:
    return NodeadmSources(value["drop_ins"], value.get("user_data"))


def _registration(value: Mapping[str, Any]) -> Registration:
    return Registration(dict(value["labels"]), tuple(value["taints"]))


def _change(value: Mapping[str, Any]) -> RegistrationChange:
    return RegistrationChange(dict(value["labels"]), tuple(value["taints"]["set"]), tuple(value["taints"]["remove"]))


def _files(value: Mapping[str, Any]) -> dict[str, ManagedFile]:
    return {
        path: ManagedFile(file["sha256"], tuple(file["read_by"]), file["sensitive"], _original(file["original"]))
        for path, file in value.items()
    }


def _image(value: Mapping[str, Any]) -> dict[str, Original | None]:
    return {path: _original(entry) for path, entry in value.items()}


def _effective(value: Mapping[str, Any]) -> dict[str, Effective | None]:
    return {source: entry and Effective(entry["sha256"], dict(entry["values"])) for source, entry in value.items()}


def _repaired(value: Mapping[str, Any]) -> dict[str, Repair]:
    return {key: Repair(entry["found"], entry["at"]) for key, entry in value.items()}


def _moment(value: Mapping[str, Any]) -> Moment:
    return Moment(value["boot"], float(value["seconds"]))


def _original(value: Mapping[str, Any] | None) -> Original | None:
    return None if value is None else Original(value["kept"], value["mode"], value["uid"], value["gid"])


def _plain_file(file: ManagedFile) -> dict[str, Any]:
    original = file.original and dict(file.original._asdict())
    return {"sha256": file.sha256, "read_by": list(file.read_by), "sensitive": file.sensitive, "original": original}
