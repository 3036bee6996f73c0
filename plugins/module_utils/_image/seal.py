# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seals an image: removes every leftover of the build. Standard library, Python 3.7 and newer.

The paths, and what to do with each, are in the table of C(leftovers.py). Nothing here has a default root.
"""

from __future__ import annotations

from typing import Collection, Dict, Iterable, Iterator, List, NamedTuple

from .._node import journald, kubeconfig, kubelet_process
from .._node.errors import ApplyRefused
from .._node.host import Host
from . import mounts, processes, provenance, rooted_tree, tree
from .leftovers import EMPTY, LEFTOVERS, LINK, MACHINE_ID
from .model import read_family
from .provenance import PROVENANCE
from .rooted_tree import Root

_JOURNAL = "image.journal"
_BOOTSTRAP_SCRIPT = "/etc/eks/bootstrap.sh"


class Removal(NamedTuple):
    """A leftover of a machine. C(action): of C(leftovers.py)."""

    rule: str
    path: str
    action: str


class Sealed(NamedTuple):
    """C(removed): what was removed, or in check mode would be. C(problems): what could not be removed, and why."""

    removed: List[Removal]
    problems: List[str]


def seal(root: str, ignore: Collection[str], mount_points: Iterable[str], is_check: bool) -> Sealed:
    """Seal the machine whose files are below C(root), which is its real path. Raises ApplyRefused."""
    host = Host(root="" if root == "/" else root)
    _check_build(host)
    _check_not_a_node(host)
    mounted = _mounted_below(root, mounts.read(Host()))
    with rooted_tree.opened(root, mounted, mount_points) as opened:
        try:
            removals = [removal for removal in _find(host, opened) if removal.rule not in ignore]
        except OSError as error:
            raise ApplyRefused(f"the files of the machine cannot be listed ({error.strerror})", "run the module as root") from error
        if root == "/" and not is_check and any(removal.rule == _JOURNAL for removal in removals):
            # Otherwise journald makes new files after it has seen that its own are gone.
            journald.write_only_to_memory()
        problems = [] if is_check else list(_carry_out(opened, removals))
    failed = {problem.path for problem in problems}
    return Sealed([removal for removal in removals if removal.path not in failed], [problem.reason for problem in problems])


# --- may this machine be sealed ----------------------------------------------------------------------------------------------------------


def _check_build(host: Host) -> None:
    """Raise ApplyRefused on a machine that the role eks_node_image did not set up."""
    fix = "install the image with the role eks_node_image first, which writes this file"
    if not host.exists(PROVENANCE):
        raise ApplyRefused(f"{PROVENANCE} does not exist, so this machine is not an image that is being built", fix)
    if not isinstance(provenance.read(host).get("collection"), dict):
        raise ApplyRefused(f"{PROVENANCE} was not written by this collection", fix)


def _check_not_a_node(host: Host) -> None:
    """Raise ApplyRefused on a node."""
    running = processes.kubelets(host)
    if running:
        cause = f"kubelet is running (process {running[0]}): a node that is sealed cannot continue, and writes its state again"
        raise ApplyRefused(cause, "stop and disable kubelet if this machine is going to be an image")
    server = kubeconfig.read_server(host, kubelet_process.KUBECONFIG).url
    if server and host.exists(_BOOTSTRAP_SCRIPT):
        cause = f"{_BOOTSTRAP_SCRIPT} has replaced the placeholders in {kubelet_process.KUBECONFIG}: this machine has been a node"
        raise ApplyRefused(cause, "build the image on a new machine, or restore the file of the base image")


def _mounted_below(root: str, found: Iterable[mounts.Mount]) -> List[str]:
    """The mount points below a root, as paths below it."""
    prefix = "" if root == "/" else root
    return [mount.path[len(prefix) :] for mount in found if mount.path.startswith(f"{prefix}/") and mount.path != "/"]


# --- what is there -----------------------------------------------------------------------------------------------------------------------


def _find(host: Host, root: Root) -> List[Removal]:
    """The leftovers. A path belongs to the rule that reports it, and only otherwise to one that clears it as well."""
    family = read_family(host)
    found: Dict[str, Removal] = {}
    for leftover, patterns in [*((row, row.patterns) for row in LEFTOVERS), *((row, row.also) for row in LEFTOVERS)]:
        paths = dict.fromkeys(path for pattern in patterns for path in rooted_tree.find(root, pattern))
        new = [path for path in paths if tree.has_content(host, path) and not _is_covered(path, found)]
        selected = leftover.select(host, family, new)
        found = {**found, **{path: Removal(leftover.rule, path, leftover.treatment) for path in selected}}
    return [found[path] for path in sorted(found)]


def _is_covered(path: str, found: Dict[str, Removal]) -> bool:
    """Whether a path, or a directory above it, has been found."""
    parts = path.split("/")
    return any("/".join(parts[:count]) in found for count in range(2, len(parts) + 1))


# --- removing it -------------------------------------------------------------------------------------------------------------------------


class _Problem(NamedTuple):
    path: str
    reason: str


def _carry_out(root: Root, removals: Iterable[Removal]) -> Iterator[_Problem]:
    """Remove the leftovers. What cannot be removed does not stop the rest."""
    for removal in removals:
        try:
            if removal.action == EMPTY:
                rooted_tree.empty(root, removal.path)
            elif removal.action == LINK:
                rooted_tree.replace_with_link(root, removal.path, MACHINE_ID)
            else:
                rooted_tree.remove(root, removal.path)
        except ApplyRefused as error:
            yield _Problem(removal.path, str(error))
