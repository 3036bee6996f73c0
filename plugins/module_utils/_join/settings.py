# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the flags and the configuration of a kubelet that exits are written, and from what. Standard library, Python 3.7 and newer.

A kubelet that exits has no command line to read, so its flags are collected from the files of its unit.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import Iterable, NamedTuple

from .._node import nodeadm_files, program_versions, systemd
from .._node.errors import ApplyRefused
from .._node.host import Host
from .._node.kubelet_config import ConfigFile, read_config
from .._node.kubelet_process import REPEATABLE, Flags, last
from .._node.redaction import redact_flag, redact_value
from .model import RejectedSettings, Settings, SettingsFile

NODEADM = "nodeadm"
BOOTSTRAP_SCRIPT = "/etc/eks/bootstrap.sh"
USER_DATA = "the user data"

USER_DATA_FILE = "/var/lib/cloud/instance/user-data.txt"
"""Where cloud-init stores the user data: as EC2 returns it, so it may be packed."""

_WRITTEN_BY_SCRIPT = re.compile(
    r"/etc/systemd/system/kubelet\.service\.d/(?:10-kubelet-args|30-kubelet-extra-args)\.conf\Z|/etc/kubernetes/kubelet/kubelet-config\.json\Z"
)
_FLAG = re.compile(r"(?<![\w-])--(?P<name>[a-z0-9][a-z0-9_-]*)(?:(?:=|[ \t]+(?![-\\]))(?P<value>[^\s\"'\\]*))?")
_PROGRAM = re.compile(r"^ExecStart=[-@:+!]*(?P<path>/\S*kubelet)\s", re.MULTILINE)


def read_settings(host: Host, unit: str, has_nodeadm: bool) -> Settings:
    """The settings with which a unit starts kubelet. `has_nodeadm`: nodeadm sets this machine up."""
    try:
        paths = systemd.read_unit_files(unit, host.run_program)
    except ApplyRefused:
        paths = []
    texts = {path: _without_comments(host.text(path) or "") for path in paths}
    flags: Flags = {}
    files = []
    for path, text in texts.items():
        found = _flags_in(text)
        flags = _merged(flags, found)
        if found:
            files.append(SettingsFile(path, tuple(found), writer=_writer(host, path, has_nodeadm)))
    config = read_config(host, flags, bool(last(flags, "config")))
    files += [_describe(host, file, has_nodeadm) for file in config.files]
    origins = tuple(_describe_origin(path, text, files) for path, text in _node_configs(host)) if has_nodeadm else ()
    shown = {
        name: [redact_flag(name, one) for one in given] if isinstance(given, list) else redact_flag(name, given)
        for name, given in flags.items()
    }
    return Settings(tuple(files), origins, shown, _version(host, texts.values()), os.cpu_count())


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", ";")))


def _flags_in(text: str) -> Flags:
    found: Flags = {}
    for match in _FLAG.finditer(text):
        name, value = match.group("name").replace("_", "-"), match.group("value")
        given = "true" if value is None else value
        found = _merged(found, {name: [given] if name in REPEATABLE else given})
    return found


def _merged(flags: Flags, more: Flags) -> Flags:
    """All flags. The values of a repeatable one add up, and otherwise the later value wins."""
    added = {name: [*flags.get(name, []), *value] if isinstance(value, list) else value for name, value in more.items()}
    return {**flags, **added}


def _describe(host: Host, file: ConfigFile, has_nodeadm: bool) -> SettingsFile:
    fields = tuple(str(name) for name in file.value or ())
    value = None if file.value is None else redact_value(file.value)
    return SettingsFile(file.path, (), fields, _writer(host, file.path, has_nodeadm), value)


def _writer(host: Host, path: str, has_nodeadm: bool) -> str:
    if has_nodeadm and path in nodeadm_files.WRITES:
        return NODEADM
    return BOOTSTRAP_SCRIPT if not has_nodeadm and _WRITTEN_BY_SCRIPT.match(path) and host.exists(BOOTSTRAP_SCRIPT) else ""


def _node_configs(host: Host) -> list[tuple[str, str]]:
    """The sources of nodeadm, as (name, text), in the order in which they take effect."""
    content = host.read(USER_DATA_FILE)
    found = [(f"{USER_DATA} ({USER_DATA_FILE})", decompressed(content))] if content else []
    return found + [(path, host.text(path) or "") for path in nodeadm_files.document_paths(host)]


def decompressed(content: bytes) -> str:
    """User data as text. What is not gzip after its first bytes is empty."""
    if content.startswith(b"\x1f\x8b"):
        try:
            content = zlib.decompressobj(31).decompress(content, 1024 * 1024)
        except zlib.error:
            content = b""
    return content.decode("utf-8", "replace")


def _describe_origin(name: str, text: str, files: Iterable[SettingsFile]) -> SettingsFile:
    """The settings that a source of nodeadm mentions. Its text is searched: user data may contain several documents, and other parts."""
    text = _without_comments(text)
    known = {field for file in files for field in file.fields}
    fields = tuple(field for field in sorted(known) if re.search(rf"(?<![\w-])[\"']?{re.escape(field)}[\"']?\s*:", text))
    return SettingsFile(name, tuple(_flags_in(text)), fields, "")


def _version(host: Host, texts: Iterable[str]) -> str | None:
    named = [match.group("path") for text in texts for match in [_PROGRAM.search(text)] if match]
    found = program_versions.of_kubelet(host, started_from=named[-1:])
    return None if found is None else found.version


# --- where to correct a setting: pure ----------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """`where`: the text that sets something. `then`: how the correction takes effect."""

    where: str
    then: str


def place_of_flag(settings: Settings, flag: str, unit: str) -> Place:
    """Where a flag is set. `flag`: its name, with or without dashes."""
    name = flag.lstrip("-").partition("=")[0].replace("_", "-")
    file = next((file for file in reversed(settings.files) if name in file.flags), None)
    if file is None:
        return Place(f"the flags of kubelet (to find where they are set: systemctl cat {unit})", f"systemctl restart {unit}")
    origin = next((origin for origin in reversed(settings.origins) if name in origin.flags), None)
    return _place(settings, file, origin, "flags", unit)


def place_of_field(settings: Settings, field: str, unit: str) -> Place | None:
    """Where a field of the configuration is set. `field`: a top-level field. None if no file sets it."""
    file = next((file for file in reversed(settings.files) if field in file.fields), None)
    if file is None:
        return None
    origin = next((origin for origin in reversed(settings.origins) if field in origin.fields), None)
    return _place(settings, file, origin, "config", unit)


def _place(settings: Settings, file: SettingsFile, origin: SettingsFile | None, part: str, unit: str) -> Place:
    if file.writer == NODEADM and origin is None and settings.origins:
        own = f"no NodeConfig sets it; to set it, use spec.kubelet.{part} of a NodeConfig in {nodeadm_files.DIRECTORY}"
        return Place(f"{file.path}, which nodeadm wrote ({own})", "systemctl restart nodeadm-config nodeadm-run")
    if file.writer == NODEADM:
        known = origin.path if origin is not None else f"{USER_DATA} or in {nodeadm_files.DIRECTORY}"
        where = f"spec.kubelet.{part} of the NodeConfig in {known}, from which nodeadm writes {file.path}"
        if known.startswith(USER_DATA):
            return Place(where, "replace the node, or stop it and change its user data: nodeadm reads it at each boot")
        return Place(where, "systemctl restart nodeadm-config nodeadm-run")
    if file.writer == BOOTSTRAP_SCRIPT:
        where = f"the arguments of {BOOTSTRAP_SCRIPT} in the user data, from which it writes {file.path}"
        return Place(where, f"run the script again, or correct {file.path} and run: systemctl daemon-reload && systemctl restart {unit}")
    return Place(file.path, f"systemctl daemon-reload && systemctl restart {unit}")


def fields_in(settings: Settings, text: str) -> list[str]:
    """The top-level fields of the configuration files that a text mentions, in the order of the text."""
    known = {field.lower(): field for file in settings.files for field in file.fields}
    words = re.findall(r"[A-Za-z][A-Za-z0-9]+", text)
    return list(dict.fromkeys(known[word.lower()] for word in words if word.lower() in known))


def rejected(settings: Settings, unit: str) -> RejectedSettings:
    """The settings with the place where each of them is set."""
    flags = {f"--{name}": place_of_flag(settings, name, unit) for name in settings.flags}
    fields = {name: place_of_field(settings, name, unit) for file in settings.files for name in file.fields}
    return RejectedSettings(
        version=settings.version,
        configs=tuple(file.value for file in settings.files if isinstance(file.value, dict)),
        flags=settings.flags,
        cpus=settings.cpus,
        places={name: (place.where, place.then) for name, place in {**fields, **flags}.items() if place is not None},
    )
