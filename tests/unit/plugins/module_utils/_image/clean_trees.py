# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clean images and nodes of every Linux family, as files below a directory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

FAMILIES = {"al2": "al2", "al2023": "al2023", "rhel": "al2023", "ubuntu": "ubuntu"}
"""Systems, each with the family as which it boots."""

ELF_X86 = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x3e\x00"
ELF_ARM = ELF_X86[:18] + b"\xb7\x00"
SYSCTL = "/etc/sysctl.d/99-kubernetes.conf"
WANTS = "/etc/systemd/system/multi-user.target.wants"
UNITS = "/usr/lib/systemd/system"

_SYSCTLS = """\
# what kubelet requires
vm.overcommit_memory=1
kernel.panic = 10
kernel/panic_on_oops = 1
"""
_FORWARD = "net.ipv4.ip_forward=1\n-net.bridge.bridge-nf-call-iptables = 1\n"
_KUBECONFIG = "clusters: [{name: k, cluster: {server: MASTER_ENDPOINT}}]\n"


def program(output: str = "") -> str:
    return f"#!/bin/sh\necho '{output}'\n"


def service(unit: str = "", command: str = "/bin/true") -> str:
    return f"[Unit]\n{unit}\n[Service]\nExecStart={command}\n"


@dataclass
class Tree:
    """The files and links of a machine. C(modes): of files that are not the usual ones. C(sizes): of files without content."""

    files: dict[str, str | bytes]
    links: dict[str, str] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def build(self, root: Path) -> Host:
        host = machine(root, self.files, timeout=60.0)
        for path, target in self.links.items():
            link = root / path.lstrip("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
        for path in self.files:
            is_program = "/bin/" in path or path.endswith(("/ecr-credential-provider", "/current/kubelet"))
            (root / path.lstrip("/")).chmod(self.modes.get(path, 0o755 if is_program else 0o644))
        for path, size in self.sizes.items():
            with (root / path.lstrip("/")).open("wb") as stream:
                stream.truncate(size)
        return host


def clean(family: str, profile: str = "image") -> Tree:
    """A machine without findings."""
    tree = Tree(
        {
            "/usr/bin/containerd": program("containerd github.com/containerd/containerd/v2 v2.1.4 abc"),
            "/usr/bin/runc": ELF_X86,
            "/usr/bin/bash": ELF_X86,
            "/usr/bin/aws": program(),
            "/usr/bin/unpigz": program(),
            "/usr/sbin/iptables": program(),
            "/etc/machine-id": "",
            "/etc/fstab": "UUID=1 / xfs defaults 0 0\ntmpfs /tmp tmpfs nosuid,noexec 0 0\n/dev/sdb /data xfs nofail 0 2\n",
            "/etc/cloud/cloud.cfg": "datasource_list: [Ec2, None]\ncloud_final_modules:\n- scripts-user\n- final-message\n",
            "/etc/modprobe.d/cis.conf": "install cramfs /bin/true\n",
            SYSCTL: _SYSCTLS + _FORWARD,
            "/proc/self/mountinfo": "1 0 0:1 / / rw - xfs /dev/root rw\n2 1 0:2 / /tmp rw,noexec - tmpfs tmpfs rw\n",
            f"{UNITS}/containerd.service": service(),
            f"{UNITS}/cloud-final.service": service("After=cloud-config.service"),
            f"{UNITS}/chronyd.service": service(),
        },
        {f"{WANTS}/chronyd.service": f"{UNITS}/chronyd.service"},
    )
    {"al2": _al2, "al2023": _al2023, "rhel": _rhel, "ubuntu": _ubuntu}[family](tree)
    if profile == "live":
        _boot(tree)
    return tree


def _al2(tree: Tree) -> None:
    tree.files |= {
        "/etc/os-release": 'ID="amzn"\nVERSION_ID="2"\n',
        "/usr/bin/kubelet": program("Kubernetes v1.32.3-eks-1"),
        "/usr/bin/containerd": program("containerd github.com/containerd/containerd 1.7.27 abc"),
        "/usr/bin/aws-iam-authenticator": ELF_X86,
        "/etc/eks/bootstrap.sh": "#!/bin/bash\n",
        "/etc/eks/image-credential-provider/ecr-credential-provider": ELF_X86,
        "/etc/kubernetes/kubelet/kubelet-config.json": json.dumps({"protectKernelDefaults": True}),
        "/var/lib/kubelet/kubeconfig": _KUBECONFIG,
        SYSCTL: _SYSCTLS,
        "/etc/systemd/system/kubelet.service": service(
            "After=containerd.service",
            "/usr/bin/kubelet \\\n  --config /etc/kubernetes/kubelet/kubelet-config.json $KUBELET_ARGS $KUBELET_EXTRA_ARGS",
        ),
    }


def _al2023(tree: Tree) -> None:
    tree.files |= {
        "/etc/os-release": 'ID="amzn"\nVERSION_ID="2023"\n',
        "/usr/bin/kubelet": program("Kubernetes v1.36.1-eks-1"),
        "/usr/bin/nodeadm": ELF_X86,
        "/etc/eks/image-credential-provider/ecr-credential-provider": ELF_X86,
        "/etc/eks/nodeadm.d/10-defaults.yaml": "kind: NodeConfig\nspec:\n  kubelet:\n    flags: [--v=2]\n",
        "/etc/kubernetes/kubelet/config.json.d/10-image.conf": "{}",
        "/etc/systemd/system/kubelet.service": service("After=containerd.service", "/usr/bin/kubelet $NODEADM_KUBELET_ARGS"),
        "/etc/systemd/system/nodeadm-config.service": service("Before=cloud-init.service"),
        "/etc/systemd/system/nodeadm-run.service": service("After=nodeadm-config.service cloud-final.service"),
    }
    tree.links |= {
        f"{WANTS}/nodeadm-config.service": "/etc/systemd/system/nodeadm-config.service",
        f"{WANTS}/nodeadm-run.service": "/etc/systemd/system/nodeadm-run.service",
        "/etc/resolv.conf": "/run/systemd/resolve/resolv.conf",
    }


def _rhel(tree: Tree) -> None:
    _al2023(tree)
    tree.files |= {
        "/etc/os-release": 'ID="rhel"\nVERSION_ID="9.6"\n',
        "/boot/vmlinuz-5.14.0-570.12.1.el9_6.x86_64": "",
        "/usr/lib/modules/5.14.0-570.12.1.el9_6.x86_64/modules.dep": "",
    }


def _ubuntu(tree: Tree) -> None:
    tree.files |= {
        "/etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
        "/etc/hostname": "ubuntu\n",
        "/snap/kubelet-eks/current/kubelet": program("Kubernetes v1.36.1"),
        "/usr/bin/aws-iam-authenticator": ELF_X86,
        "/etc/eks/bootstrap.sh": "#!/bin/bash\n",
        "/etc/kubernetes/kubelet/kubelet-config.json": "{}",
        "/etc/ufw/ufw.conf": "ENABLED=no\n",
        "/var/lib/kubelet/kubeconfig": _KUBECONFIG,
        SYSCTL: "# nothing\n",
        # As on real systems: it is a cycle only for units that multi-user.target wants.
        f"{UNITS}/cloud-final.service": service("After=multi-user.target"),
    }


def _boot(tree: Tree) -> None:
    """What the kernel adds, and what a boot leaves."""
    values = {
        "vm/overcommit_memory": "1",
        "vm/panic_on_oom": "0",
        "kernel/panic": "10",
        "kernel/panic_on_oops": "1",
        "kernel/keys/root_maxkeys": "1000000",
        "kernel/keys/root_maxbytes": "25000000",
        "net/ipv4/ip_forward": "1",
        "net/ipv6/conf/all/disable_ipv6": "0",
    }
    tree.files |= {f"/proc/sys/{name}": f"{value}\n" for name, value in values.items()}
    tree.files |= {
        "/proc/swaps": "Filename Type Size Used Priority\n",
        "/sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
        "/etc/machine-id": "a" * 32,
        "/etc/hostname": "ip-10-0-0-5\n",
        "/etc/ssh/ssh_host_rsa_key": "key",
        "/var/log/cloud-init.log": "log",
        "/var/lib/cloud/sem/config": "done",
        "/var/lib/kubelet/pki/kubelet-client-current.pem": "pem",
        "/etc/cni/net.d/10-aws.conflist": "{}",
        "/etc/kubernetes/kubelet/config.json.d/90-user.conf": "{}",
    }
    tree.links |= {f"{WANTS}/kubelet.service": "/etc/systemd/system/kubelet.service"}
