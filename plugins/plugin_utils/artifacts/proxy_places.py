# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the field C(proxy) with the proxy variables that the user's own scripts and files set.

Read are literal assignments: in shell scripts and PowerShell, and in the files of C(write_files) of a cloud-config. Everything else is
named in C(unchecked) by the module that reads the other settings of the family.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from ..bootstrap_calls import is_shell
from ..errors import Problems, joined
from ..formats import cloud_config, mime
from ..formats.powershell_calls import read_environment
from ..formats.shell_reader import PackageMissing
from ..formats.shell_reader import read as read_shell
from ..model.spec import Cluster, NodeSpec, Proxy
from ..network import no_proxy_entries
from . import cloud_init
from .comparison import FIX
from .linux_files import proxy_path
from .precedence import shown_at
from .proxy_environment import NO_PROXY, VARIABLES, entries
from .refusals import given_at

_FIELDS = {"HTTP_PROXY": "http", "HTTPS_PROXY": "https", NO_PROXY: "no_proxy"}
_USER_DATA, _OVERRIDE = "node_group.user_data", "node_group.override"
_SHELL = (cloud_init.SHELL, cloud_init.BOOTHOOK)
_DROP_INS = tuple(f"{unit}.service.d" for unit in ("containerd", "kubelet", "sandbox-image", "snap.kubelet-eks.daemon"))
_DEFAULTS = PurePosixPath("/etc/systemd/system.conf.d/environment.conf")
"""Where nodeadm writes the variables for all units."""
_PREFIXES = ("DefaultEnvironment=", "Environment=", "export ", "declare -x ", "typeset -x ")


@dataclass(frozen=True)
class Variable:
    """A proxy variable that the user sets. path: in the input. file: that the document writes; None for a script.

    value: None if it is not literal.
    """

    path: str
    written: str
    value: str | None
    file: str | None = None

    @property
    def name(self) -> str:
        """In upper case."""
        return self.written.upper()

    @property
    def where(self) -> str:
        """The variable, as messages name it."""
        return f"{self.written} in {self.file}" if self.file else self.written


def in_force(spec: NodeSpec, problems: Problems) -> NodeSpec:
    """The specification with the proxy that wins. Reports variables that differ from the field, if nothing decides between the two."""
    if spec.proxy is None or spec.family == "bottlerocket":
        return spec
    variables = [one for one in _variables(spec) if one.value is not None]
    theirs: dict[str, Variable] = {}
    for one in variables:
        if _is_same(spec, one):
            continue
        if one.name == NO_PROXY and given_at(spec, "proxy.no_proxy") is None:
            if one.path.startswith(_USER_DATA):
                others = theirs.get(NO_PROXY, one).value
                theirs[NO_PROXY] = replace(one, value=f"{others},{one.value}")
        elif spec.user_data_precedence is None:
            message = f"sets {one.where} to {shown_at(one.name, one.value)}, but {_field(one)} is {shown_at(one.name, _ours(spec, one))}"
            problems.add("user_data.conflict", one.path, message, fix=FIX)
        elif spec.user_data_precedence == "theirs" and one.path.startswith(_USER_DATA):
            _add(theirs, one, problems)
        elif spec.user_data_precedence == "ours" and _is_read_after_ours(spec, one.file):
            message = f"sets {one.where}, which systemd reads after {_field(one)}"
            fix = "remove it, or set user_data_precedence: theirs"
            problems.add("user_data.conflict", one.path, message, fix=fix)
    return replace(spec, proxy=_proxy(spec.proxy, theirs, spec.cluster)) if theirs else spec


def warn(spec: NodeSpec, warnings: Problems) -> None:
    """Add a warning for each variable that C(override) sets differently."""
    for one in _of_script(spec, _OVERRIDE, spec.override or "") if spec.proxy else ():
        if one.value is not None and not _is_same(spec, one):
            values = [shown_at(one.name, value) for value in (one.value, _ours(spec, one))]
            message = f"sets {one.where} to {values[0]}, which replaces {values[1]} of {_field(one)} for its commands"
            warnings.add("user_data.replaced_by_override", _OVERRIDE, message, fix="set it in one place only")


def unread_text(path: str, file: cloud_config.WrittenFile) -> str:
    """What a file has besides literal proxy variables; with its path, if it has no such variable."""
    found = list(_in_file(path, file.path, file.content or ""))
    rest = [one if isinstance(one, str) else one.written for one in found if isinstance(one, str) or one.value is None]
    is_other = len(rest) == len(found)
    return "\n".join([file.path, *rest] if is_other else rest)


def is_read(spec: NodeSpec, path: str, text: str) -> bool:
    """Whether every proxy variable that a script sets is literal, or none is compared."""
    return spec.proxy is None or all(one.value is not None for one in _of_script(spec, path, text))


def _in_file(path: str, file: str, content: str) -> Iterator[Variable | str]:
    """The proxy variables that a file sets, and every other word."""
    for line in content.splitlines():
        text = line.strip()
        if not text or text.startswith(("#", ";", "[")):
            continue
        rest = next((text.removeprefix(prefix) for prefix in _PREFIXES if text.startswith(prefix)), text)
        try:
            words = shlex.split(rest)
        except ValueError:
            words = [rest]
        for word in words:
            name, equals, value = word.partition("=")
            known = bool(equals) and name.upper() in VARIABLES
            is_literal = not {"$", "`", "%"} & set(value)
            yield Variable(path, name, value if is_literal else None, file) if known else word


def _variables(spec: NodeSpec) -> Iterator[Variable]:
    for index, command in enumerate(spec.commands_pre):
        yield from _of_script(spec, joined("node_group.commands.pre", index), command)
    if spec.family == "windows":
        for path, text in zip(spec.user_data_paths, spec.user_data, strict=True):
            yield from _of_script(spec, path, text)
        return
    ignored = Problems()
    for path, part in cloud_init.placed_parts(spec, ignored):
        if part.media_type in _SHELL:
            yield from _of_script(spec, path, mime.decoded(part, path, ignored))
        elif part.media_type == cloud_init.CLOUD_CONFIG:
            document = cloud_config.load(mime.decoded(part, path, ignored), path, ignored)
            for file in cloud_config.written_files(document):
                found = () if _is_elsewhere(file.path) else _in_file(path, file.path, file.content or "")
                yield from (one for one in found if isinstance(one, Variable))


def _of_script(spec: NodeSpec, path: str, text: str) -> Iterator[Variable]:
    if not any(name in text.upper() for name in VARIABLES):
        return
    if spec.family == "windows":
        found = read_environment(text)
    elif not is_shell(text):
        return
    else:
        try:
            found = [(one.name, one.value) for one in read_shell(text).assignments]
        except PackageMissing:
            return
    for name, value in found:
        if name.upper() in VARIABLES:
            yield Variable(path, name, value)


def _is_read_after_ours(spec: NodeSpec, file: str | None) -> bool:
    """Whether systemd prefers the variables of a file to ours.

    nodeadm writes defaults for all units, which every drop-in replaces. Our own drop-ins lose to those whose names come after them.
    """
    path = PurePosixPath(file or "")
    if spec.family == "al2023":
        return path.parent.name in _DROP_INS or (path.parent == _DEFAULTS.parent and path.name > _DEFAULTS.name)
    return path.parent.name in _DROP_INS and path.name > PurePosixPath(proxy_path("")).name


def _is_elsewhere(file: str) -> bool:
    """Whether a file is of a unit that does not get the field."""
    folder = PurePosixPath(file).parent
    return str(folder.parent) == "/etc/systemd/system" and folder.name not in _DROP_INS


def _field(one: Variable) -> str:
    return f"node_group.proxy.{_FIELDS[one.name]}"


def _ours(spec: NodeSpec, one: Variable) -> str | None:
    return spec.proxy.variables().get(one.name) if spec.proxy else None


def _is_same(spec: NodeSpec, one: Variable) -> bool:
    """Whether the user means our value. A variable that we do not set has only their value."""
    ours = _ours(spec, one)
    if ours is None or one.value is None:
        return ours is None
    if one.name == NO_PROXY:
        return {*entries(one.value)} in ({*entries(ours)}, {*(given_at(spec, "proxy.no_proxy") or entries(ours))})
    return ours.rstrip("/") == one.value.rstrip("/")


def _add(theirs: dict[str, Variable], one: Variable, problems: Problems) -> None:
    first = theirs.setdefault(one.name, one)
    if first.value != one.value:
        values = [shown_at(one.name, each.value) for each in (one, first)]
        message = f"sets {one.where} to {values[0]}, but {first.path} sets {first.where} to {values[1]}"
        problems.add("input.conflict", one.path, message, fix="set it in one place only")


def _proxy(ours: Proxy, theirs: dict[str, Variable], cluster: Cluster) -> Proxy:
    """The proxy with their values. The hosts that every node needs are added to their list, as to that of the field."""
    http, https = (
        theirs[name].value or None if name in theirs else own for name, own in (("HTTP_PROXY", ours.http), ("HTTPS_PROXY", ours.https))
    )
    hosts = theirs.get(NO_PROXY)
    needed = ours.no_proxy if hosts is None else no_proxy_entries(cluster.endpoint, cluster.service_cidr, entries(hosts.value))
    return Proxy(http, https, tuple(needed))
