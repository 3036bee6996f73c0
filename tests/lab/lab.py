# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab: the interface for tests and commands."""

from __future__ import annotations

import base64
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
from pathlib import Path
from types import TracebackType
from typing import Any

from . import binaries, control_plane, network
from .api import Api, Object
from .aws import Ec2
from .node import LabNode, create
from .progress import LabError, engine, lives, machine_lock, say
from .state import CLUSTER, SERVICE_CIDR, State
from .supervisor import FAILED, OWNER, STATE


class Lab:
    """A control plane that is up, and the nodes that join it. `Lab.up()` makes one that ends with this program."""

    def __init__(self, folder: Path, state: State, supervisor: subprocess.Popen[bytes] | None) -> None:
        self.folder = folder
        self.state = state
        self._supervisor = supervisor
        self.network = network.Network(state.network)
        self.api = Api(state.endpoint, state.authority, state.token)
        self.ec2 = Ec2(state.aws, state.region)

    # --- life ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def up(cls) -> Lab:
        """Start a lab that ends with `down`, with the `with` block, or with this program, even if the program is killed."""
        folder = Path(tempfile.mkdtemp(prefix=f"{_persistent_folder().name}-"))
        return cls._start(folder, stay=False)

    @classmethod
    def up_and_stay(cls, name: str = "") -> Lab:
        """Start a lab that outlives this program, or find it running. A user has one lab without a name and one of each name."""
        folder = _persistent_folder(name)
        with machine_lock("lab-up"):
            try:
                return cls.running(name)
            except LabError:
                shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            return cls._start(folder, stay=True)

    @classmethod
    def running(cls, name: str = "") -> Lab:
        """Return the persistent lab; LabError if there is none."""
        folder = _persistent_folder(name)
        try:
            if not lives((folder / OWNER).read_text()):
                raise LabError("the lab was killed: start another one")
            return cls(folder, State.read(folder / STATE), None)
        except FileNotFoundError:
            failed = folder / FAILED
            raise LabError(f"the lab failed: {failed.read_text()}" if failed.exists() else "no lab is up: run make lab-up") from None

    @classmethod
    def _start(cls, folder: Path, *, stay: bool) -> Lab:
        engine.ensure()
        binaries.build(control_plane.PROGRAMS)
        _remove_stale()
        (folder / OWNER).write_text(engine.owner())
        log = (folder / "supervisor.log").open("wb")
        supervisor = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.run", "supervisor", str(folder), *(["stay"] if stay else [])],
            stdin=subprocess.DEVNULL if stay else subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
            env=control_plane.environment(),
        )  # fmt: skip
        log.close()
        try:
            while not (folder / STATE).exists():
                if supervisor.poll() is not None:
                    raise LabError(f"the control plane did not start: {_failure(folder)}")
                time.sleep(0.05)
        except BaseException:
            supervisor.terminate()
            supervisor.wait()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        lab = cls(folder, State.read(folder / STATE), supervisor)
        say(f"control plane up in {lab.state.seconds} s: {lab.state.endpoint}")
        return lab

    def down(self) -> None:
        """Stop everything, and return when nothing is left."""
        owner = engine.owner(self.state.supervisor) if Path(f"/proc/{self.state.supervisor}").exists() else ""
        with suppress(ProcessLookupError):
            os.kill(self.state.supervisor, signal.SIGTERM)
        if self._supervisor is not None:
            self._supervisor.wait(300)
        else:
            engine.wait_for("the end of the lab", lambda: not lives(owner), 300)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.down()

    # --- for tests -----------------------------------------------------------------------------------------------------------

    def cluster(self, kubernetes_version: str) -> dict[str, Any]:
        """The cluster as an input of the library."""
        return {
            "name": CLUSTER,
            "endpoint": self.state.endpoint,
            "certificate_authority": base64.b64encode(self.state.authority.encode()).decode(),
            "service_cidr": SERVICE_CIDR,
            "region": self.state.region,
            "kubernetes_version": kubernetes_version,
        }

    def node_object(self, name: str) -> Object:
        """A Node of the API server; ApiError 404 where there is none."""
        return self.api.get(f"/api/v1/nodes/{name}")

    @property
    def owner(self) -> str:
        """The run ID of the lab's containers. It names the supervisor: the program that starts a container may end long before the lab."""
        return (self.folder / OWNER).read_text()

    def kubeconfig(self) -> Path:
        """Write a kubeconfig for the administrator of the cluster."""
        path = self.folder / "kubeconfig"
        path.touch(mode=0o600)
        path.write_text(json.dumps(control_plane.admin_kubeconfig(self.state.endpoint, self.state.authority, self.state.token)))
        return path

    def log(self, program: str) -> str:
        """The output so far of etcd, kube-apiserver, kube-controller-manager, controller or aws."""
        return (self.folder / "logs" / f"{program}.log").read_text(errors="replace")

    def check(self) -> None:
        """Raise LabError if the control plane has ended: then no node is to blame."""
        if not (self.folder / STATE).exists():
            raise LabError(f"the control plane ended: {_failure(self.folder)}")

    def node(
        self,
        family: str,
        *,
        user_data: str | bytes = "",
        kubelet: str = "1.30",
        files: Mapping[str, Any] | None = None,
        imds: Mapping[str, str] | None = None,
        faults: list[dict[str, Any]] | None = None,
        cni: bool = True,
        real_nodeadm: bool = True,
        ipv6: bool = False,
        suite: str = "bookworm",
        image: str = "",
        containerd: int = 1,
        pods: bool = False,
        upgrades: Sequence[str] = (),
        instance: str = "",
    ) -> LabNode:
        """Boot a node; use it as a context manager. It is an instance of EC2's stand-in and has an identity in the cluster.

        family     al2, al2023, ubuntu
        user_data  real cloud-init runs it as part of the boot, and the metadata service serves it; '' is a node without any
        kubelet    minor version of the real kubelet
        files      already in place: {path: content or (content, mode)}
        imds       answers of the metadata service that differ, by path ("meta-data/instance-type")
        faults     how the metadata service misbehaves, see rootfs/imds.py
        cni        whether a CNI configuration is in place, as the VPC CNI's pod would put it there
        real_nodeadm  on al2023: the real one, of February 2024, which reads user data alone; otherwise nodelab's stand-in for today's
        ipv6       the node is to register with its IPv6 address, as in a cluster whose services have such addresses
        image      a baked image, which has kubelet and what else a node needs; kubelet and real_nodeadm are ignored
        containerd  1: Debian's package, 2: built from its Go module, without runtimes: no pod can run
        pods       pods can run: the node has a CNI plugin and the image pod_image.IMAGE (family al2023)
        upgrades   minor versions of other kubelets, below /opt/lab/kubelets, for an upgrade in place
        instance   the ID of a running instance that this node is; '' launches one
        """
        return create(
            self, family, user_data=user_data, kubelet=kubelet, files=files, imds=imds, faults=faults, cni=cni,
            real_nodeadm=real_nodeadm, ipv6=ipv6, suite=suite, image=image, containerd=containerd, pods=pods, upgrades=upgrades,
            instance=instance,
        )  # fmt: skip


def _persistent_folder(name: str = "") -> Path:
    return Path(tempfile.gettempdir(), "-".join(filter(None, ["nodebootstrap-lab", str(os.getuid()), name])))


def _failure(folder: Path) -> str:
    for name in (FAILED, "supervisor.log"):
        with suppress(FileNotFoundError):
            return (folder / name).read_text(errors="replace")[-4000:]
    return "it was stopped"


def _remove_stale() -> None:
    """Remove the folders of labs that were killed."""
    for folder in _persistent_folder().parent.glob(f"{_persistent_folder().name}-*"):
        with suppress(OSError):
            owner = (folder / OWNER).read_text()
            # An empty file is being written now.
            if owner and not lives(owner):
                shutil.rmtree(folder, ignore_errors=True)
