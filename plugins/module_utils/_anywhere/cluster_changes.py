# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What changes the objects of a cluster: apply, delete, the kubeconfig, and the steps of a move."""

from __future__ import annotations

import base64
import binascii
import json
import os
from typing import Any, Dict, List, Mapping

from . import work_folder
from .cluster_objects import read_objects
from .kubectl import Comparison, Kubectl, resource_of, without_secrets
from .programs import AdminPrograms, StepFailed

_POLL = 5.0
_PASSING = ("connection refused", "i/o timeout", "failed calling webhook", "no endpoints available", "context deadline exceeded", "EOF")
"""Words of errors that pass while an API server or a webhook starts."""

DELETE_FOR_MOVE = "clusterctl.cluster.x-k8s.io/delete-for-move"
BACKUP, START, MOVE_AGAIN = "backup", "start", "move_again"
UNPAUSE_SOURCE, UNPAUSE_DESTINATION = "unpause_source", "unpause_destination"
FINISH_DELETION, REMOVE_COPIES = "finish_deletion", "remove_copies"


def apply(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Apply objects, and tell what changed. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    try:
        compared = [one for one in kubectl.compare(options["objects"]) if one.differs]
        changed, diff = bool(compared), [_diff(one) for one in compared]
    except StepFailed as error:
        if check_mode and "not found" not in str(error):
            raise
        # The namespace is among the objects, so the server cannot compare what is in it.
        changed, diff = True, []
    if changed and not check_mode:
        _with_retries(programs, options["timeout"], lambda: kubectl.apply(options["objects"]))
    return {"changed": changed, "diff": diff}


def _diff(one: Comparison) -> Dict[str, str]:
    before = "" if one.before is None else _text(one.before)
    after = _text(one.after)
    return {"before_header": one.name, "after_header": one.name, "before": before, "after": after}


def _text(one: Mapping[str, Any]) -> str:
    return json.dumps(without_secrets(one), indent=1, sort_keys=True) + "\n"


def _with_retries(programs: AdminPrograms, timeout: float, work: Any) -> None:
    limit = programs.now() + timeout
    while True:
        try:
            work()
            return
        except StepFailed as error:
            if programs.now() >= limit or not any(word in str(error) for word in _PASSING):
                raise
        programs.sleep(_POLL)


def delete(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Begin to delete a cluster with its machines. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    objects = read_objects(kubectl, options["name"])
    if objects.paused:
        raise StepFailed(
            "the Cluster {0} is paused, so its controllers would not delete the machines; fix: complete or roll back its move".format(
                options["name"]
            )
        )
    if objects.cluster is None:
        # The objects were applied in part. The controllers of the existing objects delete what they own.
        begun = [one for one in objects.by_name.values() if not one["metadata"].get("deletionTimestamp")]
    else:
        begun = [] if objects.cluster["metadata"].get("deletionTimestamp") else [objects.cluster]
    if not check_mode:
        for one in begun:
            kubectl.run("delete", resource_of(one), one["metadata"]["name"], "-n", kubectl.namespace, "--wait=false", "--ignore-not-found")
    shown = "".join(name + "\n" for name in sorted(objects.by_name))
    return {"changed": bool(begun), "diff": {"before": shown, "after": "" if begun else shown}}


def save_kubeconfig(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Write the kubeconfig of a cluster with mode 0600. An existing one is replaced only by a whole one. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    name = options["name"] + "-kubeconfig"
    secrets = kubectl.get("secret", name, "-n", kubectl.namespace)
    if not secrets:
        raise StepFailed("the Secret {0}/{1} does not exist; fix: wait for the control plane".format(kubectl.namespace, name))
    try:
        text = base64.b64decode((secrets[0].get("data") or {}).get("value", ""), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        text = ""
    if "clusters" not in text:
        raise StepFailed("the Secret {0}/{1} does not contain a kubeconfig".format(kubectl.namespace, name))
    path = options["dest"]
    if check_mode:
        return {"changed": work_folder.read(path) != text, "dest": path}
    if not os.path.isdir(os.path.dirname(path)):
        raise StepFailed("{0} is not a folder; fix: create it with mode 0700".format(os.path.dirname(path)))
    return {"changed": work_folder.write(path, text), "dest": path}


def move_step(programs: AdminPrograms, options: Mapping[str, Any]) -> Dict[str, Any]:
    """One step of a move, which the decision table chose. Raises C(StepFailed)."""
    step = options["step"]
    source = Kubectl(programs, options["from_kubeconfig"], options["namespace"])
    destination = Kubectl(programs, options["to_kubeconfig"], options["namespace"])
    if step == START:
        _backup(programs, source, options)
    if step in (START, MOVE_AGAIN):
        _prepare(destination)
        words = ["--kubeconfig", source.kubeconfig, "--to-kubeconfig", destination.kubeconfig, "--namespace", source.namespace]
        programs.run(["clusterctl", "move", *words, "-v", "1"], options["timeout"])
    elif step in (UNPAUSE_SOURCE, UNPAUSE_DESTINATION):
        kubectl = source if step == UNPAUSE_SOURCE else destination
        kubectl.patch("clusters.cluster.x-k8s.io", options["name"], {"spec": {"paused": False}})
    else:
        _drop(source if step == FINISH_DELETION else destination, options["name"], options["order"])
    return {"changed": True}


def _prepare(destination: Kubectl) -> None:
    """The namespace of the objects must exist in the destination."""
    destination.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": destination.namespace}}])


def _backup(programs: AdminPrograms, source: Kubectl, options: Mapping[str, Any]) -> None:
    """Save the objects, which contain private keys, into a folder with mode 0700."""
    folder = options["backup_dir"]
    work_folder.make(folder)
    words = ["--kubeconfig", source.kubeconfig, "--to-directory", folder, "--namespace", source.namespace]
    programs.run(["clusterctl", "move", *words], options["timeout"])


def _drop(kubectl: Kubectl, name: str, order: List[str]) -> None:
    """Delete objects in an order, without what their finalizers would do: the machines belong to the other side."""
    objects = read_objects(kubectl, name)
    if objects.paused is False:
        raise StepFailed("the Cluster {0} is not paused, so its controllers would delete the machines".format(name))
    for key in order:
        one = objects.by_name.get(key)
        if one is None:
            continue
        words = (resource_of(one), one["metadata"]["name"], "-n", kubectl.namespace)
        kubectl.run("annotate", *words, "--overwrite", DELETE_FOR_MOVE + "=")
        kubectl.run("delete", *words, "--wait=false", "--ignore-not-found")
        if one["metadata"].get("finalizers"):
            result = kubectl.try_run("patch", *words, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
            if result.status and "not found" not in result.errors.lower():
                raise StepFailed("the finalizers of {0} cannot be removed: {1}".format(key, result.errors.strip()))
