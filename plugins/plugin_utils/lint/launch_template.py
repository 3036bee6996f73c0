# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the launch template that contains user data, with the rules of a publication."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..launch_templates import metadata_options
from ..readers.model import Place
from ..sources.model import MetadataOptions, Origin
from .finding import Finding, of_problem

_BEGIN = Place(None, 1, 1, 1)


def findings_of(settings: Mapping[str, Any] | None) -> tuple[Finding, ...]:
    """The findings in the other fields, at the begin of the user data. settings: in the form of the EC2 API; None if they are unknown."""
    if settings is None:
        return ()
    field = metadata_options.FIELD
    return tuple(of_problem(problem, _BEGIN, field) for problem in metadata_options.problems_of(settings.get(field), field))


def findings_in(options: MetadataOptions) -> tuple[tuple[Finding, Origin | None], ...]:
    """The findings in the options of a file of another tool, each with the place of the value in the file."""
    found = []
    for problem in metadata_options.problems_of(options.values, options.path, options.is_set, names=options.names):
        field = metadata_options.FIELD_OF_RULE[problem.rule]
        value = options.values.get(field)
        place = Place(None, 1, 1, len(value) if isinstance(value, str) else 1)
        found.append((of_problem(problem, place, options.path), options.places.get(field, options.origin)))
    return tuple(found)
