# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that is rendered for images with cloud-init, run by the real one: which parts it finds, in which order it runs them,
and what lies on the node afterwards. What kubelet makes of it is told by test_script_families.py and test_al2023_boot.py."""

from __future__ import annotations

import base64
import gzip
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nodelab import Al2Node, BootstrapNode, CloudInitNode, CloudInitResult, Node, UbuntuNode, run

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-central-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "region": "eu-central-1",
    "kubernetes_version": "1.32",
}
FAMILIES = ("al2", "al2023", "ubuntu")
NODE_CONFIG_WARNING = "Unhandled unknown content-type (application/node.eks.aws)"
CALLING_SCRIPT = "/etc/nodebootstrap/bootstrap.sh"
PRE_FAILED = "/run/nodebootstrap/pre-failed"


@pytest.fixture(params=FAMILIES)
def node(request: pytest.FixtureRequest) -> Node:
    """A node of each family. What cloud-init does on Amazon Linux 2023 needs no image but a bare machine."""
    found: Node = request.getfixturevalue({"al2023": "cloud_init"}.get(request.param, f"{request.param}_node"))
    found.write({"/usr/local/bin/say": ('#!/bin/sh\necho "$1" >>/etc/order\n', 0o755), **programs_of_the_image()})
    return found


def programs_of_the_image() -> dict[str, Any]:
    """Programs that only record their call: a container may not set kernel parameters, and a bare machine does not have the other one."""
    return {
        "/usr/local/sbin/sysctl": ('#!/bin/sh\necho "sysctl $*" >>/etc/order\n', 0o755),
        "/usr/local/sbin/update-ca-trust": ("#!/bin/sh\n", 0o755),
    }


def family_of(node: Node) -> str:
    return node.family or "al2023"


def boot(node: Node, **fields: Any) -> CloudInitResult:
    """Run the user data of a node group; nothing may have failed, and only NodeConfigs may be unknown to cloud-init."""
    return boot_text(node, render(CLUSTER, {"family": family_of(node), **fields}).document.text)


def boot_text(node: Node, document: str | bytes) -> CloudInitResult:
    result = run(node, document)
    assert result.errors == [], result.output[-2000:]
    assert {warning.split(" userdata")[0] for warning in result.warnings} <= ({NODE_CONFIG_WARNING} if not node.family else set())
    return result


def order(node: Node) -> list[str]:
    return node.read("/etc/order").decode().splitlines() if node.exists("/etc/order") else []


def files_are_in_place(node: Node, cluster: dict[str, Any], group: dict[str, Any], but: tuple[str, ...] = (CALLING_SCRIPT,)) -> int:
    """Whatever C(node_files) says lies on the node with content, mode and owner; how many files that were."""
    count = 0
    for file in node_files(cluster, group):
        if file["path"] not in but:
            assert node.read(file["path"]).decode() == file["content"]
            assert node.stat(file["path"]) == (file["mode"], f"{file['owner']}:{file['group']}")
            count += 1
    return count


#: On Amazon Linux 2023 the files of an image say what the user data leaves to nodeadm.
OF_AN_IMAGE = (
    "/etc/eks/nodeadm.d/50-nodebootstrap.yaml",
    "/etc/nodebootstrap/boot-labels",
    "/etc/systemd/system/nodeadm-config.service.d/40-nodebootstrap-trust.conf",
    "/etc/systemd/system/nodeadm-config.service.d/50-nodebootstrap.conf",
    "/etc/systemd/system/nodeadm-run.service.d/50-nodebootstrap.conf",
)


def mime(*parts: tuple[str, str], boundary: str = "==B==") -> str:
    """(further headers with Content-Type first, body) → a document."""
    blocks = [f"--{boundary}\n{headers}\n\n{body}\n" for headers, body in parts]
    return f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{boundary}"\n\n{"".join(blocks)}--{boundary}--\n'


def encoded(text: str, packed: bool = False) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0) if packed else text.encode()).decode()


CLOUD_CONFIG = """#cloud-config
bootcmd: [[say, bootcmd]]
runcmd: [[say, runcmd]]
write_files: [{path: /etc/theirs, content: "theirs\\n", permissions: "0640"}]
"""
BASE64, GZIP = "\nContent-Transfer-Encoding: base64", "Content-Type: application/gzip\nContent-Transfer-Encoding: base64"
SCRIPT = "Content-Type: text/x-shellscript"
THEIRS = [
    CLOUD_CONFIG,
    "#!/bin/sh\nsay 'shell é'\n",
    "#cloud-boothook\n#!/bin/sh\nsay boothook\n",
    mime((SCRIPT + BASE64, encoded("#!/bin/sh\nsay 'base64 日本'\n")), (GZIP, encoded("#!/bin/sh\nsay gzip\n", True))),
]
#: Bytes that a document garbles when it is glued together: every quote, every encoding, lines like a boundary.
HOSTILE_LINES = "é日本😀\u00a0 'single' \"double\" `id` $HOME \\ %s\n--=_\n--=_--\n--=_0\nE\nE1\n--==B==--\n\tContent-Type: x\n\n\n"
PRE = [
    "say pre; cd /etc",
    f"cat >hostile <<'OVER'\n{HOSTILE_LINES}OVER",
    "#!/usr/bin/python3\nopen('/etc/python', 'wb').write('é'.encode())\nopen('/etc/order', 'a').write('python\\n')",
    "pwd >>/etc/order",
]
MIRRORS = {"registry_mirrors": {"docker.io": ["https://one.example", "https://two.example"]}}


@pytest.mark.parametrize("node", repeated(FAMILIES, "al2023"), indirect=True)
def test_parts_run_in_the_documented_order(node: Node) -> None:
    result = boot(node, user_data=THEIRS, commands={"pre": PRE}, containerd=MIRRORS)
    assert order(node) == ["boothook", "bootcmd", "shell é", "base64 日本", "gzip", "runcmd", "pre", "python", "/etc"]
    assert result.ran("bootcmd", "runcmd", "scripts-user") == ["bootcmd", "runcmd", "scripts-user"]
    assert (node.read("/etc/theirs"), node.stat("/etc/theirs")) == (b"theirs\n", ("0640", "root:root"))
    assert node.read("/etc/hostile").decode() == HOSTILE_LINES
    assert node.read("/etc/python") == "é".encode()
    assert files_are_in_place(node, CLUSTER, {"family": family_of(node), "containerd": MIRRORS}, (CALLING_SCRIPT, *OF_AN_IMAGE)) == 1
    if isinstance(node, BootstrapNode):
        assert len(node.bootstrap_calls()) == len(node.kubelet_starts()) == 1


def test_parts_run_in_the_documented_order_with_a_newer_cloud_init(cloud_init_new: CloudInitNode) -> None:
    cloud_init_new.write({"/usr/local/bin/say": ('#!/bin/sh\necho "$1" >>/etc/order\n', 0o755)})
    boot(cloud_init_new, user_data=THEIRS, commands={"pre": PRE}, containerd=MIRRORS)
    assert order(cloud_init_new) == ["boothook", "bootcmd", "shell é", "base64 日本", "gzip", "runcmd", "pre", "python", "/etc"]
    assert cloud_init_new.read("/etc/hostile").decode() == HOSTILE_LINES


@pytest.mark.parametrize(
    ("node", "existing"),
    list(
        zip(
            itertools.cycle(FAMILIES),
            [
                mime((f'{SCRIPT}\nContent-Disposition: attachment; filename="zz-late.sh"', "#!/bin/sh\nsay theirs")),
                mime((f'{SCRIPT}; name="zz-late.sh"', "#!/bin/sh\nsay theirs")),
                mime(("Content-Type: text/plain", "#cloud-config\nruncmd: [[say, theirs]]")),
                mime((SCRIPT + BASE64, encoded("#cloud-config\nruncmd: [[say, theirs]]"))),
                mime(
                    (
                        "Content-Type: text/cloud-config-archive",
                        "#cloud-config-archive\n- {type: text/cloud-config, content: 'runcmd: [[say, theirs]]'}",
                    )
                ),
                mime(("Content-Type: text/jinja2", "## template: jinja\n#cloud-config\nruncmd: [[say, theirs]]")),
                "## template: jinja\n#!/bin/sh\nsay theirs\n",
            ],
        )
    ),
    indirect=["node"],
    ids=["file name", "name of the type", "sniffed", "encoded", "archive", "jinja in MIME", "jinja"],
)
def test_theirs_run_before_ours_however_they_are_named(node: Node, existing: str) -> None:
    boot(node, user_data=existing, commands={"pre": ["say ours"]})
    assert order(node) == ["theirs", "ours"]


@pytest.mark.parametrize("node", repeated(FAMILIES, "ubuntu"), indirect=True)
def test_scripts_reach_the_node_byte_for_byte(node: Node) -> None:
    group = {
        "family": family_of(node),
        "user_data": ["#!/bin/sh\n: a\n", f"#!/bin/sh\ncat <<'OVER'\n{HOSTILE_LINES}OVER\n"],
        "commands": {"pre": PRE},
    }
    document = render(CLUSTER, group | {"containerd": MIRRORS}).document
    result = boot_text(node, document.text)
    sent = [part.text for part in document.fragments if part.text.startswith("#!")]
    assert [content.decode() for _unused, content in sorted(result.scripts.items())] == sent


@pytest.mark.parametrize(
    "node", ["al2023", *(pytest.param(family, marks=pytest.mark.matrix) for family in ("al2", "ubuntu"))], indirect=True
)
def test_a_compressed_document_is_the_same(node: Node) -> None:
    group = {"family": family_of(node), "user_data": THEIRS, "commands": {"pre": PRE}}
    plain = boot_text(node, render(CLUSTER, group).stored)
    first = order(node)
    node.reset()
    node.write({"/usr/local/bin/say": ('#!/bin/sh\necho "$1" >>/etc/order\n', 0o755)})
    stored = render(CLUSTER, group, "gzip_base64").stored
    assert stored.startswith(b"\x1f\x8b")
    packed = boot_text(node, stored)
    assert (packed.scripts, order(node)) == (plain.scripts, first)


def examples() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    found = []
    for path in sorted(EXAMPLES.glob("*.yml")):
        given = yaml.load(path.read_text(encoding="utf-8"))
        if isinstance(given, dict):
            found += [(f"{path.stem} {group['name']}", given["eks_node_cluster"], group) for group in given["eks_node_groups"]]
    return [case for case in found if case[2]["family"] in (*FAMILIES, "Ubuntu2204")]


def marked_examples() -> Iterator[Any]:
    """Mark all examples but the one with every family for the matrix."""
    for name, cluster, group in examples():
        yield pytest.param(cluster, group, id=name, marks=[] if name.startswith("five-families ") else [pytest.mark.matrix])


@pytest.mark.parametrize(("cluster", "group"), list(marked_examples()))
def test_every_example_boots(request: pytest.FixtureRequest, cluster: dict[str, Any], group: dict[str, Any]) -> None:
    family = "ubuntu" if group["family"].startswith("U") else group["family"]
    machine: Node = request.getfixturevalue({"al2023": "cloud_init"}.get(family, f"{family}_node"))
    machine.write(programs_of_the_image())
    rendered = render(cluster, group)
    boot_text(machine, rendered.document.text)
    assert [line.partition(" ")[0] for line in order(machine)] == ["sysctl"] * sum(
        "sysctl" in command for command in rendered.spec.commands_pre
    )
    files_are_in_place(machine, cluster, group, (CALLING_SCRIPT, *OF_AN_IMAGE))
    if isinstance(machine, BootstrapNode):
        assert len(machine.kubelet_starts()) == 1


@pytest.mark.parametrize("node", repeated(FAMILIES, "al2023", "ubuntu"), indirect=True)
def test_override_and_files_of_every_kind(node: Node) -> None:
    proxy = {"https": "http://proxy.example:3128"}
    override = {
        "al2023": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 7}}}\n",
    }.get(family_of(node), "say \"override $CLUSTER_NAME\"; /etc/eks/bootstrap.sh $CLUSTER_NAME --apiserver-endpoint $API_SERVER_URL "
          "--b64-cluster-ca $B64_CLUSTER_CA --kubelet-extra-args \"$KUBELET_EXTRA_ARGS\"")  # fmt: skip
    group = {
        "family": family_of(node),
        "labels": {"id": "{instance_id}"},
        "override": override,
        "proxy": proxy,
        "containerd": MIRRORS,
        "commands": {"post": ["say post"]},
    }
    result = boot(node, **group)
    assert len(result.scripts) == 1
    count = files_are_in_place(node, CLUSTER, group, (CALLING_SCRIPT, *OF_AN_IMAGE))
    if isinstance(node, BootstrapNode):
        assert order(node) == ["override demo"]
        assert node.extra_args() == ["--node-labels=id=i-1234567890abcdef0"]
        assert count >= 6
    else:
        labels = yaml.load(node.read("/etc/eks/nodeadm.d/60-nodebootstrap-labels.yaml").decode())
        assert labels["spec"]["kubelet"]["flags"] == ["--node-labels=id=i-1234567890abcdef0"]
        assert count == 4


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("al2_node", ("set -u; echo $nothing", "#!/usr/bin/python3\nraise SystemExit(3)")),
        ("ubuntu_node", ("sh -c 'kill -KILL $$'", "( exit 1 )")),
    ],
    ids=["al2", "ubuntu"],
)
def test_a_failed_pre_command_keeps_the_node_out(request: pytest.FixtureRequest, name: str, ways: tuple[str, ...]) -> None:
    node: Al2Node | UbuntuNode = request.getfixturevalue(name)
    for failing in ways:
        group = {
            "family": node.family,
            "commands": {"pre": ["touch /etc/before", failing, "touch /etc/never", "#!/bin/sh\ntouch /etc/other"]},
        }
        result = run(node, render(CLUSTER, group).document.text)
        assert len(result.errors) == 1 and "2 failures (part-001,part-002)" in result.errors[0], failing
        assert [node.exists(path) for path in ("/etc/before", "/etc/never", "/etc/other", PRE_FAILED)] == [True, False, False, True]
        assert mentions(result.output, "commands.pre")
        assert node.bootstrap_calls() == [] and node.kubelet_starts() == []
        node.reset()


def test_a_failed_script_of_the_users_own_does_not_keep_the_node_out(al2_node: Al2Node) -> None:
    document = render(CLUSTER, {"family": "al2", "user_data": "#!/bin/sh\nexit 3\n", "commands": {"pre": ["true"]}}).document.text
    assert "1 failures (part-001)" in run(al2_node, document).errors[0]
    assert len(al2_node.kubelet_starts()) == 1 and not al2_node.exists(PRE_FAILED)
