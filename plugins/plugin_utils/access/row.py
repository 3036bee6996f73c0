# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of the plan: a role, where it is mapped, and what becomes of that."""

from __future__ import annotations

from dataclasses import dataclass

PRESENT, CREATE, REPLACE, REMOVE, KEEP, REFUSED = "present", "create", "replace", "remove", "kept", "refused"
"""The states of a row. C(kept): it is not described, and stays."""


@dataclass(frozen=True)
class Row:
    """principal: an ARN. where: the type of an access entry, or the name of a ConfigMap. used_by: node groups, or places of the input."""

    principal: str
    where: str
    state: str
    used_by: tuple[str, ...] = ()
    note: str = ""

    def plain(self) -> dict[str, object]:
        return {
            "principal": self.principal, "where": self.where, "state": self.state, "used_by": list(self.used_by), "note": self.note,
        }  # fmt: skip
