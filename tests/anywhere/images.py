# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of the bed: nodes from Debian packages and the programs, with all images of their pods, so that nothing is pulled."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..lab import binaries
from ..lab.binaries import Binary
from ..lab.progress import LabError, docker, machine_lock, say
from . import programs, sources
from .programs import ClusterApi, Kubernetes

from nodelab import images as debian_images  # isort: skip

HERE = Path(__file__).resolve().parent
NODE = HERE / "node"

#: What kind installs into its base, without what only NFS, iSCSI and rootless engines need, and with runc and haproxy of Debian.
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "conntrack", "iptables", "nftables", "iproute2", "ethtool", "util-linux", "mount", "kmod"),
    *("libseccomp2", "pigz", "e2fsprogs", "bash", "ca-certificates", "curl", "jq", "procps", "runc", "haproxy", "ebtables", "socat"),
)

#: The load balancer of the Docker provider. There is no registry, so ours has the name.
BALANCER = "kindest/haproxy:v20230606-42a2262b"

#: What the pods of the CNI run. kube-proxy has the same files.
NETWORK = "nodebootstrap.invalid/network:1"
_NETWORK_TOOLS = ("sh", "ip", "iptables", "ip6tables", "iptables-save", "iptables-restore", "ip6tables-save", "ip6tables-restore",
                  "nft", "conntrack", "sleep", "cat", "mv", "mkdir", "grep")  # fmt: skip

#: The one container of the sandbox of each pod. kubeadm and containerd name different versions.
PAUSES = ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause:3.10.1", "registry.k8s.io/pause:3.10.2")
#: A number for what the functions below do. Another one builds all images again.
_RECIPE = 2
_MACHINES = {"aarch64": "arm64", "x86_64": "amd64"}


@dataclass(frozen=True)
class PodImage:
    """An image of one program. names: all its names. path: of the program in it. layer: an archive of files below it."""

    names: tuple[str, ...]
    program: Path
    path: str
    layer: Path | None = None


def pod_images(kubernetes: Kubernetes, listed: Sequence[str], layer: Path, pause: Path) -> list[PodImage]:
    """The images of the pods of kubeadm and of the CNI. listed: what kubeadm lists, with the versions that it wants."""
    found = {one.rpartition("/")[2].partition(":")[0]: one for one in listed}
    images = [PodImage((found[one.name],), one.path, f"/usr/local/bin/{one.name}") for one in kubernetes.pods if one.name != "kube-proxy"]
    proxy = next(one for one in kubernetes.pods if one.name == "kube-proxy")
    return [
        *images,
        PodImage((found["kube-proxy"],), proxy.path, "/usr/local/bin/kube-proxy", layer),
        PodImage((found["etcd"],), binaries.ETCD.path, "/usr/local/bin/etcd"),
        PodImage((found["coredns"],), programs.COREDNS.path, "/coredns"),
        PodImage((NETWORK,), pause, "/pause", layer),
        PodImage(tuple(dict.fromkeys([*PAUSES, found["pause"]])), pause, "/pause"),
    ]


def provider_images(api: ClusterApi) -> list[PodImage]:
    """The images of the managers of Cluster API and of cert-manager."""
    managers = {"cluster-api": api.core, "bootstrap-kubeadm": api.bootstrap, "control-plane-kubeadm": api.control_plane,
                "infrastructure-docker": api.docker}  # fmt: skip
    rows = [PodImage((sources.manager_image(label, api.version),), one.path, "/manager") for label, one in managers.items()]
    certs = [PodImage((sources.cert_manager_image(one.name),), one.path, f"/{one.name}") for one in programs.CERT_MANAGERS]
    return rows + certs


def write_archive(path: Path, image: PodImage) -> None:
    """Write an image as C(docker save) does, for C(ctr images import)."""
    layers = [_layer(image.program, image.path), *([image.layer.read_bytes()] if image.layer else [])]
    digests = [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in layers]
    path_variable = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    config = {
        "architecture": _MACHINES[platform.machine()],
        "os": "linux",
        "config": {"Entrypoint": [image.path], "Env": [path_variable]},
        "rootfs": {"type": "layers", "diff_ids": digests},
    }
    files = {"config.json": json.dumps(config).encode(), **{f"layer-{index}.tar": one for index, one in enumerate(layers)}}
    names = [f"layer-{index}.tar" for index in range(len(layers))]
    manifest = [{"Config": "config.json", "RepoTags": list(image.names), "Layers": names}]
    with tarfile.open(path, "w") as archive:
        for name, content in {**files, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.addfile(_member(name, len(content)), io.BytesIO(content))


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o755
    return member


def _layer(program: Path, path: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive, program.open("rb") as stream:
        # Managers write temporary files, and etcd and kube-proxy expect the folder.
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        archive.addfile(folder)
        archive.addfile(_member(path.lstrip("/"), program.stat().st_size), stream)
    return packed.getvalue()


def base() -> str:
    """The tag of the image of Debian packages alone."""
    return debian_images.debian("bookworm", PACKAGES)


def node_image(kubernetes: Kubernetes, apis: Sequence[ClusterApi]) -> str:
    """The tag of a node image with the images of all pods in it, built now if it does not exist."""
    tag = f"nodebootstrap-bed/node:{kubernetes.version}-{_digest(kubernetes, apis)}"
    with machine_lock("anywhere-images"):
        if not _exists(tag):
            _build_node(tag, kubernetes, apis)
        _ensure_balancer()
    return tag


def _digest(kubernetes: Kubernetes, apis: Sequence[ClusterApi]) -> str:
    parts = [base(), *(one.digest for one in all_programs(kubernetes, apis)), sources.digest(), str(_RECIPE)]
    parts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(NODE.rglob("*")) if path.is_file()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def all_programs(kubernetes: Kubernetes, apis: Sequence[ClusterApi]) -> list[Binary]:
    """Everything that a node image is made of, and clusterctl."""
    managers = [one for api in apis for one in api.all]
    on_nodes = (*kubernetes.all, binaries.CONTAINERD, binaries.CTR, programs.SHIM, *programs.CNI_PLUGINS)
    return [*on_nodes, binaries.ETCD, programs.COREDNS, *managers, *programs.CERT_MANAGERS]


def _exists(tag: str) -> bool:
    return docker("image", "inspect", tag, check=False).returncode == 0


def _build_node(tag: str, kubernetes: Kubernetes, apis: Sequence[ClusterApi]) -> None:
    began = time.monotonic()
    say(f"{tag}: about two minutes, once")
    with tempfile.TemporaryDirectory(prefix="anywhere-node-", dir=binaries.cache()) as name:
        folder = Path(name)
        _lay_context(folder, kubernetes)
        docker("build", "-q", "--pull=false", "--build-arg", f"BASE={base()}", "-t", f"{tag}-empty", str(folder), timeout=1800)
        archives = folder / "archives"
        archives.mkdir()
        for index, image in enumerate(_images(folder, kubernetes, apis)):
            write_archive(archives / f"{index:02}.tar", image)
        _import(tag, archives)
    docker("rmi", f"{tag}-empty", check=False)
    say(f"{tag}: {time.monotonic() - began:.0f} s")


def _lay_context(folder: Path, kubernetes: Kubernetes) -> None:
    """The files of kind's own base image, ours, and the programs."""
    files = folder / "files"
    shutil.copytree(sources.module_folder(programs.KIND) / "images/base/files", files)
    for path in (files, *files.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    shutil.copytree(NODE / "rootfs", files, dirs_exist_ok=True)
    (files / "kind/version").write_text(kubernetes.version)
    (files / "kind/manifests").mkdir()
    (files / "kind/manifests/default-cni.yaml").write_text(sources.network_manifest("{{ .PodSubnet }}"))
    (files / "kind/manifests/default-storage.yaml").write_text(sources.storage_manifest())
    for target, one in {
        **{f"usr/bin/{one.name}": one for one in (kubernetes.kubelet, kubernetes.kubeadm, kubernetes.kubectl)},
        **{f"usr/local/bin/{one.name}": one for one in (binaries.CONTAINERD, binaries.CTR, programs.SHIM)},
        **{f"opt/cni/bin/{one.name}": one for one in programs.CNI_PLUGINS},
    }.items():
        (files / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(one.path, files / target)
        (files / target).chmod(0o755)
    shutil.copyfile(NODE / "Dockerfile", folder / "Dockerfile")


def _images(folder: Path, kubernetes: Kubernetes, apis: Sequence[ClusterApi]) -> list[PodImage]:
    pause = folder / "pause"
    source = sources.module_folder(kubernetes.kubeadm) / "build/pause/linux/pause.c"
    _run(["gcc", "-Os", "-static", "-DVERSION=3.10", "-o", str(pause), str(source)])
    layer = folder / "network.tar"
    layer.write_bytes(
        docker("run", "--rm", "--network", "none", "--entrypoint", "/bin/bash", base(), "-c", _collect(_NETWORK_TOOLS)).stdout
    )
    listed = _run([str(kubernetes.kubeadm.path), "config", "images", "list", "--kubernetes-version", kubernetes.version]).split()
    rows = {one.names: one for api in apis for one in provider_images(api)}
    return [*pod_images(kubernetes, listed, layer, pause), *rows.values()]


def _collect(tools: Sequence[str]) -> str:
    """A script of bash that packs programs, what they link to, the extensions of iptables with theirs, and the libraries, as an archive.

    A name of a program is a chain of links, and each link of it is needed. Where they lead must stay as it is: some are absolute.
    """
    return f"""
set -euo pipefail
shopt -s nullglob
links() {{
  local path=$1 next
  while :; do
    echo "$path"
    [ -L "$path" ] || break
    next=$(readlink "$path")
    case $next in /*) path=$next ;; *) path=$(dirname "$path")/$next ;; esac
  done
}}
programs() {{ for name in {" ".join(tools)}; do links "$(command -v "$name")"; done; ls /usr/lib/*/xtables/*.so; }}
libraries() {{ while read -r path; do ldd "$path" 2>/dev/null || true; done | grep -o '/[^ ]*'; }}
all=$(programs)
needed=$(echo "$all" | libraries | sort -u | while read -r path; do links "$path"; done)
printf '%s\\n' /bin /sbin /lib /lib64 /etc/nsswitch.conf /etc/protocols $all $needed | sed -E 's,^/(bin|sbin|lib|lib64)/,/usr/\\1/,' \\
  | sort -u | while read -r path; do [ -e "$path" ] && echo "$path"; done \\
  | tar --create --no-recursion --absolute-names --transform 's,^/,,S' --files-from -
"""


def _import(tag: str, archives: Path) -> None:
    """Import the images with containerd in a container of the image, and keep it with its settings. Nothing is unpacked or mounted."""
    started = [
        "run",
        "-d",
        "--network",
        "none",
        "--entrypoint",
        "/usr/local/bin/containerd",
        "-v",
        f"{archives}:/archives:ro",
        f"{tag}-empty",
    ]
    container = docker(*started).stdout.decode().strip()
    try:
        script = """
for attempt in $(seq 60); do ctr version >/dev/null 2>&1 && break; sleep 0.5; done
set -e
for file in /archives/*.tar; do ctr -n k8s.io images import --no-unpack --all-platforms --digests "$file" >/dev/null; done
"""
        docker("exec", container, "bash", "-c", script, timeout=900)
        docker("stop", "-t", "20", container)
        entry = '["/usr/local/bin/bed-entrypoint", "/sbin/init"]'
        changes = [word for change in (f"ENTRYPOINT {entry}", "ENV container=docker") for word in ("-c", change)]
        docker("commit", *changes, container, tag, timeout=900)
    finally:
        docker("rm", "-f", "-v", container, check=False)


def _ensure_balancer() -> None:
    recipe = NODE / "Dockerfile.balancer"
    tag = f"nodebootstrap-bed/balancer:{hashlib.sha256((base() + recipe.read_text()).encode()).hexdigest()[:12]}"
    if not _exists(tag):
        docker("build", "-q", "--pull=false", "--build-arg", f"BASE={base()}", "-t", tag, "-f", str(recipe), str(NODE), timeout=600)
    docker("tag", tag, BALANCER)


def _run(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv[:3])} exited {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout
