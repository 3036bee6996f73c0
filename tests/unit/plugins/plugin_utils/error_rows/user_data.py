# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Existing user data: what a family cannot read, what its readers would drop, what contradicts the fields, what holds a secret."""

from __future__ import annotations

import base64
import zlib
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import NamedFile
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.named_files import with_files
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row, group

SHELL = "#!/bin/bash\necho hi\n"
NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"
TOML = "[settings.kubernetes]\nmax-pods = 3\n"
POWERSHELL = "<powershell>\nls\n</powershell>\n"
HEADER = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n'
SHELL_PART = f"--B\nContent-Type: text/x-shellscript\n\n{SHELL}"
PROXY = {"proxy": {"https": "http://a.example"}}
PROXY_DROP_IN = """#cloud-config
write_files:
- path: /etc/systemd/system/containerd.service.d/http-proxy.conf
  content: |
    [Service]
    Environment="HTTPS_PROXY=http://b.example"
"""
MIRRORS = """#cloud-config
write_files:
- path: /etc/containerd/certs.d/docker.io/hosts.toml
  content: |
    [host."https://o.example"]
"""
GZIP = base64.b64encode(gzip_bytes(SHELL.encode())).decode()


def _is(what: str, text: Any, family: str = "al2023", **fields: Any) -> Row:
    return group(f"{family}: {what}", {"family": family, "user_data": text, **fields})


def _part(content_type: str, body: str, *headers: str) -> str:
    lines = "".join(f"{header}\n" for header in headers)
    return f"{HEADER}\n--B\nContent-Type: {content_type}\n{lines}\n{body}\n--B--\n"


def _secret(what: str, text: str, secret: str) -> Row:
    return group(f"secret in user data: {what}", {"family": "al2023", "user_data": f"#!/bin/bash\n{text}\n"}, secret=secret)


def _files(what: str, fields: dict[str, Any]) -> Row:
    return group(what, {"family": "al2023", **fields})


# Put together here, so that no file of the project looks as if it held a credential.
KEY = "-----BEGIN " + "RSA PRIVATE KEY-----"
AWS_KEY = "wJalr" + "XUtnFEMI/K7MDENG/bPxRfiCYEX" + "AMPLEKEY"
SESSION = "Fwo" + "GZXIvYXdzEB" * 8
AUTH = base64.b64encode(b"user:hunter22").decode()
TOKEN = "abcdef." + "0123456789abcdef"

ROWS = (
    group(
        "files that do not exist", with_files({"family": "al2023", "user_data_files": ["a.sh", "../b.sh", "/c.sh", 7]}, "/nowhere/files")
    ),
    group(
        "files that are not user data", {"family": "al2023", "user_data_files": [NamedFile("a.exe", b"MZ\x90"), NamedFile("b", b"a: b\n")]}
    ),
    group("a file that was not read", {"family": "al2023", "user_data_files": "a.sh"}),
    _is("containerd without CRI", NODE_CONFIG + "spec: {containerd: {config: 'disabled_plugins = [\"cri\"]'}}\n"),
    _is("TOML", TOML),
    _is("PowerShell", POWERSHELL),
    _is("a NodeConfig", NODE_CONFIG, "al2"),
    _is("a NodeConfig in MIME", _part("application/node.eks.aws", NODE_CONFIG), "ubuntu"),
    _is("TOML", TOML, "al2"),
    _is("PowerShell", POWERSHELL, "ubuntu"),
    _is("text that cloud-init does not run", "echo hi\n", "al2"),
    _is("a script", SHELL, "bottlerocket"),
    _is("cloud-config", "#cloud-config\n{}\n", "bottlerocket"),
    _is("MIME", HEADER + "\n" + SHELL_PART + "--B--\n", "bottlerocket"),
    _is("broken TOML", "[settings\n", "bottlerocket"),
    _is("TOML outside of settings", "[kubernetes]\nmax-pods = 3\n", "bottlerocket"),
    _is("unknown setting", "[settings.kubernets]\nmax-pods = 3\n", "bottlerocket"),
    _is("identity in a managed group", '[settings.kubernetes]\ncluster-name = "x"\n', "bottlerocket", mode="managed"),
    _is("a script", SHELL, "windows"),
    _is("TOML", TOML, "windows"),
    _is("cmd.exe", "<script>dir</script>", "windows"),
    _is("a tag that does not close", "<powershell>\nls\n", "windows"),
    _is("text outside of the block", POWERSHELL + "ls\n", "windows"),
    _is("persist twice", POWERSHELL + "<persist>true</persist><persist>false</persist>", "windows"),
    _is("persist against the field", POWERSHELL + "<persist>false</persist>", "windows", windows={"persist": True}),
    _is("persist in a managed group", POWERSHELL + "<persist>true</persist>", "windows", mode="managed"),
    _is("a second bootstrap", "<powershell>\n& $EKSBootstrapScriptFile -EKSClusterName x\n</powershell>", "windows"),
    # Encodings.
    _is("damaged base64", "A" * 41),
    _is("base64 of bytes", base64.b64encode(b"\xff" * 40).decode()),
    _is("base64 twice", base64.b64encode(base64.b64encode(SHELL.encode())).decode()),
    _is("damaged gzip", GZIP[:-8] + "AAAA" + GZIP[-4:]),
    _is("gzip that ends early", base64.b64encode(gzip_bytes(SHELL.encode())[:-6]).decode()),
    _is("gzip that grows", base64.b64encode(gzip_bytes(b"#!/bin/bash\n" + b"#" * (1 << 20))).decode()),
    _is("raw zlib", base64.b64encode(zlib.compress(SHELL.encode() * 9)).decode()),
    _is("byte order mark", "\ufeff" + SHELL),
    _is("NUL", "#!/bin/bash\n\0"),
    _is("no text", {"a": 1}),
    # MIME that its readers would refuse, or of which they would drop something.
    _is("MIME that is indented", "\n" + HEADER + "\n" + SHELL_PART + "--B--\n"),
    _is("MIME without version", HEADER.split("\n", 1)[1] + "\n" + SHELL_PART + "--B--\n"),
    _is("MIME without boundary", "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\nx\n"),
    _is("MIME without end", HEADER + "\n" + SHELL_PART),
    _is("MIME without part", HEADER + "\n--B--\n"),
    _is("MIME with too many parts", HEADER + "\n" + SHELL_PART * 1001 + "--B--\n"),
    _is("MIME without blank line", HEADER + SHELL_PART + "--B--\n"),
    _is("MIME with text behind its end", HEADER + "\n" + SHELL_PART + "--B--\n" + SHELL_PART + "--B--\n"),
    _is("MIME with text before its parts", HEADER + "\n" + SHELL + SHELL_PART + "--B--\n"),
    _is("MIME within MIME", _part("multipart/mixed; boundary=C", "--C\n\nx\n--C--")),
    _is("MIME part without shebang", _part("text/x-shellscript", "echo hi")),
    _is("MIME part of an unknown type", _part("text/html", "<p>")),
    _is("MIME part with two types", _part("text/x-shellscript", SHELL, "Content-Type: text/cloud-config")),
    _is("MIME part with an unknown encoding", _part("text/x-shellscript", SHELL, "Content-Transfer-Encoding: x-uuencode")),
    _is("MIME part with broken base64", _part("text/x-shellscript", "***", "Content-Transfer-Encoding: base64")),
    _is("MIME part beyond ASCII", _part("text/x-shellscript", "#!/bin/bash\necho ü")),
    _is("MIME part that is not a NodeConfig", _part("application/node.eks.aws", "kind: Node")),
    _is("MIME that is not multipart", "MIME-Version: 1.0\nContent-Type: text/plain\n\nx\n"),
    # NodeConfig that nodeadm would refuse, or of which it would drop something.
    _is("NodeConfig with an unknown field", NODE_CONFIG + "spec: {kublet: {}}\n"),
    _is("NodeConfig that is not YAML", NODE_CONFIG + "spec: {\n"),
    _is("NodeConfig of another version", "apiVersion: node.eks.aws/v1\nkind: NodeConfig\nspec: {}\n"),
    _is("NodeConfig with a wrong type", NODE_CONFIG + "spec: {kubelet: {flags: x}}\n"),
    # Contradictions.
    _is("max pods", NODE_CONFIG + "spec: {kubelet: {config: {maxPods: 5}}}\n", max_pods=20),
    _is("label", NODE_CONFIG + "spec: {kubelet: {flags: [--node-labels=a=b]}}\n", labels={"a": "c"}),
    _is(
        "taint",
        NODE_CONFIG + "spec: {kubelet: {flags: ['--register-with-taints=a=b:NoSchedule']}}\n",
        taints=[{"key": "a", "effect": "NoSchedule"}],
    ),
    _is("flag", NODE_CONFIG + "spec: {kubelet: {flags: [--v=1]}}\n", kubelet={"flags": {"v": 2}}),
    _is("flag against field", NODE_CONFIG + "spec: {kubelet: {flags: [--max-pods=5]}}\n", max_pods=20),
    _is("map flag against field", NODE_CONFIG + "spec: {kubelet: {flags: ['--kube-reserved=cpu=1']}}\n", reserved={"kube": {"cpu": "2"}}),
    _is(
        "list flag that no field can replace",
        NODE_CONFIG + "spec: {kubelet: {flags: [--cluster-dns=9.9.9.9]}}\n",
        kubelet={"config": {"clusterDNS": ["10.100.0.53"]}},
        user_data_precedence="ours",
    ),
    _is("flag and field", NODE_CONFIG + "spec: {kubelet: {config: {maxPods: 5}, flags: [--max-pods=6]}}\n"),
    _is("two NodeConfigs in one document", f"{NODE_CONFIG}---\n{NODE_CONFIG}"),
    _is("two NodeConfigs that differ", [f"{NODE_CONFIG}spec: {{kubelet: {{config: {{maxPods: {pods}}}}}}}\n" for pods in (5, 6)]),
    _is("two NodeConfigs with one list", [f"{NODE_CONFIG}spec: {{kubelet: {{flags: [--cluster-dns=10.0.0.10]}}}}\n"] * 2),
    _is("a NodeConfig with a flag and a field", f"{NODE_CONFIG}spec: {{kubelet: {{flags: [--max-pods=5], config: {{maxPods: 6}}}}}}\n"),
    _is("a NodeConfig with a flag twice", f"{NODE_CONFIG}spec: {{kubelet: {{flags: [--v=2, --v=3]}}}}\n"),
    group(
        "flag and field in override",
        {"family": "al2023", "override": NODE_CONFIG + "spec: {kubelet: {config: {maxPods: 5}, flags: [--max-pods=6]}}\n"},
    ),
    _is("a proxy in a script", "#!/bin/bash\nexport https_proxy=http://b.example\n", "al2", **PROXY),
    _is("a proxy in a file", PROXY_DROP_IN, "ubuntu", **PROXY),
    _is("a proxy in a drop-in that wins", PROXY_DROP_IN, "al2", **PROXY, user_data_precedence="ours"),
    _is("a proxy in PowerShell", "$env:HTTPS_PROXY = 'http://b.example'\n", "windows", **PROXY),
    _is(
        "two proxies of the user",
        [f"#!/bin/bash\nexport HTTPS_PROXY=http://{name}.example\n" for name in ("b", "c")],
        "al2",
        **PROXY,
        user_data_precedence="theirs",
    ),
    _is("mirrors in a file", MIRRORS, containerd={"registry_mirrors": {"docker.io": ["https://m.example"]}}),
    group(
        "two pause images",
        {
            "family": "al2",
            "containerd": {
                "pause_image": "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.9",
                "config": {"plugins": {"io.containerd.grpc.v1.cri": {"sandbox_image": "registry.k8s.io/pause:3.9"}}},
            },
        },
    ),
    group("flag and field of kubelet", {"family": "al2023", "kubelet": {"config": {"podPidsLimit": 5}, "flags": {"pod-max-pids": 6}}}),
    group("endpoint with a port on Outposts", {"family": "al2023"}, {"endpoint": "https://local.example:6443", "outpost": True, "id": "i"}),
    _is("setting", TOML, "bottlerocket", max_pods=20),
    _is("registry secret is not shown", '[settings.network]\nhttps-proxy = "http://a:1"\n', "bottlerocket", proxy={"https": "http://b:1"}),
    # Secrets: named, never repeated.
    _secret("PEM private key", KEY + "\nMIIEow", "MIIEow"),
    _secret("AWS secret access key", f"export AWS_SECRET_ACCESS_KEY={AWS_KEY}", AWS_KEY),
    _secret("AWS session token", f"export AWS_SESSION_TOKEN={SESSION}", SESSION),
    _secret("SSM activation code", "amazon-ssm-agent -register -code x -activation-code 'Abcdefghij0123456789'", "Abcdefghij0123456789"),
    _secret("bootstrap token", f"kubeadm join --token {TOKEN}", TOKEN),
    _secret("registry auth", f'echo \'{{"auths": {{"r": {{"auth": "{AUTH}"}}}}}}\'', AUTH),
    _secret("registry password", 'echo \'{"password": "hunter22"}\'', "hunter22"),
    _secret("registry identity token", 'echo \'{"identitytoken": "eyJhbGciOi"}\'', "eyJhbGciOi"),
    _secret("proxy credentials", "export https_proxy=http://user:hunter22@proxy:3128", "hunter22"),
    group(
        "secret in a base64 document",
        {"family": "al2023", "user_data": base64.b64encode(f"#!/bin/sh\nexport AWS_SECRET_ACCESS_KEY={AWS_KEY}\n".encode()).decode()},
        secret=AWS_KEY,
    ),
    group(
        "secret in a part that is base64",
        {
            "family": "al2023",
            "user_data": _part(
                "text/x-shellscript",
                base64.b64encode(f"#!/bin/sh\nexport AWS_SECRET_ACCESS_KEY={AWS_KEY}\n".encode()).decode(),
                "Content-Transfer-Encoding: base64",
            ),
        },
        secret=AWS_KEY,
    ),
    group("secret in a command", {"family": "al2", "commands": {"pre": [f"#!/bin/bash\n\n{KEY}\n"]}}, secret="BEGIN"),
    group(
        "secret in a command that is one line",
        {"family": "al2", "commands": {"pre": f"export AWS_SECRET_ACCESS_KEY={AWS_KEY}"}},
        secret=AWS_KEY,
    ),
    group("secret in override", {"family": "ubuntu", "override": f"kubeadm join --token {TOKEN}"}, secret=TOKEN),
    group("secret in the proxy", {"family": "al2023", "proxy": {"https": "http://user:hunter22@proxy:3128"}}, secret="hunter22"),
    group("secret in a proxy that is not a URL", {"family": "al2023", "proxy": {"https": "user:hunter22@proxy:3128"}}, secret="hunter22"),
    group(
        "secret in containerd's configuration",
        {
            "family": "al2023",
            "containerd": {"config": {"plugins": {"x": {"registry": {"configs": {"r": {"auth": {"password": "hunter22"}}}}}}}},
        },
        secret="hunter22",
    ),
    group(
        "secret in Bottlerocket's settings",
        {
            "family": "bottlerocket",
            "bottlerocket": {"settings": {"container-registry": {"credentials": [{"registry": "r", "auth": AUTH}]}}},
        },
        secret=AUTH,
    ),
    group(
        "secret in settings that contradict",
        {
            "family": "bottlerocket",
            "proxy": {"https": "http://a:1"},
            "bottlerocket": {"settings": {"network": {"https-proxy": "http://user:hunter22@b:1"}}},
        },
        secret="hunter22",
    ),
    group(
        "secret in containerd's configuration that contradicts",
        {
            "family": "al2023",
            "containerd": {"config": {"a": {"password": "hunter22"}}},
            "nodeadm": {"containerd": {"config": '[a]\npassword = "hunter23"\n'}},
        },
        secret="hunter22",
    ),
)
