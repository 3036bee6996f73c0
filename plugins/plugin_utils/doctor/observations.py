# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the doctor itself: what the values of a node mean. Pure; the time is an argument."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from .. import data
from ..formats import plain
from ..outputs.certificate_dates import SOON, Validity, validity
from ..sources.node import Facts, kubelet_version, minor

SUPPORT_SOON_DAYS = 60
MAX_SKEW_SECONDS = 30
MIN_DISK_PERCENT, MIN_INODE_PERCENT = 10, 5
"""Below these, kubelet evicts pods by default."""
MIN_MEMORY_MIB = 100

MAX_PRESSURE = {("cpu", "some"): 60.0, ("memory", "full"): 10.0, ("io", "full"): 25.0}
"""Percent of five minutes. A busy node always has some pressure on its processors."""

_STATES_OF_FILES = {
    "changed": "changed since the last run of this collection",
    "missing": "removed since the last run of this collection",
    "unreadable": "cannot be read, so changes since the last run of this collection are unknown",
}
_RENEWED = 0.1
"""Kubelet renews its certificates when 10 to 30 percent of their time is left."""


@dataclass(frozen=True)
class Observation:
    """One broken rule. fix: None for the fix of the rule. general: the message without values of the node; None to compute it."""

    rule: str
    message: str
    fix: str | None = None
    general: str | None = None


# --- files of this collection ------------------------------------------------------------------------------------------------------


def files(facts: Facts) -> Iterator[Observation]:
    """Drift: what is not as this collection left it."""
    ours = plain.mapping(facts, "info", "ours")
    for state in _STATES_OF_FILES:
        paths = sorted(plain.text(path) for path, found in plain.mapping(ours, "files").items() if found == state)
        if paths:
            yield Observation("doctor.changed_files", f"{', '.join(paths)}: {_STATES_OF_FILES[state]}")
    if ours.get("interrupted") is True:
        yield Observation("doctor.interrupted_run", "a run of this collection was interrupted")
    if ours.get("pending"):
        yield Observation("doctor.pending_restart", "services have not been restarted since their configuration changed")


# --- versions ----------------------------------------------------------------------------------------------------------------------


def support(facts: Facts, now: float) -> Iterator[Observation]:
    """The support by EKS. The skew between kubelet and the cluster is a finding of image_verify."""
    node = minor(kubelet_version(facts))
    if node is None:
        return
    standard, extended = (_ends(node, kind) for kind in ("standard", "extended"))
    today = _day(now)
    if node < min(filter(None, map(minor, data.kubernetes_versions()["eks"]))):
        yield Observation("doctor.support_ended", f"EKS no longer supports Kubernetes 1.{node}")
    elif extended is not None and extended <= today:
        yield Observation("doctor.support_ended", f"the support of EKS for Kubernetes 1.{node} ended on {extended:%Y-%m-%d}")
    elif extended is not None and (extended - today).days <= SUPPORT_SOON_DAYS:
        yield Observation("doctor.support_ends", f"the support of EKS for Kubernetes 1.{node} ends on {extended:%Y-%m-%d}")
    elif standard is not None and today < standard and (standard - today).days <= SUPPORT_SOON_DAYS:
        yield Observation("doctor.support_ends", f"the standard support of EKS for Kubernetes 1.{node} ends on {standard:%Y-%m-%d}")
    elif standard is not None and standard <= today:
        yield Observation("doctor.extended_support", f"Kubernetes 1.{node} has been in extended support since {standard:%Y-%m-%d}")


def support_days(facts: Facts, now: float) -> int | None:
    """The days until the end of all support. Negative after it."""
    node = minor(kubelet_version(facts))
    end = None if node is None else _ends(node, "extended")
    return None if end is None else (end - _day(now)).days


def _ends(node: int, kind: str) -> datetime | None:
    ends = data.kubernetes_versions()["eks"].get(f"1.{node}", {}).get(f"{kind}_support_ends")
    return None if ends is None else datetime.fromisoformat(ends).replace(tzinfo=timezone.utc)


def _day(now: float) -> datetime:
    return _moment(now).replace(hour=0, minute=0, second=0, microsecond=0)


def _moment(now: float) -> datetime:
    return datetime.fromtimestamp(now, timezone.utc)


# --- certificates ------------------------------------------------------------------------------------------------------------------


def certificates(facts: Facts, now: float) -> Iterator[Observation]:
    """Certificates that are not valid, or end soon."""
    for use, path, one in _certificates(facts):
        left, is_own = one.ends - _moment(now), use != "authority"
        what = f"the {use} certificate of kubelet" if is_own else "the certificate of the authority that kubelet trusts"
        limit = min(SOON, (one.ends - one.begins) * _RENEWED) if is_own else SOON
        if left <= timedelta():
            yield Observation("doctor.certificate_expired", f"{what} ({path}) expired on {one.ends:%Y-%m-%d}")
        elif one.begins > _moment(now):
            yield Observation("doctor.certificate_expired", f"{what} ({path}) is not valid before {one.begins:%Y-%m-%d}")
        elif left <= limit:
            yield Observation("doctor.certificate_ends", f"{what} ({path}) expires on {one.ends:%Y-%m-%d}")


def certificate_days(facts: Facts, now: float) -> int | None:
    """The days until the first certificate ends."""
    return min(((one.ends - _moment(now)).days for _use, _path, one in _certificates(facts)), default=None)


def _certificates(facts: Facts) -> Iterator[tuple[str, str, Validity]]:
    for row in plain.mappings(facts.get("certificates")):
        use, path, pem = (row.get(name) for name in ("use", "path", "pem"))
        try:
            found = validity(pem) if isinstance(pem, str) else []
        except ValueError:
            found = []
        # Behind a certificate of kubelet, its file can contain those of the authorities that signed it.
        yield from ((plain.text(use), plain.text(path), one) for one in (found if use == "authority" else found[:1]))


# --- the machine -------------------------------------------------------------------------------------------------------------------


def clock(facts: Facts) -> Iterator[Observation]:
    """A clock that is wrong, or will be."""
    found = plain.mapping(facts, "clock")
    skew = plain.number(found.get("skew"))
    if skew is not None and abs(skew) >= MAX_SKEW_SECONDS:
        direction = "ahead of" if skew > 0 else "behind"
        yield Observation("doctor.clock_skew", f"the clock is {abs(skew):.0f} s {direction} the clock of the API server")
    if found.get("synchronized") is False:
        yield Observation("doctor.clock_not_synchronized", "the clock does not follow a time source")


def disks(facts: Facts) -> Iterator[Observation]:
    """File systems that are almost full, each once."""
    seen = set()
    for disk in plain.mappings(facts.get("disks")):
        sizes = tuple(plain.number(disk.get(name)) for name in ("free_bytes", "bytes", "free_inodes", "inodes"))
        if sizes in seen:
            continue
        seen.add(sizes)
        path, share, inodes = plain.text(disk.get("path")), _percent(sizes[0], sizes[1]), _percent(sizes[2], sizes[3])
        if share is not None and share < MIN_DISK_PERCENT:
            yield Observation("doctor.low_disk", f"{share:.0f} % of the file system of {path} is free")
        if inodes is not None and inodes < MIN_INODE_PERCENT:
            yield Observation("doctor.low_inodes", f"{inodes:.0f} % of the inodes of the file system of {path} are free")


def disk_percent(facts: Facts) -> int | None:
    """The free space of the fullest file system."""
    rows = plain.mappings(facts.get("disks"))
    shares = [_percent(plain.number(disk.get("free_bytes")), plain.number(disk.get("bytes"))) for disk in rows]
    return min((int(share) for share in shares if share is not None), default=None)


def _percent(free: float | None, total: float | None) -> float | None:
    return None if free is None or not total or total < 0 else 100 * free / total


def memory(facts: Facts) -> Iterator[Observation]:
    """Memory below the threshold of kubelet, and resources for which processes wait."""
    available = plain.number(plain.mapping(facts, "memory").get("available"))
    if available is not None and available < MIN_MEMORY_MIB * 1024**2:
        yield Observation("doctor.low_memory", f"{available / 1024**2:.0f} MiB of memory are available")
    for (name, kind), limit in MAX_PRESSURE.items():
        share = plain.number(plain.mapping(facts, "pressure", name).get(kind))
        if share is not None and share >= limit:
            who = "all processes" if kind == "full" else "some processes"
            resource = {"cpu": "a processor", "memory": "memory", "io": "a disk"}[name]
            yield Observation("doctor.pressure", f"for {share:.0f} % of the last 5 minutes, {who} waited for {resource}")


def failures(facts: Facts) -> Iterator[Observation]:
    """Units that failed, with the last line of their log."""
    for row in plain.mappings(facts.get("failures")):
        unit, reason, lines = plain.text(row.get("unit")), plain.text(row.get("reason")), row.get("lines")
        last = plain.text(lines[-1]) if isinstance(lines, list) and lines else ""
        shown = f"{unit} failed" + (f" ({reason})" if reason else "")
        log = f"read its log with journalctl -u {unit}"
        if row.get("failed") is True:
            message = f"{shown}; the last line of its log: {last}" if last else shown
            yield Observation("doctor.failed_unit", message, f"{log}, fix the cause, and start the unit again", general=shown)
        elif reason:
            yield Observation("doctor.restarted_unit", f"{shown}, and systemd restarted it", log)
