# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The strict validator: one row a mistake, with the whole message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import schema

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="

WHOLE: dict[str, Any] = {
    "cluster": {
        "name": "demo",
        "apiServerEndpoint": "https://EXAMPLE.gr7.us-west-2.eks.amazonaws.com",
        "certificateAuthority": CA,
        "cidr": "fd00:ec2::/108",
        "enableOutpost": True,
        "id": "11111111-2222-3333-4444-555555555555",
    },
    "containerd": {"config": "version = 3\n[grpc]\naddress = '/run/x'\n", "baseRuntimeSpec": {"process": {"rlimits": []}}},
    "instance": {
        "localStorage": {"strategy": "RAID0", "mountPath": "/mnt/x", "disabledMounts": ["Containerd", "PodLogs", "SOCI"]},
        "environment": {"default": {"HTTP_PROXY": "http://p:1", "E": "", "NL": "a\nb"}, "my-svc@1": {"A": "1"}},
        "network": {"nameservers": ["1.1.1.1", "fd00::1"], "domains": ["a.b", "~.", "~corp.example"]},
    },
    "kubelet": {
        "config": {"maxPods": 50, "evictionHard": {"memory.available": "5%"}},
        "flags": ["--node-labels=a=b,c=d", '--v="4 5"', "--register-with-taints=x=y:NoSchedule"],
        "maxPodsExpression": "max_pods > 110 ? 110 : (default_enis - 1) * (ips_per_eni - 1) + int(2.0)",
    },
    "featureGates": {"InstanceIdNodeName": True, "FastImagePull": False},
}


def messages(spec: Any, version: tuple[int, int] | None = None) -> list[str]:
    problems = Problems()
    schema.spec_problems(spec, "spec", problems, version)
    return [str(problem) for problem in problems]


def test_everything_right() -> None:
    assert messages(WHOLE) == []
    assert messages({}) == []
    assert messages({"kubelet": None, "instance": {"network": None}}) == []


def at(path: str, value: Any) -> dict[str, Any]:
    """{"a": {"b": value}} of "a.b"."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return dict(value)


MISTAKES = [
    (
        at("kublet", {}),
        "spec.kublet: nodeadm has no such field and would drop it; allowed: cluster, containerd, instance, kubelet, "
        'featureGates; did you mean "kubelet"?',
    ),
    (
        at("kubelet.Config", {}),
        "spec.kubelet.Config: nodeadm has no such field and would drop it; allowed: config, flags, maxPodsExpression; "
        'did you mean "config"?',
    ),
    (
        at("instance.localStorage.path", "/x"),
        "spec.instance.localStorage.path: nodeadm has no such field and would drop it; allowed: strategy, mountPath, "
        'disabledMounts; did you mean "mountPath"?',
    ),
    (
        at("instance.network.nameServers", []),
        "spec.instance.network.nameServers: nodeadm has no such field and would drop it; allowed: nameservers, domains; "
        'did you mean "nameservers"?',
    ),
    ([], "spec: has the wrong type (got []); allowed: a mapping"),
    (at("kubelet", "x"), 'spec.kubelet: has the wrong type (got "x"); allowed: a mapping'),
    (at("cluster.name", 5), "spec.cluster.name: has the wrong type (got 5); allowed: text; fix: quote it"),
    (
        at("cluster.name", "a b"),
        'spec.cluster.name: is not the name of an EKS cluster (got "a b"); allowed: up to 100 letters, digits, hyphens and '
        "underscores, the first one a letter or digit",
    ),
    (
        at("cluster.apiServerEndpoint", "example.com"),
        'spec.cluster.apiServerEndpoint: is not an API server endpoint (got "example.com"); allowed: an https URL',
    ),
    (
        at("cluster.certificateAuthority", "***"),
        "spec.cluster.certificateAuthority: is not base64; allowed: base64 of the PEM file, as `aws eks describe-cluster` prints it",
    ),
    (
        at("cluster.certificateAuthority", "aGVsbG8="),
        "spec.cluster.certificateAuthority: does not hold a PEM certificate; allowed: base64 of -----BEGIN CERTIFICATE----- …",
    ),
    (
        at("cluster.cidr", "10.0.0.1/16"),
        'spec.cluster.cidr: bits are set after the prefix: the network is 10.0.0.0/16 (got "10.0.0.1/16"); allowed: the '
        "service CIDR, for example 10.100.0.0/16",
    ),
    (
        at("cluster.enableOutpost", "true"),
        'spec.cluster.enableOutpost: has the wrong type (got "true"); allowed: true or false; fix: remove the quotes',
    ),
    (at("cluster.id", "a\nb"), 'spec.cluster.id: holds a control character (got "a\\nb"); allowed: one line of text'),
    (at("containerd.config", {"version": 2}), 'spec.containerd.config: has the wrong type (got {"version": 2}); allowed: text'),
    (at("containerd.baseRuntimeSpec", "x"), 'spec.containerd.baseRuntimeSpec: has the wrong type (got "x"); allowed: a mapping'),
    (
        at("containerd.baseRuntimeSpec", {"a": float("nan")}),
        'spec.containerd.baseRuntimeSpec.a: is not a number that JSON knows (got "nan")',
    ),
    (
        at("instance.localStorage.strategy", "raid0"),
        'spec.instance.localStorage.strategy: nodeadm does not know this (got "raid0"); allowed: RAID0, RAID10, Mount; '
        'did you mean "RAID0"?',
    ),
    (
        at("instance.localStorage.mountPath", "mnt"),
        'spec.instance.localStorage.mountPath: is not an absolute path without blanks (got "mnt"); allowed: for example /mnt/k8s-disks',
    ),
    (
        at("instance.localStorage.disabledMounts", ["Kubelet"]),
        'spec.instance.localStorage.disabledMounts[0]: nodeadm does not know this (got "Kubelet"); allowed: Containerd, PodLogs, SOCI',
    ),
    (
        at("instance.environment", {"A": "b"}),
        'spec.instance.environment.A: has the wrong type (got "b"); allowed: a mapping of variables to texts; fix: put it under '
        "default, or under the name of a service",
    ),
    (
        at("instance.environment", {"default": {"A": 1}}),
        "spec.instance.environment.default.A: has the wrong type (got 1); allowed: text; fix: quote it",
    ),
    (
        at("instance.environment", {"default": {"A": None}}),
        'spec.instance.environment.default.A: has no value; fix: write "" for an empty one',
    ),
    (
        at("instance.environment", {"default": {"A-B": "x"}}),
        'spec.instance.environment.default.A-B: is not the name of an environment variable (got "A-B"); allowed: letters, '
        "digits and underscores",
    ),
    (
        at("instance.environment", {"default": {"A": "\0"}}),
        "spec.instance.environment.default.A: holds NUL or a lone surrogate, which systemd cannot carry",
    ),
    (
        at("instance.environment", {"kubelet.service": {}}),
        'spec.instance.environment["kubelet.service"]: nodeadm would write for the unit kubelet.service.service, which '
        "nobody reads; fix: write kubelet",
    ),
    (at("instance.environment", {"a/b": {}}), 'spec.instance.environment["a/b"]: is not the name of a systemd service (got "a/b")'),
    (
        at("instance.network.nameservers", "1.1.1.1"),
        'spec.instance.network.nameservers: has the wrong type (got "1.1.1.1"); allowed: a list of texts; fix: write a list, even of one',
    ),
    (
        at("instance.network.nameservers", ["dns"]),
        'spec.instance.network.nameservers[0]: is not an IP address (got "dns"); allowed: an IP address',
    ),
    (
        at("instance.network.domains", ["a b"]),
        'spec.instance.network.domains[0]: is not a domain for systemd-resolved (got "a b"); allowed: a domain name, with ~ '
        "before it for routing only",
    ),
    (at("kubelet.config", []), "spec.kubelet.config: has the wrong type (got []); allowed: a mapping"),
    (
        at("kubelet.config.kind", "x"),
        'spec.kubelet.config.kind: replaces the one that nodeadm writes (got "x"); fix: remove it: nodeadm writes the '
        "one that the installed kubelet reads",
    ),
    (
        at("kubelet.config.maxPodz", 3),
        'spec.kubelet.config.maxPodz: kubelet does not know this field; did you mean "maxPods"?; fix: rename it to maxPods',
    ),
    (
        at("kubelet.flags", "--v=2"),
        'spec.kubelet.flags: has the wrong type (got "--v=2"); allowed: a list of texts; fix: write a list, even of one',
    ),
    (at("kubelet.flags", [1]), "spec.kubelet.flags[0]: has the wrong type (got 1); allowed: text; fix: quote it"),
    (at("kubelet.flags", ["v=2"]), 'spec.kubelet.flags[0]: is not a kubelet flag (got "v=2"); allowed: --flag=value'),
    (
        at("kubelet.flags", ["--v=2 --x=1"]),
        'spec.kubelet.flags[0]: is more than one word (got "--v=2 --x=1"); fix: write --flag=value, one flag an entry; '
        "quote blanks in a value",
    ),
    (at("kubelet.flags", ["--v='2"]), 'spec.kubelet.flags[0]: a quote is not closed: systemd would join what follows (got "--v=\'2")'),
    (at("kubelet.flags", ["--v=\\2"]), 'spec.kubelet.flags[0]: holds a backslash, which systemd removes (got "--v=\\\\2")'),
    (
        at("kubelet.flags", ["--v=2\n"]),
        "spec.kubelet.flags[0]: holds a line end, NUL or another control character, which would cut the line that "
        'systemd reads (got "--v=2\\n")',
    ),
    (
        at("kubelet.maxPodsExpression", "max_pod"),
        "spec.kubelet.maxPodsExpression: max_pod means nothing here; nodeadm would ignore the expression (got "
        '"max_pod"); allowed: default_enis, ips_per_eni, max_pods and the operators of CEL; did you mean "max_pods"?',
    ),
    (
        at("kubelet.maxPodsExpression", "max_pods *"),
        'spec.kubelet.maxPodsExpression: ends in the middle; nodeadm would ignore the expression (got "max_pods *")',
    ),
    (
        at("kubelet.maxPodsExpression", "max_pods - 5000"),
        "spec.kubelet.maxPodsExpression: gives no number of pods on any instance type; nodeadm would ignore the expression "
        '(got "max_pods - 5000")',
    ),
    (
        at("kubelet.maxPodsExpression", "0"),
        'spec.kubelet.maxPodsExpression: the result is 0, which is no number of pods; nodeadm would ignore the expression (got "0")',
    ),
    (
        at("kubelet.maxPodsExpression", "max_pods * 1.5"),
        'spec.kubelet.maxPodsExpression: * does not go with int and double; nodeadm would ignore the expression (got "max_pods * 1.5")',
    ),
    (
        at("featureGates", {"Foo": True}),
        "spec.featureGates.Foo: nodeadm has no such feature gate; allowed: InstanceIdNodeName, FastImagePull",
    ),
    (
        at("featureGates", {"FastImagePull": "true"}),
        'spec.featureGates.FastImagePull: has the wrong type (got "true"); allowed: true or false',
    ),
]


@pytest.mark.parametrize(("spec", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes(spec: Any, message: str) -> None:
    assert messages(spec) == [message]


def test_toml_is_read() -> None:
    (message,) = messages(at("containerd.config", "not toml ["))
    assert message.startswith("spec.containerd.config: is not TOML, and nodeadm would stop at boot: ")


def test_all_mistakes_at_once() -> None:
    assert len(messages({"cluster": {"name": 5, "cidr": "x"}, "kubelet": {"flags": ["x", 1]}, "x": 1})) == 5


DOCUMENTS = [
    (None, "doc: is not a NodeConfig (got null); allowed: a mapping with apiVersion, kind and spec"),
    ({"apiVersion": schema.API_VERSION}, "doc: kind is missing; fix: add kind: NodeConfig"),
    ({"apiVersion": "v1", "kind": "NodeConfig"}, 'doc.apiVersion: nodeadm does not know this (got "v1"); allowed: node.eks.aws/v1alpha1'),
    (
        {"apiVersion": schema.API_VERSION, "kind": "NodeConfig", "status": {}},
        "doc.status: nodeadm has no such field and would drop it; allowed: apiVersion, kind, metadata, spec",
    ),
    (
        {"apiVersion": schema.API_VERSION, "kind": "NodeConfig", "metadata": "x"},
        'doc.metadata: has the wrong type (got "x"); allowed: a mapping',
    ),
]


@pytest.mark.parametrize(("document", "message"), DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_documents(document: Any, message: str) -> None:
    problems = Problems()
    assert not schema.document_problems(document, "doc", problems)
    assert [str(problem) for problem in problems] == [message]


def test_a_whole_document() -> None:
    problems = Problems()
    assert schema.document_problems(
        {"apiVersion": schema.API_VERSION, "kind": "NodeConfig", "metadata": None, "spec": WHOLE}, "doc", problems
    )
    assert len(problems) == 0


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters())),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.text(st.characters()), st.integers(), st.none()), inner, max_size=3)
    ),
)
PATHS = [f"{section}.{name}" for section, field in schema.SPEC.fields.items() for name in (field.fields or {"x": None})]
PATHS += [f"instance.{name}.{inner}" for name, field in schema.SPEC.fields["instance"].fields.items() for inner in field.fields]


@given(st.sampled_from(PATHS), ANYTHING)
def test_no_input_brings_an_exception(path: str, value: Any) -> None:
    messages(at(path, value))


def test_deep_input_brings_no_exception() -> None:
    deep: Any = 1
    for _unused in range(5000):
        deep = {"a": deep}
    assert any("nested more than" in message for message in messages(at("containerd.baseRuntimeSpec", deep)))
    assert any("nested more than" in message for message in messages(at("kubelet.config", deep)))


@pytest.mark.parametrize("expression", ["max_pods - 100", "size([1, 2])", "max_pods < 0 ? 1 / 0 : 3"])
def test_an_expression_that_gives_a_number_somewhere_is_taken(expression: str) -> None:
    problems = Problems()
    schema.spec_problems({"kubelet": {"maxPodsExpression": expression}}, "spec", problems)
    assert list(problems) == []
