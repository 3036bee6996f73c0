# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The temporary bootstrap cluster: a cluster of kind with one node.

C(kind get clusters) also lists the clusters of Docker machines, which have the labels of kind. So a cluster is found by the exact name of
its node and the role of its label, and never by that list.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from . import work_folder
from .cluster_objects import CRD_LABEL
from .kubectl import Kubectl, name_of
from .programs import AdminPrograms, StepFailed

ABSENT, DEBRIS, RUNNING = "absent", "debris", "running"
_CLUSTER_LABEL, _ROLE_LABEL = "io.x-k8s.kind.cluster", "io.x-k8s.kind.role"
_LOAD_BALANCER = "external-load-balancer"
_POLL = 2.0


class Node(NamedTuple):
    """A container with the labels of kind. state: of Docker, such as C(running) or C(exited)."""

    name: str
    state: str
    role: str


def nodes(programs: AdminPrograms, cluster: str) -> List[Node]:
    """The containers of a cluster of kind or of Docker machines, without its load balancer. Raises C(StepFailed)."""
    line = '{{{{.Names}}}}\t{{{{.State}}}}\t{{{{.Label "{0}"}}}}'.format(_ROLE_LABEL)
    output = programs.run(["docker", "ps", "-a", "--filter", "label={0}={1}".format(_CLUSTER_LABEL, cluster), "--format", line])
    rows = [Node(*([*row.split("\t"), "", ""])[:3]) for row in output.splitlines() if row.strip()]
    return sorted(row for row in rows if row.role != _LOAD_BALANCER)


def node_of(programs: AdminPrograms, cluster: str) -> Optional[Node]:
    """The node of a bootstrap cluster, None if there is none."""
    wanted = cluster + "-control-plane"
    return next((one for one in nodes(programs, cluster) if one.name == wanted and one.role == "control-plane"), None)


def has_cluster_api(kubectl: Kubectl) -> bool:
    """Was anything of Cluster API installed? Raises C(StepFailed)."""
    return bool(kubectl.run("get", "customresourcedefinitions", "-l", CRD_LABEL, "-o", "name").strip())


def find_kubeconfig(programs: AdminPrograms, cluster: str, path: str, save: bool = True) -> str:
    """The path of a kubeconfig of the cluster: the given one, or one that kind writes again. Raises C(StepFailed).

    save: whether it may get the given path, which says that the creation of the cluster was finished.
    """
    if work_folder.read(path):
        return path
    text = programs.run(["kind", "get", "kubeconfig", "--name", cluster])
    if save and os.path.isdir(os.path.dirname(path)):
        work_folder.write(path, text)
        return path
    handle, temporary = tempfile.mkstemp(prefix="kubeconfig-")
    with os.fdopen(handle, "w") as stream:
        stream.write(text)
    return temporary


def state_of(programs: AdminPrograms, cluster: str, kubeconfig: str) -> str:
    """Is the cluster absent, running, or is its container there without an answer of its API server?

    A cluster whose C(kind create) was killed can have an API server that answers, but no network. kind writes the kubeconfig last, so a
    cluster without the file counts as running only if something of Cluster API was installed in it later.
    """
    node = node_of(programs, cluster)
    if node is None:
        return ABSENT
    if node.state != "running":
        return DEBRIS
    try:
        if work_folder.read(kubeconfig):
            return RUNNING if Kubectl(programs, kubeconfig).answers() else DEBRIS
        return _without_kubeconfig(programs, cluster, kubeconfig)
    except StepFailed:
        # Killed before kubeadm was done, a cluster has no kubeconfig.
        return DEBRIS


def _without_kubeconfig(programs: AdminPrograms, cluster: str, path: str) -> str:
    """The state of a cluster whose container runs, and whose kubeconfig is not there. Raises C(StepFailed)."""
    temporary = find_kubeconfig(programs, cluster, path, save=False)
    try:
        kubectl = Kubectl(programs, temporary)
        return RUNNING if kubectl.answers() and has_cluster_api(kubectl) else DEBRIS
    finally:
        os.unlink(temporary)


def kind_cluster(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Create, start or delete the cluster. Raises C(StepFailed)."""
    return _STATES[options["state"]](programs, options, check_mode)


def _present(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    name, kubeconfig = options["name"], options["kubeconfig"]
    state = state_of(programs, name, kubeconfig)
    if state == RUNNING:
        return _result(False, state, RUNNING, kubeconfig)
    if state == DEBRIS:
        raise StepFailed(
            "the container of {0} exists, and its API server does not answer, or its creation was not finished; fix: start it with "
            "state=started, or delete it with state=absent".format(name)
        )
    if not check_mode:
        config = os.path.join(options["work_dir"] or os.path.dirname(kubeconfig), "kind.yaml")
        work_folder.write(config, options["config"])
        for path, text in sorted(options["files"].items()):
            _write_below(os.path.dirname(config), path, text)
        # Without --retain, kind deletes a node that does not start, and with it the logs that say why. Its option -q hides errors.
        argv = ["kind", "create", "cluster", "--name", name, "--kubeconfig", kubeconfig, "--config", config, "--retain"]
        # kind gives the proxy to its node, and adds its own networks to NO_PROXY.
        programs.with_variables(options["environment"]).run(argv, options["timeout"])
        os.chmod(kubeconfig, 0o600)
    return _result(True, state, RUNNING, kubeconfig)


def _write_below(folder: str, name: str, text: str) -> None:
    """Write a file of the node with mode 0600: it may have a password, and the node reads it as root."""
    path = os.path.join(folder, *name.split("/"))
    if os.path.relpath(path, folder).startswith(".."):
        raise StepFailed("{0} is not in the work folder".format(name))
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    work_folder.write(path, text)


def _started(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    name, kubeconfig = options["name"], options["kubeconfig"]
    state = state_of(programs, name, kubeconfig)
    node = node_of(programs, name)
    if node is None:
        raise StepFailed("there is no cluster {0} to start; fix: create it with state=present".format(name))
    if state == RUNNING:
        return _result(False, state, RUNNING, kubeconfig)
    if not check_mode:
        programs.run(["docker", "start", node.name])
        limit = programs.now() + options["timeout"]
        while state_of(programs, name, kubeconfig) != RUNNING:
            if programs.now() >= limit:
                raise StepFailed("the API server of {0} does not answer; fix: docker logs {1} shows why".format(name, node.name))
            programs.sleep(_POLL)
    return _result(True, state, RUNNING, kubeconfig)


def _absent(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    name, kubeconfig = options["name"], options["kubeconfig"]
    state = state_of(programs, name, kubeconfig)
    if state == RUNNING:
        _refuse_owner(Kubectl(programs, find_kubeconfig(programs, name, kubeconfig)), name)
    elif state == DEBRIS and not options["unreachable_is_empty"]:
        raise StepFailed(
            "the API server of {0} does not answer, so it is not known whether it owns machines; fix: start it with state=started, or "
            "set unreachable_is_empty=true if you know that it owns none".format(name)
        )
    if not check_mode:
        # First, because nothing removes it if the run is killed after the cluster is gone. kind can write it again.
        work_folder.remove(kubeconfig)
        for top in {path.partition("/")[0] for path in options["files"] if "/" in path}:
            shutil.rmtree(os.path.join(options["work_dir"] or os.path.dirname(kubeconfig), top), ignore_errors=True)
        if state != ABSENT:
            programs.run(["kind", "delete", "cluster", "--name", name, "--kubeconfig", kubeconfig], options["timeout"])
    return _result(state != ABSENT, state, ABSENT, kubeconfig)


def _refuse_owner(kubectl: Kubectl, name: str) -> None:
    """Refuse to delete a bootstrap cluster that owns machines: nothing would know them any more."""
    clusters = kubectl.get("clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io", "-A")
    if clusters:
        shown = ", ".join(name_of(one) for one in clusters[:5])
        raise StepFailed("{0} owns {1}, which would be lost; fix: move or delete the clusters first".format(name, shown))


def _result(changed: bool, before: str, after: str, kubeconfig: str) -> Dict[str, Any]:
    diff = {"before": before + "\n", "after": after + "\n"}
    return {"changed": changed, "state": after if changed else before, "kubeconfig": kubeconfig, "diff": diff}


_STATES = {"present": _present, "started": _started, "absent": _absent}
