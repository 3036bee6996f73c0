# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2 and Ubuntu to the end: rendered user data, real bash, a stand-in for the image's script, real systemd, and the words
that the recording kubelet was started with."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tomllib
from nodelab import Al2Node, BootstrapNode, UbuntuNode, run

from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle.script_nodes import (
    CA,
    CLUSTER,
    CONFIG_DIR,
    DROP_IN,
    ENDPOINT,
    HOSTILE,
    IPV6_CLUSTER,
    LIST_FLAG,
    accepted,
    boot,
    text,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import EXPIRED, VALID

pytestmark = pytest.mark.docker


@pytest.fixture(params=["al2", "ubuntu"])
def node(request: pytest.FixtureRequest) -> BootstrapNode:
    found: BootstrapNode = request.getfixturevalue(f"{request.param}_node")
    return found


def test_the_call_says_what_was_asked(node: BootstrapNode) -> None:
    boot(
        node,
        labels={"team": "web", "alpha.eksctl.io/cluster-name": "demo"},
        taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "gpu", "effect": "NoExecute"}],
        max_pods=58,
        kubelet={"flags": {"v": 4, "node-status-update-frequency": "5s"}},
    )
    words = [
        "--node-labels=alpha.eksctl.io/cluster-name=demo,team=web",
        "--register-with-taints=gpu=yes:NoSchedule,gpu=:NoExecute",
        "--max-pods=58",
        "--node-status-update-frequency=5s",
        "--v=4",
    ]
    identity = ["demo", "--apiserver-endpoint", ENDPOINT, "--b64-cluster-ca", CA, "--dns-cluster-ip", "10.100.0.10"]
    assert node.bootstrap_calls() == [[*identity, "--use-max-pods", "false", "--kubelet-extra-args", " ".join(words)]]
    assert node.extra_args() == words
    assert "maxPods" not in node.kubelet_config()


PROXY = {"https": "http://proxy.example.com:3128"}


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "ubuntu"), indirect=True)
def test_nothing_asked_is_a_call_without_extra_arguments(node: BootstrapNode) -> None:
    boot(node)
    assert "--kubelet-extra-args" not in node.bootstrap_calls()[0]
    assert node.extra_args() == []
    assert node.kubelet_config()["maxPods"] == 29


def test_hostile_values_reach_kubelet_exactly_or_are_refused(node: BootstrapNode) -> None:
    values = accepted(node.family)
    assert "h:%b" in values and "h:'" not in values
    assert len(values) > len(HOSTILE) / 2
    start = boot(node, labels={"a": "b"}, kubelet={"flags": {LIST_FLAG: values}})
    assert node.extra_args() == ["--node-labels=a=b", *(f"--{LIST_FLAG}={value}" for value in values)]
    boot_id = node.read("/proc/sys/kernel/random/boot_id").decode().strip().replace("-", "")
    assert boot_id not in "".join(start["argv"])


def test_configuration_lies_there_before_the_first_start(node: BootstrapNode) -> None:
    config = {
        "evictionHard": {"memory.available": "200Mi"},
        "cpuManagerPolicy": "none",
        "staticPodURLHeader": {"h": ["%b", "$(id)", "a'b"]},
    }
    start = boot(node, kubelet={"config": config}, reserved={"system": {"cpu": "100m"}})
    assert node.extra_args() == [CONFIG_DIR]
    head = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    assert json.loads(start["files"][DROP_IN]) == head | config | {"systemReserved": {"cpu": "100m"}}
    assert "evictionHard" in node.kubelet_config(), "the image's own file stays its own"


def test_kubelet_1_29_gets_the_switch_for_drop_ins(al2_node: Al2Node) -> None:
    start = boot(al2_node, CLUSTER | {"kubernetes_version": "1.29"}, kubelet={"config": {"cpuManagerPolicy": "static"}})
    assert start["environment"]["KUBELET_CONFIG_DROPIN_DIR_ALPHA"] == "on"
    assert json.loads(start["files"][DROP_IN])["cpuManagerPolicy"] == "static"


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "al2"), indirect=True)
def test_labels_known_only_at_boot(node: BootstrapNode) -> None:
    boot(node, labels={"id": "{instance_id}", "life": "x-{instance_lifecycle}", "zone": "{availability_zone}"}, max_pods=5)
    assert node.extra_args() == ["--node-labels=id=i-1234567890abcdef0,life=x-on-demand,zone=eu-central-1a", "--max-pods=5"]


def test_an_answer_that_is_no_instance_id_ends_the_boot(node: BootstrapNode) -> None:
    node.write({"/etc/nodelab/imds.json": json.dumps({"meta-data/instance-id": '<html>"; touch /root/owned; "</html>'})})
    done = node.run_user_data(text(node.family, labels={"id": "{instance_id}"}))
    assert done.returncode != 0
    assert node.bootstrap_calls() == []
    assert not node.exists("/root/owned")


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "al2"), indirect=True)
def test_ipv6(node: BootstrapNode) -> None:
    boot(node, IPV6_CLUSTER)
    call = node.bootstrap_calls()[0]
    assert call[5:] == ["--dns-cluster-ip", "fd40:6404:f93b::a", "--ip-family", "ipv6", "--service-ipv6-cidr", "fd40:6404:f93b::/108"]


def test_failed_preparation_keeps_the_node_out(node: BootstrapNode) -> None:
    done = node.run_user_data(text(node.family, commands={"pre": ["echo one >/root/one", "false", "echo two >/root/two"]}))
    assert done.returncode != 0
    assert node.read("/root/one") == b"one\n"
    assert not node.exists("/root/two")
    assert node.bootstrap_calls() == []


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "ubuntu"), indirect=True)
def test_preparation_comes_first(node: BootstrapNode) -> None:
    boot(node, commands={"pre": ["echo one >/root/order", "cd /root", "#!/usr/bin/python3\nopen('/root/order', 'a').write('two\\n')"]})
    assert node.read("/root/order") == b"one\ntwo\n"


def test_the_users_scripts_run_before_ours_whatever_they_are_called(al2_node: Al2Node) -> None:
    cloud_config = "#cloud-config\nruncmd:\n- test ! -e /run/recorded/bootstrap-1.argv && echo early >/root/runcmd\n"
    named = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/x-shellscript\n'
        'Content-Disposition: attachment; filename="zsh.sh"\n\n#!/bin/sh\n'
        "test ! -e /run/recorded/bootstrap-1.argv && echo early >/root/named\n\n--x--\n"
    )
    result = run(al2_node, text("al2", user_data=[cloud_config, named], commands={"pre": ["cat /root/runcmd /root/named >/root/both"]}))
    assert result.errors == []
    assert al2_node.read("/root/both") == b"early\nearly\n"
    assert len(al2_node.kubelet_records()) == 1


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "ubuntu"), indirect=True)
def test_proxy_reaches_every_program_that_goes_out(node: BootstrapNode) -> None:
    start = boot(node, proxy={"http": "http://proxy:3128/%b?a=$HOME&b=c", "no_proxy": [".corp"]})
    assert start["environment"]["HTTP_PROXY"] == "http://proxy:3128/%b?a=$HOME&b=c"
    assert start["environment"]["NO_PROXY"].split(",")[:2] == [".corp", "localhost"]
    assert node.bootstrap_environments()[0]["HTTP_PROXY"] == "http://proxy:3128/%b?a=$HOME&b=c"
    assert "proxy:3128" in node.property("containerd.service", "Environment")


@pytest.mark.parametrize("node", repeated(("al2", "ubuntu"), "al2"), indirect=True)
def test_commands_after_kubelet(node: BootstrapNode) -> None:
    boot(node, commands={"post": ["echo done >/root/post"]})
    assert node.property("nodebootstrap-post.service", "ActiveState") in ("activating", "active")
    assert not node.exists("/root/post"), "this kubelet never says that it is healthy"


def test_containerd_configuration_is_complete(al2_node: Al2Node) -> None:
    cri = "io.containerd.grpc.v1.cri"
    own = {
        "debug": {"level": "debug"},
        "plugins": {cri: {"max_concurrent_downloads": 9, "registry": {"config_path": "/x:/etc/containerd/certs.d"}}},
    }
    image = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.9"
    boot(al2_node, containerd={"config": own, "pause_image": image, "registry_mirrors": {"docker.io": ["https://mirror.example/v2/x"]}})
    config = tomllib.loads(al2_node.read("/etc/containerd/config.toml").decode())
    assert config["debug"] == {"level": "debug"}
    assert config["plugins"][cri]["sandbox_image"] == image
    assert config["plugins"][cri]["max_concurrent_downloads"] == 9
    assert config["plugins"][cri]["registry"] == {"config_path": "/x:/etc/containerd/certs.d"}
    assert config["plugins"][cri]["containerd"]["runtimes"]["runc"]["options"] == {"SystemdCgroup": True}
    assert tomllib.loads(al2_node.read("/etc/containerd/certs.d/docker.io/hosts.toml").decode())["host"].keys() == {
        "https://mirror.example/v2/x"
    }
    # How the image's program that pulls the pause image finds its name.
    found = al2_node.exec(["bash", "-c", 'source <(grep sandbox_image /etc/containerd/config.toml | tr -d " "); echo "$sandbox_image"'])
    assert found.stdout.decode() == f"{image}\n"


def test_certificates_are_trusted_before_the_commands_run(ubuntu_node: UbuntuNode) -> None:
    bundle = "/etc/ssl/certs/ca-certificates.crt"
    boot(ubuntu_node, trust=[VALID, EXPIRED], proxy=PROXY, commands={"pre": [f"cp {bundle} /root/seen", "echo $https_proxy >/root/proxy"]})
    seen = ubuntu_node.read("/root/seen").decode()
    assert VALID in seen and EXPIRED in seen
    assert ubuntu_node.read("/root/proxy").decode() == f"{PROXY['https']}\n"
    assert ubuntu_node.read(bundle).decode() == seen


def test_local_disks(al2_node: Al2Node) -> None:
    boot(al2_node, local_storage={"strategy": "raid0"})
    boot_calls = [record["argv"] for record in al2_node.records("setup-local-disks")]
    al2_node.reset()
    boot(al2_node, local_storage={"strategy": "mount", "mount_path": "/mnt/x"})
    assert [boot_calls, [record["argv"] for record in al2_node.records("setup-local-disks")]] == [
        [["raid0"]],
        [["mount", "--dir", "/mnt/x"]],
    ]


def test_outpost(al2_node: Al2Node) -> None:
    boot(al2_node, CLUSTER | {"outpost": True, "id": "1-2-3"}, labels={"a": "b"})
    assert al2_node.bootstrap_calls()[0][7:11] == ["--enable-local-outpost", "true", "--cluster-id", "1-2-3"]
    assert al2_node.extra_args()[-1] == "--node-labels=a=b"


OVERRIDES = {
    "exported": '/etc/eks/bootstrap.sh "$CLUSTER_NAME" --apiserver-endpoint "$API_SERVER_URL" --b64-cluster-ca "$B64_CLUSTER_CA" '
    '--dns-cluster-ip "$CLUSTER_DNS" --kubelet-extra-args "$KUBELET_EXTRA_ARGS" --container-runtime "$CONTAINER_RUNTIME"',
    "sourced": "#!/bin/bash\nset -ex\nfor name in $(compgen -e); do unset $name; done\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
    "source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n"
    "/etc/eks/bootstrap.sh ${CLUSTER_NAME} --apiserver-endpoint ${API_SERVER_URL} --b64-cluster-ca ${B64_CLUSTER_CA} "
    '--dns-cluster-ip ${CLUSTER_DNS} --kubelet-extra-args "${KUBELET_EXTRA_ARGS}" --container-runtime ${CONTAINER_RUNTIME}',
}
ELEVEN = [
    "API_SERVER_URL", "B64_CLUSTER_CA", "INSTANCE_ID", "INSTANCE_LIFECYCLE", "CLUSTER_DNS", "NODE_TAINTS", "MAX_PODS", "NODE_LABELS",
    "CLUSTER_NAME", "CONTAINER_RUNTIME", "KUBELET_EXTRA_ARGS",
]  # fmt: skip


@pytest.mark.parametrize("override", OVERRIDES.values(), ids=OVERRIDES.keys())
def test_overrides_of_eksctl_run_unchanged(node: BootstrapNode, override: str) -> None:
    fields: dict[str, Any] = {
        "labels": {"a": "b", "id": "{instance_id}", "zone": "{availability_zone}"},
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
        "max_pods": 7,
        "kubelet": {"flags": {LIST_FLAG: ["h:%b", "h:$HOME"] if node.family == "al2" else ["h:%b"]}},
    }
    boot(node, override=override, **fields)
    labels = "a=b,id=i-1234567890abcdef0,zone=eu-central-1a"
    values = [f"--{LIST_FLAG}={value}" for value in fields["kubelet"]["flags"][LIST_FLAG]]
    assert node.extra_args() == [f"--node-labels={labels}", "--register-with-taints=k=v:NoSchedule", "--max-pods=7", *values]
    environment = node.bootstrap_environments()[0]
    assert {name: environment[name] for name in ELEVEN if name not in ("B64_CLUSTER_CA", "KUBELET_EXTRA_ARGS")} == {
        "API_SERVER_URL": ENDPOINT,
        "INSTANCE_ID": "i-1234567890abcdef0",
        "INSTANCE_LIFECYCLE": "on-demand",
        "CLUSTER_DNS": "10.100.0.10",
        "NODE_TAINTS": "k=v:NoSchedule",
        "MAX_PODS": "7",
        "NODE_LABELS": labels,
        "CLUSTER_NAME": "demo",
        "CONTAINER_RUNTIME": "containerd",
    }


def test_the_helper_leaves_exactly_the_eleven_variables(al2_node: Al2Node) -> None:
    override = (
        "set -u; for name in $(compgen -e); do unset $name; done; PATH=/usr/sbin:/usr/bin\n"
        "before=$(compgen -v); source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh; after=$(compgen -v)\n"
        'comm -13 <(sort <<<"$before") <(sort <<<"$after") >/root/new; compgen -A function >>/root/new || true'
    )
    done = al2_node.run_user_data(text("al2", override=override, labels={"zone": "{availability_zone}"}))
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(set(al2_node.read("/root/new").decode().split()) - {"before", "_", "PIPESTATUS"}) == sorted(ELEVEN)


def test_a_failed_override_is_a_failed_script(al2_node: Al2Node) -> None:
    assert al2_node.run_user_data(text("al2", override="exit 3")).returncode == 3
