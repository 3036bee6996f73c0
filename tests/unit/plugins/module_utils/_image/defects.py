# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One planted defect for every rule of image_verify, or more, and near misses without a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image.clean_trees import (
    ELF_ARM,
    SYSCTL,
    UNITS,
    WANTS,
    Tree,
    program,
    service,
)

MIB = 1024**2


@dataclass(frozen=True)
class Change:
    """A change of a clean machine. C(removed): files and links. C(free_mib): of the disk. C(selinux): what matchpathcon prints."""

    rule: str
    family: str = "al2023"
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    profile: str = "image"
    version: str | None = None
    free_mib: int = 4096
    selinux: str = ""
    name: str = ""

    @property
    def id(self) -> str:
        return f"{self.rule} {self.name}".strip()

    def apply(self, tree: Tree) -> None:
        """Plant the change."""
        for path in self.removed:
            tree.files.pop(path, None)
            tree.links.pop(path, None)
        tree.files |= {**self.files, **{path: b"" for path in self.sizes}}
        tree.links |= self.links
        tree.modes |= self.modes
        tree.sizes |= self.sizes


CONTAINERD = "/etc/containerd/config.toml"
KUBELET_UNIT = "/etc/systemd/system/kubelet.service"
NODEADM_D = "/etc/eks/nodeadm.d"
OLD_CONTAINERD = {"/usr/bin/containerd": program("containerd github.com/containerd/containerd 1.7.27 abc")}
SERVER = "clusters: [{name: k, cluster: {server: 'https://api.example.com'}}]\n"
CONTEXT = "contexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\nusers: [{name: u, user: {}}]\n"
ENFORCING = {"/etc/selinux/config": "SELINUX=enforcing\n", "/opt/cni/bin/loopback": ""}
KERNEL = {"/boot/vmlinuz-6.12.1-1.amzn2023": "", "/lib/modules/6.12.1-1.amzn2023/modules.dep": ""}
DKMS = "/var/lib/dkms"
UNIX = "account required pam_unix.so\n"
PAM = {
    "/etc/pam.d/sshd": "@include common-account\nauth required /opt/pam/pam_own.so\n",
    "/etc/pam.d/sudo": "@include common-account\n",
    "/etc/pam.d/common-account": UNIX,
    "/usr/lib/x86_64-linux-gnu/security/pam_unix.so": "",
    "/opt/pam/pam_own.so": "",
}
AUDITED, AUDITD = {f"{WANTS}/auditd.service": f"{UNITS}/auditd.service"}, "/etc/audit/auditd.conf"
FILTERED = {f"{WANTS}/nftables.service": f"{UNITS}/nftables.service"}
NFT = "table inet filter {{\n  chain input {{\n    type filter hook input priority 0;\n    policy {};\n  }}\n}}\n"
WRONG_LABEL = "/opt/cni/bin has context system_u:object_r:usr_t:s0, should be system_u:object_r:bin_t:s0"

DEFECTS = (
    Change("image.hostname", files={"/etc/hostname": "ip-10-0-0-5\n"}),
    Change("image.hostname", "ubuntu", files={"/etc/hostname": "builder\n"}, name="ubuntu"),
    Change("image.resolv_conf", "ubuntu", files={"/etc/resolv.conf": "nameserver 10.0.0.2\n"}),
    Change("image.machine_id", files={"/etc/machine-id": "0123456789abcdef0123456789abcdef\n"}),
    Change("image.second_machine_id", files={"/var/lib/dbus/machine-id": "0123456789abcdef0123456789abcdef\n"}),
    Change("image.random_seed", files={"/var/lib/systemd/random-seed": "seed"}),
    Change("image.host_keys", files={"/etc/ssh/ssh_host_ed25519_key": "key"}),
    Change("image.authorized_keys", files={"/home/ec2-user/.ssh/authorized_keys": "ssh-ed25519 AAAA packer\n"}),
    Change("image.cloud_init_state", files={"/var/lib/cloud/sem/config_scripts_once": ""}),
    Change("image.cloud_init_state", links={"/var/lib/cloud/instance": "/var/lib/cloud/instances/i-0"}, name="link"),
    Change("image.logs", files={"/var/log/cloud-init-output.log": "Cloud-init v. 22\n"}),
    Change("image.journal", files={"/var/log/journal/0123/system.journal": "LPKSHHRH"}),
    Change("image.log_size", sizes={"/var/log/build.log": 201 * MIB}),
    Change("image.dhcp_leases", files={"/var/lib/dhclient/dhclient--eth0.lease": "lease {}\n"}),
    Change("image.network_devices", files={"/etc/udev/rules.d/70-persistent-net.rules": "SUBSYSTEM==net\n"}),
    Change("image.package_history", files={"/var/lib/dnf/history.sqlite": "SQLite"}),
    Change("image.package_cache", files={"/var/cache/dnf/expired_repos.json": "[]"}),
    Change("image.build_inputs", files={"/var/cache/eks-node-image/inputs.lock": "{}"}),
    Change("image.temporary_files", files={"/var/tmp/script_4711.sh": "#!/bin/sh\n"}),
    Change("image.shell_history", files={"/root/.bash_history": "aws configure\n"}),
    Change("image.aws_credentials", files={"/home/ec2-user/.aws/credentials": "[default]\n"}),
    Change("image.kubeconfig", files={"/var/lib/kubelet/kubeconfig": SERVER + CONTEXT}),
    Change("image.kubelet_certificates", files={"/var/lib/kubelet/pki/kubelet-client-current.pem": "pem"}),
    Change("image.kubelet_state", files={"/var/lib/kubelet/cpu_manager_state": "{}"}),
    Change("image.cluster_files", files={"/etc/kubernetes/pki/ca.crt": "pem"}),
    Change("image.collection_state", files={"/var/lib/nodebootstrap/manifest.json": "{}"}),
    Change("image.containers", files={"/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/0a/hostname": "pod"}),
    Change("image.cni_config", files={"/etc/cni/net.d/10-aws.conflist": "{}"}),
    Change("image.ssm_registration", files={"/var/lib/amazon/ssm/Vault/Store/RegistrationKey": "{}"}),
    Change("image.core_dumps", files={"/var/tmp/core.4711": "ELF"}),
    Change("image.kernel_defaults", files={"/etc/sysctl.d/99-zz-cis.conf": "kernel.panic = 60\n"}),
    Change("image.kernel_defaults", "al2", files={SYSCTL: "kernel.panic=10\nkernel.panic_on_oops=1\n"}, name="unset"),
    Change("image.kernel_defaults", "al2", files={"/proc/sys/vm/overcommit_memory": "0\n"}, profile="live", name="live"),
    Change("image.ip_forward", files={"/etc/sysctl.d/99-zz-cis.conf": "net/ipv4/ip_forward = 0\n"}),
    Change("image.ip_forward", files={"/proc/sys/net/ipv4/ip_forward": "0\n"}, profile="live", name="live"),
    Change("image.bridge_filter", files={"/etc/sysctl.d/99-zz-cis.conf": "net.bridge.bridge-nf-call-iptables = 0\n"}),
    Change("image.no_ipv6", files={"/etc/sysctl.conf": "net.ipv6.conf.all.disable_ipv6 = 1\n"}),
    Change("image.no_ipv6_forwarding", files={"/etc/sysctl.d/60-cis.conf": "net.ipv6.conf.all.forwarding = 0\n"}),
    Change("image.modules_disabled", files={"/etc/sysctl.d/60-cis.conf": "kernel.modules_disabled = 1\n"}),
    Change("image.module_disabled", files={"/etc/modprobe.d/cis.conf": "install br-netfilter /usr/bin/false\n"}),
    Change("image.cgroup_v1", "al2", version="1.35"),
    Change("image.cgroup_v1", files={"/etc/default/grub": 'GRUB_CMDLINE_LINUX="systemd.unified_cgroup_hierarchy=0"\n'}, name="grub"),
    Change(
        "image.cgroup_v1", removed=("/sys/fs/cgroup/cgroup.controllers",), files={"/sys/fs/cgroup/memory/tasks": ""}, profile="live",
        name="live",
    ),
    Change("image.kernel_modules", files={"/boot/vmlinuz-6.12.1-1.amzn2023": ""}),
    Change(
        "image.dkms_module", links={f"{DKMS}/nvidia/580.95/source": "/usr/src/nvidia-580.95"},
        files={**KERNEL, f"{DKMS}/nvidia/kernel-6.1.9-x86_64/log/make.log": ""},
    ),
    Change("image.nerdctl_bridge", links={"/sys/class/net/nerdctl0": "../../devices/virtual/net/nerdctl0"}),
    Change("image.swap", files={"/etc/fstab": "UUID=1 / xfs defaults 0 0\nUUID=2 none swap sw 0 0\n"}),
    Change("image.swap", files={"/proc/swaps": "Filename Type Size Used Priority\n/swap file 1 0 -2\n"}, profile="live", name="live"),
    Change("image.missing_kubelet", removed=("/usr/bin/kubelet",)),
    Change("image.missing_runtime", removed=("/usr/bin/runc",)),
    Change("image.missing_nodeadm", removed=("/usr/bin/nodeadm",)),
    Change("image.missing_credential_provider", removed=("/etc/eks/image-credential-provider/ecr-credential-provider",)),
    Change("image.missing_authenticator", removed=("/usr/bin/aws",)),
    Change("image.missing_iptables", removed=("/usr/sbin/iptables",)),
    Change("image.missing_unpigz", removed=("/usr/bin/unpigz",)),
    Change("image.not_executable", modes={"/usr/bin/runc": 0o644}),
    Change("image.writable_program", modes={"/usr/bin/nodeadm": 0o777}),
    Change("image.wrong_architecture", files={"/usr/bin/runc": ELF_ARM}),
    Change("image.kubelet_version", version="1.35"),
    Change("image.kubelet_version", version="1.34", files={"/usr/bin/kubelet": program("Kubernetes v1.30.14")}, name="old"),
    Change("image.containerd_version", files=OLD_CONTAINERD),
    Change("image.containerd_config", "al2", files={CONTAINERD: "version = 3\n"}),
    Change("image.containerd_config", "al2", files={CONTAINERD: "version = [\n"}, name="damaged"),
    Change("image.no_cri_plugin", removed=("/etc/eks/bootstrap.sh",), family="ubuntu", files={
        CONTAINERD: 'disabled_plugins = ["cri"]\n', SYSCTL: "net.ipv4.ip_forward=1\n"}),
    Change("image.no_cri_plugin", files={CONTAINERD: 'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n'}, profile="live", name="live"),
    Change("image.masked_unit", links={"/etc/systemd/system/cloud-final.service": "/dev/null"}),
    Change("image.nodeadm_units", removed=(f"{WANTS}/nodeadm-run.service",)),
    Change("image.kubelet_enabled", links={f"{WANTS}/kubelet.service": KUBELET_UNIT}),
    Change("image.order_cycle", files={f"{UNITS}/cloud-final.service": service("After=multi-user.target")}),
    Change(
        "image.nodeadm_order",
        files={"/etc/systemd/system/nodeadm-run.service.d/10-early.conf": "[Unit]\nAfter=\nAfter=network.target\n"},
    ),
    Change(
        "image.kubelet_command",
        files={f"{KUBELET_UNIT}.d/20-command.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --v=4\n"},
    ),
    Change("image.kubelet_environment", "al2", files={
        f"{KUBELET_UNIT}.d/40-extra.conf": "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--v=4'\n"}),
    Change("image.kubelet_drop_in", files={"/etc/kubernetes/kubelet/config.json.d/90-image.conf": '{"maxPods": 10}'}),
    Change("image.nodeadm_document", files={f"{NODEADM_D}/20-labels.yaml": "kind: KubeletConfiguration\n"}),
    Change("image.nodeadm_document", files={f"{NODEADM_D}/20-labels.json": "{"}, name="damaged"),
    Change("image.nodeadm_cluster", files={f"{NODEADM_D}/20-cluster.yaml": "kind: NodeConfig\nspec:\n  cluster:\n    name: build\n"}),
    Change("image.nodeadm_ignored", files={f"{NODEADM_D}/20-labels.conf": "kind: NodeConfig\n"}),
    Change("image.cloud_init_off", files={"/etc/cloud/cloud-init.disabled": ""}),
    Change("image.cloud_init_source", files={"/etc/cloud/cloud.cfg.d/99-none.cfg": "datasource_list: [NoCloud, None]\n"}),
    Change("image.cloud_init_scripts", files={"/etc/cloud/cloud.cfg.d/99-cis.cfg": "cloud_final_modules: [final-message]\n"}),
    Change("image.firewall", links={f"{WANTS}/firewalld.service": f"{UNITS}/firewalld.service"}),
    Change("image.firewall", "ubuntu", files={"/etc/ufw/ufw.conf": "ENABLED=yes\n"}, name="ufw"),
    Change("image.packet_filter", links=FILTERED, files={"/etc/nftables.conf": NFT.format("drop")}),
    Change(
        "image.packet_filter", "al2", links={f"{WANTS}/iptables.service": f"{UNITS}/iptables.service"},
        files={"/etc/sysconfig/iptables": "*filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\nCOMMIT\n"}, name="iptables",
    ),
    Change("image.audit_stops_node", links=AUDITED, files={AUDITD: "space_left_action = email\nadmin_space_left_action = halt\n"}),
    Change("image.audit_stops_node", links=AUDITED, files={"/etc/audit/rules.d/10-cis.rules": "-b 8192\n-f 2\n"}, name="panic"),
    Change("image.no_time_source", removed=(f"{WANTS}/chronyd.service",)),
    Change("image.public_time_source", files={"/etc/chrony.conf": "pool 2.rhel.pool.ntp.org iburst\n"}),
    Change(
        "image.public_time_source", "ubuntu", links={f"{WANTS}/ntpsec.service": f"{UNITS}/ntpsec.service"},
        files={"/etc/ntpsec/ntp.conf": "pool 0.debian.pool.ntp.org iburst\n"}, name="ntp",
    ),
    Change("image.pam_module", "ubuntu", files=PAM | {"/etc/pam.d/common-account": f"{UNIX}account required pam_tally2.so\n"}),
    Change(
        "image.pam_module", files=PAM | {
            "/etc/pam.d/sshd": "account substack password-auth\n", "/etc/pam.d/password-auth": "account [default=die] \\\npam_sss.so\n"},
        profile="live", name="substack",
    ),
    Change("image.disk_space", free_mib=700),
    Change("image.noexec", files={"/etc/fstab": "UUID=1 / xfs defaults 0 0\nUUID=2 /var xfs nodev,noexec 0 0\n"}),
    Change(
        "image.noexec", files={"/proc/self/mountinfo": "1 0 0:1 / /opt rw,noexec - xfs /dev/nvme1n1 rw\n"}, profile="live", name="live"
    ),
    Change("image.fstab_device", files={"/etc/fstab": "UUID=1 / xfs defaults 0 0\n/dev/nvme1n1 /data xfs defaults 0 2\n"}),
    Change("image.selinux_label", files=ENFORCING, selinux=WRONG_LABEL),
)  # fmt: skip

NEAR_MISSES = (
    Change("image.machine_id", files={"/etc/machine-id": "uninitialized\n"}),
    Change("image.second_machine_id", links={"/var/lib/dbus/machine-id": "/etc/machine-id"}),
    Change("image.authorized_keys", files={"/root/.ssh/authorized_keys": ""}),
    Change("image.cloud_init_state", files={"/var/lib/cloud/scripts/per-boot/10-user.sh": "#!/bin/sh\n"}),
    Change("image.logs", files={"/var/log/wtmp": ""}),
    Change("image.log_size", sizes={"/var/log/build.log": 199 * MIB}),
    Change("image.core_dumps", files={"/tmp/corepack": "x"}),
    Change("image.temporary_files", files={"/tmp/script_4711.sh": "#!/bin/sh\n"}, name="in memory"),
    Change("image.temporary_files", files={"/var/tmp/systemd-private-01-chronyd.service-a/tmp/a": "x"}, name="of a service"),
    Change("image.temporary_files", files={
        "/var/tmp/play/play.yml": "x", "/proc/9/cmdline": "python3\0/usr/bin/ansible-playbook\0/var/tmp/play/play.yml\0"}, name="in use"),
    Change(
        "image.resolv_conf", "ubuntu", files={
            "/etc/resolv.conf": "nameserver 10.0.0.2\n", "/proc/self/mountinfo": "1 0 0:1 /x /etc/resolv.conf rw - ext4 /dev/sda1 rw\n"},
        name="in a container",
    ),
    Change("image.kernel_defaults", files={"/etc/sysctl.d/10-early.conf": "kernel.panic = 60\n"}, name="a later file wins"),
    Change("image.kernel_defaults", files={"/usr/lib/sysctl.d/99-kubernetes.conf": "kernel.panic = 60\n"}, name="replaced by /etc"),
    Change("image.kernel_defaults", "ubuntu", files={SYSCTL: "kernel.panic = 60\n"}, name="kubelet sets it"),
    Change("image.kernel_defaults", "ubuntu", files={"/proc/sys/kernel/panic": "60\n"}, profile="live", name="live, kubelet sets it"),
    Change("image.ip_forward", files={"/etc/sysctl.d/99-zz.conf": "; net.ipv4.ip_forward = 0\n# net.ipv4.ip_forward = 0\n"}),
    Change("image.module_disabled", files={"/etc/modprobe.d/blacklist.conf": "blacklist br_netfilter\n"}, name="loaded by name"),
    Change("image.cgroup_v1", "al2", version="1.34"),
    Change("image.cgroup_v1", files={
        "/etc/default/grub": "systemd.unified_cgroup_hierarchy=0\n",
        "/etc/kubernetes/kubelet/config.json": '{"failCgroupV1": false}'}, name="allowed"),
    Change("image.kernel_modules", files=KERNEL | {"/boot/vmlinuz-0-rescue-0123": ""}),
    Change("image.dkms_module", links={
        f"{DKMS}/nvidia/580.95/source": "/usr/src/nvidia-580.95",
        f"{DKMS}/nvidia/kernel-6.12.1-1.amzn2023-x86_64": "580.95/6.12.1-1.amzn2023/x86_64"}, files=KERNEL),
    Change("image.swap", files={
        "/etc/fstab": "UUID=2 none swap sw 0 0\n", "/etc/kubernetes/kubelet/config.json": '{"failSwapOn": false}'}, name="allowed"),
    Change("image.swap", files={"/etc/fstab": "#UUID=2 none swap sw 0 0\nUUID=3 none swap noauto 0 0\n"}),
    Change("image.missing_authenticator", removed=("/usr/bin/aws",), files={"/usr/local/bin/aws": program()}),
    Change("image.not_executable", modes={"/usr/bin/runc": 0o500}),
    Change("image.kubelet_version", version="1.36"),
    Change("image.kubelet_version", "al2", version="1.34", name="two older"),
    Change("image.containerd_version", files=OLD_CONTAINERD | {"/usr/bin/kubelet": program("Kubernetes v1.35.0")}),
    Change("image.containerd_config", files={CONTAINERD: "version = 3\n"}),
    Change("image.no_cri_plugin", files={CONTAINERD: 'disabled_plugins = ["cri"]\n'}, name="nodeadm writes the file"),
    Change("image.no_cri_plugin", files={CONTAINERD: 'disabled_plugins = ["io.containerd.internal.v1.opt"]\n'}, profile="live"),
    Change("image.order_cycle", files={
        f"{UNITS}/cloud-final.service": service("After=multi-user.target"),
        f"{UNITS}/cloud-final.service.d/10.conf": "[Unit]\nAfter=\nAfter=cloud-config.service\n"}),
    Change("image.kubelet_command", files={
        f"{KUBELET_UNIT}.d/20.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet ${NODEADM_KUBELET_ARGS} --v=4\n"}),
    Change("image.kubelet_environment", "al2", files={
        f"{KUBELET_UNIT}.d/10-early.conf": "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--v=4'\n"}),
    Change("image.kubelet_drop_in", files={"/etc/kubernetes/kubelet/config.json.d/90-image.json": "{}"}),
    Change("image.cloud_init_source", files={"/etc/cloud/cloud.cfg.d/99-aws.cfg": "datasource_list: [Ec2]\n"}),
    Change("image.cloud_init_scripts", files={"/etc/cloud/cloud.cfg.d/99.cfg": "cloud_final_modules: [[scripts_user, always]]\n"}),
    Change("image.packet_filter", links=FILTERED, files={"/etc/nftables.conf": NFT.format("accept")}),
    Change("image.packet_filter", files={"/etc/nftables.conf": NFT.format("drop")}, name="not enabled"),
    Change("image.audit_stops_node", links=AUDITED, files={
        AUDITD: "#disk_full_action = halt\ndisk_full_action = SUSPEND\n", "/etc/audit/audit.rules": "-f 1\n"}),
    Change("image.audit_stops_node", files={AUDITD: "disk_full_action = HALT\n"}, name="not enabled"),
    Change("image.public_time_source", files={"/etc/chrony.conf": "server 169.254.169.123 prefer\npool pool.ntp.org\n"}),
    Change("image.public_time_source", files={"/etc/chrony.conf": "pool 2.amazon.pool.ntp.org\nsourcedir /run/chrony.d\n"}, name="at boot"),
    Change("image.public_time_source", files={"/etc/ntpsec/ntp.conf": "pool 0.debian.pool.ntp.org\n"}, name="not enabled"),
    Change("image.pam_module", "ubuntu", files=PAM | {
        "/etc/pam.d/common-account": f"{UNIX}-account required pam_sss.so\naccount sufficient pam_ldap.so\n# auth required pam_tally2.so\n"
        "password required pam_pwquality.so\nauth [success=1 default=ignore] pam_krb5.so\n"}, name="not needed"),
    Change("image.pam_module", files={
        "/etc/pam.d/sudo": "@include sudo-i\n", "/etc/pam.d/sudo-i": "auth include sudo\n"}, name="in a circle"),
    Change("image.pam_module", files={"/etc/pam.d/smartcard-auth": "auth required pam_pkcs11.so\n"}, name="another service"),
    Change("image.disk_space", free_mib=1024),
    Change("image.noexec", files={"/etc/fstab": "UUID=2 /var/tmp xfs noexec 0 0\nUUID=3 /var/log xfs noexec 0 0\n"}),
    Change("image.selinux_label", files={"/etc/selinux/config": "SELINUX=disabled\n"}, selinux=WRONG_LABEL, name="disabled"),
    Change("image.selinux_label", files=ENFORCING, selinux="/opt/cni/bin verified."),
)  # fmt: skip
