# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight checks of the network: ports of the admin machine, addresses that must be free, registries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import mirror_files
from .check import EKSCTL, FAILED, OK, SKIPPED, Check, Facts, Wanted

BARE_METAL_PORTS = (80, 42113, 50061)
"""The ports with which the services of Tinkerbell boot machines. Source: the validation of EKS Anywhere."""

_REGISTRIES = {
    "capi": ("docker.io", "quay.io", "registry.k8s.io"),
    EKSCTL: (mirror_files.DEFAULT_REGISTRY,),
}
"""Engine → the registries of kind, cert-manager and Cluster API, or of EKS Anywhere."""

_HOSTS = {"docker.io": "registry-1.docker.io"}
"""Registries whose API has another host than their images."""


def ports(wanted: Wanted) -> tuple[int, ...]:
    """The TCP ports that must be free on the admin machine."""
    return tuple(sorted({*wanted.ports, *(BARE_METAL_PORTS if wanted.is_bare_metal else ())}))


def addresses(wanted: Wanted) -> tuple[str, ...]:
    """The addresses that the cluster will take, so that no machine may have them before."""
    return tuple(address for address in (wanted.cluster.control_plane.endpoint, wanted.boot_address) if address)


def registries(wanted: Wanted) -> tuple[dict[str, Any], ...]:
    """What to connect to, as options of the module C(anywhere_machine_info): the mirror, or the registries of the engine."""
    mirror, proxy = wanted.cluster.mirror, wanted.cluster.proxy
    via = {} if proxy is None else {"proxy": proxy.https or proxy.http, "no_proxy": ",".join(proxy.no_proxy)}
    if wanted.registries is not None:
        return tuple({"host": name, **via} for name in wanted.registries)
    if mirror is not None:
        trust = {"ca_cert": mirror.ca} if mirror.ca else {}
        return ({"host": mirror_files.host(mirror), "verify": not mirror.skip_verify, **trust, **via},)
    return tuple({"host": _HOSTS.get(name, name), **via} for name in _REGISTRIES[wanted.engine])


def check(facts: Facts, wanted: Wanted) -> Iterator[Check]:
    """The checks of the network."""
    yield _ports(facts, wanted)
    yield _addresses(facts, wanted)
    yield _registries(facts)


def _ports(facts: Facts, wanted: Wanted) -> Check:
    needed = ports(wanted)
    if not needed:
        return Check("ports", SKIPPED, "no fixed port is needed")
    used = sorted({*needed} & {*facts["listening_ports"]})
    if used and wanted.is_continued:
        return Check("ports", SKIPPED, f"in use by the run that is continued: {_listed(used)}")
    if not used:
        return Check("ports", OK, f"free: {_listed(needed)}")
    return Check("ports", FAILED, f"in use: {_listed(used)}", f"stop what listens there: sudo ss -ltnp 'sport = :{used[0]}'")


def _addresses(facts: Facts, wanted: Wanted) -> Check:
    found = facts["addresses"]
    if not found:
        return Check("addresses", SKIPPED, "the cluster has no fixed address")
    used = [f"{address} (port {port})" for address, port in sorted(found.items()) if port is not None]
    if used and wanted.is_continued:
        return Check("addresses", SKIPPED, f"answers, and belongs to the run that is continued: {', '.join(used)}")
    if not used:
        return Check("addresses", OK, f"nothing answers at {', '.join(sorted(found))}")
    cure = "choose an address that no machine has, outside of the range of DHCP; or remove the cluster that has it"
    return Check("addresses", FAILED, f"already answers: {', '.join(used)}", cure)


def _registries(facts: Facts) -> Check:
    rows = facts["registries"]
    if not rows:
        return Check("registries", SKIPPED, "no registry is used")
    failed = [f"{row['host']}: {row['problem']}" for row in rows if row["problem"]]
    if not failed:
        return Check("registries", OK, f"reachable: {', '.join(row['host'] for row in rows)}")
    return Check("registries", FAILED, "; ".join(failed), _cure({row["kind"] for row in rows if row["problem"]}))


def _cure(kinds: set[str]) -> str:
    if kinds & {"authority", "names", "dates"}:
        return "set caCertContent of registryMirrorConfiguration to the authority of its certificate, and its endpoint to a name in it"
    if "proxy" in kinds:
        return "correct proxyConfiguration, or HTTPS_PROXY and NO_PROXY of the admin machine"
    return "allow the connection, set proxyConfiguration, or use registryMirrorConfiguration with a mirror that can be reached"


def _listed(numbers: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, numbers))
