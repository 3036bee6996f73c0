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

import json
import os
import signal
import sys
import tarfile
from collections.abc import Iterator
from typing import Any

try:
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_controllers as model
except ImportError:
    # As a program, it is a copy beside a copy of the model.
    import anywhere_controllers as model  # type: ignore[no-redef]

NAME, NAMESPACE, BOOTSTRAP = model.NAME, model.NAMESPACE, model.BOOTSTRAP
MOVED, CRDS, PROVIDERS = model.MOVED, model.CRDS, model.PROVIDERS
RESOURCES = {**CRDS, "secrets": "Secret", "secret": "Secret", PROVIDERS: "Provider", "deployments": "Deployment", "events": "Event",
             "pods": "Pod"}  # fmt: skip
World, new_state, condition, Killed, Failed, merge = (
    model.World,
    model.new_state,
    model.condition,
    model.Killed,
    model.Failed,
    model.merge,
)


# --- programs ---------------------------------------------------------------------------------------------------------------------------


def call(world: World, argv: list[str], stdin: str) -> tuple[int, str, str]:
    """Run a program: its status, its output and its errors."""
    world.state["log"].append(argv)
    told = _told(world, [os.path.basename(argv[0]), *argv[1:]])
    if told is not None:
        return 0, told, ""
    try:
        return 0, _PROGRAMS[os.path.basename(argv[0])](world, argv[1:], stdin), ""
    except Failed as error:
        return 1, "", f"{error}\n"


def _told(world: World, argv: list[str]) -> str | None:
    """What the checks of the admin machine ask: versions, the daemon, all containers."""
    if argv[1] == "version" and "--kubeconfig" not in argv:
        kind = f"kind v{world.state.get('kind', '0.33.0')} go1.26.8"
        versions = {"docker": "28.0.1", "kind": kind, "clusterctl": "v1.14.0", "helm": "v3.18.0+g0123456"}
        return versions.get(argv[0], "Client Version: v1.34.1")
    if argv[:2] == ["docker", "info"]:
        info = {
            "ServerVersion": "28.0.1",
            "MemTotal": 33331486720,
            "NCPU": 8,
            "DockerRootDir": world.state.get("docker_root", "/"),
            "CgroupVersion": "2",
        }
        return json.dumps(info)
    if argv[:3] == ["docker", "ps", "--all"] and argv[3] == "--format":
        return "".join(
            "\t".join((one["name"], one["state"], one["image"], one["cluster"], one["role"])) + "\n" for one in containers(world.state)
        )
    return None


def containers(state: dict[str, Any]) -> list[dict[str, str]]:
    """All containers of the admin machine."""
    rows = [{"name": name, "state": "running", "image": "kindest/node:v1", "cluster": NAME, "role": "worker"} for name in state["machines"]]
    if state["container"]:
        found = {"state": state["container"]["state"], "image": "kindest/node:v1", "cluster": BOOTSTRAP, "role": "control-plane"}
        rows.append({"name": f"{BOOTSTRAP}-control-plane", **found})
    return [*rows, *state.get("strangers", ())]


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
        state["container"], state["images"]["boot"] = {"state": "running", "is_unfinished": True}, []
        state["halves"]["boot"] = {"objects": {}, "providers": {}}
        # Killed here, the API server answers, and there is no network.
        world.changed()
        state["container"]["is_unfinished"] = False
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
    if "--from-directory" in argv:
        return _restored(world, argv)
    source = world.half(_half(world, _option(argv, "--kubeconfig")))
    if argv[0] == "upgrade":
        return _upgraded(world, source, argv)
    if argv[0] == "init":
        if source is world.half("boot") and (world.state["container"] or {}).get("is_unfinished"):
            raise Failed("Error: timed out waiting for cert-manager")
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
        for key, one in objects.items():
            if one.get("kind") in MOVED:
                with open(os.path.join(folder, f"{key.replace('/', f'_{NAMESPACE}_')}.yaml"), "w", encoding="utf-8") as stream:
                    json.dump(one, stream)
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


def _upgraded(world: World, half: dict[str, Any], argv: list[str]) -> str:
    if argv[1] == "plan":
        return 'Cert-Manager will be upgraded from "v1.19.0" to "v1.20.2"' if half.get("cert_manager") == "v1.19.0" else ""
    for flag in ("--core", "--bootstrap", "--control-plane", "--infrastructure"):
        if flag in argv:
            name = _option(argv, flag).rpartition("/")[2]
            for key in [key for key in half["providers"] if key.startswith(flag + name.partition(":")[0] + ":")]:
                del half["providers"][key]
            half["providers"][flag + name] = name
            world.changed()
    if half.get("cert_manager"):
        half["cert_manager"] = "v1.20.2"
    return ""


def _restored(world: World, argv: list[str]) -> str:
    half = world.half(_half(world, _option(argv, "--to-kubeconfig")))
    folder = _option(argv, "--from-directory")
    found = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            found.append(json.load(stream))
    for one in found:
        if one["kind"] == "Cluster":
            one["spec"]["paused"] = True
        half["objects"][f"{one['kind']}/{one['metadata']['name']}"] = one
        world.changed()
    half["objects"][f"Cluster/{NAME}"]["spec"]["paused"] = False
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
        _refuse_other_namespaces(argv, json.loads(stdin)["items"])
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
    if what == "nodes":
        names = world.state.get("nodes") or (world.state["machines"] if half is world.state["halves"]["target"] else ["boot"])
        return _list([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in names])
    if what == "events":
        names = [key.split("/") for key in objects if key.startswith("Machine/")]
        event = {"kind": "Event", "apiVersion": "v1", "reason": "FailedBootstrap", "message": "no space left on device",
                 "lastTimestamp": "2026"}  # fmt: skip
        return _list([{**event, "metadata": {"name": name}, "involvedObject": {"kind": kind, "name": name}} for kind, name in names])
    if what == "deployments" and any("core=cert-manager" in word for word in argv) and half.get("cert_manager"):
        annotations = {"cert-manager.clusterctl.cluster.x-k8s.io/version": half["cert_manager"]}
        metadata = {"name": "cert-manager", "namespace": "cert-manager", "annotations": annotations}
        return _list([{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}])
    kinds = {RESOURCES[word] for word in what.split(",")}
    found = (one for one in objects.values() if one.get("kind") in kinds)
    return _list([one for one in found if what != "secret" or one["metadata"]["name"] == argv[2]])


def _keys(stdin: str) -> list[str]:
    return [f"{one['kind']}/{one['metadata']['name']}" for one in json.loads(stdin)["items"]]


def _list(objects: list[dict[str, Any]]) -> str:
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}) if objects else ""


def _refuse_other_namespaces(argv: list[str], wanted: list[dict[str, Any]]) -> None:
    option = _option(argv, "-n")
    for one in wanted:
        found = one["metadata"].get("namespace", option)
        if option and found != option:
            raise Failed(f"error: the namespace from the provided object {found!r} does not match the namespace {option!r}")


def _apply(world: World, half: dict[str, Any], argv: list[str], stdin: str) -> str:
    objects, wanted = half["objects"], json.loads(stdin)["items"]
    _refuse_other_namespaces(argv, wanted)
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
    merge(one, json.loads(_option(argv, "-p")))
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
