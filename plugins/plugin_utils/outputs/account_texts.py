# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data in an AWS account: the texts that an entry of C(sources) names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..sources.launch_templates import settings
from ..sources.model import SourceText, encoded, no_user_data
from .source_entries import HOST, Entry

Fetch = Callable[[Entry], Iterable[tuple[str, str, Mapping[str, Any] | None, str | None]]]
"""Reads what an entry names from the account: names, user data in base64, the fields of the launch template or launch configuration, if
any, and the name of the launch template."""


class AccountText(NamedTuple):
    """User data of an account. option: the entry that names it, such as C(sources[0]). name: of the object that has it."""

    option: str
    name: str
    text: SourceText


def texts(wanted: Mapping[str, Entry], fetch: Fetch) -> Iterator[AccountText]:
    """The user data in the account that the entries name, each once."""
    seen = set()
    for option, entry in wanted.items():
        for name, text, template, launch_template in fetch(entry) if HOST not in entry else ():
            if name not in seen:
                found = encoded(text, name) if text else no_user_data(name)
                if template is not None:
                    found = replace(found, settings=settings(template), launch_template=launch_template)
                yield AccountText(option, name, found)
            seen.add(name)
