# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads kubelet's kubeconfig as client-go does: server, authority, credentials. Standard library, Python 3.7 and newer.

Errors name a line by its number only: a kubeconfig contains secrets. Every run on a new node reads one, mostly to find no server in it, so
what other readers need is imported when it is needed.
"""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Mapping, NamedTuple, Tuple

from . import yaml_reader
from .host import Host

_SERVER = re.compile(r"https://(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?(?P<path>/[!-~]*)?\Z")
_URL = re.compile(r"https?://")
_SERVER_LINE = re.compile(r"""^[ \t]*(?:-[ \t]+)?["']?server["']?[ \t]*:[ \t]*["']?([^\s"'#,}]+)""", re.MULTILINE)
_CLUSTER_OPTIONS = ("-i", "--cluster-id", "--cluster-name")
_PLACEHOLDER = "CLUSTER_NAME"

UNREADABLE = "cannot be read as YAML"
"""The message of Unusable, after the path, when it is not YAML that we can read. kubelet's parser may know more of YAML."""


class Unusable(Exception):
    """This kubeconfig cannot be used. The text says why."""


class Access(NamedTuple):
    """The current context. C(host), C(port), C(path): parts of C(server). C(folder): the directory for relative paths."""

    server: str
    host: str
    port: int
    path: str
    cluster: Dict[str, Any]
    user: Dict[str, Any]
    folder: str

    def file(self, path: str) -> str:
        """The absolute form of a path in the kubeconfig."""
        return absolute(path, self.folder)


def absolute(path: str, folder: str) -> str:
    """The absolute form of a path in a kubeconfig. C(folder): the directory of the kubeconfig."""
    return path if path.startswith("/") else f"{folder}/{path}"


def current(text: str, path: str) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The cluster and the user of the current context, as mappings with any content. Raises Unusable."""
    document = parse_document(text, path)
    if not isinstance(document, dict):
        raise Unusable(f"{path} is not a mapping")
    context = _named(document, "contexts", "context", document.get("current-context"), path)
    cluster = _named(document, "clusters", "cluster", context.get("cluster"), path)
    return cluster, _named(document, "users", "user", context.get("user"), path)


def find_server(text: str) -> str | None:
    """The URL of the API server in a kubeconfig. None without a server, or for a placeholder of an image.

    A damaged kubeconfig is searched for a line with a server: one line that cannot be parsed must not hide the cluster of the node.
    """
    # Only an escape can hide the colon and slashes of a URL.
    if "://" not in text and "\\" not in text:
        return None
    try:
        server = current(text, "")[0].get("server")
    except Unusable:
        match = _SERVER_LINE.search(text)
        server = match.group(1) if match else None
    return server if isinstance(server, str) and _URL.match(server) else None


class Server(NamedTuple):
    """C(url): of the API server, None if a kubeconfig does not name one. C(problem): why it is not known, None if it is."""

    url: str | None
    problem: str | None = None


def read_server(host: Host, path: str) -> Server:
    """The API server in the kubeconfig at a path. A file that does not exist does not name one, and neither does an empty one."""
    text = host.text(path)
    if text is None:
        return Server(None, f"{path} cannot be read" if os.path.lexists(host.path(path)) else None)
    url = find_server(text)
    is_empty = all(line.strip()[:1] in ("", "#") for line in text.splitlines())
    if url is not None or is_empty or _SERVER_LINE.search(text):
        return Server(url)
    try:
        parse_document(text, path)
    except Unusable as problem:
        return Server(None, str(problem))
    return Server(None)


def cluster_name(user: Mapping[str, Any]) -> str | None:
    """The name of the cluster in the arguments of the user's program: C(-i NAME), C(--cluster-id NAME), C(--cluster-name NAME).

    The last one counts, as in those programs.
    """
    program = user.get("exec")
    given = program.get("args") if isinstance(program, dict) else None
    words = [str(word) for word in given] if isinstance(given, list) else []
    found = None
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in _CLUSTER_OPTIONS:
            found = value if equals else "".join(words[index + 1 : index + 2])
    return _redact(found)[:100] if found and found != _PLACEHOLDER else None


def read(text: str, path: str) -> Access:
    """The Access in the text of a kubeconfig. Raises Unusable."""
    cluster, user = current(text, path)
    server = cluster.get("server")
    match = _SERVER.match(server) if isinstance(server, str) else None
    if not isinstance(server, str) or match is None or int(match.group("port") or 443) > 65535:
        shown = "no server" if not server else f"the server {_redact(str(server))[:100]!r}"
        raise Unusable(f"{path} names {shown}, which is not an https:// address of an API server")
    host, port = match.group("six") or match.group("name"), int(match.group("port") or 443)
    return Access(server.rstrip("/"), host, port, (match.group("path") or "").rstrip("/"), cluster, user, path.rpartition("/")[0])


def parse_document(text: str, path: str) -> Any:
    """The value of a kubeconfig in JSON or YAML. Raises Unusable."""
    try:
        return yaml_reader.parse(text)
    except yaml_reader.YamlError as error:
        raise Unusable(f"{path} {UNREADABLE}: {error}") from None


def _named(document: Mapping[str, Any], plural: str, singular: str, name: Any, path: str) -> Dict[str, Any]:
    """The entry with a name in a list of a kubeconfig."""
    entries = document.get(plural)
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and name and entry.get("name") == name:
            value = entry.get(singular)
            return value if isinstance(value, dict) else {}
    raise Unusable(f"{path} has no {singular} named {_redact(str(name))[:60]!r}")


def _redact(text: str) -> str:
    from .redaction import redact_string

    return redact_string(text)
