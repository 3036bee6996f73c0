# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A migration of user data as plain data."""

from __future__ import annotations

from typing import Any

from ..errors import Problems, nearest
from ..migration.migrate import FAMILIES, migrate
from ..migration.model import Migration
from ..model.fields import FAMILY_ALIASES
from ..model.schema import type_name


def migrate_user_data(text: Any, cluster: Any = None, family: Any = "al2023") -> dict[str, Any]:
    """C({user_data, cluster, node_group, report}). Raises C(SpecError) for wrong arguments, and for text that cannot be migrated."""
    return plain(checked(text, cluster, family))


def checked(text: Any, cluster: Any, family: Any, path: str = "user_data") -> Migration:
    """The migration of checked arguments. path: of the text in messages. Raises C(SpecError)."""
    problems = Problems()
    if not isinstance(text, (str, bytes)):
        problems.add("input.wrong_type", path, f"must be text, not {type_name(text)}", fix="pass the content of the user data")
    if cluster is not None and not isinstance(cluster, dict):
        fix = "pass the fields of the cluster, such as name, endpoint, certificate_authority and service_cidr"
        problems.add("input.wrong_type", "cluster", f"must be a mapping, not {type_name(cluster)}", fix=fix)
    target = FAMILY_ALIASES[family][0] if isinstance(family, str) and family in FAMILY_ALIASES else family
    if target not in FAMILIES:
        guess = nearest(family, FAMILIES) if isinstance(family, str) else None
        allowed = ", ".join(FAMILIES)
        problems.add("input.unknown_value", "family", "cannot be the target", value=family, allowed=allowed, nearest=guess)
    problems.raise_any()
    return migrate(text, cluster, target, path)


def plain(found: Migration) -> dict[str, Any]:
    """The migration as plain data."""
    return {
        "user_data": found.user_data,
        "cluster": dict(found.cluster),
        "node_group": dict(found.node_group),
        "report": found.report.plain(),
    }
