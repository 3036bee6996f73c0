# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The explanation of user data: what the node does when it boots, and the files and settings that result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..difference.shown import shown
from ..formats.secrets import find_secrets
from ..readers.model import Place

Stage = Literal["early", "init", "config", "final", "bootstrap", "nodeadm", "settings", "launch", "kubelet"]
"""early: units of the image before cloud-init. init, config, final: stages of cloud-init. bootstrap: the script of the image that starts
kubelet. nodeadm: C(nodeadm-run.service). settings: Bottlerocket's own programs. launch: EC2Launch of Windows."""

Source = Literal["user_data", "image", "instance_type", "service_cidr", "instance", "kubelet"]
"""user_data: set there. image: the image or its bootstrap program sets it on every node. instance_type, service_cidr: computed from these.
instance: only the instance knows it. kubelet: kubelet's own default."""


@dataclass(frozen=True)
class Step:
    """One step of the boot. unit: the service that does it. is_conditional: whether it may not happen."""

    stage: Stage
    unit: str
    does: str
    where: Place | None = None
    is_conditional: bool = False

    def plain(self) -> dict[str, Any]:
        """The step as plain data."""
        where = None if self.where is None else self.where.plain()
        does = shown(self.does)
        return {"stage": self.stage, "unit": self.unit, "does": does, "where": where, "conditional": self.is_conditional}


@dataclass(frozen=True)
class File:
    """A file that is written. content: None if it is unknown; then C(unknown) of the explanation says why."""

    path: str
    written_by: str
    content: str | None

    def plain(self) -> dict[str, Any]:
        """The file as plain data."""
        content = self.content if self.content is None or not find_secrets(self.content) else shown(self.content)
        return {"path": self.path, "written_by": self.written_by, "content": content}


@dataclass(frozen=True)
class Setting:
    """A field or a flag of kubelet, or a setting of the image's bootstrap program.

    value: None if it is unknown. path: in the part, for a value of user data.
    """

    value: Any
    source: Source
    path: str | None = None
    where: Place | None = None

    def plain(self, name: str) -> dict[str, Any]:
        """The setting as plain data."""
        where = None if self.where is None else self.where.plain()
        return {"name": name, "value": shown(self.value, name), "source": self.source, "path": self.path, "where": where}


@dataclass(frozen=True)
class Unknown:
    """What the explanation cannot know. what: a file, a setting, a placeholder, or text of user data."""

    what: str
    why: str
    where: Place | None = None

    def plain(self) -> dict[str, Any]:
        """The item as plain data."""
        return {"what": shown(self.what), "why": self.why, "where": None if self.where is None else self.where.plain()}


Settings = Mapping[str, Setting]


@dataclass(frozen=True)
class Explanation:
    """config: fields of kubelet by path. flags: of kubelet, by name. settings: of the image's bootstrap program, by name."""

    timeline: tuple[Step, ...]
    files: tuple[File, ...]
    config: Settings
    flags: Settings
    settings: Settings
    unknown: tuple[Unknown, ...]

    def plain(self) -> dict[str, Any]:
        """The explanation as plain data."""
        tables = {"config": self.config, "flags": self.flags, "settings": self.settings}
        kubelet = {name: [row.plain(key) for key, row in sorted(table.items())] for name, table in tables.items()}
        return {
            "timeline": [step.plain() for step in self.timeline],
            "files": [file.plain() for file in self.files],
            "kubelet": kubelet,
            "unknown": [item.plain() for item in self.unknown],
        }
