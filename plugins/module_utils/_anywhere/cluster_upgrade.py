# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade changes: the providers of Cluster API, other clusters that are paused and resumed, the backup, and old objects."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import providers, work_folder
from .cluster_objects import read_objects
from .kubectl import Kubectl, resource_of
from .programs import AdminPrograms, StepFailed
from .upgrade_state import MARK, cert_manager_version, siblings

_CLUSTERS = "clusters.cluster.x-k8s.io"
_CERT_MANAGER = re.compile(r"cert-manager will be upgraded", re.IGNORECASE)


# --- providers ---------------------------------------------------------------------------------------------------------------------------


def upgrade_providers(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Upgrade the providers and cert-manager to the given versions, and wait until all are available. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"])
    wanted = options["providers"]
    before = providers.read_inventory(kubectl)
    if not before.installed:
        raise StepFailed("the cluster has no providers of Cluster API; fix: install them with clusterctl_init")
    absent = [one for one in wanted if (one["type"], one["name"]) not in before.installed]
    changed = [one for one in wanted if before.installed.get((one["type"], one["name"])) not in (None, one["version"])]
    _refuse_downgrades(changed, before.installed)
    config = _config(options, check_mode)
    clusterctl = programs.with_variables(options["environment"])
    new_cert_manager = _cert_manager_changes(clusterctl, kubectl, options, config)
    result = {
        "changed": bool(changed or absent or new_cert_manager),
        "to_upgrade": [providers.words(one) for one in changed],
        "to_install": [providers.words(one) for one in absent],
        "cert_manager": new_cert_manager,
        "diff": {"before": providers.page(before), "after": providers.wanted_page(wanted)},
    }
    if check_mode:
        return result
    if changed or new_cert_manager:
        # cert-manager is upgraded with the providers. Without one that changes, they are named with the version that they have.
        argv = _argv("upgrade", changed or wanted, options["kubeconfig"], config, _namespaces(kubectl))
        clusterctl.run(argv, options["timeout"])
    if absent:
        clusterctl.run(_argv("init", absent, options["kubeconfig"], config, {}), options["timeout"])
    providers.wait_for_all(programs, kubectl, options["timeout"])
    return result


def _refuse_downgrades(changed: Sequence[Mapping[str, str]], installed: Mapping[Tuple[str, str], str]) -> None:
    older = [one for one in changed if version_key(one["version"]) < version_key(installed[(one["type"], one["name"])])]
    if older:
        shown = ", ".join("{0} (installed: {1})".format(providers.words(one), installed[(one["type"], one["name"])]) for one in older)
        raise StepFailed("older than what is installed: {0}; fix: ask for the installed versions or newer ones".format(shown))


def version_key(version: str) -> Tuple[int, ...]:
    """A version in an order. A pre-release comes before its release."""
    numbers, dash, _rest = version.lstrip("v").partition("-")
    parts = [int(word) if word.isdigit() else 0 for word in numbers.split(".")]
    return (*parts, *[0] * (3 - len(parts)), 0 if dash else 1)


def _config(options: Mapping[str, Any], check_mode: bool) -> Optional[str]:
    """The path of the configuration of clusterctl. In check mode, only an existing one with the same content is used."""
    path = os.path.join(options["work_dir"] or os.path.dirname(options["kubeconfig"]), "clusterctl.yaml")
    if not check_mode:
        work_folder.write(path, options["config"])
    return path if work_folder.read(path) == options["config"] else None


def _cert_manager_changes(programs: AdminPrograms, kubectl: Kubectl, options: Mapping[str, Any], config: Optional[str]) -> str:
    """The new version of cert-manager, C('') if it is not changed."""
    wanted, found = options["cert_manager_version"], cert_manager_version(kubectl)
    if wanted is not None:
        return wanted if found is not None and version_key(found) < version_key(wanted) else ""
    if config is None:
        return ""
    # Only clusterctl knows which version its configuration or its default means.
    output = programs.run(["clusterctl", "upgrade", "plan", "--kubeconfig", options["kubeconfig"], "--config", config])
    return "newer" if _CERT_MANAGER.search(output) else ""


def _namespaces(kubectl: Kubectl) -> Dict[Tuple[str, str], str]:
    rows = kubectl.get("providers.clusterctl.cluster.x-k8s.io", "-A")
    return {(str(row.get("type")), str(row.get("providerName"))): str(row["metadata"].get("namespace") or "") for row in rows}


def _argv(
    command: str, rows: Sequence[Mapping[str, str]], kubeconfig: str, config: Optional[str], namespaces: Mapping[Tuple[str, str], str]
) -> List[str]:
    verb = ["upgrade", "apply"] if command == "upgrade" else ["init"]
    words = ["clusterctl", *verb, "--kubeconfig", kubeconfig, *(["--config", config] if config else [])]
    for one in rows:
        namespace = namespaces.get((one["type"], one["name"]))
        # All versions of clusterctl take the namespace before the name, and older ones need it.
        words += [providers.FLAGS[one["type"]], "{0}{1}:{2}".format(namespace + "/" if namespace else "", one["name"], one["version"])]
    return words


# --- other clusters ----------------------------------------------------------------------------------------------------------------------


def pause(programs: AdminPrograms, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Pause the other clusters that are running, each with a mark, so that only these are resumed. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    rows = [row for row in siblings(kubectl, options["name"]) if not row["paused"]]
    for row in rows:
        _patch(programs, options, row, True)
    return {"changed": bool(rows), "clusters": [row["name"] for row in rows]}


def resume(programs: AdminPrograms, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Resume the clusters with the mark. All are tried before the first error is raised. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    rows = [row for row in siblings(kubectl, options["name"]) if row["marked"]]
    errors = []
    for row in rows:
        try:
            _patch(programs, options, row, False)
        except StepFailed as error:
            errors.append("{0}: {1}".format(row["name"], error))
    if errors:
        raise StepFailed("clusters stay paused: {0}; fix: kubectl patch their Cluster with spec.paused=false".format("; ".join(errors)))
    return {"changed": bool(rows), "clusters": [row["name"] for row in rows]}


def _patch(programs: AdminPrograms, options: Mapping[str, Any], row: Mapping[str, Any], is_paused: bool) -> None:
    # One request, so that a cluster is never paused without the mark.
    change = {"metadata": {"annotations": {MARK: options["name"] if is_paused else None}}, "spec": {"paused": is_paused}}
    Kubectl(programs, options["kubeconfig"], row["namespace"]).patch(_CLUSTERS, row["name"], change)


# --- the backup --------------------------------------------------------------------------------------------------------------------------


def save_backup(programs: AdminPrograms, folder: str, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Save the objects of all clusters as C(clusterctl move --from-directory) reads them. Raises C(StepFailed).

    C(clusterctl move --to-directory) pauses all clusters while it writes, and a kill would leave them paused. The file with the digest is
    last: without it, the backup is not complete.
    """
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    path, record = _backup_paths(folder, options)
    _clear(path, record)
    work_folder.make(path)
    clusters = [{"namespace": kubectl.namespace, "name": options["name"]}, *siblings(kubectl, options["name"])]
    count = 0
    for row in clusters:
        objects = read_objects(Kubectl(programs, options["kubeconfig"], row["namespace"]), row["name"])
        for one in objects.by_name.values():
            name = "_".join((one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]))
            # JSON is YAML.
            work_folder.write(os.path.join(path, name.replace("/", "-") + ".yaml"), json.dumps(one, sort_keys=True, indent=1) + "\n")
            count += 1
    work_folder.write(record, json.dumps({"digest": options["digest"], "objects": count}) + "\n")
    return {"changed": True, "objects": count}


def has_backup(folder: str, options: Mapping[str, Any]) -> bool:
    """Is there a whole backup that was made before this upgrade began?"""
    try:
        return bool(json.loads(work_folder.read(_backup_paths(folder, options)[1]) or "{}").get("digest") == options["digest"])
    except ValueError:
        return False


def remove_backup(folder: str, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Remove the backup, which has private keys."""
    path, record = _backup_paths(folder, options)
    changed = os.path.exists(record) or os.path.isdir(path)
    _clear(path, record)
    return {"changed": changed}


def _backup_paths(folder: str, options: Mapping[str, Any]) -> Tuple[str, str]:
    path = os.path.join(folder, options["backup"])
    return path, path + ".json"


def _clear(path: str, record: str) -> None:
    # The record is first: what is left after a kill is not taken for a backup.
    work_folder.remove(record)
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            work_folder.remove(os.path.join(path, name))
        os.rmdir(path)


def restore(programs: AdminPrograms, folder: str, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Create the objects of a backup in a cluster that has none. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    objects = read_objects(kubectl, options["name"])
    if objects.cluster is not None:
        raise StepFailed("the cluster already has the Cluster {0}; fix: recover again".format(options["name"]))
    kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": kubectl.namespace}}])
    path = os.path.join(folder, options["backup"])
    argv = ["clusterctl", "move", "--from-directory", path, "--to-kubeconfig", options["kubeconfig"], "--namespace", kubectl.namespace]
    programs.run(argv, options["timeout"])
    return {"changed": True}


# --- old objects -------------------------------------------------------------------------------------------------------------------------


def remove_objects(programs: AdminPrograms, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Begin to delete objects of the cluster by their names. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    found = read_objects(kubectl, options["name"])
    rows = [found.by_name[name] for name in options["names"] if name in found.by_name]
    for one in rows:
        kubectl.run("delete", resource_of(one), one["metadata"]["name"], "-n", kubectl.namespace, "--wait=false", "--ignore-not-found")
    return {"changed": bool(rows)}
