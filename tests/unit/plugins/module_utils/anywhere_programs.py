# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins of docker, kind, clusterctl, kubectl and helm over one state: a function for tests in a process, and programs for real runs.

They behave as was measured with the real programs. C(kind get clusters) also lists the cluster of Docker machines. A killed C(kind create)
leaves a container without a kubeconfig. C(clusterctl move) refuses paused clusters, and leaves both sides paused if it is killed.
C(clusterctl init) completes what is missing. Controllers work between the calls: on a side that runs, they create machines that they miss.
Standard library only, so that a program starts quickly.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

NAME, NAMESPACE, BOOTSTRAP = "dev", "eksa-system", "dev-eks-a-cluster"
CORE, PLANE_GROUP, INFRA = "cluster.x-k8s.io/v1beta2", "controlplane.cluster.x-k8s.io/v1beta2", "infrastructure.cluster.x-k8s.io/v1beta2"
LABEL = "cluster.x-k8s.io/cluster-name"
MOVED = ("Cluster", "KubeadmControlPlane", "MachineDeployment", "MachineHealthCheck", "Machine", "DockerCluster", "DockerMachineTemplate",
         "KubeadmConfigTemplate", "EtcdadmCluster", "VSphereCluster", "VSphereMachineTemplate", "Secret", "ConfigMap")  # fmt: skip
CRDS = {
    "clusters.cluster.x-k8s.io": "Cluster",
    "machines.cluster.x-k8s.io": "Machine",
    "machinedeployments.cluster.x-k8s.io": "MachineDeployment",
    "machinehealthchecks.cluster.x-k8s.io": "MachineHealthCheck",
    "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io": "KubeadmControlPlane",
    "dockerclusters.infrastructure.cluster.x-k8s.io": "DockerCluster",
    "dockermachinetemplates.infrastructure.cluster.x-k8s.io": "DockerMachineTemplate",
    "etcdadmclusters.etcdcluster.cluster.x-k8s.io": "EtcdadmCluster",
    "vsphereclusters.infrastructure.cluster.x-k8s.io": "VSphereCluster",
    "vspheremachinetemplates.infrastructure.cluster.x-k8s.io": "VSphereMachineTemplate",
    "kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io": "KubeadmConfigTemplate",
}
PROVIDERS = "providers.clusterctl.cluster.x-k8s.io"
RESOURCES = {**CRDS, "secrets": "Secret", "secret": "Secret", PROVIDERS: "Provider", "deployments": "Deployment", "events": "Event"}
Killed = type("Killed", (BaseException,), {})


class Failed(Exception):
    """A program ends with status 1 and this message."""


def new_state() -> dict[str, Any]:
    """An admin machine without clusters."""
    return {"container": None, "halves": {"boot": None, "target": None}, "machines": [], "created": 0, "uid": 0, "moments": 0,
            "kill_at": None, "log": [], "broken": "", "lost": [], "images": {"docker": [], "boot": []}, "releases": {}}  # fmt: skip


class World:
    """The state, and what the programs do with it. moment: is called after each change; a test can end the run there."""

    def __init__(self, state: dict[str, Any], moment: Callable[[], None]) -> None:
        self.state = state
        self._moment = moment

    def changed(self) -> None:
        self.state["moments"] += 1
        if self.state["moments"] % 4 == 0:
            self.controllers()
        self._moment()

    # --- controllers ---

    def half(self, name: str) -> dict[str, Any]:
        return self.state["halves"][name] or {"objects": {}, "providers": {}}

    def runs(self, name: str) -> bool:
        if name == "boot":
            return (self.state["container"] or {}).get("state") == "running" and self.state["halves"]["boot"] is not None
        return bool(self.state["machines"])

    def controllers(self) -> None:
        for name in ("boot", "target"):
            half = self.state["halves"][name]
            if half is None or not self.runs(name) or len(half["providers"]) < 4:
                continue
            cluster = half["objects"].get(f"Cluster/{NAME}")
            if cluster and not cluster["spec"].get("paused"):
                self._reconcile(half, cluster)

    def _reconcile(self, half: dict[str, Any], cluster: dict[str, Any]) -> None:
        objects = half["objects"]
        cluster["metadata"].setdefault("finalizers", ["cluster.cluster.x-k8s.io"])
        machines = [key for key in objects if key.startswith("Machine/")]
        if "deletionTimestamp" in cluster["metadata"]:
            if machines:
                self.state["machines"].remove(machines[0].partition("/")[2])
                del objects[machines[0]]
                return
            for key in [key for key, one in objects.items() if one["kind"] in MOVED]:
                del objects[key]
            return
        groups = [one for key, one in sorted(objects.items()) if key.split("/")[0] in ("KubeadmControlPlane", "MachineDeployment")]
        for one in objects.values():
            if one["kind"] in MOVED and one["kind"] not in ("Cluster", "Machine"):
                one["metadata"].setdefault("ownerReferences", [{"kind": "Cluster", "uid": cluster["metadata"]["uid"]}])
        for one in groups:
            self._scale(objects, one)
        wanted = sum(one["spec"]["replicas"] for one in groups)
        count = len([key for key in objects if key.startswith("Machine/")])
        whole = len(groups) >= 2 and count == wanted and self.state["broken"] != "machines"
        status = cluster.setdefault("status", {})
        status["initialization"] = {"controlPlaneInitialized": count > 1}
        status["conditions"] = [_condition("Available", whole, "WorkersAvailable: 1 Machine is not available")]
        for one in groups:
            counts = dict.fromkeys(("replicas", "upToDateReplicas", "readyReplicas", "availableReplicas"), one["spec"]["replicas"])
            one["status"] = {**counts, "observedGeneration": 1, "conditions": [_condition("Available", True, "")]}

    def _scale(self, objects: dict[str, Any], group: dict[str, Any]) -> None:
        uid, name = group["metadata"]["uid"], group["metadata"]["name"]
        mine = [one for one in objects.values() if one["kind"] == "Machine" and one["metadata"]["ownerReferences"][0]["uid"] == uid]
        if group["spec"]["replicas"] > len(mine):
            self.state["created"] += 1
            machine = f"{name}-m{self.state['created']}"
            self.state["machines"].append(machine)
            self.put(objects, {"apiVersion": CORE, "kind": "Machine", "spec": {}, "metadata": {
                "name": machine, "namespace": NAMESPACE, "labels": {LABEL: NAME}, "ownerReferences": [{"uid": uid}],
                "finalizers": ["machine.cluster.x-k8s.io"]}})  # fmt: skip
        for one in objects.values():
            if one["kind"] == "Machine":
                good = self.state["broken"] != "machines"
                one["status"] = {"conditions": [_condition("Ready", good, "NodeHealthy: Waiting for the node to join")]}
        if f"Secret/{NAME}-kubeconfig" not in objects:
            text = base64.b64encode(b"clusters: [target]\n").decode()
            self.put(objects, {"apiVersion": "v1", "kind": "Secret", "data": {"value": text}, "metadata": {
                "name": f"{NAME}-kubeconfig", "namespace": NAMESPACE, "labels": {LABEL: NAME}}})  # fmt: skip
        if self.state["halves"]["target"] is None:
            self.state["halves"]["target"] = {"objects": {}, "providers": {}}

    def put(self, objects: dict[str, Any], one: dict[str, Any]) -> None:
        """Create or merge an object."""
        key = f"{one['kind']}/{one['metadata']['name']}"
        known = objects.get(key)
        if known is None:
            self.state["uid"] += 1
            one = json.loads(json.dumps(one))
            one["metadata"] |= {"uid": f"u{self.state['uid']}", "generation": 1}
            if one["kind"] not in ("Namespace", "ConfigMap"):
                one["metadata"].setdefault("namespace", NAMESPACE)
            objects[key] = one
        else:
            _merge(known, one)


def _merge(known: dict[str, Any], new: dict[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(known.get(key), dict):
            _merge(known[key], value)
        elif value is None:
            known.pop(key, None)
        else:
            known[key] = value


def _condition(kind: str, is_true: bool, message: str) -> dict[str, Any]:
    row = {"type": kind, "status": "True" if is_true else "False"}
    return row if is_true else {**row, "reason": "NotReady", "message": message}


# --- programs ---------------------------------------------------------------------------------------------------------------------------


def call(world: World, argv: list[str], stdin: str) -> tuple[int, str, str]:
    """Run a program: its status, its output and its errors."""
    world.state["log"].append(argv)
    try:
        return 0, _PROGRAMS[os.path.basename(argv[0])](world, argv[1:], stdin), ""
    except Failed as error:
        return 1, "", f"{error}\n"


def _option(argv: list[str], name: str) -> str:
    return argv[argv.index(name) + 1] if name in argv else ""


def _docker(world: World, argv: list[str], _stdin: str) -> str:
    container, images = world.state["container"], world.state["images"]
    if argv[0] == "image":
        if not set(argv[4:]) <= set(images["docker"]):
            raise Failed("Error response from daemon: No such image")
        return ""
    if argv[0] == "load":
        images["docker"] += _archive(argv[2])
        world.changed()
        return ""
    if argv[0] == "exec":
        return "".join(f"docker.io/library/{name}\n" for name in images["boot"])
    if argv[0] == "start":
        container["state"] = "running"
        world.changed()
        return ""
    rows = []
    if _option(argv, "--filter") == f"label=io.x-k8s.kind.cluster={BOOTSTRAP}" and container:
        rows.append(f"{BOOTSTRAP}-control-plane\t{container['state']}\tcontrol-plane")
    if _option(argv, "--filter") == f"label=io.x-k8s.kind.cluster={NAME}":
        rows += [f"{name}\trunning\tworker" for name in world.state["machines"]]
        rows += [f"{NAME}-lb\trunning\texternal-load-balancer"] if rows else []
    return "".join(f"{row}\n" for row in rows)


def _archive(path: str) -> list[str]:
    with tarfile.open(path) as archive:
        return [tag for row in json.load(archive.extractfile("manifest.json") or sys.stdin) for tag in row["RepoTags"]]


def _kind(world: World, argv: list[str], _stdin: str) -> str:
    name, state = _option(argv, "--name"), world.state
    if argv[:2] == ["load", "image-archive"]:
        state["images"]["boot"] += _archive(argv[2])
        world.changed()
        return ""
    if argv[:2] == ["get", "clusters"]:
        return f"{NAME}\n{BOOTSTRAP}\n"
    if name != BOOTSTRAP:
        raise Failed("ERROR: unknown cluster")
    if argv[:2] == ["get", "kubeconfig"]:
        if state["halves"]["boot"] is None:
            raise Failed("ERROR: failed to get cluster internal kubeconfig")
        return "clusters: [boot]\n"
    if argv[0] == "create":
        if state["container"]:
            raise Failed(f'ERROR: failed to create cluster: node(s) already exist for a cluster with the name "{name}"')
        state["container"] = {"state": "created"}
        world.changed()
        state["container"], state["images"]["boot"] = {"state": "running"}, []
        state["halves"]["boot"] = {"objects": {}, "providers": {}}
        world.changed()
        with open(_option(argv, "--kubeconfig"), "w", encoding="utf-8") as stream:
            stream.write("clusters: [boot]\n")
        return ""
    boot, target = world.half("boot")["objects"], world.half("target")["objects"]
    state["lost"] += [key for key in boot if key.startswith("Machine/") and key not in target]
    state["container"], state["halves"]["boot"] = None, None
    world.changed()
    return ""


def _half(world: World, path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            name = "boot" if "boot" in stream.read() else "target"
    except OSError:
        raise Failed(f"error: stat {path}: no such file or directory") from None
    if not world.runs(name):
        raise Failed("The connection to the server was refused - connection refused")
    return name


def _clusterctl(world: World, argv: list[str], _stdin: str) -> str:
    source = world.half(_half(world, _option(argv, "--kubeconfig")))
    if argv[0] == "init":
        for flag, word in zip(argv[5::2], argv[6::2], strict=True):
            if flag + word not in source["providers"]:
                source["providers"][flag + word] = word
                world.changed()
        return ""
    objects = source["objects"]
    cluster = objects.get(f"Cluster/{NAME}")
    if cluster is None:
        return ""
    if cluster["spec"].get("paused"):
        raise Failed(f"Error: cannot start operation while the following Clusters are paused: {NAMESPACE}/{NAME}")
    folder = _option(argv, "--to-directory")
    if folder:
        if not os.path.isdir(folder):
            raise Failed("Error: the directory does not exist")
        cluster["spec"]["paused"] = True
        world.changed()
        cluster["spec"]["paused"] = False
        world.changed()
        return ""
    destination = world.half(_half(world, _option(argv, "--to-kubeconfig")))
    if len(destination["providers"]) < 4:
        raise Failed("Error: failed to check providers in target cluster")
    if "Namespace/" + NAMESPACE not in destination["objects"]:
        destination["objects"]["Namespace/" + NAMESPACE] = {}
    for _moment in _moved(objects, destination["objects"], cluster):
        world.changed()
    return ""


def _moved(source: dict[str, Any], destination: dict[str, Any], cluster: dict[str, Any]) -> Iterator[None]:
    cluster["spec"]["paused"] = True
    yield
    names = sorted((key for key, one in source.items() if one.get("kind") in MOVED), key=lambda key: (key.startswith("Machine/"), key))
    for key in names:
        destination[key] = json.loads(json.dumps(source[key]))
        yield
    for key in reversed(names):
        del source[key]
        yield
    destination[f"Cluster/{NAME}"]["spec"]["paused"] = False
    yield


def _kubectl(world: World, argv: list[str], stdin: str) -> str:
    return _VERBS[argv[0]](world, world.half(_half(world, _option(argv, "--kubeconfig"))), argv, stdin)


def _get(world: World, half: dict[str, Any], argv: list[str], stdin: str) -> str:
    objects, what = half["objects"], argv[1]
    if what == "--raw":
        return "ok"
    if what == "customresourcedefinitions":
        return "".join(f"customresourcedefinition.apiextensions.k8s.io/{name}\n" for name in CRDS) if half["providers"] else ""
    if what == "-f":
        return _list([objects[key] for key in _keys(stdin) if key in objects])
    if what == PROVIDERS:
        types = {"--core": "Core", "--bootstrap": "Bootstrap", "--control-plane": "ControlPlane", "--infrastructure": "Infrastructure"}
        rows = []
        for key, word in half["providers"].items():
            name, _colon, version = word.partition(":")
            kind = types[key.removesuffix(word)]
            rows.append({"kind": "Provider", "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "metadata": {"name": name + kind},
                         "type": f"{kind}Provider", "providerName": name, "version": version})  # fmt: skip
        return _list(rows)
    if what == "events":
        names = [key.split("/") for key in objects if key.startswith("Machine/")]
        event = {"kind": "Event", "apiVersion": "v1", "reason": "FailedBootstrap", "message": "no space left on device",
                 "lastTimestamp": "2026"}  # fmt: skip
        return _list([{**event, "metadata": {"name": name}, "involvedObject": {"kind": kind, "name": name}} for kind, name in names])
    kinds = {RESOURCES[word] for word in what.split(",")}
    found = (one for one in objects.values() if one.get("kind") in kinds)
    return _list([one for one in found if what != "secret" or one["metadata"]["name"] == argv[2]])


def _keys(stdin: str) -> list[str]:
    return [f"{one['kind']}/{one['metadata']['name']}" for one in json.loads(stdin)["items"]]


def _list(objects: list[dict[str, Any]]) -> str:
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}) if objects else ""


def _apply(world: World, half: dict[str, Any], argv: list[str], stdin: str) -> str:
    objects, wanted = half["objects"], json.loads(stdin)["items"]
    if any(one["apiVersion"].split("/")[0].endswith("cluster.x-k8s.io") for one in wanted) and not half["providers"]:
        raise Failed('error: no matches for kind "Cluster" in version "cluster.x-k8s.io/v1beta2"')
    if "--dry-run=server" not in argv:
        for one in wanted:
            world.put(objects, one)
            world.changed()
        return ""
    names = [key for key in _keys(stdin) if key.startswith("Namespace/")]
    if names and names[0] not in objects:
        raise Failed('Error from server (NotFound): namespaces "eksa-system" not found')
    copied = json.loads(json.dumps(objects))
    for one in wanted:
        world.put(copied, one)
    return _list([copied[key] for key in _keys(stdin)])


def _patch(world: World, half: dict[str, Any], argv: list[str], _stdin: str) -> str:
    kind = RESOURCES.get(argv[1]) or argv[1].partition(".")[0]
    one = half["objects"].get(f"{kind}/{argv[2]}")
    if one is None:
        raise Failed("Error from server (NotFound)")
    _merge(one, json.loads(_option(argv, "-p")))
    if one["metadata"].get("deletionTimestamp") and not one["metadata"].get("finalizers"):
        del half["objects"][f"{kind}/{argv[2]}"]
    world.changed()
    return ""


def _delete(world: World, half: dict[str, Any], argv: list[str], _stdin: str) -> str:
    key = f"{argv[1].partition('.')[0]}/{argv[2]}"
    one = half["objects"].get(key)
    if one is None:
        return ""
    one["metadata"]["deletionTimestamp"] = "2026"
    if not one["metadata"].get("finalizers"):
        del half["objects"][key]
    world.changed()
    return ""


def _annotate(world: World, half: dict[str, Any], argv: list[str], _stdin: str) -> str:
    one = half["objects"][f"{argv[1].partition('.')[0]}/{argv[2]}"]
    one["metadata"].setdefault("annotations", {})[argv[-3].rstrip("=")] = ""
    world.changed()
    return ""


def _helm(world: World, argv: list[str], _stdin: str) -> str:
    releases, verb = world.state["releases"], argv[0]
    if verb == "show":
        return f"apiVersion: v2\nname: {os.path.basename(argv[2])}\nversion: 1.0.0\n"
    _half(world, _option(argv, "--kubeconfig"))
    if verb == "list":
        shown = [{"name": name, "chart": one["chart"]} for name, one in releases.items() if not one["status"].startswith("pending-")]
        return json.dumps(shown)
    name = argv[2] if verb == "upgrade" else argv[1]
    found = releases.get(name)
    if verb == "status":
        if found is None:
            raise Failed("Error: release: not found")
        return json.dumps({"name": name, "info": {"status": found["status"]}, "config": found["values"]})
    if verb == "uninstall":
        del releases[name]
    elif verb == "rollback":
        releases[name] = found["before"]
    else:
        if found and found["status"].startswith("pending-"):
            raise Failed("Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress")
        with open(_option(argv, "--values"), encoding="utf-8") as stream:
            values = json.load(stream)
        chart = f"{os.path.basename(argv[3])}-{_option(argv, '--version') or '1.0.0'}"
        new = {"chart": chart, "values": values, "status": "deployed"}
        releases[name] = {**new, "status": "pending-upgrade" if found else "pending-install", "before": found}
        world.changed()
        releases[name] = new
    world.changed()
    return ""


_VERBS = {"get": _get, "apply": _apply, "patch": _patch, "delete": _delete, "annotate": _annotate}
_PROGRAMS = {"docker": _docker, "kind": _kind, "clusterctl": _clusterctl, "kubectl": _kubectl, "helm": _helm}


def main() -> int:
    """A program over the state in the file C(STATE_OF_PROGRAMS). It kills itself at the moment C(kill_at)."""
    path = os.environ["STATE_OF_PROGRAMS"]
    with open(path, encoding="utf-8") as stream:
        state = json.load(stream)

    def save() -> None:
        with open(path + ".new", "w", encoding="utf-8") as stream:
            json.dump(state, stream)
        os.replace(path + ".new", path)

    def moment() -> None:
        save()
        if state["kill_at"] is not None and state["moments"] >= state["kill_at"]:
            os.kill(os.getpid(), signal.SIGKILL)

    stdin = sys.stdin.read() if not sys.stdin.isatty() else ""
    world = World(state, moment)
    status, output, errors = call(world, sys.argv, stdin)
    # A run of programs does not call the controllers while it waits, as a test in a process does.
    world.controllers()
    save()
    sys.stdout.write(output)
    sys.stderr.write(errors)
    return status


if __name__ == "__main__":
    sys.exit(main())
