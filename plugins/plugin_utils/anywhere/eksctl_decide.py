# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine eksctl: whether C(eksctl anywhere) may be run now. It cannot resume a creation or a deletion: a rerun can make it worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import names

START, ATTACH, NOTHING, STOP = "start", "attach", "nothing", "stop"
DONE = "done"

STEPS = {
    "setup-validate": "setup and validation",
    "setup-validate-create": "setup and validation",
    "setup-validate-upgrade": "setup and validation",
    "setup-and-validate": "setup and validation",
    "setup-and-validate-delete": "setup and validation",
    "bootstrap-cluster-init": "create the bootstrap cluster",
    "bootstrap-cluster-for-delete-init": "create the bootstrap cluster",
    "update-secrets-create": "update the secrets",
    "update-secrets": "update the secrets",
    "install-capi-components-bootstrap": "install Cluster API in the bootstrap cluster",
    "install-capi-components-bootstrap-for-delete": "install Cluster API in the bootstrap cluster",
    "eksa-components-bootstrap-install": "install EKS Anywhere in the bootstrap cluster",
    "eksa-components-bootstrap-install-delete-task": "install EKS Anywhere in the bootstrap cluster",
    "workload-cluster-init": "apply the cluster and wait for its machines",
    "create-workload-cluster": "apply the cluster and wait for its machines",
    "install-resources-on-management-cluster": "install the resources of the provider in the cluster",
    "capi-management-move": "move the management",
    "capi-management-move-for-delete": "move the management",
    "eksa-components-workload-install": "install EKS Anywhere in the cluster",
    "gitops-manager-install": "install Flux",
    "write-cluster-config": "write the configuration of the cluster",
    "delete-kind-cluster": "delete the bootstrap cluster",
    "kind-cluster-delete": "delete the bootstrap cluster",
    "install-curated-packages": "install the packages",
    "upgrade-curated-packages": "install the packages",
    "upgrade-core-components": "upgrade Cluster API and EKS Anywhere",
    "ensure-etcd-capi-components-exist": "install the providers of external etcd",
    "pre-cluster-upgrade": "save a backup, and pause the other clusters",
    "post-cluster-upgrade": "resume the other clusters",
    "upgrade-workload-cluster": "apply the cluster and wait for its machines",
    "delete-management-cluster": "delete the cluster and wait until its machines are deleted",
    "delete-workload-cluster": "delete the cluster and wait until its machines are deleted",
}
"""Task in the log → the step by the name that a user sees with the other engine, too. Other tasks keep their names."""

_BEFORE_MACHINES = frozenset(
    task for task, step in STEPS.items() if step.startswith(("setup", "create the", "update the", "install Cluster", "install EKS"))
) - {"eksa-components-workload-install"}
"""Tasks of a creation that make no machine."""


@dataclass(frozen=True)
class Decision:
    """What to do. reason, way_out: of a stop."""

    what: str
    reason: str = ""
    way_out: str = ""


def step_of(task: str) -> str:
    """The step of a task in the log."""
    return STEPS.get(task, task)


def decide(operation: str, name: str, digest: str, seen: Mapping[str, Any], *, rerun: bool = False) -> Decision:
    """What to do now. seen: what the module observed. rerun: the user has checked that nothing is left."""
    record = seen["record"]
    if record and record["is_alive"]:
        if (record["operation"], record["digest"]) == (operation, digest):
            return Decision(ATTACH)
        reason = f"eksctl anywhere {record['operation']} is running for this cluster (pid {record['pid']})"
        return Decision(STOP, reason, "wait until it has ended: the same playbook with the same file shows its steps")
    return _OPERATIONS[operation](name, digest, seen, rerun)


def _create(name: str, digest: str, seen: Mapping[str, Any], rerun: bool) -> Decision:
    record = seen["record"] or {}
    if record.get("state") == DONE and record["operation"] in ("create", "upgrade"):
        if record["digest"] == digest:
            return Decision(NOTHING)
        return Decision(STOP, "the cluster was created from another file", "run eks_anywhere_upgrade to change it")
    left = _left(name, seen)
    if left:
        return Decision(STOP, f"EKS Anywhere cannot resume a creation, and {left}", _remove(name, seen))
    if _machines_may_exist(record, "create") and not rerun:
        reason = f'the last creation ended in the step "{step_of(record["task"])}", and its machines may exist'
        return Decision(STOP, reason, "delete them with the tools of the provider, then set rerun: true in eks_anywhere_eksctl")
    return Decision(START)


def _upgrade(name: str, digest: str, seen: Mapping[str, Any], _rerun: bool) -> Decision:
    record = seen["record"] or {}
    if seen["bootstrap"]:
        return Decision(STOP, f"a creation or a deletion was not finished: {_left(name, seen)}", _remove(name, seen))
    if record.get("operation") == "delete" or (record.get("operation") == "create" and record["state"] != DONE):
        reason = f"eksctl anywhere {record['operation']} was the last command, and the cluster is not complete"
        return Decision(STOP, reason, "run the playbook for this command: it says what to do")
    if not seen["kubeconfig"]:
        return _without_kubeconfig(name)
    if record.get("state") == DONE and record["digest"] == digest:
        return Decision(NOTHING)
    # EKS Anywhere applies the specification again, and continues an upgrade if CHECKPOINT_ENABLED is true.
    return Decision(START)


def _delete(name: str, _digest: str, seen: Mapping[str, Any], rerun: bool) -> Decision:
    record = seen["record"] or {}
    is_gone = not seen["bootstrap"] and not seen["kubeconfig"]
    if record.get("operation") == "delete" and record["state"] == DONE and is_gone:
        return Decision(NOTHING)
    if seen["bootstrap"]:
        reason = f"EKS Anywhere cannot resume a deletion, and {_left(name, seen)}, which may have the objects of the cluster"
        return Decision(STOP, reason, _remove(name, seen))
    if record.get("operation") == "delete" and record["state"] != DONE and record["task"] not in ("", *_BEFORE_MACHINES) and not rerun:
        reason = f'the last deletion ended in the step "{step_of(record["task"])}", and its bootstrap cluster is gone'
        way_out = (
            "delete what is left with the tools of the provider; rerun: true in eks_anywhere_eksctl begins again if the cluster answers"
        )
        return Decision(STOP, reason, way_out)
    return Decision(START) if seen["kubeconfig"] else _without_kubeconfig(name)


def _without_kubeconfig(name: str) -> Decision:
    way_out = "set eks_anywhere_work_dir to the folder from which the cluster was created, or copy its kubeconfig there"
    return Decision(STOP, f"there is no kubeconfig {names.kubeconfig_file(name)} in the work folder", way_out)


def _machines_may_exist(record: Mapping[str, Any], operation: str) -> bool:
    if record.get("operation") != operation or record["state"] == DONE:
        return False
    return record["task"] != "" and record["task"] not in _BEFORE_MACHINES


def _left(name: str, seen: Mapping[str, Any]) -> str:
    """What an earlier command left, C('') for nothing."""
    parts = [f"{names.bootstrap_cluster(name)} is left ({', '.join(seen['bootstrap'])})"] if seen["bootstrap"] else []
    parts += ["a kubeconfig of the cluster exists"] if seen["kubeconfig"] else []
    return " and ".join(parts)


def _remove(name: str, seen: Mapping[str, Any]) -> str:
    """How the user gets from the leftovers to a state in which a command can begin."""
    bootstrap, lines = names.bootstrap_cluster(name), []
    if seen["bootstrap"]:
        lines.append(
            f"kind get kubeconfig --name {bootstrap} > bootstrap.kubeconfig, then kubectl --kubeconfig bootstrap.kubeconfig get "
            "clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io -A: as long as it lists objects, the machines have no other manager; "
            "delete the Cluster there (kubectl delete), or finish its move with the module capi_move; "
            f"if it lists none, kind delete cluster --name {bootstrap}"
        )
    if seen["kubeconfig"]:
        lines.append(
            "if the cluster works, keep the kubeconfig and use eks_anywhere_upgrade or eks_anywhere_delete; otherwise move it away"
        )
    if seen["tools"]:
        lines.append(f"docker rm --force {' '.join(seen['tools'])}")
    return "; then ".join(lines)


_OPERATIONS = {"create": _create, "upgrade": _upgrade, "delete": _delete}


def after_failure(name: str, seen: Mapping[str, Any]) -> str:
    """What a command that failed left, and what to do, as lines for the message. C('') if nothing is left."""
    left = _left(name, seen)
    if not left and not seen["bundles"]:
        return ""
    lines = [f"left: {left}; fix: {_remove(name, seen)}"] if left else []
    lines += [f"diagnostics of EKS Anywhere: {', '.join(seen['bundles'])}"] if seen["bundles"] else []
    return "\n".join(lines)
