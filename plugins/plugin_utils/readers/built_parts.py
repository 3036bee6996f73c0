# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that a node makes of archives, templates and tasks when it boots, as far as user data shows them.

cloud-init takes an archive apart (C(UserDataProcessor._explode_archive)), and renders a template before it looks at the kind of the result
(C(JinjaTemplatePartHandler)). The values of a template are known only on the node. A template with statements or comments is not read,
because its lines may not be those of the result. EC2Launch v2 runs the scripts of a list of tasks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Problem, Problems
from ..formats.located_text import LocatedText, Spot
from ..formats.user_data_kind import Kind, classify
from ..formats.yaml_error import YamlError
from . import document
from .model import Place, ReadPart, UserData

_STATEMENT = re.compile(r"\{[%#]")
_VARIABLE = re.compile(r"\{\{[^{}\n]*\}\}")
_UNKNOWN = re.compile(r"\$\._{2,}")
"""Stands for a value of a template, with as many characters. For a shell it is a word without variables, for YAML a text, and for the
checks a value that another program replaces."""
TASK = "executeScript"
"""C(content_type) of a script in a task, in which EC2Launch does not look for tags."""
_MOST_PARTS, _MOST_TEXT = 200, 1 << 17
"""Parts, and characters of all of them together, that are read: aliases of YAML can repeat a text."""


@dataclass(frozen=True)
class _Begin:
    """Where a built text begins. spots: of its lines in the text around it; only the first if it is not verbatim."""

    spots: tuple[Spot, ...]
    is_verbatim: bool

    def place(self, place: Place) -> Place:
        """A place in the built text as a place in the text around it."""
        line, column = self.spots[min(place.line, len(self.spots)) - 1]
        if self.is_verbatim and place.line <= len(self.spots):
            return replace(place, line=line, column=column + place.column - 1)
        return replace(place, line=line, column=column, length=1)


@dataclass(frozen=True)
class _Origin:
    """Where a part comes from. part: the index in the user data. begins: of the texts around it, innermost first."""

    part: int
    begins: tuple[_Begin, ...] = ()


@dataclass(frozen=True)
class Built:
    """User data as cloud-init has it after it took archives apart and rendered templates."""

    user_data: UserData
    _origins: tuple[_Origin, ...]

    def place(self, place: Place) -> Place:
        """A place in a built part as the place in the user data."""
        if place.part is None:
            return place
        origin = self._origins[place.part]
        for begin in origin.begins:
            place = begin.place(place)
        return replace(place, part=origin.part)


def is_unknown(value: Any) -> bool:
    """Whether a value, or a piece of it, comes from a variable of a template."""
    return isinstance(value, str) and _UNKNOWN.search(value) is not None


def build(data: UserData) -> Built | None:
    """The parts that cloud-init makes, or None if user data has no archive, template or list of tasks."""
    if not any(part.kind in ("archive", "jinja", "ec2launch") for part in data.parts):
        return None
    builder = _Builder()
    for part in data.parts:
        builder.take(part, _Origin(part.index))
    parts = tuple(replace(part, index=index) for index, part in enumerate(builder.parts))
    problems = Problems()
    problems.extend([*data.problems, *builder.problems])
    files = tuple(file for part in parts for file in document.files_of(part, problems))
    return Built(replace(data, parts=parts, files=files, problems=tuple(problems)), tuple(builder.origins))


class _Builder:
    """Collects parts, where each comes from, and problems of archives."""

    def __init__(self) -> None:
        self.parts: list[ReadPart] = []
        self.origins: list[_Origin] = []
        self.problems: list[Problem] = []
        self._entries, self._characters = 0, 0

    def take(self, part: ReadPart, origin: _Origin) -> None:
        """Add a part, or what becomes of it."""
        if part.kind == "ec2launch":
            self._take_scripts(part, origin)
        elif part.kind == "archive":
            self._explode(part, origin)
        elif part.kind == "jinja" and (rendered := _rendered(part)) is not None:
            self.take(*_inner(part, origin, rendered, None, part.path))
        else:
            self.parts.append(part)
            self.origins.append(origin)
            self._characters += len(part.text)

    def _is_full(self, part: ReadPart) -> bool:
        """Whether no more parts are read, which is reported."""
        self._entries += 1
        is_full = self._entries > _MOST_PARTS or self._characters > _MOST_TEXT
        if is_full:
            message = f"has more than {_MOST_PARTS} parts, or {_MOST_TEXT:,} characters in them, and the others were not checked"
            self.problems.append(Problem("user_data.not_checked", part.path, message))
        return is_full

    def _explode(self, part: ReadPart, origin: _Origin) -> None:
        from ..formats.yaml_reader import load_located

        try:
            entries = next(iter(load_located(part.text)), None)
        except YamlError as error:
            entries, message = None, f"is not an archive: {error}"
        else:
            message = "is not an archive: not a list, and cloud-init runs nothing of it"
        if not isinstance(entries, list):
            self.parts.append(part)
            self.origins.append(origin)
            fix = "write a YAML list of parts with type and content"
            self.problems.append(Problem("cloud_config.unreadable", part.path, message, fix=fix))
            return
        for number, entry in enumerate(entries, 1):
            if self._is_full(part):
                return
            path = f"archive part {number}" + (f" in {part.path}" if part.path else "")
            content = entry.get("content") if isinstance(entry, dict) else entry
            if isinstance(content, str) and classify(content) == "nodeconfig":
                message = f"part {number} is a NodeConfig, which neither nodeadm nor cloud-init reads in an archive"
                fix = "use a MIME document, with a part of the type application/node.eks.aws"
                self.problems.append(Problem("nodeconfig.wrong_part", part.path, message, fix=fix))
            elif isinstance(content, str):
                media_type = entry.get("type") if isinstance(entry, dict) else None
                self.take(*_inner(part, origin, content, media_type, path))
            else:
                message = f"part {number} has no text as content, and cloud-init ignores it"
                self.problems.append(Problem("cloud_config.unreadable", part.path, message, fix="write the content as text"))

    def _take_scripts(self, part: ReadPart, origin: _Origin) -> None:
        """Add the PowerShell in the tasks of EC2Launch. Other tasks and scripts for cmd.exe are left out."""
        from ..formats.yaml_reader import load_located

        try:
            document = next(iter(load_located(part.text)), None)
        except YamlError as error:
            message = f"is not YAML, and EC2Launch runs nothing of it: {error}"
            self.problems.append(Problem("user_data.unreadable", part.path, message, fix="correct the YAML"))
            return
        tasks = document.get("tasks") if isinstance(document, dict) else None
        for task in tasks if isinstance(tasks, list) else ():
            inputs = task.get("inputs") if isinstance(task, dict) and task.get("task") == "executeScript" else None
            for script in inputs if isinstance(inputs, list) else ():
                content = script.get("content") if isinstance(script, dict) and script.get("type") == "powershell" else None
                if self._is_full(part):
                    return
                if isinstance(content, str):
                    inner, inner_origin = _inner(part, origin, content, None, part.path, "powershell")
                    self.take(replace(inner, content_type=TASK), inner_origin)


def _rendered(part: ReadPart) -> LocatedText | None:
    """The text that cloud-init makes of a template, with stand-ins for the values that are known on the node. None if it is not known."""
    _head, _end, text = part.text.partition("\n")
    if _STATEMENT.search(text) or "{{" in _VARIABLE.sub("", text):
        return None
    rendered = _VARIABLE.sub(lambda match: "$." + "_" * (len(match[0]) - 2), text)
    spots = tuple((number, 1) for number in range(2, rendered.count("\n") + 3))
    return LocatedText(rendered, spots, is_verbatim=True)


def _inner(part: ReadPart, origin: _Origin, text: str, media_type: Any, path: str, known: Kind | None = None) -> tuple[ReadPart, _Origin]:
    """A part that is made of C(part). known: its kind, if the text does not decide it."""
    default: Kind = "unknown" if part.kind == "jinja" else "cloud-config"
    kind = known or _kind_of(media_type if isinstance(media_type, str) and media_type else None, text, default)
    if part.kind == "jinja" and kind not in ("shell", "cloud-config", "empty"):
        # cloud-init has no handler for anything else that it rendered.
        kind = "unknown"
    if part.kind == "archive" and kind in ("archive", "include"):
        # cloud-init looks for these before it takes an archive apart.
        kind = "unknown"
    spots, is_verbatim = (text.spots, text.is_verbatim) if isinstance(text, LocatedText) else (((1, 1),), False)
    inner = replace(part, kind=kind, media_type=None, text=str(text), path=path, headers=(), content_type="")
    return inner, replace(origin, begins=(_Begin(spots, is_verbatim), *origin.begins))


def _kind_of(media_type: str | None, text: str, default: Kind) -> Kind:
    """What cloud-init takes a built part for. default: without a type, and without a begin that it knows."""
    if media_type is not None and media_type not in ("text/plain", "text/x-not-multipart", "application/octet-stream"):
        return document.kind_of(media_type, text)
    kind = classify(text)
    return kind if kind in document.RUN_BY_CLOUD_INIT else default
