# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a family's reader, and what the readers share: kubelet's settings as fields, and parts that stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..bootstrap_calls import SCRIPT
from ..errors import SpecError
from ..formats import mime
from ..formats.user_data_kind import classify
from ..network import cluster_dns_ips, no_proxy_entries
from .model import Effect, NotUnderstood, Place, ReadPart

Flags = Mapping[str, Sequence[str]]

_TAINT = re.compile(r"([^=:,\s]+)(?:=([^=:,\s]*))?:([A-Za-z]+)")
_PROXY = {"HTTP_PROXY": "http", "HTTPS_PROXY": "https", "NO_PROXY": "no_proxy"}
_RESERVABLE = frozenset({"cpu", "memory", "ephemeral-storage", "pid"})
_STANDING_ALONE = {"shell": mime.SHELL, "cloud-config": mime.CLOUD_CONFIG}
"""The kinds of text that need no MIME around them, and their type."""


@dataclass
class Meaning:
    """What a reader found out: facts of the cluster and of the node group in the form of the input, and text that it does not know."""

    family: str | None
    cluster: dict[str, Any] = field(default_factory=dict)
    node_group: dict[str, Any] = field(default_factory=dict)
    not_understood: list[NotUnderstood] = field(default_factory=list)

    def lose(self, part: ReadPart, text: str, reason: str, line: int = 1, effect: Effect = "unknown") -> None:
        """Report text of a part, which begins in C(line), as not understood."""
        if text.strip():
            self.not_understood.append(NotUnderstood(Place(part.index, line, 1, len(text.partition("\n")[0])), text, reason, effect))

    def lose_at(self, part: ReadPart, place: Place, reason: str, effect: Effect = "unknown") -> None:
        """Report the setting at C(place) as not understood."""
        line = part.text.split("\n")[place.line - 1]
        self.not_understood.append(NotUnderstood(place, line[place.column - 1 : place.column - 1 + place.length], reason, effect))

    def put(self, path: str, value: Any) -> None:
        """Set a field of the node group, such as C(kubelet.config). Empty values are left out."""
        if value in (None, "", {}, []):
            return
        here = self.node_group
        *parents, name = path.split(".")
        for parent in parents:
            here = here.setdefault(parent, {})
        here[name] = value

    def state(self, name: str, value: Any) -> None:
        """Set a fact of the cluster, if there is one."""
        if value not in (None, "", [], False):
            self.cluster[name] = value

    def keep(self, parts: Iterable[ReadPart]) -> None:
        """Keep parts as they are, as existing user data."""
        for part in parts:
            if part.kind in ("empty", "unknown"):
                continue
            try:
                text = _text_of(part)
            except SpecError as error:
                self.lose(part, part.text, f"cannot be kept as a part of its own: {error.problems[0].message}")
            else:
                self.node_group.setdefault("user_data", []).append(text)
                self._report_calls(part)

    def _report_calls(self, part: ReadPart) -> None:
        """Report lines of a part that may start kubelet, and that are not read because the part is not a shell script."""
        reported = {item.place.line for item in self.not_understood if item.place.part == part.index}
        for number, line in enumerate(part.text.split("\n"), 1):
            if SCRIPT in line and number not in reported:
                place = Place(part.index, number, line.index(SCRIPT) + 1, len(SCRIPT))
                self.not_understood.append(NotUnderstood(place, line, f"mentions {SCRIPT}, and calls are read only in one shell script"))

    def read_dns(self, addresses: Any) -> bool:
        """Take the name servers of pods, unless they follow from the service CIDR. False for anything but text."""
        listed = [addresses] if isinstance(addresses, str) else addresses
        if not isinstance(listed, (list, tuple)) or not all(isinstance(one, str) for one in listed):
            return False
        try:
            computed = cluster_dns_ips(self.cluster.get("service_cidr", ""))
        except SpecError:
            computed = []
        if list(listed) != computed:
            self.state("dns_ips", list(listed))
        return True

    def read_kubelet(self, config: Mapping[str, Any], flags: Flags) -> None:
        """Take kubelet's configuration and flags. What has a field of its own becomes that field."""
        rest = dict(config)
        others = {name: list(values) for name, values in flags.items()}
        if (labels := _labels(others.get("node-labels", ()))) is not None:
            self.put("labels", labels)
            others.pop("node-labels", None)
        words = [word for value in others.get("register-with-taints", ()) for word in value.split(",") if word]
        taints = [_taint(word) for word in words]
        if all(taints):
            self.put("taints", taints)
            others.pop("register-with-taints", None)
        if not words and _are_taints(rest.get("registerWithTaints")):
            self.put("taints", [{key: value for key, value in one.items() if value} for one in rest.pop("registerWithTaints")])
        pods = others["max-pods"][-1] if others.get("max-pods") else rest.get("maxPods")
        if (number := _whole(pods)) is not None:
            self.put("max_pods", number)
            others.pop("max-pods", None)
            rest.pop("maxPods", None)
        if "clusterDNS" in rest and self.read_dns(rest["clusterDNS"]):
            rest.pop("clusterDNS")
        for name, place in (("kubeReserved", "reserved.kube"), ("systemReserved", "reserved.system")):
            if _is_reservation(rest.get(name)):
                self.put(place, dict(rest.pop(name)))
        self.put("kubelet.config", rest)
        self.put("kubelet.flags", {name: values[0] if len(values) == 1 else values for name, values in sorted(others.items())})


def proxy_of(environment: Any, cluster: Mapping[str, Any]) -> dict[str, Any] | None:
    """The proxy, if the environment has nothing else, and if the entries that every node needs are in NO_PROXY."""
    variables = environment.get("default") if isinstance(environment, Mapping) and environment.keys() == {"default"} else None
    if not isinstance(variables, Mapping) or not variables or not variables.keys() <= _PROXY.keys():
        return None
    needed = no_proxy_entries(cluster.get("endpoint"), cluster.get("service_cidr"))
    entries = variables.get("NO_PROXY", "").split(",")
    if not set(needed) <= set(entries):
        return None
    own = [entry for entry in entries if entry not in needed]
    urls = {_PROXY[name]: value for name, value in variables.items() if name != "NO_PROXY"}
    return urls | ({"no_proxy": own} if own else {})


def _labels(values: Iterable[str]) -> dict[str, str] | None:
    """The labels of C(--node-labels), or None if the text is not one."""
    found = {}
    for word in (word for value in values for word in value.split(",") if word):
        key, equals, label = word.partition("=")
        if not equals or not key:
            return None
        found[key] = label
    return found


def _taint(word: str) -> dict[str, str]:
    """A taint of C(--register-with-taints), or nothing if the text is not one."""
    match = _TAINT.fullmatch(word)
    if match is None:
        return {}
    return {name: value for name, value in zip(("key", "value", "effect"), match.groups(), strict=True) if value}


def _are_taints(listed: Any) -> bool:
    return (
        isinstance(listed, list)
        and bool(listed)
        and all(isinstance(one, Mapping) and {"key", "effect"} <= one.keys() <= {"key", "value", "effect"} for one in listed)
        and all(isinstance(value, str) for one in listed for value in one.values())
    )


def _is_reservation(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() <= _RESERVABLE and all(isinstance(one, str) for one in value.values())


def _whole(value: Any) -> int | None:
    text = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) else None


def _text_of(part: ReadPart) -> str:
    """The part as existing user data: its text, or a MIME document if its headers mean something."""
    others = [pair for pair in part.headers if pair[0].lower() not in ("content-type", "content-transfer-encoding", "mime-version")]
    if part.media_type is None or (
        not others
        and classify(part.text) == part.kind
        and _STANDING_ALONE.get(part.kind) == part.media_type
        and ";" not in part.content_type
    ):
        return part.text
    return mime.write([mime.Part(part.content_type, part.text, tuple(others))])
