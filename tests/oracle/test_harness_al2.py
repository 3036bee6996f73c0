# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The laboratory's Amazon Linux 2 does what the image does."""

from __future__ import annotations

import json

import pytest
from nodelab import Al2Node, HarnessError

from ansible_collections.nodebootstrap.eks.tests.oracle.bootstrap_calls import JOIN, bootstrap
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

# --- Amazon Linux 2: words --------------------------------------------------------------------------------------------------------


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("words", "code", "cluster"),
    [
        (["prod", *JOIN], 0, "prod"),
        ([*JOIN, "prod"], 0, "prod"),
        (["prod", *JOIN, "--use-max-pods", "false", "second"], 0, "prod"),
        # What an image does not know becomes a leftover, and the first leftover is the cluster's name.
        (["--no-such-flag", "prod", *JOIN], 0, "--no-such-flag"),
        (["--dns-cluster-ip=10.0.0.10", "prod", *JOIN], 0, "--dns-cluster-ip=10.0.0.10"),
        # A value is the next word, whatever it looks like.
        (["prod", *JOIN, "--kubelet-extra-args", "--use-max-pods"], 0, "prod"),
        ([*JOIN], 1, None),
        (["--help"], 1, None),
        (["prod", *JOIN, "--ip-family"], 1, None),
        (["prod", *JOIN, "--ip-family", "ipv5"], 1, None),
        (["prod", *JOIN, "--ip-family", "ipv4", "--service-ipv6-cidr", "fd00::/108"], 1, None),
        (["prod", *JOIN, "--container-runtime", "dockerd"], 1, None),
    ],
)
def test_al2_reads_its_words_as_the_image_does(al2_node: Al2Node, words: list[str], code: int, cluster: str | None) -> None:
    assert bootstrap(al2_node, *words).returncode == code
    assert al2_node.bootstrap_calls() == [words]
    assert len(al2_node.kubelet_starts()) == (0 if code else 1)
    if cluster:
        assert f"args: [token, -i, {cluster}, --region, eu-central-1]" in al2_node.read("/var/lib/kubelet/kubeconfig").decode()


@pytest.mark.matrix
def test_every_byte_of_a_call_is_recorded(al2_node: Al2Node) -> None:
    words = ["", "a\nb", "it's", '"', "\\", "$HOME", " ", "é", "\udcff"]
    bootstrap(al2_node, *words)
    bootstrap(al2_node)
    bootstrap(al2_node, "x", environment={"PATH": "/usr/bin:/bin", "HTTPS_PROXY": "http://p:1\n2"})
    assert al2_node.bootstrap_calls() == [words, [], ["x"]]
    assert al2_node.bootstrap_environments()[2]["HTTPS_PROXY"] == "http://p:1\n2"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("words", "dns"),
    [
        ([], ["172.20.0.10"]),
        (["--dns-cluster-ip", "10.0.0.53"], ["10.0.0.53"]),
        (["--dns-cluster-ip", "10.0.0.53,10.0.0.54"], ["10.0.0.53", "10.0.0.54"]),
        (["--service-ipv4-cidr", "192.168.0.0/16"], ["192.168.0.10"]),
        # Text, not arithmetic: outside of the range.
        (["--service-ipv4-cidr", "10.100.0.128/25"], ["10.100.0.10"]),
        (["--ip-family", "IPV6", "--service-ipv6-cidr", "fd30:1::/108"], ["fd30:1::a"]),
        (["--service-ipv6-cidr", "fe80::1/108"], ["fe80::1a"]),
    ],
)
def test_al2_dns(al2_node: Al2Node, words: list[str], dns: list[str]) -> None:
    assert bootstrap(al2_node, "c", *JOIN, *words).returncode == 0
    assert al2_node.kubelet_config()["clusterDNS"] == dns


@pytest.mark.matrix
def test_al2_dns_without_a_ten_network(al2_node: Al2Node) -> None:
    key = "meta-data/network/interfaces/macs/0a:58:0a:00:00:05/vpc-ipv4-cidr-blocks"
    al2_node.write({"/etc/nodelab/imds.json": json.dumps({key: "192.168.0.0/16"})})
    bootstrap(al2_node, "c", *JOIN)
    assert al2_node.kubelet_config()["clusterDNS"] == ["10.100.0.10"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("kind", "vcpus", "pods", "memory", "cpu"),
    [("m5.large", 2, 29, "574Mi", "70m"), ("c6in.32xlarge", 128, 394, "4589Mi", "390m"), ("t3.medium", 1, 17, "442Mi", "60m")],
)
def test_al2_capacity(al2_node: Al2Node, kind: str, vcpus: int, pods: int, memory: str, cpu: str) -> None:
    al2_node.write({"/etc/nodelab/imds.json": json.dumps({"meta-data/instance-type": kind}), "/etc/nodelab/vcpus": str(vcpus)})
    bootstrap(al2_node, "c", *JOIN)
    config = al2_node.kubelet_config()
    assert config["maxPods"] == pods
    assert config["kubeReserved"] == {"cpu": cpu, "ephemeral-storage": "1Gi", "memory": memory}
    assert config["kubeReservedCgroup"] == "/runtime" and config["cgroupDriver"] == "systemd"
    assert config["providerID"] == "aws:///eu-central-1a/i-1234567890abcdef0"


@pytest.mark.matrix
def test_al2_helpers_are_called(al2_node: Al2Node) -> None:
    bootstrap(al2_node, "c", *JOIN, "--local-disks", "raid0", "--kubelet-extra-args", "--reserved-cpus=0")
    assert [record["argv"] for record in al2_node.records("setup-local-disks")] == [["raid0"]]
    assert len(al2_node.records("mount-bpf-fs")) == 1
    assert [record["argv"] for record in al2_node.records("iptables")] == [["-P", "FORWARD", "ACCEPT", "-w", "5"]]
    assert al2_node.records("aws") == []
    assert "kubeReservedCgroup" not in al2_node.kubelet_config()


@pytest.mark.matrix
def test_al2_asks_aws_only_when_endpoint_or_ca_is_missing(al2_node: Al2Node) -> None:
    assert bootstrap(al2_node, "c", *JOIN[:2]).returncode != 0
    assert [record["argv"][:2] for record in al2_node.records("aws")] == [["eks", "wait"]]


# --- Amazon Linux 2: kubelet ------------------------------------------------------------------------------------------------------


def test_al2_kubelet_gets_the_units_words_then_the_images_then_ours(al2_node: Al2Node) -> None:
    bootstrap(al2_node, "c", *JOIN, "--kubelet-extra-args", '--node-labels="a=b,c=d" --v=4')
    [start] = al2_node.kubelet_starts()
    assert start == [
        "--config", "/etc/kubernetes/kubelet/kubelet-config.json",
        "--kubeconfig", "/var/lib/kubelet/kubeconfig",
        "--container-runtime-endpoint", "unix:///run/containerd/containerd.sock",
        "--image-credential-provider-config", "/etc/eks/image-credential-provider/config.json",
        "--image-credential-provider-bin-dir", "/etc/eks/image-credential-provider",
        "--node-ip=10.0.0.5", "--pod-infra-container-image=602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.5", "--v=2",
        "--hostname-override=ip-10-0-0-5.eu-central-1.compute.internal", "--cloud-provider=external",
        "--node-labels=a=b,c=d", "--v=4",
    ]  # fmt: skip
    assert al2_node.extra_args() == ["--node-labels=a=b,c=d", "--v=4"]
    [record] = al2_node.kubelet_records()
    assert json.loads(record["files"]["/etc/kubernetes/kubelet/kubelet-config.json"])["maxPods"] == 29
    assert "server: https://API.example\n" in record["files"]["/var/lib/kubelet/kubeconfig"]
    assert al2_node.read("/etc/kubernetes/pki/ca.crt") == b"a certificate"


@pytest.mark.matrix
def test_every_start_of_kubelet_counts(al2_node: Al2Node) -> None:
    bootstrap(al2_node, "c", *JOIN)
    assert len(al2_node.kubelet_starts()) == 1
    al2_node.exec(["systemctl", "restart", "kubelet"], check=True)
    assert len(al2_node.kubelet_starts()) == 2
    with pytest.raises(AssertionError) as caught:
        al2_node.extra_args()
    assert mentions(caught.value, 2)


@pytest.mark.matrix
def test_a_start_that_kubelet_did_not_see_is_not_hidden(al2_node: Al2Node) -> None:
    """Killed before it could write: systemd's own count tells."""
    al2_node.write({"/etc/systemd/system/kubelet.service.d/99-other.conf": "[Service]\nExecStart=\nExecStart=/bin/true\n"})
    bootstrap(al2_node, "c", *JOIN)
    with pytest.raises(HarnessError) as caught:
        al2_node.kubelet_records(seconds=0.2)
    assert mentions(caught.value, 1, 0)


@pytest.mark.matrix
def test_kubelet_is_healthy_where_a_test_says_so(al2_node: Al2Node) -> None:
    ask_it = [
        "curl",
        "-s",
        "--retry",
        "20",
        "--retry-connrefused",
        "--retry-delay",
        "0",
        "--max-time",
        "5",
        "http://127.0.0.1:10248/healthz",
    ]
    al2_node.write({"/etc/nodelab/kubelet-healthy": ""})
    bootstrap(al2_node, "c", *JOIN)
    assert al2_node.exec(ask_it).stdout == b"ok"
    al2_node.reset()
    assert al2_node.exec(["curl", "-s", "http://127.0.0.1:10248/healthz"]).returncode == 7


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("pasted", "arrived"),
    [
        ("--x=100%%", ["--x=100%"]),
        ("--x=a\\ttab", ["--x=a", "tab"]),
        ('--x="a b"', ["--x=a b"]),
        # An apostrophe ends the quote: the value is cut off at the next blank, and kubelet starts all the same.
        ("--x=it's --y=1", ["--x=its"]),
        ("--x=a\n--y=1", []),
    ],
)
def test_al2_pastes_extra_args_raw(al2_node: Al2Node, pasted: str, arrived: list[str]) -> None:
    assert bootstrap(al2_node, "c", *JOIN, "--kubelet-extra-args", pasted).returncode == 0
    assert al2_node.extra_args() == arrived


@pytest.mark.matrix
def test_al2_a_raw_percent_b_becomes_the_boot_id(al2_node: Al2Node) -> None:
    bootstrap(al2_node, "c", *JOIN, "--kubelet-extra-args", "--x=%b")
    boot_id = al2_node.read("/proc/sys/kernel/random/boot_id").decode().strip().replace("-", "")
    assert al2_node.extra_args() == [f"--x={boot_id}"]


@pytest.mark.matrix
def test_al2_a_second_run_changes_nothing_that_matters(al2_node: Al2Node) -> None:
    bootstrap(al2_node, "first", *JOIN, "--kubelet-extra-args", "--x=1")
    bootstrap(al2_node, "second", "--apiserver-endpoint", "https://other", *JOIN[2:], "--use-max-pods", "false")
    kubeconfig = al2_node.read("/var/lib/kubelet/kubeconfig").decode()
    assert "first" in kubeconfig and "second" not in kubeconfig and "https://other" not in kubeconfig
    assert "--x=1" in al2_node.read("/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf").decode()
    assert al2_node.kubelet_config()["maxPods"] == 29
    assert len(al2_node.kubelet_starts()) == 1
