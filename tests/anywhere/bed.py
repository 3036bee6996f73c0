# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bed: programs in PATH, an engine, a cluster file, and runs of the collection's own playbooks against them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..lab.progress import TOP, LabError, docker, say, wait_for
from . import images, killing_program, programs, sources, verifier
from .kills import Kill
from .programs import ClusterApi, Kubernetes
from .verifier import Seen, Side

#: A name of its own for each bed of a machine.
CLUSTER = os.environ.get("BED_CLUSTER", "bed")
BOOTSTRAP = f"{CLUSTER}-eks-a-cluster"
PODS, SERVICES = "192.168.0.0/16", "10.96.0.0/16"
NAMESPACE = "eksa-system"
FOLDER = TOP / ".cache" / "anywhere"
LOGS = FOLDER / "logs"
WORK = FOLDER / "clusters"

#: Sockets have short paths, which those of a checkout may not be.
SOCKET = Path(tempfile.gettempdir()) / f"nodebootstrap-anywhere-{os.getuid()}-{CLUSTER}.sock"

#: Of a whole playbook. The playbook ends on its own before.
MOST_SECONDS = 1500.0


@dataclass(frozen=True)
class Played:
    """A run of a playbook. code: negative if it was killed."""

    code: int
    seconds: float
    log: Path

    @property
    def text(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def changed(self) -> bool:
        """What the recap says of all hosts."""
        return "changed=0 " not in self.text

    def tail(self, lines: int = 25) -> str:
        return "\n".join(self.text.splitlines()[-lines:])


def cluster_file(version: str, workers: int = 1) -> str:
    """The cluster as EKS Anywhere takes it."""
    return f"""apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: Cluster
metadata:
  name: {CLUSTER}
spec:
  kubernetesVersion: "{version}"
  clusterNetwork:
    cniConfig:
      cilium: {{}}
    pods:
      cidrBlocks: [{PODS}]
    services:
      cidrBlocks: [{SERVICES}]
  controlPlaneConfiguration:
    count: 1
  workerNodeGroupConfigurations:
    - name: md-0
      count: {workers}
  datacenterRef:
    kind: DockerDatacenterConfig
    name: {CLUSTER}
---
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: DockerDatacenterConfig
metadata:
  name: {CLUSTER}
spec: {{}}
"""


class Bed:
    """One cluster with its programs. api: the version of Cluster API. versions: of Kubernetes, that of the cluster first."""

    def __init__(self, api: ClusterApi, versions: Sequence[Kubernetes], apis: Sequence[ClusterApi] = ()) -> None:
        self.api = api
        self.apis = tuple(apis) or (api,)
        self.versions = tuple(versions)
        self.workers = 1
        self.number = 0
        for folder in (FOLDER, LOGS, WORK, self.bin):
            folder.mkdir(parents=True, exist_ok=True)
        self.images = {one.minor: images.node_image(one, self.apis) for one in self.versions}
        self.repository = sources.repository(self.apis)
        self.socket = engine_socket()
        self._lay_programs()
        (FOLDER / "network.yaml").write_text(sources.target_manifest(PODS))

    bin = FOLDER / "bin"

    @property
    def kubernetes(self) -> Kubernetes:
        """That of the cluster."""
        return self.versions[0]

    @property
    def machines(self) -> int:
        return 1 + self.workers

    @property
    def work(self) -> Path:
        return WORK / CLUSTER

    @property
    def kubeconfig(self) -> Path:
        return self.work / f"{BOOTSTRAP}.kubeconfig"

    @property
    def bootstrap_kubeconfig(self) -> Path:
        return self.work / f"{CLUSTER}.kind.kubeconfig"

    def _lay_programs(self) -> None:
        for one in (programs.KIND, self.api.clusterctl, self.versions[-1].kubectl):
            path = self.bin / one.name
            path.unlink(missing_ok=True)
            path.symlink_to(one.path)
        docker_path = shutil.which("docker")
        (self.bin / "docker").unlink(missing_ok=True)
        (self.bin / "docker").symlink_to(str(docker_path))

    def environment(self, kill: Path | None = None) -> dict[str, str]:
        """For the playbooks and programs. kill: the folder of a kill."""
        first = FOLDER / "killing" if kill else self.bin
        values = {
            **os.environ,
            "PATH": f"{first}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "DOCKER_HOST": f"unix://{self.socket}",
            "ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "CLUSTERCTL_DISABLE_VERSIONCHECK": "true",
        }
        if kill:
            values |= {"BED_KILL": str(kill), "BED_PROGRAMS": str(self.bin)}
        return values

    def variables(self) -> Path:
        """The file with the variables of the playbooks."""
        (FOLDER / "cluster.yaml").write_text(cluster_file(self.kubernetes.minor, self.workers))
        values = {
            "eks_anywhere_cluster_file": str(FOLDER / "cluster.yaml"),
            "eks_anywhere_work_dir": str(WORK),
            "eks_anywhere_bootstrap_image": self.images[self.versions[-1].minor],
            "eks_anywhere_node_images": [{"version": one.version, "image": self.images[one.minor]} for one in self.versions],
            "eks_anywhere_repository": str(self.repository),
            "eks_anywhere_cluster_api_version": self.api.version,
            "eks_anywhere_cert_manager_version": programs.CERT_MANAGER,
            "eks_anywhere_network_manifest": str(FOLDER / "network.yaml"),
            "eks_anywhere_docker_socket": str(self.socket),
            # The bed has no registry: all images are in those of the nodes.
            "eks_anywhere_skip_checks": ["registries"],
        }
        path = FOLDER / "variables.json"
        path.write_text(json.dumps(values, indent=1))
        return path

    def play(self, operation: str, *words: str, kill: Kill | None = None) -> Played:
        """Run a playbook of the collection to its end, or until it is killed."""
        self.number += 1
        log = LOGS / f"{self.number:03}-{operation}.log"
        folder = self._lay_kill(kill, log) if kill else None
        playbook = f"nodebootstrap.eks.eks_anywhere_{operation}"
        command = ["sh", "-c", 'export BED_ROOT=$$; exec "$@"', "sh", "ansible-playbook", playbook, "-e", f"@{self.variables()}", *words]
        began = time.monotonic()
        with log.open("w") as stream:
            done = subprocess.Popen(
                command, stdout=stream, stderr=stream, stdin=subprocess.DEVNULL, env=self.environment(folder), cwd=FOLDER
            )
            try:
                done.wait(MOST_SECONDS)
            except subprocess.TimeoutExpired:
                done.send_signal(signal.SIGTERM)
                done.wait()
        return Played(done.returncode, time.monotonic() - began, log)

    def _lay_kill(self, kill: Kill, log: Path) -> Path:
        killing = FOLDER / "killing"
        killing.mkdir(exist_ok=True)
        for name in ("kind", "clusterctl", "kubectl", "docker"):
            path = killing / name
            path.unlink(missing_ok=True)
            path.write_text(f'#!/bin/sh\nexec {sys.executable} -S -c "{_START}" "$0" "$@"\n')
            path.chmod(0o755)
        folder = FOLDER / "kill"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "kill.json").write_text(kill.dump())
        (folder / "cluster").write_text(CLUSTER)
        log.write_text("")
        (folder / "log").symlink_to(log)
        return folder

    @property
    def fired(self) -> bool:
        """Did the last kill happen?"""
        return (FOLDER / "kill" / "fired").exists()

    def kubectl(self, kubeconfig: Path, *words: str) -> Any:
        """The answer of kubectl as JSON, None if there is none."""
        if not kubeconfig.exists():
            return None
        argv = [str(self.bin / "kubectl"), "--kubeconfig", str(kubeconfig), "--request-timeout=10s", *words, "-o", "json"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else None

    def seen(self) -> Seen:
        """What is there, with our own eyes: the engine and kubectl."""
        nodes = self.kubectl(self.kubeconfig, "get", "nodes")
        return Seen(
            containers={name: one for name, one in containers(CLUSTER).items() if name != f"{CLUSTER}-lb"},
            nodes=None if nodes is None else {one["metadata"]["name"]: one["metadata"]["uid"] for one in nodes["items"]},
            bootstrap=self._side(self.bootstrap_kubeconfig) if containers(BOOTSTRAP) else None,
            target=self._side(self.kubeconfig),
            kubeconfig=self.kubeconfig.exists(),
        )

    def _side(self, kubeconfig: Path) -> Side:
        machines = self.kubectl(kubeconfig, "get", "machines.cluster.x-k8s.io", "-n", NAMESPACE) or {"items": []}
        clusters = self.kubectl(kubeconfig, "get", "clusters.cluster.x-k8s.io", "-n", NAMESPACE) or {"items": []}
        paused = [bool(one["spec"].get("paused")) for one in clusters["items"]]
        return Side({one["metadata"]["name"]: one["metadata"]["uid"] for one in machines["items"]}, paused[0] if paused else None)

    def left(self) -> list[str]:
        """What a deletion left."""
        files = [path.name for path in self.work.iterdir()] if self.work.is_dir() else []
        return verifier.after_deletion(self.seen(), list({**containers(CLUSTER), **containers(BOOTSTRAP)}), files)


_START = f"import sys; sys.path.insert(0, '{Path(killing_program.__file__).parent}'); import killing_program; sys.argv = sys.argv[1:]; " \
    "sys.exit(killing_program.main())"  # fmt: skip


def containers(cluster: str) -> dict[str, str]:
    """The containers of a cluster of kind or of Docker machines: name → ID."""
    words = ("ps", "-a", "--no-trunc", "--filter", f"label=io.x-k8s.kind.cluster={cluster}", "--format", "{{.Names}} {{.ID}}")
    return dict(line.split() for line in docker(*words).stdout.decode().splitlines() if line.strip())  # type: ignore[misc]


class Events:
    """Writes what the engine does with containers while the block runs."""

    def __init__(self) -> None:
        self.path = FOLDER / "events"

    def __enter__(self) -> Events:
        words = ["docker", "events", "--filter", "type=container", "--filter", "event=create", "--filter", "event=destroy",
                 "--filter", f"label=io.x-k8s.kind.cluster={CLUSTER}", "--format", "{{json .}}"]  # fmt: skip
        with self.path.open("w") as stream:
            self.process = subprocess.Popen(words, stdout=stream, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    @property
    def machines(self) -> list[verifier.Event]:
        return verifier.machine_events(verifier.read_events(self.path.read_text()), CLUSTER, BOOTSTRAP)


def engine_socket() -> Path:
    """The socket of an engine that starts privileged containers, or of the filter in front of one that does not."""
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if docker("run", "--rm", "--privileged", "--network", "none", images.base(), "true", check=False).returncode == 0:
        return Path(host.removeprefix("unix://"))
    pid = FOLDER / "filter.pid"
    if SOCKET.exists() and pid.exists() and _lives(int(pid.read_text())):
        return SOCKET
    say("the engine starts no privileged containers: a filter on its socket asks for all capabilities that it has")
    package = __package__ or ""
    with (LOGS / "filter.log").open("w") as log:
        command = [sys.executable, "-m", f"{package}.engine_filter", str(SOCKET)]
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
    pid.write_text(str(process.pid))
    wait_for("the filter of the engine", SOCKET.exists, 120)
    return SOCKET


def _lives(pid: int) -> bool:
    try:
        return b"filter" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def down() -> None:
    """Remove the containers of the bed, its files and the filter. The programs and images stay for the next time."""
    for cluster in (CLUSTER, BOOTSTRAP):
        for container in containers(cluster).values():
            docker("rm", "-f", "-v", container, check=False)
    pid = FOLDER / "filter.pid"
    if pid.exists() and _lives(int(pid.read_text())):
        with suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGTERM)
    pid.unlink(missing_ok=True)
    SOCKET.unlink(missing_ok=True)
    for folder in (WORK, FOLDER / "kill", FOLDER / "killing"):
        shutil.rmtree(folder, ignore_errors=True)


def require(found: Sequence[str], played: Played | None = None) -> None:
    """Raise LabError if something is wrong."""
    if found:
        tail = "" if played is None else f"\n{played.log}:\n{played.tail()}"
        raise LabError("; ".join(found) + tail)


def seconds(rows: Mapping[str, float]) -> str:
    """Times for a person."""
    return ", ".join(f"{name} {value:.0f} s" for name, value in rows.items())
