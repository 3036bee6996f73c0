# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a path that a problem names exist in the user's input? C(conftest.py) asks this for every problem that a test raises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, Problems, joined
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import mime, mime_reader, toml, yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import unpack
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.user_data_kind import classify
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import NamedFile

MISSING = frozenset(
    {
        "capacity.missing_instance",
        "capacity.unknown_instance_type",
        "cluster.missing_field",
        "cluster.missing_service_cidr",
        "cluster.version_unknown",
        "input.missing_field",
        "karpenter.windows_version",
        "strategy.missing_max_pods",
    }
)
"""Rules that report the path of a field to add."""

_NAMED = re.compile(r"""(?<![\w.\[])(?:node_group|cluster)(?:\.[A-Za-z0-9_-]+|\[(?:[0-9]+|"(?:[^"\\]|\\.)*"|"[^\]]*…[^\]]*)\])*""")


def exists(path: str, given: Any, at: str = "") -> bool:
    """Does C(given) have a value at C(path)? at: the path of C(given) itself."""
    return path == at or any(exists(path, value, below) for below, value in _children(given, at) if _leads_to(below, path))


def is_missing_field(path: str, given: Any, at: str = "") -> bool:
    """Is C(path) a field that C(given) lacks, of a mapping that it has?"""
    if any(is_missing_field(path, value, below) for below, value in _children(given, at) if _leads_to(below, path)):
        return True
    rest = path[len(at) :]
    return (given is None or isinstance(given, Mapping)) and bool(re.fullmatch(r"\.?[A-Za-z0-9_-]+|\[\"[^\"]*\"\]", rest))


def _leads_to(below: str, path: str) -> bool:
    return path == below or path.startswith((f"{below}.", f"{below}["))


def _children(given: Any, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(given, NamedFile):
        given = given.content
    if isinstance(given, (str, bytes)):
        given = _document(given)
    if isinstance(given, Mapping):
        yield from ((joined(at, key if isinstance(key, str) else str(key)[:80]), value) for key, value in given.items())
    elif isinstance(given, Sequence) and not isinstance(given, (str, bytes, bytearray)):
        yield from ((joined(at, index), value) for index, value in enumerate(given))


def _document(text: str | bytes) -> Any:
    """The tree in which a path continues below a text of the user: the parts of user data, the values of YAML or TOML."""
    content = unpack(text, "text", Problems())
    if classify(content) == "mime":
        parts = [mime.decoded(part, "text", Problems()) for part in mime_reader.read(content, "text", Problems())]
        # A document that cannot be read has as many parts as boundaries; without a boundary, al2023 reads it as a NodeConfig.
        parts = parts or [""] * len(re.findall(r"^--", content, re.MULTILINE))
        if parts:
            return {"parts": parts}
    with suppress(toml.TomlError):
        return toml.parse(content)
    with suppress(yaml.YamlError):
        return yaml.load(content)
    return None


def missing_paths(problem: Problem, given: Any) -> list[str]:
    """The paths that a problem says something about, in its path and its message, and that C(given) lacks.

    The fix can name fields to add. The rules of C(MISSING) are about a field that is not there.
    """
    may_be_absent = {problem.path} if problem.rule in MISSING and is_missing_field(problem.path, given) else set()
    return [path for path in (problem.path, *_NAMED.findall(problem.message)) if not exists(path, given) and path not in may_be_absent]
