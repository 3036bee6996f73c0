# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shell scripts in user data, wherever they are: parts, files and commands of a cloud-config; and the places in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import Problems
from ..formats import cloud_config
from ..readers.model import Place, ReadPart
from ..readers.places import place_of
from .subject import Subject

if TYPE_CHECKING:
    from ..formats.shell_reader import ShellPlace


@dataclass(frozen=True)
class ShellText:
    """A script. key: its place in the part, such as C(runcmd[0]); C('') if it is the part."""

    part: ReadPart
    text: str
    key: str

    @property
    def path(self) -> str:
        """Its path in problems."""
        return f"{self.part.path}.{self.key}".lstrip(".") if self.key else self.part.path

    def at(self, place: ShellPlace) -> Place:
        """A place in the script. Inside a cloud-config, the place of the script."""
        if self.key:
            return place_of(self.part, self.key)
        return Place(self.part.index, place.line, place.column, max(1, place.length))

    def within(self, place: ShellPlace, word: str) -> Place:
        """The place of a word inside a place in the script. The place itself if the word is not there, but in a variable."""
        line = self.text.split("\n")[place.line - 1]
        found = line.find(word, place.column - 1, place.column - 1 + place.length)
        return self.at(place if found < 0 else replace(place, column=found + 1, length=len(word)))

    def place(self, line: int, word: str = "") -> Place:
        """The place of a word, at or after a line. Inside a cloud-config, the place of the script."""
        if self.key:
            return place_of(self.part, self.key)
        lines = self.text.split("\n")
        for number in range(line, len(lines) + 1):
            found = lines[number - 1].find(word) if word else -1
            if found >= 0:
                return Place(self.part.index, number, found + 1, len(word))
            # A command continues as long as its lines end with a backslash.
            if not lines[number - 1].endswith("\\"):
                break
        whole = lines[line - 1] if line <= len(lines) else ""
        start = len(whole) - len(whole.lstrip())
        return Place(self.part.index, line, start + 1, max(1, len(whole.strip())))


def shell_texts(subject: Subject) -> Iterator[ShellText]:
    """Every script, in the order of the parts."""
    for part in subject.parts("shell", "boothook"):
        yield ShellText(part, part.text, "")
    for part in subject.parts("cloud-config"):
        document = cloud_config.load(part.text, part.path, Problems())
        for key in ("bootcmd", "runcmd"):
            listed = document.get(key)
            for index, item in enumerate(listed if isinstance(listed, list) else ()):
                if isinstance(item, str):
                    yield ShellText(part, item, f"{key}[{index}]")
                elif isinstance(item, list) and item[:2] in (["bash", "-c"], ["sh", "-c"]) and len(item) > 2:
                    yield ShellText(part, str(item[2]), f"{key}[{index}]")
    for file in subject.user_data.files:
        if file.kind == "shell" and file.text:
            yield ShellText(subject.user_data.parts[file.part], file.text, file.key)
