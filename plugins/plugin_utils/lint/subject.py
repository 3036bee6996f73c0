# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is linted: user data that was read, and what the caller knows about its nodes."""

from __future__ import annotations

from dataclasses import dataclass

from ..capacity import InstanceShape
from ..formats.user_data_kind import Kind
from ..kubelet_fields import Version
from ..readers.model import ReadPart, UserData


@dataclass(frozen=True)
class Subject:
    """User data. stored: bytes that EC2 stores and counts. family, version, instance: of the nodes; None if unknown."""

    user_data: UserData
    stored: int
    family: str | None
    version: Version
    instance: InstanceShape | None = None

    def parts(self, *kinds: Kind) -> list[ReadPart]:
        """The parts of these kinds, in their order."""
        return [part for part in self.user_data.parts if part.kind in kinds]
