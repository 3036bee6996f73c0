# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Input out of which hypothesis builds whole clusters and node groups: sensible, hostile and senseless values in every field."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import CLUSTER, NODE_GROUP
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import NamedFile

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
COMPLETE = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "region": "eu-west-1",
    "kubernetes_version": "1.32",
}

_HOSTILE = [
    "%b",
    "%%",
    "$(id)",
    "`id`",
    "${HOME}",
    "a'b",
    'a"b',
    "a\\b",
    "a\nb",
    "a\r\nb",
    "a\tb",
    " a ",
    "\0",
    "\ud800",
    "\x1b[0m",
    "\u2019; Remove-Item x #",
    "</powershell>",
    "--=_",
    "EOF",
    "E",
    "y",
    "no",
    "08",
    "1e3",
    "0o17",
    "null",
    "~",
    "=",
    "<<",
    "1:30",
    "{instance_id}",
    "{unknown}",
    "key: value",
    "- item",
    "#cloud-config\n",
    "#!/bin/bash\necho hi\n",
    "MIME-Version: 1.0\n",
    "[settings.kubernetes]\nmax-pods = 3\n",
    "<powershell>\nls\n</powershell>",
    "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n",
    "x" * 20000,
]
hostile_text = st.one_of(st.sampled_from(_HOSTILE), st.text(max_size=20))
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.floats(),
    hostile_text,
    st.binary(max_size=4),
    st.dates(),
)
anything = st.recursive(
    _LEAVES,
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(st.one_of(hostile_text, st.integers(), st.none()), below, max_size=3)
    ),
    max_leaves=6,
)

_label_keys = st.sampled_from(["a", "b.example.com/c", "kubernetes.io/x", "node.kubernetes.io/y", "eks.amazonaws.com/z", "Bad Key", ""])
_quantities = st.one_of(st.sampled_from(["100m", "1Gi", "auto", "1", "-1", "many"]), st.integers(0, 5))
_kubelet_config = st.dictionaries(
    st.sampled_from(
        ["maxPods", "clusterDNS", "kubeReserved", "evictionHard", "podPidsLimit", "featureGates", "kind", "nosuch", "registerWithTaints"]
    ),
    st.one_of(
        st.integers(0, 300), hostile_text, st.lists(hostile_text, max_size=2), st.dictionaries(hostile_text, hostile_text, max_size=2)
    ),
    max_size=3,
)
_flags = st.dictionaries(
    st.one_of(st.sampled_from(["v", "node-labels", "max-pods", "container-runtime", "node-ip", "feature-gates"]), hostile_text),
    st.one_of(hostile_text, st.integers(), st.booleans(), st.lists(hostile_text, max_size=2)),
    max_size=2,
)
_taints = st.lists(
    st.fixed_dictionaries(
        {"key": st.one_of(_label_keys, hostile_text), "effect": st.sampled_from(["NoSchedule", "NoExecute", "noschedule", "Never"])},
        optional={"value": hostile_text},
    ),
    max_size=3,
)

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
_mirrors = st.fixed_dictionaries(
    {"url": st.sampled_from(["https://mirror.example.com/v2/docker-hub", "http://m", "https://m/x/", "m"])},
    optional={
        "override_path": st.booleans(),
        "ca": st.sampled_from([PEM, "/etc/ca.pem", "x"]),
        "skip_verify": st.booleans(),
        "capabilities": st.sampled_from([["pull"], "resolve", []]),
        "dial_timeout": st.sampled_from(["3s", "1m30s", "3"]),
    },
)

_LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "name": st.one_of(st.just("workers"), hostile_text),
    "role_arn": st.sampled_from(["arn:aws:iam::111122223333:role/team/node", "node"]),
    "mode": st.sampled_from(["self_managed", "managed", "managed_custom_ami", "karpenter", "manged"]),
    "strategy": st.sampled_from(["bootstrap_script", "static", "dynamic"]),
    "instance": st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["m5.large", "t3.nano", "x9.huge"]),
            "types": anything,
            "max_enis": st.integers(0, 20),
            "vcpus": st.integers(0, 64),
            "hostname_type": st.sampled_from(["ip_name", "resource_name"]),
        },
    ),
    "labels": st.dictionaries(_label_keys, hostile_text, max_size=3),
    "taints": _taints,
    "max_pods": st.one_of(
        st.integers(-1, 70000),
        st.just("auto"),
        st.fixed_dictionaries(
            {"mode": st.sampled_from(["eni", "prefix", "windows_prefix"])},
            optional={"ceiling": st.booleans(), "reserved_enis": st.integers(0, 9), "custom_networking": st.booleans()},
        ),
    ),
    "reserved": st.fixed_dictionaries(
        {},
        optional={
            "kube": st.one_of(st.just("auto"), st.dictionaries(st.sampled_from(["cpu", "memory", "gpu"]), _quantities, max_size=2)),
            "system": st.dictionaries(st.sampled_from(["cpu", "pid"]), _quantities, max_size=2),
        },
    ),
    "kubelet": st.fixed_dictionaries({}, optional={"config": _kubelet_config, "flags": _flags}),
    "containerd": st.fixed_dictionaries(
        {},
        optional={
            "config": st.dictionaries(hostile_text, anything, max_size=2),
            "registry_mirrors": st.dictionaries(
                st.sampled_from(["docker.io", "_default", "../etc", "a b"]),
                st.lists(st.one_of(st.just("https://mirror.example.com"), _mirrors, hostile_text), max_size=2),
                max_size=2,
            ),
            "pause_image": hostile_text,
        },
    ),
    "trust": st.one_of(st.just(PEM), st.lists(st.one_of(st.just(PEM), hostile_text), max_size=2)),
    "local_storage": st.fixed_dictionaries(
        {"strategy": st.sampled_from(["raid0", "raid10", "mount", "raid5"])},
        optional={"mount_path": st.sampled_from(["/mnt/x", "relative", "/a b"])},
    ),
    "proxy": st.fixed_dictionaries(
        {},
        optional={
            "http": hostile_text,
            "https": st.sampled_from(["http://proxy:3128", "http://u:p@proxy:3128"]),
            "no_proxy": st.lists(hostile_text, max_size=2),
        },
    ),
    "commands": st.fixed_dictionaries(
        {},
        optional={
            "pre": st.lists(hostile_text, max_size=2),
            "post": st.lists(
                st.one_of(
                    hostile_text,
                    st.fixed_dictionaries(
                        {"run": hostile_text},
                        optional={"when": st.sampled_from(["healthy", "ready", "joined"]), "timeout": st.sampled_from([1, "60", 0])},
                    ),
                ),
                max_size=2,
            ),
        },
    ),
    "override": hostile_text,
    "user_data": st.one_of(hostile_text, st.lists(hostile_text, max_size=2)),
    "user_data_files": st.one_of(
        hostile_text, st.lists(st.builds(lambda text: NamedFile("a", text.encode("utf-8", "surrogatepass")), hostile_text), max_size=2)
    ),
    "user_data_precedence": st.sampled_from(["ours", "theirs", "other"]),
    "allow_secrets_in_user_data": st.booleans(),
    "nodeadm": st.fixed_dictionaries(
        {},
        optional={
            "kubelet": st.fixed_dictionaries({}, optional={"config": _kubelet_config, "flags": st.lists(hostile_text, max_size=2)}),
            "containerd": anything,
            "instance": anything,
            "featureGates": anything,
            "cluster": anything,
        },
    ),
    "bottlerocket": st.fixed_dictionaries(
        {},
        optional={
            "settings": st.dictionaries(
                st.sampled_from(["kubernetes", "motd", "kernel", "host-containers", "nosuch"]), anything, max_size=2
            )
        },
    ),
    "windows": st.fixed_dictionaries(
        {},
        optional={
            "version": st.sampled_from(["2019", 2022, "2025", "2012"]),
            "persist": st.booleans(),
            "kube_proxy_extra_args": hostile_text,
            "excluded_snat_cidrs": st.lists(hostile_text, max_size=2),
            "eks_endpoint": hostile_text,
        },
    ),
    "ubuntu": st.fixed_dictionaries({}, optional={"release": st.sampled_from(["22.04", 24.04, "18.04"])}),
}


def node_groups(family: str) -> st.SearchStrategy[dict[str, Any]]:
    """Node groups of a family with any of the public fields, each sensible, hostile or of any type."""
    fields = {name: st.one_of(_LIKELY[name], _LIKELY[name], anything) for name in NODE_GROUP if name != "family"}
    some = st.lists(st.sampled_from(sorted(fields)), max_size=5, unique=True)
    return some.flatmap(lambda names: st.fixed_dictionaries({"family": st.just(family), **{name: fields[name] for name in names}}))


def clusters() -> st.SearchStrategy[Any]:
    """Mostly the complete cluster, sometimes with one field replaced by anything, sometimes anything."""
    broken = st.sampled_from(sorted(CLUSTER)).flatmap(lambda name: anything.map(lambda value: {**COMPLETE, name: value}))
    return st.one_of(st.just(COMPLETE), st.just(COMPLETE), st.just(COMPLETE), broken, anything)
