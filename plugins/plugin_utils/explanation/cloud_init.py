# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cloud-init does with the parts of user data, in its order (cloud-init 22.4).

The init stage runs boothooks, C(bootcmd) and C(write_files). The config stage runs other modules. The final stage runs the scripts in the
order of their file names, and with them C(runcmd), which is a script of the name C(runcmd).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..artifacts import cloud_init
from ..errors import Problems, SpecError, joined
from ..formats import cloud_config, mime
from ..readers import run_commands
from ..readers.model import Place, ReadPart, UserData
from ..readers.places import place_of
from .model import File, Stage, Step, Unknown
from .scripts import steps_of

if TYPE_CHECKING:
    from ..formats.shell_reader import ShellPlace

INIT, CONFIG, FINAL = "cloud-init.service", "cloud-config.service", "cloud-final.service"
WRITTEN_BY = "cloud-init"
_OWN_STEPS = ("bootcmd", "write_files", "runcmd")
_MERGES = ("merge_how", "merge_type")
_MERGE_HEADERS = ("merge-type", "x-merge-type")


@dataclass(frozen=True)
class _Value:
    """A key of a cloud-config. part: which has it."""

    part: ReadPart
    value: Any


def first_line(part: ReadPart) -> Place:
    """The place of a part as a whole."""
    return Place(part.index, 1, 1, len(part.text.partition("\n")[0]))


def steps(found: UserData, unknown: list[Unknown]) -> list[Step]:
    """The steps of all stages of cloud-init. What they cannot tell is added to C(unknown)."""
    values = _effective(found, unknown)
    return [*_init(found, values, unknown), *_config(values), *_final(found, values, unknown)]


def files(found: UserData) -> list[File]:
    """The files of C(write_files). The last one of a path counts."""
    unknown: list[Unknown] = []
    active = {value.part.index for value in _effective(found, unknown).get("write_files", ())}
    written = {file.path: File(file.path, WRITTEN_BY, file.text) for file in found.files if file.part in active}
    return [written[path] for path in sorted(written)]


def _effective(found: UserData, unknown: list[Unknown]) -> Mapping[str, list[_Value]]:
    """The values of each key that count: those of the last cloud-config, if none asks cloud-init to merge."""
    parts = [part for part in found.parts if part.kind == "cloud-config"]
    documents = [(part, cloud_config.load(part.text, part.path, Problems())) for part in parts]
    merges = any(
        set(_MERGES) & document.keys() or any(name.lower() in _MERGE_HEADERS for name, _value in part.headers)
        for part, document in documents
    )
    values: dict[str, list[_Value]] = {}
    for part, document in documents:
        for key, value in document.items():
            if key in _MERGES:
                continue
            earlier = values.get(key, [])
            if earlier and not merges:
                why = f"a later cloud-config has {key}, too, and cloud-init keeps only the last one"
                unknown.append(Unknown(joined(earlier[0].part.path, key), why, place_of(earlier[0].part, joined("", key))))
            elif earlier:
                unknown.append(Unknown(joined(part.path, key), "cloud-init merges it as the document asks for", first_line(part)))
            values[key] = [*(earlier if merges else ()), _Value(part, value)]
    return values


def _init(found: UserData, values: Mapping[str, list[_Value]], unknown: list[Unknown]) -> Iterator[Step]:
    for part in found.parts:
        if part.kind == "include":
            unknown.append(Unknown("user data from URLs", "the node downloads it when it boots", first_line(part)))
            yield Step("init", INIT, "downloads user data from URLs, and handles it like other parts", first_line(part))
        elif part.kind == "jinja":
            unknown.append(Unknown("a template", "cloud-init fills it in with facts of the instance", first_line(part)))
            yield Step("init", INIT, "fills in a template, and handles the result like other parts", first_line(part))
        elif part.kind == "archive":
            unknown.append(Unknown("an archive of parts", "its parts are checked by lint, but not explained", first_line(part)))
            yield Step("init", INIT, "takes an archive apart, and handles its parts like other parts", first_line(part))
        elif part.kind == "boothook":
            yield from _of_text(part, "init", INIT, unknown)
    for item in values.get("bootcmd", ()):
        yield from _commands(item, "bootcmd", "init", INIT, unknown)
    for item in values.get("write_files", ()):
        for file in cloud_config.written_files({"write_files": item.value}):
            yield Step("init", INIT, f"writes {file.path}", place_of(item.part, f"write_files[{file.index}].path"))


def _config(values: Mapping[str, list[_Value]]) -> Iterator[Step]:
    for key, items in values.items():
        if key not in _OWN_STEPS:
            for item in items:
                place = place_of(item.part, joined("", key), of_key=True)
                yield Step("config", CONFIG, f"applies {key}, at the latest before the scripts", place)


def _final(found: UserData, values: Mapping[str, list[_Value]], unknown: list[Unknown]) -> Iterator[Step]:
    scripts: list[tuple[str, int, list[Step]]] = []
    for part in found.parts:
        if part.kind == "shell":
            name = cloud_init.script_name(mime.Part(part.content_type, "", part.headers), part.index + 1)
            scripts.append((name, part.index, _of_text(part, "final", FINAL, unknown)))
    for item in values.get("runcmd", ()):
        scripts.append(("runcmd", item.part.index, _commands(item, "runcmd", "final", FINAL, unknown)))
    for _name, _index, listed in sorted(scripts, key=lambda script: script[:2]):
        yield from listed


def _of_text(part: ReadPart, stage: Stage, unit: str, unknown: list[Unknown]) -> list[Step]:
    def place(found: ShellPlace) -> Place:
        return Place(part.index, found.line, found.column, found.length)

    text = part.text
    if part.kind == "boothook" and not text.startswith("#!"):
        text = f"#!/bin/sh\n{text.partition(chr(10))[2]}"
    return steps_of(text, stage, unit, first_line(part), place, unknown)


def _commands(item: _Value, key: str, stage: Stage, unit: str, unknown: list[Unknown]) -> list[Step]:
    """The commands of C(bootcmd) or C(runcmd). cloud-init makes one script of them."""
    whole = place_of(item.part, key, of_key=True)
    try:
        text, indexes = run_commands.script_of(item.value)
    except SpecError:
        unknown.append(Unknown(key, "a command cannot be written in a script", whole))
        return [Step(stage, unit, f"runs {key}", whole)]

    def place(found: ShellPlace) -> Place:
        return place_of(item.part, f"{key}[{indexes[min(found.line, len(indexes)) - 1]}]")

    return steps_of(text, stage, unit, whole, place, unknown)
