# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules that user data can break: for each an example that breaks it, and a near miss that does not.

severity: pinned here, because an error fails the run of a user.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass

CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUPx==\n-----END CERTIFICATE-----\n").decode()
ENDPOINT = "https://0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com"
CLUSTER = f"    name: shop\n    apiServerEndpoint: {ENDPOINT}\n    certificateAuthority: {CA}\n    cidr: 10.100.0.0/16\n"


@dataclass(frozen=True)
class Row:
    """rule, severity: of the catalogue. wrong: breaks the rule. right: a near miss. family, version, instance_type: of the nodes."""

    rule: str
    severity: str
    wrong: str | bytes
    right: str | bytes
    family: str | None = None
    version: tuple[int, int] | None = None
    instance_type: str | None = None


def document(body: str) -> str:
    """A NodeConfig with a spec."""
    return f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n{body}"


def node_config(body: str = "") -> str:
    """A NodeConfig with a cluster. body: more of its spec, indented by two."""
    return document(f"  cluster:\n{CLUSTER}{body}")


def config(body: str) -> str:
    """A NodeConfig with a configuration of kubelet. body: lines of YAML, without indentation."""
    return node_config("  kubelet:\n    config:\n" + "".join(f"      {line}\n" for line in body.split("\n")))


def kubelet_config(body: str) -> str:
    """A NodeConfig with a configuration of kubelet, without a cluster, which is in another document."""
    return document("  kubelet:\n    config:\n" + "".join(f"      {line}\n" for line in body.split("\n")))


def flags(*words: str) -> str:
    """A NodeConfig with flags of kubelet."""
    return node_config("  kubelet:\n    flags:\n" + "".join(f'      - "{word}"\n' for word in words))


def containerd(toml: str) -> str:
    """A NodeConfig with a configuration of containerd."""
    return node_config("  containerd:\n    config: |\n" + "".join(f"      {line}\n" for line in toml.split("\n")))


def call(*words: str) -> str:
    """A script with a call of the image's bootstrap script that looks nothing up."""
    facts = f"--apiserver-endpoint {ENDPOINT} --b64-cluster-ca {CA} --dns-cluster-ip 10.100.0.10"
    return f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {facts} {' '.join(words)}\n"


def conditional(*words: str) -> str:
    """A script with a call that may not run."""
    return call(*words).replace("/etc", "if [ -e /etc/eks/bootstrap.sh ]; then\n  /etc", 1) + "fi\n"


def extra(words: str) -> str:
    """A call with flags of kubelet."""
    return call(f"--kubelet-extra-args '{words}'")


def shell(*lines: str) -> str:
    """A script."""
    return "\n".join(["#!/bin/bash", *lines, ""])


def cloud(*lines: str) -> str:
    """A cloud-config."""
    return "\n".join(["#cloud-config", *lines, ""])


HEAD = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n'
SCRIPT = "--B\nContent-Type: text/x-shellscript\n\n#!/bin/bash\ntrue\n"
END = "--B--\n"


def part(text: str, content_type: str = "text/x-shellscript", *headers: str) -> str:
    """A part of a MIME document."""
    return "\n".join(["--B", f"Content-Type: {content_type}", *headers, "", text]) + "\n"


def mime(*parts: str) -> str:
    """A MIME document."""
    return HEAD + "".join(parts) + END


def settings(body: str, table: str = "settings.kubernetes") -> str:
    """Settings of Bottlerocket with a cluster. body: lines below C(table)."""
    own = f'cluster-name = "shop"\napi-server = "{ENDPOINT}"\ncluster-certificate = "{CA}"\n'
    if table == "settings.kubernetes":
        return f"[settings.kubernetes]\n{own}{body}\n"
    return f"[settings.kubernetes]\n{own}\n[{table}]\n{body}\n"


def powershell(*lines: str) -> str:
    """User data of Windows."""
    return "\n".join(["<powershell>", *lines, "</powershell>", ""])


def start(*words: str) -> str:
    """User data of Windows with a call of EKS's script."""
    script = r'[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"'
    return powershell(script, f"& $EKSBootstrapScriptFile -EKSClusterName 'shop' {' '.join(words)}")


E64 = base64.b64encode(shell("true").encode()).decode()
KEY = "-----BEGIN RSA PRIVATE KEY-----"
ARGS = "-KubeletExtraArgs"
V3 = '[plugins."io.containerd.cri.v1.images"]\nsnapshotter = "overlayfs"'
V2 = '[plugins."io.containerd.grpc.v1.cri".containerd]\nsnapshotter = "overlayfs"'

SLASHES = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=%s\n\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--//--\n"

STRUCTURE = (
    # --- MIME: what cloud-init or nodeadm refuse, or lose without a message
    Row("mime.no_interpreter", "error", mime(part("echo hello")), mime(part("#!/bin/sh\necho hello"))),
    Row("mime.no_interpreter", "error", mime(SCRIPT, part("echo hello")), mime(SCRIPT, "--B\n\n", part(""))),
    Row("mime.text_after_end", "error", f"{HEAD}{SCRIPT}{END}{SCRIPT}{END}", f"{HEAD}{SCRIPT}{SCRIPT}{END}"),
    Row(
        "mime.invalid_content_type",
        "error",
        SLASHES % "//",
        SLASHES % '"//"',
    ),
    Row(
        "mime.invalid_header",
        "error",
        f"{HEAD}--B\nContent-Type: application/node.eks.aws\n{node_config()}{END}",
        f"{HEAD}--B\nContent-Type: application/node.eks.aws\n\n{node_config()}{END}",
    ),
    Row("mime.leading_blank", "error", f"\n{mime(SCRIPT)}", mime(SCRIPT)),
    Row("mime.leading_blank", "error", "".join(f"  {line}\n" for line in mime(SCRIPT).split("\n")), mime(SCRIPT)),
    Row("mime.missing_end", "error", f"{HEAD}{SCRIPT}", f"{HEAD}{SCRIPT}--B--"),
    Row("mime.missing_version", "error", mime(SCRIPT).replace("MIME-Version: 1.0\n", ""), mime(SCRIPT).replace("MIME-V", "mime-v")),
    Row(
        "mime.encoded_document",
        "error",
        mime(SCRIPT).replace("\n", "\nContent-Transfer-Encoding: base64\n", 1),
        mime(SCRIPT).replace("\n", "\nContent-Transfer-Encoding: 7bit\n", 1),
    ),
    Row(
        "mime.not_multipart",
        "error",
        "MIME-Version: 1.0\nContent-Type: text/x-shellscript\n\n#!/bin/bash\n",
        mime(SCRIPT).replace("mixed", "alternative"),
    ),
    Row("mime.invalid_boundary", "error", mime(SCRIPT).replace('"B"', '""'), mime(SCRIPT)),
    Row("mime.invalid_boundary", "error", mime(SCRIPT + "--Bx\n"), mime(SCRIPT + " --Bx\n")),
    Row("mime.text_before_parts", "error", f"{HEAD}#!/bin/bash\ntrue\n{SCRIPT}{END}", f"{HEAD}This is a document.\n{SCRIPT}{END}"),
    Row("mime.no_part", "error", mime(), mime(SCRIPT)),
    Row(
        "mime.nested_document",
        "error",
        mime(part(mime(SCRIPT).replace("B", "C").split("\n\n", 1)[1], 'multipart/mixed; boundary="C"')),
        mime(SCRIPT, SCRIPT),
    ),
    Row("mime.missing_encoding", "error", mime(part("#!/bin/bash\necho ä")), mime(part("#!/bin/bash\necho a"))),
    Row(
        "mime.unreadable_part",
        "error",
        mime(part("IyEvYmlu!", "text/x-shellscript", "Content-Transfer-Encoding: base64")),
        mime(part(E64, "text/x-shellscript", "Content-Transfer-Encoding: base64")),
    ),
    Row(
        "mime.repeated_header",
        "error",
        mime(part("#!/bin/sh", "text/x-shellscript", "Content-Type: text/plain")),
        mime(part("#!/bin/sh", "text/x-shellscript", "X-Note: text/plain")),
    ),
    Row("mime.refused_by_nodeadm", "note", mime(SCRIPT.replace("\n\n", "\n")), mime(SCRIPT), "al2"),
    Row("mime.refused_by_nodeadm", "note", SLASHES % "//", SLASHES % '"//"', "ubuntu"),
    Row("mime.refused_by_nodeadm", "note", f"{HEAD}{part(call())}", f"{HEAD}{part(call())}{END}"),
    Row("mime.unknown_type", "error", mime(part("a: 1", "application/json")), mime(part("#cloud-config\na: 1", "text/cloud-config"))),
    # --- the document as a whole
    Row("user_data.wrong_kind", "error", "echo hello\n", shell("echo hello")),
    Row("user_data.wrong_kind", "error", f"\n{shell('true')}", shell("true")),
    Row("user_data.wrong_kind", "error", mime(SCRIPT), settings(""), "bottlerocket"),
    Row("user_data.wrong_kind", "error", node_config(), shell("true"), "al2"),
    Row("user_data.wrong_kind", "error", shell("true"), start(), "windows"),
    Row("user_data.too_large", "error", shell("#" * 16384), shell("#" * 16300)),
    Row("user_data.unreadable", "error", base64.b64encode(E64.encode()).decode(), E64),
    Row("user_data.unreadable", "error", "\ufeff" + shell("true"), shell("true")),
    Row("user_data.unreadable", "error", gzip.compress(b"#!/bin/sh\n" * 20, mtime=0)[:-9], gzip.compress(b"#!/bin/sh\n" * 20, mtime=0)),
    Row("user_data.crlf", "warning", shell("true").replace("\n", "\r\n"), shell(r"printf '\r\n'")),
    Row("user_data.compressed", "note", gzip.compress(shell("true").encode(), mtime=0), shell("gzip -d < a")),
    Row("user_data.encoded", "note", E64, shell(f"echo {E64} | base64 -d")),
    Row("user_data.includes_url", "note", "#include\nhttps://example.com/a\n", shell("#include https://example.com/a")),
    Row(
        "user_data.not_checked",
        "warning",
        gzip.compress(shell("true\n" * 27_000).encode()),
        gzip.compress(shell("true\n" * 26_000).encode()),
    ),
    Row("user_data.bootstraps_twice", "error", call() + call().split("\n", 1)[1], call() + "# /etc/eks/bootstrap.sh shop\n"),
    Row("user_data.bootstraps_twice", "error", start().replace("</p", "& $EKSBootstrapScriptFile -EKSClusterName 'a'\n</p"), start()),
    Row("family.not_in_version", "error", call(), call(), "al2", (1, 33)),
    Row("cluster.version_too_old", "error", call(), call(), "al2", (1, 20)),
    Row("cluster.version_not_known", "warning", node_config(), node_config(), "al2023", (1, 99)),
    # --- secrets
    Row("secrets.private_key", "error", shell(f"echo '{KEY}'"), shell("echo '-----BEGIN PUBLIC KEY-----'")),
    Row(
        "secrets.aws_secret_key",
        "error",
        shell(f"export AWS_SECRET_ACCESS_KEY={'wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEY1'}"),
        shell("export AWS_SECRET_ACCESS_KEY=$(cat /run/key)"),
    ),
    Row("secrets.aws_session_token", "error", shell(f"AWS_SESSION_TOKEN={'Fwo' * 30}"), shell("AWS_SESSION_TOKEN=$1")),
    Row("secrets.activation_code", "error", shell("ACTIVATION_CODE=AbCdEfGhIjKlMnOpQrSt"), shell("ACTIVATION_CODE=${CODE}")),
    Row("secrets.bootstrap_token", "error", shell("kubeadm join --token abcdef.0123456789abcdef"), shell("kubeadm join --token $T")),
    Row("secrets.password", "error", cloud("chpasswd:", "  password: hunter22"), cloud("chpasswd:", "  password: $6")),
    Row("secrets.token", "error", shell("export API_TOKEN=a1b2c3d4e5f6a7b8c9d0"), shell("export API_TOKEN=$(cat /run/token)")),
    Row("secrets.proxy_credential", "error", shell("curl -x http://u:secret@p:3128 x"), shell("curl -x http://p:3128 x")),
    Row("secrets.registry_credential", "error", shell('echo "identitytoken": "abcdefgh12"'), shell('echo "identitytoken": "$T"')),
    # --- cloud-config
    Row("cloud_config.unreadable", "error", cloud("runcmd:", "\t- a"), cloud("runcmd:", "  - a")),
    Row("cloud_config.unreadable", "error", cloud("- a"), cloud("a: 1")),
    Row(
        "cloud_config.replaced_key",
        "error",
        mime(part(cloud("runcmd: [a]"), "text/cloud-config"), part(cloud("runcmd: [b]"), "text/cloud-config")),
        mime(part(cloud("runcmd: [a]"), "text/cloud-config"), part(cloud("bootcmd: [b]"), "text/cloud-config")),
    ),
    Row("cloud_config.wrong_type", "error", cloud("runcmd: echo a"), cloud("runcmd: [echo a]")),
    Row(
        "cloud_config.decimal_mode",
        "warning",
        cloud("write_files:", "  - path: /a", "    permissions: 644"),
        cloud("write_files:", "  - path: /a", "    permissions: 0644"),
    ),
)

NODE_CONFIGS = (
    Row("nodeconfig.unreadable", "error", node_config() + "  a: [\n", node_config()),
    Row("nodeconfig.unreadable", "error", node_config("  kubelet: {}\n  kubelet: {}\n"), node_config("  kubelet: {}\n")),
    Row("nodeconfig.several_documents", "error", f"{node_config()}---\n{node_config()}", f"---\n{node_config()}"),
    Row("nodeconfig.wrong_document", "error", node_config().replace("v1alpha1", "v1"), node_config()),
    Row("nodeconfig.unknown_field", "error", node_config("  kublet: {}\n"), node_config("  kubelet: {}\n")),
    Row(
        "labels.forbidden_prefix",
        "error",
        call('--kubelet-extra-args "--node-labels=zone=$(cat /zone),kubernetes.io/role=x"'),
        call('--kubelet-extra-args "--node-labels=zone=$(cat /zone)kubernetes.io/role=x,a=b"'),
    ),
    Row("nodeconfig.wrong_type", "error", node_config("  kubelet:\n    flags: --v=2\n"), node_config("  kubelet:\n    flags: [--v=2]\n")),
    Row("nodeconfig.invalid_value", "error", node_config().replace(CA, CA + "=="), node_config()),
    Row("nodeconfig.invalid_value", "error", node_config().replace("10.100.0.0/16", "10.100.0.1/16"), node_config()),
    Row("nodeconfig.invalid_value", "error", node_config().replace("https://", "http://"), node_config()),
    Row("nodeconfig.empty", "error", document(f"  cluster:\n{CLUSTER}    id: ''\n"), document(f"  cluster:\n{CLUSTER}    id: a\n")),
    Row(
        "nodeconfig.unknown_value",
        "error",
        node_config("  instance:\n    localStorage:\n      strategy: raid5\n"),
        node_config("  instance:\n    localStorage:\n      strategy: raid0\n"),
    ),
    Row("nodeconfig.unknown_feature_gate", "error", node_config("  featureGates:\n    A: true\n"), node_config("  featureGates: {}\n")),
    Row(
        "nodeconfig.invalid_name",
        "error",
        node_config("  instance:\n    environment:\n      containerd.service:\n        A: b\n"),
        node_config("  instance:\n    environment:\n      containerd:\n        A: b\n"),
    ),
    Row("nodeconfig.invalid_flag", "error", flags("--v=2 --event-qps=1"), flags("--v=2", "--event-qps=1")),
    Row("nodeconfig.unsafe_text", "error", flags("--v=2\\n"), flags("--v=2")),
    Row(
        "nodeconfig.replaces_nodeadm",
        "error",
        config("apiVersion: kubelet.config.k8s.io/v1"),
        config("apiVersion: kubelet.config.k8s.io/v1beta1"),
    ),
    Row(
        "nodeconfig.invalid_expression",
        "error",
        node_config("  kubelet:\n    maxPodsExpression: enis * 2\n"),
        node_config("  kubelet:\n    maxPodsExpression: default_enis * 2\n"),
    ),
    Row("nodeconfig.no_cluster", "note", document("  kubelet:\n    config:\n      maxPods: 20\n"), config("maxPods: 20")),
    Row("cluster.missing_field", "error", node_config().replace("    cidr: 10.100.0.0/16\n", ""), node_config()),
    Row(
        "cluster.missing_field",
        "error",
        document(f"  cluster:\n{CLUSTER}    enableOutpost: true\n"),
        document(f"  cluster:\n{CLUSTER}    enableOutpost: true\n    id: a\n"),
    ),
    Row("cluster.dns_outside_cidr", "warning", config("clusterDNS: [172.20.0.10]"), config("clusterDNS: [10.100.0.10, 169.254.20.10]")),
    Row(
        "nodeconfig.replaced_value",
        "warning",
        config("maxPods: 20") + "    flags: [--max-pods=30]\n",
        config("maxPods: 20") + "    flags: [--max-pods=20]\n",
    ),
    # --- containerd
    Row("containerd.wrong_config_version", "error", containerd(V3), containerd(V2), "al2023", (1, 29)),
    Row("containerd.wrong_config_version", "error", containerd(f"version = 2\n{V3}\n{V2}"), containerd(V3), "al2023", (1, 33)),
    Row("containerd.disables_cri", "error", containerd('disabled_plugins = ["cri"]'), containerd('disabled_plugins = ["aufs"]')),
    Row("toml.unreadable", "error", containerd("a = "), containerd("root = '/a'")),
)

KUBELET = (
    Row("kubelet.unknown_field", "error", config("maxPodz: 20"), config("maxPods: 20")),
    Row("kubelet.field_not_in_version", "error", config("failCgroupV1: false"), config("failSwapOn: false"), "al2023", (1, 30)),
    Row("kubelet.wrong_type", "error", config('maxPods: "20"'), config("maxPods: 20")),
    Row("kubelet.out_of_range", "error", config("imageGCHighThresholdPercent: 101"), config("imageGCHighThresholdPercent: 100")),
    Row("kubelet.invalid_value", "error", config("syncFrequency: 1 hour"), config("syncFrequency: 1h")),
    Row("kubelet.unknown_value", "error", config("cpuManagerPolicy: dynamic"), config("cpuManagerPolicy: none")),
    Row(
        "kubelet.missing_field",
        "error",
        config("registerWithTaints:\n  - key: a"),
        config("registerWithTaints:\n  - {key: a, effect: NoSchedule}"),
    ),
    Row("kubelet.unknown_flag", "error", flags("--max-podz=20"), flags("--max-pods=20")),
    Row("kubelet.unknown_flag", "error", extra("--dns-cluster-ip=10.100.0.10"), extra("--cluster-dns=10.100.0.10"), "al2"),
    Row("kubelet.flag_not_in_version", "error", flags("--container-runtime=remote"), flags("--v=2"), "al2023", (1, 30)),
    Row("kubelet.flag_not_in_version", "error", extra("--network-plugin=cni"), extra("--v=2"), "al2", (1, 28)),
    Row(
        "kubelet.unknown_feature_gate",
        "error",
        config("featureGates:\n  NoSuchGate: true"),
        config("featureGates:\n  AllAlpha: false"),
        "al2023",
    ),
    Row(
        "kubelet.locked_feature_gate",
        "error",
        config("featureGates:\n  SidecarContainers: false"),
        config("featureGates:\n  SidecarContainers: true"),
        "al2023",
        (1, 33),
    ),
    Row(
        "kubelet.missing_feature_gate",
        "error",
        config("imageMaximumGCAge: 1h\nfeatureGates:\n  ImageMaximumGCAge: false"),
        config("imageMaximumGCAge: 1h"),
        "al2023",
        (1, 33),
    ),
    Row(
        "kubelet.inconsistent_fields",
        "error",
        config("imageGCLowThresholdPercent: 90\nimageGCHighThresholdPercent: 80"),
        config("imageGCLowThresholdPercent: 70\nimageGCHighThresholdPercent: 80"),
        "al2023",
    ),
    Row(
        "kubelet.cpu_manager",
        "error",
        config("cpuManagerPolicy: static\nkubeReserved: {cpu: '0'}\nsystemReserved: {}"),
        config("cpuManagerPolicy: static\nkubeReserved: {cpu: 100m}"),
        "al2023",
        (1, 33),
    ),
    Row("kubelet.memory_manager", "error", config("memoryManagerPolicy: Static"), config("memoryManagerPolicy: None"), "al2023", (1, 33)),
    Row(
        "kubelet.topology_manager",
        "error",
        config("topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions:\n  no-such-option: 'true'"),
        config("topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions:\n  prefer-closest-numa-nodes: 'true'"),
        "al2023",
        (1, 33),
    ),
    Row("kubelet.cgroup_version", "error", extra("--fail-cgroupv1=true"), extra("--v=2"), "al2", (1, 32)),
    Row("kubelet.many_pods", "warning", config("maxPods: 1001"), config("maxPods: 110"), "al2023"),
    Row("kubelet.cgroup_driver", "warning", config("cgroupDriver: cgroupfs"), config("cgroupDriver: systemd"), "al2023"),
    Row("kubelet.unknown_cgroup_root", "warning", config("cgroupRoot: /mine"), config("cgroupRoot: /"), "al2023"),
    Row(
        "kubelet.reserved_cpus_conflict",
        "error",
        config("reservedSystemCPUs: '0'\nsystemReservedCgroup: /system"),
        config("systemReservedCgroup: /system"),
        "al2023",
    ),
    # --- labels and taints
    Row(
        "labels.forbidden_prefix",
        "error",
        flags("--node-labels=node-role.kubernetes.io/web="),
        flags("--node-labels=node.kubernetes.io/role=web"),
    ),
    Row("labels.invalid_key", "error", flags("--node-labels=a b=c".replace(" ", "/b/")), flags("--node-labels=a/b=c")),
    Row("labels.invalid_value", "error", flags("--node-labels=a=b/c"), flags("--node-labels=a=b.c")),
    Row(
        "labels.added_by_eks", "note", flags("--node-labels=eks.amazonaws.com/nodegroup=a"), flags("--node-labels=example.com/nodegroup=a")
    ),
    Row("labels.added_by_karpenter", "note", flags("--node-labels=karpenter.sh/nodepool=a"), flags("--node-labels=example.com/nodepool=a")),
    Row("taints.invalid_form", "error", flags("--register-with-taints=a=b"), flags("--register-with-taints=a=b:NoSchedule")),
    Row("taints.invalid_form", "error", flags("--register-with-taints=a=b:Never"), flags("--register-with-taints=a:NoSchedule")),
    Row("taints.invalid_key", "error", flags("--register-with-taints=-a=b:NoSchedule"), flags("--register-with-taints=a=b:NoSchedule")),
    Row("taints.invalid_value", "error", flags("--register-with-taints=a=b/c:NoSchedule"), flags("--register-with-taints=a=b:NoSchedule")),
    Row(
        "taints.duplicate",
        "error",
        flags("--register-with-taints=a=b:NoSchedule,a=c:NoSchedule"),
        flags("--register-with-taints=a=b:NoSchedule,a=b:NoExecute"),
    ),
    Row(
        "taints.replaced",
        "error",
        flags("--register-with-taints=a=b:NoSchedule", "--register-with-taints=c=d:NoSchedule"),
        flags("--register-with-taints=a=b:NoSchedule,c=d:NoSchedule"),
    ),
)

SCRIPTS = (
    Row("bootstrap.removed_from_image", "error", call(), call().replace("/etc/eks/bootstrap.sh", "/opt/bootstrap.sh"), "al2023"),
    Row(
        "bootstrap.missing_cluster_name",
        "error",
        shell("/etc/eks/bootstrap.sh --dns-cluster-ip 10.100.0.10"),
        shell("/etc/eks/bootstrap.sh shop --dns-cluster-ip 10.100.0.10"),
        "al2",
    ),
    Row("bootstrap.unknown_option", "error", call("--use-max-pods=false"), call("--use-max-pods true"), "al2"),
    Row(
        "bootstrap.unknown_option",
        "error",
        call("--kubelet-extra-args --node-labels=a=b --register-with-taints=c=d:NoSchedule"),
        extra("--node-labels=a=b --register-with-taints=c=d:NoSchedule"),
        "al2",
    ),
    Row("bootstrap.invalid_value", "error", call("--use-max-pods no"), call("--use-max-pods true"), "al2"),
    Row("bootstrap.invalid_value", "error", call().replace("https://", ""), call(), "al2"),
    Row(
        "bootstrap.invalid_value",
        "error",
        call('--use-max-pods no --ip-family "$(cat /family)"'),
        call('--use-max-pods true --ip-family "$(cat /family)"'),
        "al2",
    ),
    Row("bootstrap.possible_problem", "warning", conditional("--use-max-pods no"), conditional("--use-max-pods true"), "al2"),
    Row("bootstrap.possible_problem", "warning", conditional(), conditional().replace("  /etc", "  # /etc"), "al2023"),
    Row("bootstrap.possible_problem", "warning", extra('"--node-labels=a=b --v=3"'), extra('--node-labels="a=b" --v=3')),
    Row(
        "bootstrap.unknown_argument",
        "note",
        call('--ip-family "$(cat /family)"'),
        call('--ip-family "$FAMILY"').replace("\n", "\nFAMILY=ipv4\n", 1),
        "al2",
    ),
    Row(
        "labels.forbidden_prefix",
        "error",
        call('--kubelet-extra-args "--node-labels=kubernetes.io/role=web --register-with-taints=$(cat /taints)"'),
        call('--kubelet-extra-args "--node-labels=example.com/role=web --register-with-taints=$(cat /taints)"'),
        "al2",
    ),
    Row(
        "labels.forbidden_prefix",
        "error",
        extra("--node-labels=kubernetes.io/role=web --eviction-hard=memory.available<5%"),
        extra("--node-labels=example.com/role=web,team=<TEAM> --eviction-hard=memory.available<5%"),
        "al2",
    ),
    Row("bootstrap.unknown_argument", "note", call("$(cat /options)"), call("--ip-family ipv4"), "al2"),
    Row(
        "bootstrap.broken_quoting",
        "error",
        extra('"--node-labels=a=b --register-with-taints=c=d:NoSchedule"'),
        extra('--node-labels="a=b,c=d" --register-with-taints="c=d:NoSchedule"'),
        "al2",
    ),
    Row(
        "bootstrap.broken_quoting",
        "error",
        extra("--register-with-taints=a=b:NoSchedule c=d:NoSchedule"),
        extra("--register-with-taints a=b:NoSchedule,c=d:NoSchedule --v 3"),
    ),
    Row(
        "bootstrap.broken_quoting",
        "error",
        call("--kubelet-extra-args \"--node-labels='a=b' --v=2\""),
        call("--kubelet-extra-args '--node-labels='a=b"),
        "al2",
    ),
    Row(
        "bootstrap.broken_quoting",
        "error",
        call('--kubelet-extra-args "--node-labels=a=b\n --v=2"'),
        call('--kubelet-extra-args "--node-labels=a=b \\\n --v=2"'),
        "al2",
    ),
    Row("bootstrap.broken_quoting", "error", extra("--node-labels=a=b\n--v=2"), extra("--node-labels=a=b \\\n--v=2"), "al2"),
    Row("bootstrap.broken_quoting", "error", extra('--node-labels="a=b --v=2'), extra('--node-labels="a=b" --v=2'), "al2"),
    Row(
        "taints.invalid_form",
        "error",
        extra('--register-with-taints="a=b:Never" --v=2'),
        extra('--register-with-taints="a=b:NoSchedule" --v=2'),
        "al2",
    ),
    Row(
        "user_data.bootstraps_twice",
        "error",
        shell("/etc/eks/bootstrap.sh shop", "/etc/eks/bootstrap.sh shop"),
        shell("if [ -e /a ]; then", "  /etc/eks/bootstrap.sh shop --local-disks raid0", "else", "  /etc/eks/bootstrap.sh shop", "fi"),
    ),
    Row("bootstrap.removed_runtime", "error", call("--container-runtime dockerd"), call("--container-runtime containerd"), "al2"),
    Row("bootstrap.ignored_option", "warning", call("--enable-docker-bridge true"), call("--mount-bpf-fs true"), "al2"),
    Row(
        "bootstrap.max_pods_not_set",
        "warning",
        call("--use-max-pods false"),
        call("--use-max-pods false --kubelet-extra-args '--max-pods=20'"),
        "al2",
    ),
    Row("bootstrap.looks_up_cluster", "note", shell("/etc/eks/bootstrap.sh shop"), call(), "al2"),
    Row("bootstrap.guesses_dns", "note", call().replace(" --dns-cluster-ip 10.100.0.10", ""), call(), "al2"),
    Row(
        "reserved.sized_for_other_max_pods",
        "warning",
        extra("--max-pods=110"),
        extra("--max-pods=110 --kube-reserved=memory=1465Mi"),
        "al2",
    ),
    Row("cluster.invalid_certificate_authority", "error", call().replace(CA, CA + "=="), call(), "al2"),
    Row("cluster.dns_outside_cidr", "warning", call("--service-ipv4-cidr 172.20.0.0/16"), call("--service-ipv4-cidr 10.100.0.0/16"), "al2"),
    Row(
        "labels.forbidden_prefix",
        "error",
        extra("--node-labels=kubernetes.io/role=web"),
        extra("--node-labels=example.com/role=web"),
        "al2",
    ),
    Row("shell.asks_question", "warning", shell("yum install jq"), shell("yum install -y jq"), "al2"),
    Row("shell.downloads", "note", shell("curl -fsS https://example.com/a"), shell("curl -fsS http://169.254.169.254/latest/api/token")),
    Row(
        "shell.imds_without_token",
        "warning",
        shell("curl http://169.254.169.254/latest/meta-data/instance-id"),
        shell("curl -X PUT http://169.254.169.254/latest/api/token"),
    ),
    Row("shell.missing_program", "warning", shell("apt-get install -y jq"), shell("dnf install -y jq"), "al2023"),
    Row("shell.missing_program", "warning", shell("yum install -y jq"), shell("apt-get install -y jq"), "ubuntu"),
    Row("shell.uses_docker", "warning", shell("systemctl restart docker"), shell("systemctl restart containerd"), "al2023"),
    Row("shell.starts_kubelet", "warning", shell("systemctl restart kubelet"), shell("systemctl restart chronyd"), "al2023"),
    Row(
        "shell.edits_generated_file",
        "warning",
        shell("sed -i s/a/b/ /etc/kubernetes/kubelet/kubelet-config.json"),
        shell("# /etc/kubernetes/kubelet/kubelet-config.json"),
        "al2023",
    ),
    Row("shell.ignored_variable", "warning", shell("export USE_MAX_PODS=false"), shell("export MAX_PODS=false"), "al2023"),
    Row("shell.missing_service", "warning", shell("systemctl restart ntpd"), shell("systemctl restart chronyd"), "al2023"),
    Row("shell.other_package", "warning", shell("dnf install -y epel-release"), shell("dnf install -y jq"), "al2023"),
    Row("shell.removed_command", "warning", shell("aws ecr get-login"), shell("aws ecr get-login-password"), "al2023"),
    Row("shell.sysconfig_file", "note", shell("echo x >/etc/sysconfig/clock"), shell("echo x >/etc/sysctl.d/a.conf"), "al2023"),
    Row("shell.unused_file", "warning", shell("cat /etc/eks/eni-max-pods.txt"), shell("cat /etc/eks/release"), "al2023"),
)

OTHERS = (
    Row("bottlerocket.unknown_setting", "error", settings("max-podz = 20"), settings("max-pods = 20")),
    Row("bottlerocket.wrong_type", "error", settings("cluster-domain = 5"), settings('cluster-domain = "cluster.local"')),
    Row("bottlerocket.out_of_range", "error", settings("max-pods = -1"), settings("max-pods = 20")),
    Row("bottlerocket.invalid_value", "error", settings('cluster-dns-ip = "10.100.0"'), settings('cluster-dns-ip = "10.100.0.10"')),
    Row("bottlerocket.unknown_value", "error", settings('cpu-manager-policy = "dynamic"'), settings('cpu-manager-policy = "static"')),
    Row(
        "bottlerocket.invalid_name",
        "error",
        settings('"a/b/c" = "d"', "settings.kubernetes.node-labels"),
        settings('"a/b" = "d"', "settings.kubernetes.node-labels"),
    ),
    Row("bottlerocket.outside_settings", "error", settings("") + "[other.ntp]\n", settings("") + "[settings.ntp]\n"),
    Row("bottlerocket.no_cluster", "note", "[settings.kubernetes]\nmax-pods = 20\n", settings("max-pods = 20")),
    Row("cluster.missing_field", "error", settings("").replace('cluster-name = "shop"\n', ""), settings("")),
    Row("toml.unreadable", "error", settings("") + "[settings.kubernetes]\nmax-pods = 20\n", settings("max-pods = 20")),
    Row(
        "labels.forbidden_prefix",
        "error",
        settings('"kubernetes.io/role" = "a"', "settings.kubernetes.node-labels"),
        settings('"a.io/role" = "a"', "settings.kubernetes.node-labels"),
    ),
    Row("powershell.text_outside", "error", start() + "echo a\n", start() + "\n"),
    Row("powershell.unbalanced_tag", "error", start().replace("</powershell>", ""), start()),
    Row("powershell.script_block", "error", start() + "<script>dir</script>\n", start() + "<persist>true</persist>\n"),
    Row("powershell.invalid_persist", "error", start() + "<persist>yes</persist>\n", start() + "<persist>false</persist>\n"),
    Row("powershell.unknown_tag", "error", start() + "<detach>true</detach>\n", start()),
    *(
        Row("powershell.open_string", "error", powershell(*wrong), powershell(*right))
        for wrong, right in (
            (("$a = 'b", "ls"), ("$a = 'b''s'", "# it's", "<# it's #>", "$b = `'", "echo a#'b'")),
            (('$a = "b', "ls"), ('$a = "b`" ""$(f "c(" # "\n)${d}" + \'"\'', "cmd --% /c it's")),
            (("$a = 'b\u2019s'",), ("$a = 'b\u2019", "$c = \u201eb' d\u201c")),
            (("$a = @'", "b", "  '@"), ("$a = @'", "it's \"b", "'@ + @\"", "it's `\" $(f 'c')", '"@', "f @a'b'")),
            (("$a = @'b", "'@"), ("$a = @' ", "b", "'@")),
            (('$a = @"', "$(f 'b)", '"@'), ('$a = @"', "$(f 'b')", '"@')),
        )
    ),
    *(
        Row("powershell.unquoted_path", "error", powershell(wrong), powershell(*right))
        for wrong, right in (
            (
                r"& C:\Program Files\Amazon\EKS\Start-EKSBootstrap.ps1 -EKSClusterName shop",
                (r"& C:\Program` Files\a.ps1", r"# C:\Program Files\a", r"cmd --% /c dir C:\Program Files"),
            ),
            (r"$a = C:\Program Files (x86)\a.exe", (r"$a = 'C:\Program Files (x86)\a.exe'", "$a = @'", r"C:\Program Files\a", "'@")),
            (r"md $env:SystemDrive\Program Files\a", (r'md "$env:SystemDrive\Program Files\a"', r"copy C:\a b\c", "cd $env:ProgramFiles")),
        )
    ),
    *(
        Row("powershell.path_not_called", "error", powershell(*wrong), powershell(*right))
        for wrong, right in (
            (
                (r'"C:\Program Files\Amazon\EKS\Start-EKSBootstrap.ps1" -EKSClusterName shop',),
                (r'& "C:\EKS\Start-EKSBootstrap.ps1" -EKSClusterName shop', r". 'C:\a.ps1'", r"start `", r"'C:\a.exe'"),
            ),
            ((r"try { 'C:\a.exe' /quiet } catch { ls }",), (r"$a = if ($b) { 'C:\a.exe' } else { 'C:\b.exe' }", r"f @{ 'C:\a.exe' = 1 }")),
            (("$a = 'b'", r'"$env:ProgramFiles\a.exe"', "ls"), ("$a =", r"'C:\a.exe'", r"$b = @(", r"'C:\a.exe'", r"'C:\b.exe'", ")")),
            (
                ("\u201cC:\\a.exe\u201d install",),
                (r"'C:\a.exe' -replace 'a', 'b' | Out-File c", r"'C:\a.exe', 'C:\b.exe' | % { & $_ }", "'running C:\\a.exe'", "'a.exe'"),
            ),
        )
    ),
    Row("windows.missing_cluster_name", "error", start().replace("-EKSClusterName 'shop' ", ""), start()),
    Row("windows.removed_runtime", "error", start("-ContainerRuntime 'docker'"), start("-ContainerRuntime 'containerd'")),
    Row("windows.unexpanded_variable", "warning", start(ARGS, "'--node-labels=a=$env:NAME'"), start(ARGS, '"--node-labels=a=$env:NAME"')),
    Row("kubelet.unknown_flag", "error", start(ARGS, "'--max-podz=20'"), start(ARGS, "'--max-pods=20'")),
)

LARGE = "m5.large"
"""A type with 2 vCPUs, 8 GiB of memory, and addresses for 29 pods: 434 with prefixes, and 9 or 144 on Windows."""

OF_INSTANCES = (
    Row("capacity.needs_prefixes", "note", config("maxPods: 110"), config("maxPods: 29"), "al2023", None, LARGE),
    Row("capacity.needs_prefixes", "note", flags("--max-pods=434"), flags("--max-pods=435"), "al2023", None, LARGE),
    Row(
        "capacity.needs_prefixes",
        "note",
        extra("--max-pods=30 --kube-reserved=memory=1465Mi"),
        extra("--max-pods=29 --kube-reserved=memory=1465Mi"),
        "al2",
        None,
        LARGE,
    ),
    Row("capacity.needs_prefixes", "note", start(ARGS, "'--max-pods=10'"), start(ARGS, "'--max-pods=9'"), "windows", None, LARGE),
    Row("capacity.too_many_pods", "warning", settings("max-pods = 435"), settings("max-pods = 29"), "bottlerocket", None, LARGE),
    Row("capacity.too_many_pods", "warning", start(ARGS, "'--max-pods=145'"), start(ARGS, "'--max-pods=144'"), "windows", None, LARGE),
    Row("capacity.too_many_pods", "warning", config("maxPods: 50"), config("maxPods: 4"), "al2023", None, "t2.nano"),
    Row(
        "reserved.exceeds_capacity",
        "error",
        config("kubeReserved: {memory: 7Gi}\nsystemReserved: {memory: 1Gi}"),
        config("kubeReserved: {memory: 6Gi}\nsystemReserved: {memory: 1Gi}"),
        "al2023",
        None,
        LARGE,
    ),
    Row(
        "reserved.exceeds_capacity",
        "error",
        config("kubeReserved: {cpu: '2'}\nsystemReserved: {cpu: 100m}"),
        config("kubeReserved: {cpu: 1900m}\nsystemReserved: {cpu: 100m}"),
        "al2023",
        None,
        LARGE,
    ),
    Row(
        "reserved.exceeds_capacity",
        "error",
        extra("--kube-reserved=cpu=80m,memory=7Gi --eviction-hard=memory.available<1Gi"),
        extra("--kube-reserved=cpu=80m,memory=7Gi --eviction-hard=memory.available<5%"),
        "al2",
        None,
        LARGE,
    ),
    Row(
        "reserved.exceeds_capacity",
        "error",
        settings('memory = "8Gi"', "settings.kubernetes.kube-reserved"),
        settings('memory = "8Gi"', "settings.kubernetes.kube-reserved").replace("8Gi", "1Gi"),
        "bottlerocket",
        None,
        LARGE,
    ),
    Row("reserved.sized_for_other_max_pods", "warning", extra("--max-pods=58"), extra("--max-pods=29"), "al2", None, LARGE),
    Row(
        "bootstrap.max_pods_not_set",
        "warning",
        call("--use-max-pods false --local-disks raid0"),
        call("--use-max-pods true --local-disks raid0"),
        "al2",
        None,
        LARGE,
    ),
)

NODE = "application/node.eks.aws"

LOST = (
    Row("bootstrap.repeated_option", "error", f"{extra('--v=2').rstrip()} --kubelet-extra-args --v=3\n", extra("--v=2 --v=3")),
    Row("bootstrap.unknown_option", "error", call("\u2013-use-max-pods false"), call("--use-max-pods true")),
    Row("cloud_config.invalid_command", "error", cloud("runcmd:", "- echo a: b"), cloud("runcmd:", "- 'echo a: b'")),
    Row("cloud_config.invalid_command", "error", cloud("bootcmd:", "- 5"), cloud("bootcmd:", "- '5'", "- null", "- [a, 5]")),
    Row("cloud_config.invalid_file", "error", cloud("write_files:", "- content: a"), cloud("write_files:", "- {path: /a, content: a}")),
    Row("cloud_config.invalid_file", "error", cloud("write_files: [/a]"), cloud("write_files: [{path: /a}]")),
    Row(
        "cloud_config.invalid_file",
        "error",
        cloud("write_files:", "- {path: /a, encoding: b64, content: abcde}"),
        cloud("write_files:", "- {path: /a, encoding: b64, content: abcd}"),
    ),
    Row(
        "cloud_config.invalid_mode",
        "warning",
        cloud("write_files:", "- {path: /a, permissions: rw, content: a}"),
        cloud("write_files:", "- {path: /a, permissions: '0o644', content: a}"),
    ),
    Row(
        "cloud_config.unknown_encoding",
        "warning",
        cloud("write_files:", "- {path: /a, encoding: base-64, content: a}"),
        cloud("write_files:", "- {path: /a, encoding: gz+b64, content: H4sI}"),
    ),
    Row("kubelet.unknown_flag", "error", extra("-node-labels=a=b"), extra("--node-labels=a=b -v=2")),
    Row(
        "nodeconfig.wrong_part",
        "error",
        mime(part(node_config(), "text/cloud-config")),
        mime(part(node_config(), NODE)),
    ),
    Row("shell.indented_end", "error", shell("cat >/a <<E", "b", " E", "ls"), shell("cat >/a <<-E", "\tb", "\tE", "ls")),
    Row("shell.not_understood", "warning", shell("if true; then", "ls"), shell("if true; then", "ls", "fi")),
    Row("shell.open_quote", "error", shell("ls", "echo 'a", "ls"), shell("ls", "echo \\'a", "# it's", "cat <<E", "it's", "E")),
    Row(
        "shell.option_as_command",
        "error",
        call("--use-max-pods true").replace(" --b64", " \\ \n  --b64"),
        call().replace(" --b64", " \\\n  --b64"),
    ),
    Row(
        "user_data.crlf",
        "warning",
        mime(part("#!/bin/bash\r\nls")),
        mime(part("#!/bin/bash\nls")).replace("\n", "\r\n").replace("bash\r\n", "bash\n"),
    ),
    Row(
        "user_data.built_on_node",
        "note",
        "## template: jinja\n#cloud-config\n{% if v1.b %}\na: 1\n{% endif %}\n",
        "## template: jinja\n#cloud-config\na: {{ v1.b }}\n",
    ),
    Row("user_data.built_on_node", "note", "## template: jinja\n#!/bin/bash\necho ${#PATH}\n", "#cloud-config-archive\n- 'runcmd: [ls]'\n"),
    Row(
        "windows.unknown_parameter",
        "error",
        "<powershell>\n& 'C:\\EKS\\Start-EKSBootstrap.ps1' `\n  -EKSClusterName shop -ClusterName 'https://a'\n</powershell>\n",
        "<powershell>\n& 'C:\\EKS\\Start-EKSBootstrap.ps1' -EKSClusterName 'a -B c' -Verbose | Tee-Object -FilePath a\n</powershell>\n",
        "windows",
    ),
    Row(
        "cluster.dns_outside_cidr",
        "warning",
        mime(part(node_config(), NODE), part(kubelet_config("clusterDNS: [172.20.0.10]"), NODE)),
        mime(part(node_config(), NODE), part(kubelet_config("clusterDNS: [10.100.0.10]"), NODE)),
    ),
    Row(
        "kubelet.inconsistent_fields",
        "error",
        mime(
            part(config("imageGCHighThresholdPercent: 50"), NODE),
            part(kubelet_config("imageGCLowThresholdPercent: 60"), NODE),
        ),
        mime(
            part(config("imageGCHighThresholdPercent: 50"), NODE),
            part(kubelet_config("imageGCLowThresholdPercent: 40"), NODE),
        ),
        "al2023",
    ),
    Row(
        "reserved.exceeds_capacity",
        "error",
        mime(
            part(config("kubeReserved: {memory: 5Gi}"), NODE),
            part(kubelet_config("systemReserved: {memory: 5Gi}"), NODE),
        ),
        mime(
            part(config("kubeReserved: {memory: 5Gi}"), NODE),
            part(kubelet_config("kubeReserved: {memory: 1Gi}\nsystemReserved: {memory: 5Gi}"), NODE),
        ),
        "al2023",
        None,
        LARGE,
    ),
)

ROWS = (*STRUCTURE, *NODE_CONFIGS, *KUBELET, *SCRIPTS, *OTHERS, *OF_INSTANCES, *LOST)
