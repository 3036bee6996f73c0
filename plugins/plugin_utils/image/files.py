# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of an image: kernel settings, units, configuration of containerd, certificates, and what the user adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .. import kubelet
from ..artifacts import kubelet_files, linux_files, trust
from ..artifacts.model import File
from ..formats import json, shell, systemd, toml, yaml
from .model import PAUSE_IMAGE, Builder, Image

UNITS = "/etc/systemd/system"
CREDENTIAL_PROVIDER = "/etc/eks/image-credential-provider"
NODEADM_DOCUMENTS = "/etc/eks/nodeadm.d"
_OWN = "50-nodebootstrap"

# Names that come after those of hardening profiles and of /etc/sysctl.conf, which is 99-sysctl.conf: the last file wins.
_SYSCTL_FILE = "/etc/sysctl.d/99-zz-nodebootstrap.conf"
_MODULES_FILE = "/etc/modules-load.d/nodebootstrap.conf"

_SYSCTLS: Mapping[str, str] = {
    # What kubelet requires with protectKernelDefaults.
    "kernel.keys.root_maxbytes": "25000000",
    "kernel.keys.root_maxkeys": "1000000",
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "vm.overcommit_memory": "1",
    "vm.panic_on_oom": "0",
    # What pods and the network plugin need.
    "fs.inotify.max_user_instances": "8192",
    "fs.inotify.max_user_watches": "524288",
    "kernel.pid_max": "4194304",
    "net.bridge.bridge-nf-call-ip6tables": "1",
    "net.bridge.bridge-nf-call-iptables": "1",
    "net.ipv4.ip_forward": "1",
    "net.ipv4.ip_local_reserved_ports": "2703,9808,9809,10249,10250,10256,61678,61679",
    "vm.max_map_count": "524288",
}
"""Settings of the EKS AMIs (amazon-eks-ami, July 2026), and the settings that kubelet requires."""

_MODULES = ("br_netfilter", "overlay")
_MODULES_OF_FAMILY = {"al2023": ("ip_tables", "iptable_nat")}

_NODEADM = "/usr/bin/nodeadm"
_NODEADM_INTERNAL = "/usr/bin/nodeadm-internal"
_NODEADM_SOURCES = f"--config-source imds://user-data --config-source file://{NODEADM_DOCUMENTS}/"
_NODEADM_CACHE = "--config-cache /run/eks/nodeadm/config.json"
_DOCUMENTATION = ("Documentation", "https://awslabs.github.io/amazon-eks-ami/nodeadm/")

_ECR_IMAGES = (
    "*.dkr.ecr.*.amazonaws.com",
    "*.dkr.ecr.*.amazonaws.com.cn",
    "*.dkr.ecr-fips.*.amazonaws.com",
    "*.dkr.ecr.*.c2s.ic.gov",
    "*.dkr.ecr.*.sc2s.sgov.gov",
    "*.dkr-ecr.*.on.aws",
)


def modules(image: Image) -> list[str]:
    """The kernel modules that are loaded at boot."""
    return sorted({*_MODULES, *_MODULES_OF_FAMILY.get(image.family, ()), *image.modules})


def files(image: Image, builder: Builder) -> list[File]:
    """All files except repositories and certificates, sorted by path. A file of the user replaces ours."""
    found = {
        file.path: file
        for file in (
            *_kernel(image),
            *_system(image),
            *_containerd(image),
            *_kubelet(image),
            *_nodeadm(image),
            *_private_network(image),
            File("/etc/eks/release", _release(image, builder)),
            *image.files,
        )
    }
    return [found[path] for path in sorted(found)]


def certificates(image: Image) -> tuple[File, ...]:
    """The files of certificates. Certificates of user data have names without C(image)."""
    return trust.stored(image.family, image.trust, "nodebootstrap-image")


def _kernel(image: Image) -> Iterator[File]:
    yield File(_SYSCTL_FILE, "".join(f"{name} = {value}\n" for name, value in sorted({**_SYSCTLS, **image.sysctls}.items())))
    yield File(_MODULES_FILE, "".join(f"{name}\n" for name in modules(image)))


def _system(image: Image) -> Iterator[File]:
    yield File(f"{UNITS}/runtime.slice", systemd.unit({"Unit": [("Description", "Container runtime and kubelet")]}))
    # An update at boot could replace the container runtime with another version.
    yield File("/etc/cloud/cloud.cfg.d/90_nodebootstrap.cfg", yaml.dump({"package_upgrade": False, "repo_upgrade": "none"}))
    if image.family != "al2":
        # Otherwise networkd removes the routes and rules of the VPC CNI, and changes the addresses of its interfaces.
        keep = [("ManageForeignRoutes", "no"), ("ManageForeignRoutingPolicyRules", "no")]
        yield File(f"/etc/systemd/networkd.conf.d/{_OWN}.conf", systemd.unit({"Network": keep}))
        link = systemd.unit({"Link": [("MACAddressPolicy", "none")]})
        yield File(f"/etc/systemd/network/99-default.link.d/{_OWN}.conf", link)


def _containerd(image: Image) -> Iterator[File]:
    yield File(f"{UNITS}/containerd.service.d/{_OWN}-slice.conf", systemd.unit({"Service": [("Slice", "runtime.slice")]}))
    if "containerd" in image.programs:
        yield File(f"{UNITS}/containerd.service", _containerd_unit())
    if image.family != "al2023":
        # On al2023, nodeadm writes the file when a node boots.
        pause = image.pause_image.name if image.pause_image else PAUSE_IMAGE
        yield File(kubelet.CONTAINERD_CONFIG, toml.dump(kubelet.containerd_config(pause), quoted_headers=True))
    if "crictl" in image.programs:
        yield File("/etc/crictl.yaml", yaml.dump({"runtime-endpoint": kubelet.RUNTIME_ENDPOINT}))


def _containerd_unit() -> str:
    return systemd.unit(
        {
            "Unit": [
                ("Description", "containerd, the container runtime"),
                ("Documentation", "https://containerd.io"),
                ("After", "network.target local-fs.target"),
            ],
            "Service": [
                ("Type", "notify"),
                ("ExecStartPre", "-/sbin/modprobe overlay"),
                ("ExecStart", "/usr/bin/containerd"),
                ("Delegate", "yes"),
                # Containers survive a restart of containerd.
                ("KillMode", "process"),
                ("Restart", "always"),
                ("RestartSec", "5"),
                ("LimitNPROC", "infinity"),
                ("LimitCORE", "infinity"),
                ("TasksMax", "infinity"),
                ("OOMScoreAdjust", "-999"),
            ],
            "Install": [("WantedBy", "multi-user.target")],
        }
    )


def _kubelet(image: Image) -> Iterator[File]:
    if "kubelet" in image.programs:
        start = _NODEADM_START if image.family == "al2023" else _STATIC_START
        iptables = "/sbin/iptables" if image.family == "al2" else "/usr/sbin/iptables"
        yield File(kubelet_files.KUBELET_UNIT, kubelet_files.kubelet_unit(("containerd.service",), start, iptables))
    if "ecr_credential_provider" in image.programs and image.family != "al2023":
        # On al2023, nodeadm writes the file when a node boots.
        yield File(f"{CREDENTIAL_PROVIDER}/config.json", _credential_provider())


_NODEADM_START = (("EnvironmentFile", "/etc/eks/kubelet/environment"), ("ExecStart", "/usr/bin/kubelet $NODEADM_KUBELET_ARGS"))
_STATIC_START = (
    (
        "ExecStart",
        f"/usr/bin/kubelet --config={kubelet_files.CONFIG_FILE} --kubeconfig={kubelet.KUBECONFIG}"
        f" --container-runtime-endpoint={kubelet.RUNTIME_ENDPOINT} --image-credential-provider-config={CREDENTIAL_PROVIDER}/config.json"
        f" --image-credential-provider-bin-dir={CREDENTIAL_PROVIDER} $KUBELET_ARGS $KUBELET_EXTRA_ARGS",
    ),
)


def _credential_provider() -> str:
    provider = {
        "name": "ecr-credential-provider",
        "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
        "defaultCacheDuration": "12h",
        "matchImages": list(_ECR_IMAGES),
    }
    return json.dump({"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig", "providers": [provider]}, indent=1)


def _nodeadm(image: Image) -> Iterator[File]:
    for number, document in enumerate(image.nodeadm_defaults, 1):
        yield File(f"{NODEADM_DOCUMENTS}/10-image-{number:02d}.yaml", yaml.dump(document))
    if "nodeadm" not in image.programs:
        return
    # It prepares the network before the first unit that needs it. Builds of nodeadm without this program do not need it.
    yield File(
        f"{UNITS}/nodeadm-boot-hook.service",
        _one_shot(
            "Preparation of the network by nodeadm",
            f"{_NODEADM_INTERNAL} boot-hook",
            ("ConditionFileIsExecutable", _NODEADM_INTERNAL),
            ("After", "systemd-networkd.service"),
            ("Before", "systemd-networkd-wait-online.service nodeadm-config.service"),
        ),
    )
    yield File(
        f"{UNITS}/nodeadm-config.service",
        _one_shot(
            "Configuration of containerd and kubelet by nodeadm",
            f"{_NODEADM} init --skip run {_NODEADM_SOURCES} {_NODEADM_CACHE}",
            # Scripts of the user data can then change what nodeadm has written.
            ("After", "systemd-networkd-wait-online.service"),
            ("Before", "cloud-init.service"),
        ),
    )
    yield File(
        f"{UNITS}/nodeadm-run.service",
        _one_shot(
            "Start of containerd and kubelet by nodeadm",
            f"{_NODEADM} init --skip config {_NODEADM_SOURCES} {_NODEADM_CACHE}",
            ("Requires", "nodeadm-config.service"),
            # cloud-init can add documents, and scripts of the user data run before kubelet.
            ("After", "nodeadm-config.service cloud-final.service"),
            # On systems where cloud-final.service waits for multi-user.target, that target cannot wait for this unit.
            wanted_by="cloud-init.target",
        ),
    )


def _one_shot(description: str, command: str, *order: tuple[str, str], wanted_by: str = "multi-user.target") -> str:
    return systemd.unit(
        {
            "Unit": [("Description", description), _DOCUMENTATION, *order],
            "Service": [("Type", "oneshot"), ("ExecStart", command)],
            "Install": [("WantedBy", wanted_by)],
        }
    )


def _private_network(image: Image) -> Iterator[File]:
    yield from linux_files.registry_mirrors(image.mirrors)
    if image.trust:
        yield trust.variables_drop_in(image.family, "kubelet.service")
    for unit in ("containerd.service", "kubelet.service", *(_NODEADM_UNITS if image.family == "al2023" else ())):
        if image.proxy:
            yield linux_files.proxy_drop_in(unit, image.proxy)


_NODEADM_UNITS = ("nodeadm-config.service", "nodeadm-run.service")


def _release(image: Image, builder: Builder) -> str:
    own = {"ARCHITECTURE": builder.architecture, "FAMILY": image.family, "KUBERNETES_VERSION": image.kubernetes_version}
    return "".join(f"{name}={shell.quote(value)}\n" for name, value in sorted({**image.release, **own}.items()))
