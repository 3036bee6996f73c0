# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts and texts in user data that was read, in the order in which they count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..bootstrap_calls import SCRIPT
from ..errors import Problems, joined
from ..formats import cloud_config, toml
from ..model.spec import PostCommand
from ..nodeconfig.read import NodeConfigError, decode, document
from ..readers.bootstrap_script import calls
from ..readers.document import structure
from ..readers.model import ReadPart, UserData
from ..readers.own_script import own_script
from .fact import Fact, exact, path_of
from .facts import Facts

Sequences = dict[str, list[Fact]]

_OPTIONS = re.compile(r"\A(?:set -ex?\n)+")
"""Lines that a rendered script for C(commands.pre) has in any case, or that only print commands."""
_CHARSET = re.compile(r"^[^;]*(?:;\s*charset=\"?(?:us-ascii|utf-8)\"?\s*)?$", re.IGNORECASE)
_MERGES = ("merge_how", "merge_type")
_SHELL = re.compile(r"#!\s*\S*/(?:env\s+)?((?:ba|da)?sh)\b([^\n]*)")
_STOPS = re.compile(r".*\s-[a-z]*e")
_QUIET = (("set",), (":",), ("true",))
"""Commands that have no effect outside of the shell."""
_NO_MEANING = frozenset({"content-type", "content-transfer-encoding", "mime-version"})


def sequences(found: UserData, result: Facts) -> Sequences:
    """The texts whose order counts. Cloud-config and settings that nodeadm or Bottlerocket do not know are added to C(result) by key."""
    commands = found.node_group.get("commands", {})
    listed: Sequences = {"boothooks": [], "scripts": []}
    listed["pre"] = _pre(commands.get("pre", ()))
    listed["post"] = _post(commands.get("post", ()))
    _add_user_data(found.node_group.get("user_data", ()), listed, result)
    listed["not understood"] = list(_not_understood(found))
    for part in found.parts:
        for key, value in _dropped(part):
            place = ("parts", part.kind, *key)
            result[place] = Fact(path_of(("parts", part.index, *key)), value, exact(value))
    for part in found.parts:
        if calls(part):
            for name, value in _shell(part):
                path = joined(joined("parts", part.index), name)
                result["parts", part.kind, name] = Fact(path, value, value, is_of_both=True)
    for problem in found.problems:
        path = problem.path or "document"
        result["problems", problem.rule, path] = Fact(path, problem.message, problem.rule)
    return listed


def _shell(part: ReadPart) -> Iterator[tuple[str, Any]]:
    """How the script with the call runs: its shell, and whether it ends or continues with other commands if the call fails."""
    from ..formats import shell_reader

    match = _SHELL.match(part.text)
    if match is None:
        return
    yield "shell", match[1]
    if (own := own_script(part.text)) is not None and own.take_post():
        # Rendered commands do not run in this script.
        return
    try:
        commands = shell_reader.read(part.text).commands
    except (shell_reader.PackageMissing, RecursionError):
        return
    stops = bool(_STOPS.match(match[2]))
    for index, command in enumerate(commands):
        words = [word or "" for word in command.values]
        if words[:1] == ["set"]:
            stops = _stops_after(words[1:], stops)
        elif SCRIPT in words:
            if any(later.values[:1] not in _QUIET for later in commands[index + 1 :]):
                yield "on_error", "stop" if stops else "continue"
            return


def _stops_after(words: list[str], stops: bool) -> bool:
    """Whether the shell ends at the first error after C(set) with these arguments."""
    for index, word in enumerate(words):
        is_long = word[1:2] == "o" and words[index + 1 : index + 2] == ["errexit"]
        if word[:1] in ("-", "+") and ("e" in word[1:] or is_long):
            stops = word[0] == "-"
    return stops


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n")


def _pre(texts: list[str]) -> list[Fact]:
    text = _OPTIONS.sub("", "\n".join(_plain(text) for text in texts) + "\n", count=1) if texts else ""
    return [Fact("node_group.commands.pre", texts, _plain(text))] if text.strip() else []


def _post(given: list[Any]) -> list[Fact]:
    """The commands after the join. Consecutive commands with the same condition and timeout are one command."""
    commands: list[PostCommand] = []
    for item in given:
        command = PostCommand(**({"run": item} if isinstance(item, str) else item))
        if commands and (commands[-1].when, commands[-1].timeout) == (command.when, command.timeout):
            command = PostCommand(f"{_plain(commands.pop().run)}\n{command.run}", command.when, command.timeout)
        commands.append(command)
    meaning = [(_plain(command.run), command.when, command.timeout) for command in commands]
    return [Fact("node_group.commands.post", given, meaning)] if given else []


def _add_user_data(texts: list[str], listed: Sequences, result: Facts) -> None:
    """Add existing user data: scripts in their order, cloud-config by key, as cloud-init merges it."""
    configs = []
    for index, text in enumerate(texts):
        path = joined("node_group.user_data", index)
        for part in structure(text).parts:
            headers = _headers(part)
            problems = Problems()
            config = cloud_config.load(part.text, path, problems) if part.kind == "cloud-config" else {}
            if part.kind == "cloud-config" and not len(problems):
                configs.append((path, config, headers))
            elif part.kind != "empty":
                content = "".join(f"{name}: {value}\n" for name, value in headers) + part.text
                fact = Fact(path, content, (part.kind, headers, _plain(part.text)))
                listed["boothooks" if part.kind == "boothook" else "scripts"].append(fact)
    if len(configs) > 1 and any(headers or any(name in config for name in _MERGES) for _path, config, headers in configs):
        listed["cloud-config"] = [Fact(path, config, (exact(config), headers)) for path, config, headers in configs]
        return
    for path, config, _headers_of_one in configs:
        for key, value in config.items():
            result["node_group", "user_data", key] = Fact(joined(path, key), value, exact(value))


def _headers(part: ReadPart) -> tuple[tuple[str, str], ...]:
    """The headers of a part that can change what cloud-init does."""
    kept = [(name.lower(), value) for name, value in part.headers if name.lower() not in _NO_MEANING]
    if not _CHARSET.match(part.content_type):
        kept.append(("content-type", part.content_type))
    return tuple(sorted(kept))


def _not_understood(found: UserData) -> Iterator[Fact]:
    for item in found.not_understood:
        if item.place.part is None:
            yield Fact("document", item.text, _plain(item.text))
            continue
        part = found.parts[item.place.part]
        # Single settings of these formats are compared by their key.
        if part.kind not in ("nodeconfig", "toml") or item.text == part.text:
            yield Fact(joined("parts", part.index), item.text, _plain(item.text))


def _dropped(part: ReadPart) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Settings that nodeadm or Bottlerocket do not know, and that are in no field."""
    if part.kind == "nodeconfig":
        try:
            raw = document(part.text, strict=False)
            known = decode(raw.get("spec")) if isinstance(raw, Mapping) else {}
        except NodeConfigError:
            return
        if isinstance(raw, Mapping):
            yield from _unknown({name: value for name, value in raw.items() if name not in ("apiVersion", "kind")}, {"spec": known}, ())
    elif part.kind == "toml":
        tree = toml.load(part.text, "", Problems())
        yield from (((name,), value) for name, value in tree.items() if name != "settings")


def _unknown(raw: Mapping[str, Any], known: Mapping[str, Any], key: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    for name, value in raw.items():
        if name not in known:
            if value not in (None, "", [], {}, False):
                yield (*key, name), value
        elif isinstance(value, Mapping) and isinstance(known[name], Mapping):
            yield from _unknown(value, known[name], (*key, name))
