# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that look like the images: Amazon Linux 2, Ubuntu, Amazon Linux 2023."""

from __future__ import annotations

import email
import email.policy
import gzip
import json
import time
from typing import Any

from .engine import HarnessError
from .node import Node, Output, octets

SCRIPTS = "/var/lib/cloud/instance/scripts"


class BootstrapNode(Node):
    """A node whose image brings `/etc/eks/bootstrap.sh` and a kubelet that only records."""

    #: The unit that runs kubelet.
    kubelet_unit = "kubelet.service"

    def run_user_data(self, user_data: str | bytes, *, timeout: float = 900) -> Output:
        """Run the shell parts of user data as cloud-init would, without the seconds that cloud-init itself takes.

        A script, or MIME whose parts are scripts (one after the other in the order of their file names, all of them run even when
        one fails; the result is the first failure). gzip is unpacked. cloud-config needs the real thing: `cloud_init.run(…)`.
        """
        failed: Output | None = None
        for name, script in _scripts(octets(user_data)):
            path = f"{SCRIPTS}/{name}"
            self.write({path: (script, 0o700)})
            done = self.exec([path], timeout=timeout, environment=CLOUD_INIT_ENVIRONMENT)
            if done.returncode != 0 and failed is None:
                failed = done
        return failed or done

    def bootstrap_calls(self) -> list[list[str]]:
        """The words of every call of /etc/eks/bootstrap.sh since the last reset."""
        return [words for words, _unused in self._bootstrap_runs()]

    def bootstrap_environments(self) -> list[dict[str, str]]:
        """The environment of every such call."""
        return [dict(line.partition("=")[::2] for line in lines) for _unused, lines in self._bootstrap_runs()]

    def _bootstrap_runs(self) -> list[tuple[list[str], list[str]]]:
        runs: list[tuple[list[str], list[str]]] = []
        while True:
            try:
                words = self.read(f"/run/recorded/bootstrap-{len(runs) + 1}.argv")
            except FileNotFoundError:
                return runs
            runs.append((_nul_separated(words), _nul_separated(self.read(f"/run/recorded/bootstrap-{len(runs) + 1}.environment"))))

    def kubelet_records(self, seconds: float = 600) -> list[dict[str, Any]]:
        """What kubelet recorded, start by start: `argv`, `environment`, `files` ({path: text or None} of the files its flags name), `pid`.

        systemd's own count of starts must agree (systemd returns before a simple unit's program has written anything, hence the wait).
        """
        limit = time.monotonic() + seconds
        while True:
            records, starts = self.records("kubelet"), self.starts(self.kubelet_unit)
            if len(records) == starts:
                return records
            if time.monotonic() > limit:
                what = f"systemd started {self.kubelet_unit} {starts} times, kubelet recorded {len(records)}"
                raise HarnessError(f"{what}:\n{self.journal(self.kubelet_unit)[-2000:]}")
            time.sleep(0.02)

    def kubelet_starts(self) -> list[list[str]]:
        """The words of every start of kubelet since the last reset, without the program's name: one item = it started once."""
        return [record["argv"] for record in self.kubelet_records()]

    def kubelet_config(self) -> dict[str, Any]:
        """The image's kubelet-config.json as it is now."""
        config: dict[str, Any] = json.loads(self.read("/etc/kubernetes/kubelet/kubelet-config.json"))
        return config


class Al2Node(BootstrapNode):
    """Amazon Linux 2: kubelet.service with drop-ins."""

    family = "al2"
    units = ("kubelet.service", "sandbox-image.service", "containerd.service")

    #: What kubelet.service says before $KUBELET_ARGS, and the number of words that the stand-in puts into KUBELET_ARGS.
    unit_words = 10
    own_words = 5

    def extra_args(self) -> list[str]:
        """Of the one start of kubelet: the words after the image's own, that is what KUBELET_EXTRA_ARGS became."""
        starts = self.kubelet_starts()
        if len(starts) != 1:
            raise AssertionError(f"kubelet started {len(starts)} times")
        return starts[0][self.unit_words + self.own_words :]


class UbuntuNode(BootstrapNode):
    """Ubuntu: kubelet is the snap kubelet-eks."""

    family = "ubuntu"
    kubelet_unit = "snap.kubelet-eks.daemon.service"
    units = (kubelet_unit, "containerd.service")

    def snap_calls(self) -> list[list[str]]:
        """The words of every call of snap since the last reset."""
        return [record["argv"] for record in self.records("snap")]

    def snap_settings(self) -> dict[str, Any]:
        """What is stored for kubelet-eks."""
        try:
            settings: dict[str, Any] = json.loads(self.read("/var/lib/nodelab/snap.json"))
        except FileNotFoundError:
            return {}
        return settings

    def extra_args(self) -> list[str]:
        """Of the one start of kubelet: the words after the settings, that is what `args` became."""
        starts = self.kubelet_starts()
        if len(starts) != 1:
            raise AssertionError(f"kubelet started {len(starts)} times")
        return starts[0][len([key for key in self.snap_settings() if key != "args"]) :]


class Al2023Node(Node):
    """Amazon Linux 2023: nodeadm around cloud-init; every call of it is recorded (`records("nodeadm")`)."""

    family = "al2023"
    units = ("kubelet.service", "containerd.service", "nodeadm-run.service", "nodeadm-config.service")


#: What cloud-init hands to user scripts: the environment of its unit.
CLOUD_INIT_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


def _scripts(user_data: bytes) -> list[tuple[str, bytes]]:
    if user_data.startswith(b"\x1f\x8b"):
        user_data = gzip.decompress(user_data)
    if user_data.startswith(b"#!"):
        return [("part-001", user_data)]
    message = email.message_from_bytes(user_data, policy=email.policy.compat32)
    if not message.is_multipart():
        raise HarnessError("neither a script nor multipart MIME: use cloud_init.run(…)")
    scripts = []
    parts = [part for part in message.walk() if not part.is_multipart()]
    for number, part in enumerate(parts, 1):
        kind = part.get_content_type()
        if kind == "text/x-shellscript":
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            scripts.append((part.get_filename() or f"part-{number:03d}", content))
        elif kind not in ("application/node.eks.aws",):
            raise HarnessError(f"a part of type {kind} needs real cloud-init: use cloud_init.run(…)")
    if not scripts:
        raise HarnessError("no shell part in this user data")
    return sorted(scripts)


def _nul_separated(content: bytes) -> list[str]:
    return [word.decode("utf-8", "surrogateescape") for word in content.split(b"\0")[:-1]]
