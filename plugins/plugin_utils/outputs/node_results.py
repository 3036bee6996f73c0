# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes that entries of C(sources) name, with the results of the module doctor_info on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..errors import Problems, nearest
from ..formats import plain
from .source_entries import HOST, Entry

OPTION = {"type": "list", "elements": "dict", "default": []}
"""The argument spec of the option C(nodes)."""

_LIST = "ansible-inventory --graph lists the hosts and groups"


class Inventory(Protocol):
    """The inventory of a run."""

    def select(self, pattern: str) -> Sequence[str]:
        """The names of the hosts that a host, a group or a pattern names."""

    def names(self) -> Iterable[str]:
        """The names of all hosts and groups."""


class _NoInventory:
    def select(self, _pattern: str) -> Sequence[str]:
        return ()

    def names(self) -> Iterable[str]:
        return ()


NO_INVENTORY: Inventory = _NoInventory()
"""Of a run outside Ansible."""


class NodeResult(NamedTuple):
    """A node. option: the entry that names it, such as C(sources[0]). result: of doctor_info, or what Ansible says instead."""

    option: str
    host: str
    result: Mapping[str, Any]


def select(wanted: Mapping[str, Entry], results: Iterable[Mapping[str, Any]], inventory: Inventory, problems: Problems) -> list[NodeResult]:
    """The nodes that the entries name, each once. Report names without a host, and hosts without a result.

    results: the option C(nodes).
    """
    by_host = {plain.text(one.get("item")): one for one in results}
    found: dict[str, NodeResult] = {}
    for option, pattern in _patterns(wanted):
        hosts = inventory.select(pattern)
        if not hosts:
            guess = nearest(pattern, inventory.names())
            fix = f"write {guess}, or another name; {_LIST}" if guess else f"write the name of a host or a group, or a pattern; {_LIST}"
            path, message = f"{option}.{HOST}", "matches no host of the inventory"
            problems.add("input.unknown_value", path, message, value=pattern, nearest=guess, fix=fix)
        missing = [host for host in hosts if host not in by_host]
        if missing:
            fix = "use the playbook, or register doctor_info with only_user_data, delegated to each host of a loop, as the playbook does"
            problems.add("input.missing_field", "nodes", f"has no result of {', '.join(missing)}, which {option} names", fix=fix)
        for host in hosts:
            if host in by_host:
                found.setdefault(host, NodeResult(option, host, by_host[host]))
    return list(found.values())


def _patterns(wanted: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    yield from ((option, entry[HOST]) for option, entry in wanted.items() if HOST in entry)
