# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's kubeconfig as client-go reads it: which server, which authority, which credentials. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from . import kubeconfig_yaml
from .redaction import in_word

_SERVER = re.compile(r"https://(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?(?P<path>/[!-~]*)?\Z")
_NAMED = ("-i", "--cluster-id", "--cluster-name")
# What the image has before it is bootstrapped.
_NOT_YET = "CLUSTER_NAME"

UNREADABLE = "cannot be read as YAML"
"""What Unusable says, after the path, where the reader failed: that of kubelet may know more of YAML."""


class Unusable(Exception):
    """Why no API server can be asked with this kubeconfig, in words for the user."""


class Access(NamedTuple):
    """C(host), C(port), C(path): of C(server). C(cluster), C(user): the mappings of the kubeconfig. C(folder): of relative paths."""

    server: str
    host: str
    port: int
    path: str
    cluster: Any
    user: Any
    folder: str

    def file(self, path):
        """A path of the kubeconfig as an absolute one."""
        return absolute(path, self.folder)


def absolute(path, folder):
    """A path of a kubeconfig that lies in C(folder)."""
    return path if path.startswith("/") else f"{folder}/{path}"


def current(text, path):
    """(cluster, user): the mappings that count in a kubeconfig's text, whatever stands in them. Raises Unusable."""
    document = _document(text, path)
    if not isinstance(document, dict):
        raise Unusable(f"{path} holds no mapping")
    context = _named(document, "contexts", "context", document.get("current-context"), path)
    cluster = _named(document, "clusters", "cluster", context.get("cluster"), path)
    return cluster, _named(document, "users", "user", context.get("user"), path)


def cluster_name(user):
    """What a user's program is told the cluster is called: C(-i NAME), C(--cluster-id NAME), C(--cluster-name NAME); None where it is not.

    Of several the last one counts, as with those programs.
    """
    program = user.get("exec")
    given = program.get("args") if isinstance(program, dict) else None
    words = [str(word) for word in given] if isinstance(given, list) else []
    found = None
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in _NAMED:
            found = value if equals else "".join(words[index + 1 : index + 2])
    return in_word(found)[:100] if found and found != _NOT_YET else None


def read(text, path):
    """The Access of a kubeconfig's text. Raises Unusable."""
    cluster, user = current(text, path)
    server = cluster.get("server")
    match = _SERVER.match(server) if isinstance(server, str) else None
    if match is None or int(match.group("port") or 443) > 65535:
        shown = "no server" if not server else f"the server {in_word(str(server))[:100]!r}"
        raise Unusable(f"{path} names {shown}, which is no https:// address of an API server")
    host, port = match.group("six") or match.group("name"), int(match.group("port") or 443)
    return Access(server.rstrip("/"), host, port, (match.group("path") or "").rstrip("/"), cluster, user, path.rpartition("/")[0])


def _document(text, path):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return kubeconfig_yaml.parse(text)
    except (ValueError, RecursionError) as error:
        problem = str(error)
    try:
        # Not in the standard library; where the node has it, it reads what we do not.
        import yaml

        return yaml.safe_load(text)
    except Exception:  # there is none, or it cannot read the text either
        raise Unusable(f"{path} {UNREADABLE}: {problem}") from None


def _named(document, plural, singular, name, path):
    """The entry of a list of named ones."""
    entries = document.get(plural)
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and name and entry.get("name") == name:
            value = entry.get(singular)
            return value if isinstance(value, dict) else {}
    raise Unusable(f"{path} has no {singular} named {in_word(str(name))[:60]!r}")
