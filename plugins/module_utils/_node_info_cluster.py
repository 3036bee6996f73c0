# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ties a machine to a cluster, and what on it is ours: standard library, Python 3.7 and newer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
import ssl

from ansible_collections.nodebootstrap.eks.plugins.module_utils import _node_info_secrets as secrets

KUBECONFIG = "/var/lib/kubelet/kubeconfig"
STATE = "/var/lib/nodebootstrap"
NODEADM = "/etc/eks/nodeadm.d"

_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_NAMED = ("-i", "--cluster-id", "--cluster-name")


class Kubeconfig:
    """What a kubelet's kubeconfig says, of the one cluster and the one user in it: None or empty for what it does not.

    Its text is enough, as kubelet's kubeconfigs have one of each: no YAML reader is needed.
    """

    def __init__(self, text):
        self._lines = (text or "").splitlines()
        try:
            document = json.loads(text or "")
        except ValueError:
            document = None
        if isinstance(document, dict):
            # JSON, one field a line.
            self._lines = json.dumps(document, indent=1).splitlines()
        server = self._value("server")
        self.server = secrets.in_word(server) if server and re.match(r"https?://", server) else None
        self.authority = self._value("certificate-authority")
        self.authority_data = self._value("certificate-authority-data")
        certificate, key = self._value("client-certificate"), self._value("client-key")
        self.client_certificate = (certificate, key or certificate) if certificate else None
        self.cluster = self._cluster()

    def _value(self, name):
        """The value of a field that stands there once."""
        pattern = re.compile(rf"[\s-]*[\"']?{re.escape(name)}[\"']?\s*:\s*(\S.*)\Z")
        found = [match.group(1) for match in map(pattern.match, self._lines) if match]
        return _bare(found[0]) if len(found) == 1 else None

    def _cluster(self):
        """The cluster's name is what the program that gets tokens is told: C(-i NAME) or C(--cluster-name NAME)."""
        words = self._words()
        for index, word in enumerate(words):
            name, equals, value = word.partition("=")
            if name in _NAMED:
                found = value if equals else "".join(words[index + 1 : index + 2])
                # What the image has before it was bootstrapped.
                return found if found and found != "CLUSTER_NAME" else None
        return None

    def _words(self):
        for index, line in enumerate(self._lines):
            match = re.match(r"[\s-]*[\"']?args[\"']?\s*:\s*(.*)\Z", line)
            if match and match.group(1).strip() not in ("", "["):
                return [_bare(word) for word in match.group(1).strip().strip("[]").split(",") if word.strip()]
            if match:
                items = []
                for below in self._lines[index + 1 :]:
                    item = re.match(r"\s*-\s+(.*)\Z" if not match.group(1).strip() else r"\s*([\"'].*)\Z", below)
                    if item is None:
                        break
                    items.append(_bare(item.group(1)))
                return items
        return []


def _bare(text):
    """A scalar without quotes and what follows it."""
    text = text.strip()
    quoted = re.match(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'", text)
    if quoted:
        return quoted.group(1) if quoted.group(1) is not None else quoted.group(2)
    return re.split(r"\s+#", text)[0].rstrip().rstrip(",")


def cluster(machine, kubeconfig, path):
    """The cluster that kubelet talks to."""
    authority, content = kubeconfig.authority, None
    if kubeconfig.authority_data:
        authority = None
        try:
            content = base64.b64decode(kubeconfig.authority_data)
        except (binascii.Error, ValueError):
            machine.problems.append(f"certificate-authority-data of {path} is no base64")
    elif authority:
        content = machine.read(authority)
    fingerprints = [hashlib.sha256(der).hexdigest() for der in _certificates(machine, content or b"", authority or path)]
    return {
        "kubeconfig": path if machine.exists(path) else None,
        "server": kubeconfig.server,
        "name": kubeconfig.cluster,
        "certificate_authority": {"path": authority, "sha256": fingerprints},
    }


def _certificates(machine, content, path):
    found = []
    for block in _BLOCK.findall(content):
        try:
            found.append(ssl.PEM_cert_to_DER_cert(block.decode("ascii").strip()))
        except ValueError:
            machine.problems.append(f"{path} holds a certificate that is none")
    return found


def ours(machine):
    """What this collection wrote on the machine, and whether it still is as it was written; None when there is nothing."""
    path = f"{STATE}/manifest.json"
    text = machine.text(path)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
        files = manifest["files"]
        states = {name: _state(machine, name, files[name]["sha256"]) for name in sorted(files)}
    except (ValueError, KeyError, TypeError, AttributeError):
        machine.problems.append(f"{path} is damaged")
        return None
    return {
        "manifest": path,
        "files": states,
        "pending": manifest.get("pending") or [],
        "interrupted": os.path.isdir(machine.path(f"{STATE}/transaction")),
    }


def _state(machine, path, digest):
    if not os.path.lexists(machine.path(path)):
        return "missing"
    content = machine.read(path)
    if content is None:
        return "unreadable"
    return "unchanged" if hashlib.sha256(content).hexdigest() == digest else "changed"


def nodeadm(machine):
    """The documents that nodeadm reads from its folder, in its order; None on a machine that has no such folder."""
    if not machine.exists(NODEADM):
        return None
    documents = []
    for name in machine.names(NODEADM):
        path = f"{NODEADM}/{name}"
        if name.lower().endswith((".yaml", ".yml", ".json")) and os.path.isfile(machine.path(path)):
            text = machine.text(path)
            documents.append({"path": path, "text": None if text is None else secrets.in_text(text)})
    return documents


def snap(machine):
    """The settings of the kubelet snap; None where it is not installed."""
    if not machine.exists("/snap/kubelet-eks") and not machine.exists("/etc/systemd/system/snap.kubelet-eks.daemon.service"):
        return None
    text = machine.run("snap", "get", "-d", "kubelet-eks")
    try:
        settings = json.loads(text or "")
    except ValueError:
        return None
    if not isinstance(settings, dict):
        return None
    shown = secrets.in_value(settings)
    if isinstance(settings.get("args"), str):
        shown["args"] = " ".join(secrets.in_command_line(settings["args"].split(" ")))
    return shown
