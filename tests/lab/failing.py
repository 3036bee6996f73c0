# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that keep a node from joining its cluster: what is broken, and what the user must be told."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import pki
from .control_plane import stranger_token
from .faulty_proxies import SilentServer, TcpProxy, TlsProxy
from .joining import CASES
from .lab import Lab
from .node import LabNode

Proxy = TcpProxy | SilentServer | TlsProxy
TAGS = "meta-data/tags/instance/"

#: An endpoint and a node name that do not exist.
NOWHERE = "https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-central-1.eks.amazonaws.com"
ANOTHER_NAME = "ip-10-0-9-9.eu-central-1.compute.internal"


def nothing(_node: LabNode) -> None:
    """Break nothing on the node itself."""


@dataclass(frozen=True)
class Fault:
    """A fault that keeps a node from joining.

    cause    slug of the finding
    says     words in message and fix; {endpoint}, {node}, {region} and {role} stand for those of the node
    shown    regular expression: what the evidence quotes
    journal  regular expression: the line of kubelet's journal that is the first evidence; '' is where kubelet was started
    case     the way of joining
    final    the play ends by itself; otherwise it waits for a change until its time is over
    cluster  what the cluster of the play says instead
    fields   what the node group says beside the case's own
    node     words for C(Lab.node)
    files    written to the node before its boot, made with the lab and the last part of the node's address
    spoil    breaks the node once it is booted
    proxy    listens at the cluster's endpoint
    """

    cause: str
    says: tuple[str, ...]
    shown: str
    journal: str = ""
    case: str = "al2023-stand-in"
    final: bool = True
    cluster: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    node: Mapping[str, Any] = field(default_factory=dict)
    spoil: Callable[[LabNode], None] = nothing
    proxy: Callable[[Lab], Proxy] | None = None


class Failing:
    """A fault with its node and its proxy."""

    def __init__(self, fault: Fault, node: LabNode, proxy: Proxy | None) -> None:
        self.fault, self.node, self.proxy = fault, node, proxy

    @property
    def cluster(self) -> dict[str, Any]:
        """Fields of the play's cluster that differ from the lab's."""
        return {**({"endpoint": self.proxy.endpoint} if self.proxy is not None else {}), **self.fault.cluster}

    @property
    def says(self) -> list[str]:
        """Words that the message must contain."""
        endpoint = str((self.node.lab.cluster("1.36") | self.cluster)["endpoint"])
        host, _unused, _port = endpoint.removeprefix("https://").partition(":")
        return [word.format(endpoint=endpoint, host=host, node=self.node.name) for word in self.fault.says]

    def evidence_since(self, moment: float) -> float | None:
        """The time (C(time.time)) of the evidence: the first matching line in kubelet's journal since a time, or the start of kubelet."""
        pattern = re.compile(self.fault.journal or r"^Started ")
        return next((when for when, line in journal(self.node, moment) if pattern.search(line)), None)


def unit(node: LabNode) -> str:
    """The unit of kubelet."""
    return str(getattr(node, "kubelet_unit", "kubelet.service"))


def journal(node: LabNode, since: float) -> list[tuple[float, str]]:
    """(moment, line) of kubelet's journal since a moment, oldest first."""
    node.exec(["journalctl", "--sync"])
    shown = node.exec(["journalctl", "-q", "--no-pager", "-o", "json", "-u", unit(node), f"--since=@{since:.6f}"], check=True).stdout
    entries = [json.loads(line) for line in shown.splitlines()]
    return [(int(entry["__REALTIME_TIMESTAMP"]) / 1e6, str(entry["MESSAGE"])) for entry in entries]


@contextlib.contextmanager
def failing(lab: Lab, faults: Mapping[str, Fault]) -> Iterator[dict[str, Failing]]:
    """Nodes as their images leave them, booted in parallel, each with its fault."""
    with contextlib.ExitStack() as stack:
        made = {}
        for name, fault in faults.items():
            case = CASES[fault.case]
            node = stack.enter_context(lab.node(case.family, kubelet=case.minor, real_nodeadm=case.real_nodeadm, **fault.node))
            proxy = stack.enter_context(fault.proxy(lab)) if fault.proxy is not None else None
            made[name] = Failing(fault, node, proxy)
        for one in made.values():
            one.node.wait_boot()
            one.fault.spoil(one.node)
        yield made


# --- what is broken ---------------------------------------------------------------------------------------------------------


def another_authority() -> str:
    """A certificate authority that the lab does not use, encoded as in the input of a cluster."""
    with tempfile.TemporaryDirectory() as folder:
        return base64.b64encode(pki.Authority(Path(folder)).certificate).decode()


def tags(**values: str) -> dict[str, str]:
    """Instance tags as the metadata service shows them. EC2 rejects keys with a slash there."""
    return {TAGS: "\n".join(values), **{TAGS + key: value for key, value in values.items()}}


def plugin(node: LabNode, script: str) -> None:
    """Replace the programs that supply kubelet's token."""
    for name in ("aws", "aws-iam-authenticator"):
        # They are links to files that all nodes share.
        node.exec(["rm", "-f", f"/usr/bin/{name}"], check=True)
        node.write({f"/usr/bin/{name}": (f"#!/bin/sh\n{script}\n", 0o755)})


def credential(token: str, expires: str = "") -> str:
    """A script that prints a credential."""
    status = {"token": token, **({"expirationTimestamp": expires} if expires else {})}
    kind = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"}
    return f"echo '{json.dumps({**kind, 'status': status})}'"


def unknown_token(node: LabNode) -> None:
    """A token that the API server does not know, as that of an unmapped IAM role."""
    node.write({"/etc/lab/token": ("unknown-token", 0o600)})


def groupless(node: LabNode) -> None:
    """An IAM role that is mapped to a user name and to no group."""
    node.write({"/etc/lab/token": (stranger_token(node.lab.state.token, node.host), 0o600)})


def no_such_names(node: LabNode) -> None:
    """Run a DNS server that does not have any name, at the address that the node uses."""
    node.write({"/root/resolver.py": _RESOLVER})
    node.exec(["systemd-run", "--quiet", "--unit=resolver", "--service-type=notify", "python3", "/root/resolver.py"], check=True)


_RESOLVER = """
import os, socket
asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asked.bind(("127.0.0.1", 53))
address = os.environ["NOTIFY_SOCKET"]
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", "\\0" + address[1:] if address.startswith("@") else address)
while True:
    question, whom = asked.recvfrom(600)
    end = question.index(b"\\0", 12) + 5
    # The same question, answered with NXDOMAIN.
    asked.sendto(question[:2] + b"\\x81\\x83\\0\\1\\0\\0\\0\\0\\0\\0" + question[12:end], whom)
"""


def by_hand(**spec: Any) -> str:
    """A NodeConfig that was not rendered by the library (as JSON, which is YAML)."""
    return json.dumps({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec})


def hand_written(lab: Lab, *, flags: Sequence[str] = (), **config: Any) -> str:
    """The NodeConfig of a node of the lab, with flags and kubelet settings that the library rejects."""
    known = lab.cluster("1.36")
    return by_hand(
        cluster={
            "name": known["name"],
            "apiServerEndpoint": known["endpoint"],
            "certificateAuthority": known["certificate_authority"],
            "cidr": known["service_cidr"],
        },
        kubelet={"flags": list(flags), "config": {"failSwapOn": False, "failCgroupV1": False, **config}},
    )
