# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects what shows why a cluster does not become available, from both clusters and from Docker, without secrets.

Only reads. Standard library, Python 3.7 and newer. What cannot be collected is not an error: C(index.json) has the reason.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from contextlib import suppress
from functools import partial
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from .._node.archive import pack
from . import docker
from .redact import Mask, environment_secrets, kubeconfig_secrets, secret_values
from .tools import Tools, last_line

MAX_ENTRY_BYTES = 1024 * 1024
MAX_BYTES = 24 * 1024 * 1024
MAX_SECONDS = 240.0
"""After that, nothing more is started."""

_LOG_LINES = "2000"
_SINCE = "3h"
_MAX_PODS = 40
_MANAGERS = ("capi-", "capd-", "capv-", "capt-", "capx-", "capas-", "cert-manager", "eksa-system", "etcdadm-")
_TABLES = {
    "nodes": ("get", "nodes", "-o", "wide"),
    "pods": ("get", "pods", "-A", "-o", "wide"),
    "webhooks": ("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations"),
    "providers": ("get", "providers.clusterctl.cluster.x-k8s.io", "-A"),
}
_OBJECTS = {
    # All resources of Cluster API and its providers are in this category.
    "cluster-api": ("get", "cluster-api", "-A", "-o", "json"),
    "events": ("get", "events", "-A", "-o", "json"),
    "workloads": ("get", "pods,deployments", "-A", "-o", "json"),
}
_SUFFIXES = (".yaml", ".yml", ".json", ".log", ".toml", ".txt")
_FACTS = ("apiVersion", "kind", "type", "reason", "message", "note", "lastTimestamp", "eventTime", "series", "involvedObject", "regarding")
_META = ("name", "namespace", "creationTimestamp", "deletionTimestamp", "finalizers", "labels")


class Request(NamedTuple):
    """What to collect. C(name): of the cluster. C(bootstrap): of the cluster of kind. C(kubeconfigs): name of a cluster → path."""

    name: str
    bootstrap: str
    kubeconfigs: Mapping[str, str]
    folder: str


class Collected(NamedTuple):
    """C(objects) and C(logs) by cluster, without secrets, for the summary. C(unreachable): cluster → reason."""

    archive: bytes
    entries: int
    objects: Dict[str, List[Dict[str, Any]]]
    logs: Dict[str, List[str]]
    unreachable: Dict[str, str]


class Collector:
    """Collects one source after the other, and remembers what became of each."""

    def __init__(
        self, tools: Tools, environment: Mapping[str, str], clock: Callable[[], float] = time.monotonic, secrets: Sequence[str] = ()
    ) -> None:
        self._tools = tools
        self._environment = environment
        self._clock = clock
        self._deadline = clock() + MAX_SECONDS
        self._entries: Dict[str, bytes] = {}
        self._index: List[Dict[str, Any]] = []
        self._room = MAX_BYTES
        self._secrets: List[str] = [*secrets, *environment_secrets(environment)]
        self._mask = Mask(self._secrets)
        self._objects: Dict[str, List[Dict[str, Any]]] = {}
        self._logs: Dict[str, List[str]] = {}
        self._unreachable: Dict[str, str] = {}

    def collect(self, request: Request) -> Collected:
        """Everything, with the number of entries of the archive."""
        with tempfile.TemporaryDirectory() as private:
            paths = {**self._bootstrap(request.bootstrap, private), **request.kubeconfigs}
            # All secrets are learned first: the logs of one cluster can contain those of the other.
            reachable = [name for name, path in sorted(paths.items()) if self._learn(name, path)]
            self._mask = Mask(self._secrets)
            for name in reachable:
                self._cluster(name, paths[name])
        self._docker((request.name, request.bootstrap))
        self._folder(request.folder)
        index = (json.dumps(self._index, indent=1) + "\n").encode()
        archive = pack({**self._entries, "index.json": index}, "diagnostics")
        return Collected(archive, len(self._entries), self._objects, self._logs, self._unreachable)

    def _bootstrap(self, name: str, private: str) -> Dict[str, str]:
        """The kubeconfig of the bootstrap cluster, in a folder that only this user can read."""
        result = self._tools.run(("kind", "get", "kubeconfig", "--name", name))
        if result.status:
            self._leave_out(f"{name}/", "kind get kubeconfig", last_line(result))
            return {}
        path = os.path.join(private, "bootstrap.kubeconfig")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(result.output)
        return {name: path}

    def _learn(self, name: str, path: str) -> bool:
        """Whether a cluster answers. Its secrets are read only to remove them from everything else."""
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            self._secrets.extend(kubeconfig_secrets(file.read()))
        result = self._kubectl(path, ("version",))
        if result.status:
            reason = Mask(self._secrets).text(last_line(result))
            self._unreachable[name] = reason
            self._leave_out(f"{name}/", "kubectl version", reason)
            return False
        with suppress(ValueError):
            self._secrets.extend(secret_values(json.loads(self._kubectl(path, ("get", "secrets", "-A", "-o", "json")).output or "{}")))
        return True

    def _kubectl(self, path: str, words: Sequence[str]) -> Any:
        return self._tools.run(("kubectl", "--kubeconfig", path, "--request-timeout=20s", *words))

    def _cluster(self, name: str, path: str) -> None:
        for title, words in _TABLES.items():
            self._program(f"{name}/{title}.txt", ("kubectl", *words), partial(self._kubectl, path, words))
        found: List[Dict[str, Any]] = []
        for title, words in _OBJECTS.items():
            items = self._json(f"{name}/{title}.json", ("kubectl", *words), self._kubectl(path, words))
            found.extend(items)
        self._objects[name] = [_facts(one) for one in found]
        pods = [one["metadata"] for one in found if one.get("kind") == "Pod" and one["metadata"]["namespace"].startswith(_MANAGERS)]
        lines: List[str] = []
        for meta in pods[:_MAX_PODS]:
            words = ("logs", "-n", meta["namespace"], meta["name"], "--all-containers", f"--since={_SINCE}", f"--tail={_LOG_LINES}")
            place = f"{name}/logs/{meta['namespace']}_{meta['name']}.log"
            self._program(place, ("kubectl", *words), partial(self._kubectl, path, words))
            text = self._entries.get(place, b"").decode("utf-8", "replace")
            lines.extend(line[:500] for line in reversed(text.splitlines()) if line.startswith("E") or '"error"' in line)
        self._logs[name] = lines[:50]

    def _json(self, place: str, argv: Sequence[str], result: Any) -> List[Dict[str, Any]]:
        """Add a list of objects without secrets, and return its items."""
        try:
            listed = self._mask.document(json.loads(result.output)) if result.status == 0 else None
        except (ValueError, RecursionError):
            listed = None
        if not isinstance(listed, dict):
            self._leave_out(place, " ".join(argv), last_line(result))
            return []
        items = [one for one in listed.get("items") or () if isinstance(one, dict) and isinstance(one.get("metadata"), dict)]
        self._add(place, " ".join(argv), json.dumps(listed, indent=1))
        return items

    def _program(self, place: str, argv: Sequence[str], run: Callable[[], Any]) -> None:
        shown = " ".join(argv)
        if self._clock() >= self._deadline:
            self._leave_out(place, shown, "there was no time left")
            return
        result = run()
        text = result.output + result.errors
        if result.status and not result.output:
            self._leave_out(place, shown, self._mask.text(last_line(result)))
            return
        self._add(place, shown, self._mask.text(text))

    def _docker(self, clusters: Tuple[str, ...]) -> None:
        rows = docker.containers(self._tools)
        self._add("docker/info.json", "docker info", json.dumps(self._mask.document(docker.daemon(self._tools)), indent=1))
        self._add("docker/containers.json", "docker ps", json.dumps(self._mask.document(rows), indent=1))
        for one in rows:
            if one["cluster"] in clusters:
                words = ("docker", "logs", "--tail", _LOG_LINES, one["name"])
                self._program(f"docker/{one['name']}.log", words, partial(self._tools.run, words))

    def _folder(self, folder: str) -> None:
        """The files of the cluster on this machine. Kubeconfigs and backups are credentials as a whole, and are left out."""
        for top, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if "backup" not in name)
            for name in sorted(names):
                path = os.path.join(top, name)
                if not name.endswith(_SUFFIXES) or "kubeconfig" in name or os.path.islink(path):
                    continue
                try:
                    with open(path, encoding="utf-8", errors="replace") as file:
                        text = file.read(MAX_ENTRY_BYTES)
                except OSError as error:
                    self._leave_out(f"files/{name}", path, error.strerror or str(error))
                else:
                    self._add(f"files/{os.path.relpath(path, folder)}", path, self._mask.text(text))

    def _add(self, place: str, source: str, text: str) -> None:
        content = text.encode("utf-8", "replace")
        limit = min(MAX_ENTRY_BYTES, self._room)
        is_cut = len(content) > limit
        # The end of a log is the interesting part. Secrets are gone already, so that a cut cannot hide one from being recognized.
        kept = content[len(content) - limit :] if is_cut else content
        self._room -= len(kept)
        self._entries[place] = kept
        self._index.append({"name": place, "source": source, "bytes": len(kept), "cut": is_cut, "reason": ""})

    def _leave_out(self, place: str, source: str, reason: str) -> None:
        self._index.append({"name": place, "source": source, "bytes": 0, "cut": False, "reason": self._mask.text(reason)})


def request_of(name: str, work_dir: str, kubeconfigs: Mapping[str, str]) -> Request:
    """What to collect of a cluster whose files are in C(work_dir), which is absolute, and of more clusters."""
    bootstrap = f"{name}-eks-a-cluster"
    folder = os.path.join(work_dir, name)
    own = os.path.join(folder, f"{bootstrap}.kubeconfig")
    found = {name: own} if os.path.exists(own) else {}
    return Request(name, bootstrap, {**found, **{key: os.path.expanduser(path) for key, path in kubeconfigs.items()}}, folder)


def _facts(one: Mapping[str, Any]) -> Dict[str, Any]:
    """The parts of an object that say what is wrong."""
    meta = {name: one["metadata"][name] for name in _META if name in one["metadata"]}
    spec = one.get("spec")
    paused = {"spec": {"paused": True}} if isinstance(spec, dict) and spec.get("paused") else {}
    return {**{name: one[name] for name in _FACTS if name in one}, "metadata": meta, "status": one.get("status") or {}, **paused}
