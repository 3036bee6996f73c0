# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads kubelet's kubeconfig as client-go does: server, authority, credentials. Standard library, Python 3.7 and newer.

The part about YAML parses it without PyYAML: mappings, lists, quoted and plain scalars, and the flow style of both, which is what the
kubeconfigs of the images use. Any other YAML is rejected, never guessed. Errors name the line by its number only: a kubeconfig contains
secrets.
"""

from __future__ import annotations

import json
import os
import re
from collections import deque
from typing import Any, Deque, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from .host import Host
from .redaction import redact_string

_SERVER = re.compile(r"https://(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[0-9A-Za-z._-]+))(?::(?P<port>[0-9]{1,5}))?(?P<path>/[!-~]*)?\Z")
_URL = re.compile(r"https?://")
_SERVER_LINE = re.compile(r"""^[ \t]*(?:-[ \t]+)?["']?server["']?[ \t]*:[ \t]*["']?([^\s"'#,}]+)""", re.MULTILINE)
_CLUSTER_OPTIONS = ("-i", "--cluster-id", "--cluster-name")
_PLACEHOLDER = "CLUSTER_NAME"

UNREADABLE = "cannot be read as YAML"
"""The message of Unusable, after the path, when our YAML parser failed. kubelet's parser may know more of YAML."""


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
    return redact_string(found)[:100] if found and found != _PLACEHOLDER else None


def read(text: str, path: str) -> Access:
    """The Access in the text of a kubeconfig. Raises Unusable."""
    cluster, user = current(text, path)
    server = cluster.get("server")
    match = _SERVER.match(server) if isinstance(server, str) else None
    if not isinstance(server, str) or match is None or int(match.group("port") or 443) > 65535:
        shown = "no server" if not server else f"the server {redact_string(str(server))[:100]!r}"
        raise Unusable(f"{path} names {shown}, which is not an https:// address of an API server")
    host, port = match.group("six") or match.group("name"), int(match.group("port") or 443)
    return Access(server.rstrip("/"), host, port, (match.group("path") or "").rstrip("/"), cluster, user, path.rpartition("/")[0])


def parse_document(text: str, path: str) -> Any:
    """The value of a kubeconfig in JSON or YAML. Raises Unusable."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return parse_yaml(text)
    except (ValueError, RecursionError) as error:
        problem = str(error)
    try:
        # Not in the standard library. Where the node has it, it reads YAML that our parser does not.
        import yaml

        return yaml.safe_load(text)
    except Exception:  # it is not installed, or it cannot parse the text either
        raise Unusable(f"{path} {UNREADABLE}: {problem}") from None


def _named(document: Mapping[str, Any], plural: str, singular: str, name: Any, path: str) -> Dict[str, Any]:
    """The entry with a name in a list of a kubeconfig."""
    entries = document.get(plural)
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and name and entry.get("name") == name:
            value = entry.get(singular)
            return value if isinstance(value, dict) else {}
    raise Unusable(f"{path} has no {singular} named {redact_string(str(name))[:60]!r}")


# --- YAML --------------------------------------------------------------------------------------------------------------------------------

_Line = Tuple[int, str, int]

_KEY = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s\"'\[\]{},&*!|>%@`?#:-](?:[^:#\"']*[^:#\"' \t])?)[ \t]*:(?:[ \t]+(\S.*))?\Z")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_DEEPEST = 30
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


def parse_yaml(text: str) -> Any:
    """The value of a text. Numbers stay text. Raises ValueError for YAML that the parser does not know."""
    lines: List[_Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith("#") or bare == "---":
            continue
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise ValueError(f"line {number}: it is indented with a tab")
        lines.append((len(line) - len(line.lstrip(" ")), bare, number))
    if not lines:
        raise ValueError("the file is empty")
    reader = _Blocks(lines)
    try:
        value = reader.block(lines[0][0], 0)
    except ValueError as error:
        raise ValueError(f"line {reader.number}: {error}") from None
    if reader.lines:
        raise ValueError(f"line {reader.lines[0][2]}: its indentation does not match any line above")
    return value


class _Blocks:
    """The lines that are not parsed yet, as (indentation, text, number). C(number): of the last line that was parsed."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self.lines: Deque[_Line] = deque(lines)
        self.number = lines[0][2]

    def _take(self) -> str:
        """Remove the next line and return its text."""
        _unused, text, self.number = self.lines.popleft()
        return text

    def block(self, column: int, depth: int) -> Any:
        """The mapping or list at an indentation."""
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        return self._list(column, depth) if _is_item(self.lines[0][1]) else self._mapping(column, depth)

    def _list(self, column: int, depth: int) -> List[Any]:
        found: List[Any] = []
        while self.lines and self.lines[0][0] == column and _is_item(self.lines[0][1]):
            text = self.lines[0][1]
            rest = text[1:].lstrip(" ")
            if not rest or rest.startswith("#"):
                self._take()
                found.append(self._below(column, depth))
            elif _is_item(rest) or _KEY.match(rest):
                # The rest of the line is the first line of a block of its own.
                self.lines[0] = (column + len(text) - len(rest), rest, self.lines[0][2])
                found.append(self.block(self.lines[0][0], depth + 1))
            else:
                self._take()
                found.append(_value(rest))
        return found

    def _mapping(self, column: int, depth: int) -> Dict[Any, Any]:
        found: Dict[Any, Any] = {}
        while self.lines and self.lines[0][0] == column:
            match = _KEY.match(self._take())
            if match is None:
                raise ValueError("it is not a key with a value")
            key, rest = _scalar(match.group(1)), match.group(2) or ""
            if key in found:
                raise ValueError("its key is given twice")
            if rest and not rest.startswith("#"):
                found[key] = _value(rest)
            elif self.lines and self.lines[0][0] == column and _is_item(self.lines[0][1]):
                # A list may have the same indentation as its key.
                found[key] = self._list(column, depth + 1)
            else:
                found[key] = self._below(column, depth)
        return found

    def _below(self, column: int, depth: int) -> Any:
        """The block below a key or a dash, None without one."""
        return self.block(self.lines[0][0], depth + 1) if self.lines and self.lines[0][0] > column else None


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _value(text: str) -> Any:
    if text[0] in "[{":
        value, end = _flow(text, 0, 0)
    else:
        quoted = _QUOTED.match(text)
        if quoted is None:
            return _scalar(re.split(r"\s#", text, maxsplit=1)[0].strip())
        value, end = _scalar(quoted.group(0)), quoted.end()
    rest = text[end:].strip()
    if rest and not rest.startswith("#"):
        raise ValueError("there is text after the value")
    return value


def _scalar(text: str) -> Any:
    if text[:1] == '"':
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError("it has an invalid escape sequence") from None
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] in tuple("&*!|>%@`") or text.endswith(":") or ": " in text:
        raise ValueError("its value is not a plain scalar")
    return _WORDS.get(text.lower(), text)


def _flow(text: str, at: int, depth: int) -> Tuple[Any, int]:
    """The value of the flow style at C(at), and the index of its end."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    closing = {"[": "]", "{": "}"}.get(text[at : at + 1])
    if closing is None:
        match = _QUOTED.match(text, at) or re.compile(r"[^\[\]{},#\"']+").match(text, at)
        if match is None:
            raise ValueError("a bracket is not closed")
        return match.group(0).strip(), match.end()
    items: List[Any] = []
    at = _blanks(text, at + 1)
    while text[at : at + 1] != closing:
        item, at = _flow(text, at, depth + 1)
        if closing == "}":
            key = _FLOW_KEY.match(item) if isinstance(item, str) else None
            if key is None:
                raise ValueError("an item in braces is not a key with a value")
            if key.group(2):
                item = (_scalar(key.group(1)), _scalar(key.group(2)))
            else:
                value, at = _flow(text, _blanks(text, at), depth + 1)
                item = (_scalar(key.group(1)), _scalar(value) if isinstance(value, str) else value)
        elif isinstance(item, str):
            item = _scalar(item)
        items.append(item)
        at = _blanks(text, at)
        if text[at : at + 1] == ",":
            at = _blanks(text, at + 1)
        elif text[at : at + 1] != closing:
            raise ValueError("a bracket is not closed")
    return (dict(items) if closing == "}" else items), at + 1


_FLOW_KEY = re.compile(r"([^:\"']+):(?:\s+(\S.*))?\Z")


def _blanks(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at
