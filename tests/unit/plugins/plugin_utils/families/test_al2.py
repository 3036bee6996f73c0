# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2: the exact script, what lies on the node before kubelet starts, and what is refused."""

from __future__ import annotations

import copy
import email
import json
import shlex
from typing import Any

import pytest
import tomllib
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "region": "eu-west-1",
    "kubernetes_version": "1.30",
}
CALL = f"/etc/eks/bootstrap.sh demo --apiserver-endpoint {CLUSTER['endpoint']} --b64-cluster-ca {CA} --dns-cluster-ip 10.100.0.10"
HEAD = "#!/bin/bash\nset -eo pipefail\n"
DROP_IN = "/etc/kubernetes/kubelet/config.json.d/50-nodebootstrap.conf"
STATIC: dict[str, Any] = {"strategy": "static", "max_pods": 29, "instance": {"type": "m5.large"}}
CRI = "io.containerd.grpc.v1.cri"
NEW_CRI = "io.containerd.cri.v1.images"


def text(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render(CLUSTER | (cluster or {}), {"family": "al2", **fields}).document.text


def files(cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, dict[str, str]]:
    return {file["path"]: file for file in node_files(CLUSTER | (cluster or {}), {"family": "al2", **fields})}


def problems(cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        text(cluster, **fields)
    return {problem.path: str(problem) for problem in caught.value.problems}


def words(script: str) -> list[str]:
    """The words of the call, which is the last line."""
    return shlex.split(script.rstrip("\n").rpartition("\n")[2])


def parts(document: str) -> list[tuple[str, str]]:
    message = email.message_from_string(document)
    return [(part.get_content_type(), part.get_payload()) for part in message.walk() if not part.is_multipart()]


CALLS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("nothing asked", {}, {}, ""),
    ("labels, sorted", {}, {"labels": {"b": "2", "a": "1"}}, " --kubelet-extra-args --node-labels=a=1,b=2"),
    (
        "every kind of word in its order",
        {},
        {
            "labels": {"a": "b"},
            "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"}],
            "max_pods": 58,
            "kubelet": {"flags": {"v": 4, "manifest-url-header": ["z:1", "a:2"]}},
        },
        " --use-max-pods false --kubelet-extra-args '--node-labels=a=b --register-with-taints=k=v:NoSchedule,k=:NoExecute"
        " --max-pods=58 --manifest-url-header=z:1 --manifest-url-header=a:2 --v=4'",
    ),
    ("two DNS addresses", {"dns_ips": ["10.100.0.10", "169.254.20.10"]}, {}, ",169.254.20.10"),
    (
        "a specifier of systemd",
        {},
        {"kubelet": {"flags": {"manifest-url-header": "h:%b"}}},
        " --kubelet-extra-args --manifest-url-header=h:%%b",
    ),
    (
        "a value with blanks",
        {},
        {"kubelet": {"flags": {"manifest-url-header": "h:a b"}}},
        " --kubelet-extra-args '\"--manifest-url-header=h:a b\"'",
    ),
    ("a cluster on Outposts", {"outpost": True, "id": "1-2"}, {}, " --enable-local-outpost true --cluster-id 1-2"),
    ("local disks", {}, {"local_storage": {"strategy": "raid10"}}, " --local-disks raid10"),
    (
        "a pause image",
        {},
        {"containerd": {"pause_image": "111122223333.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.9"}},
        " --pause-container-account 111122223333 --pause-container-version 3.9",
    ),
    ("without a version", {"kubernetes_version": None}, {"labels": {"a": "b"}}, " --kubelet-extra-args --node-labels=a=b"),
    ("managed_custom_ami", {}, {"mode": "managed_custom_ami"}, ""),
]


@pytest.mark.parametrize(("cluster", "fields", "rest"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_the_call(cluster: dict[str, Any], fields: dict[str, Any], rest: str) -> None:
    assert text(cluster, **fields) == f"{HEAD}{CALL}{rest}\n"


def test_ipv6() -> None:
    call = words(text({"service_cidr": "fd40:6404:f93b::/108"}))
    assert call[6:] == ["--dns-cluster-ip", "fd40:6404:f93b::a", "--ip-family", "ipv6", "--service-ipv6-cidr", "fd40:6404:f93b::/108"]


def test_no_option_that_older_images_take_for_the_clusters_name() -> None:
    assert words(text())[1] == "demo"
    assert "--service-ipv4-cidr" not in text()


def test_labels_known_only_at_boot_are_asked_for_before_the_call() -> None:
    script = text(labels={"a": "b", "id": "x-{instance_id}"}, kubelet={"flags": {"manifest-url-header": "h:{instance_id}"}})
    assert script.count("169.254.169.254") == 2
    assert script.endswith(""" --kubelet-extra-args "--node-labels=a=b,id=x-${INSTANCE_ID}"' --manifest-url-header=h:{instance_id}'\n""")
    assert "169.254.169.254" not in text(labels={"a": "b"})


def test_configuration_is_laid_before_the_call() -> None:
    script = text(kubelet={"config": {"podPidsLimit": 100, "maxPods": 20}}, reserved={"kube": {"memory": "1Gi"}})
    assert script.index("config.json.d/50-nodebootstrap.conf <<") < script.index("/etc/eks/bootstrap.sh")
    assert words(script)[-1] == "--max-pods=20 --config-dir=/etc/kubernetes/kubelet/config.json.d"
    assert json.loads(files(kubelet={"config": {"podPidsLimit": 100}})[DROP_IN]["content"]) == {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "podPidsLimit": 100,
    }


@pytest.mark.parametrize(("version", "switched"), [("1.29", True), ("1.30", False), ("1.32", False)])
def test_the_switch_for_drop_ins_stands_where_kubelet_needs_it(version: str, switched: bool) -> None:
    laid = files({"kubernetes_version": version}, kubelet={"config": {"podPidsLimit": 100}})
    unit = laid.get("/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf", {}).get("content")
    assert unit == ("[Service]\nEnvironment=KUBELET_CONFIG_DROPIN_DIR_ALPHA=on\n" if switched else None)


def test_a_folder_for_local_disks_is_said_to_the_images_own_program() -> None:
    script = text(local_storage={"strategy": "mount", "mount_path": "/mnt/x"})
    assert script == f"{HEAD}setup-local-disks mount --dir /mnt/x\n{CALL}\n"


def test_containerd_configuration_is_complete_and_the_users_wins() -> None:
    own = {"root": "/data", "plugins": {CRI: {"registry": {"config_path": "/x"}}}}
    laid = files(containerd={"config": own})["/etc/nodebootstrap/containerd-config.toml"]["content"]
    config = tomllib.loads(laid)
    assert config["root"] == "/data"
    assert config["version"] == 2
    assert config["grpc"] == {"address": "/run/containerd/containerd.sock"}
    assert config["plugins"][CRI]["registry"] == {"config_path": "/x"}
    assert config["plugins"][CRI]["containerd"]["runtimes"]["runc"]["options"] == {"SystemdCgroup": True}
    assert '\nsandbox_image = "SANDBOX_IMAGE"\n' in laid
    assert words(text(containerd={"config": own}))[-2:] == ["--containerd-config-file", "/etc/nodebootstrap/containerd-config.toml"]


def test_proxy_goes_to_units_and_to_the_images_script() -> None:
    proxy = {"http": "http://u@p:3128/$x%y"}
    laid = files(proxy=proxy)
    units = [path for path in laid if path.endswith("-proxy.conf")]
    assert [path.split("/")[4] for path in units] == ["containerd.service.d", "kubelet.service.d", "sandbox-image.service.d"]
    assert all(laid[path]["mode"] == "0600" for path in units)
    script = text(proxy=proxy)
    assert "\nexport HTTP_PROXY='http://u@p:3128/$x%y'\n" in script
    assert script.index("systemctl daemon-reload") < script.index("systemctl try-restart containerd") < script.index(CALL)


def test_post_commands_are_started_last() -> None:
    last = "systemctl start --no-block nodebootstrap-post.service\n"
    assert text(commands={"post": ["true"]}).endswith(f"systemctl daemon-reload\n{CALL}\n{last}")


def test_parts_stand_in_their_order() -> None:
    found = parts(text(user_data="#!/bin/sh\necho theirs\n", commands={"pre": ["echo one", "#!/bin/sh\necho two"]}))
    assert [kind for kind, _unused in found] == ["text/x-shellscript"] * 3
    assert [body.split("\n")[1] for _unused, body in found] == ["echo theirs", "set -e", "set -eo pipefail"]
    assert "echo one\n" in found[1][1] and "#!/bin/sh\necho two\n" in found[1][1]
    assert "pre-failed" in found[1][1] and "pre-failed" in found[2][1]


@pytest.mark.parametrize(
    ("existing", "name"),
    [
        ("#!/bin/sh\ntrue\n", None),
        ("#cloud-config\nruncmd: [true]\n", "z-nodebootstrap-001"),
        ('MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/x-shellscript\n'
         'Content-Disposition: attachment; filename="zz.sh"\n\n#!/bin/sh\ntrue\n--x--\n', "zzz-nodebootstrap-001"),
    ],
)  # fmt: skip
def test_our_script_is_named_to_run_after_the_users(existing: str, name: str | None) -> None:
    message = email.message_from_string(text(user_data=existing))
    assert [part.get_filename() for part in message.walk()][-1] == name


def test_managed_adds_only_the_users_own_parts(golden_message: GoldenMessages) -> None:
    managed = {"mode": "managed", "labels": {"a": "b"}, "taints": [{"key": "k", "effect": "NoSchedule"}]}
    found = parts(text(**managed, commands={"pre": ["echo one"]}, user_data="#!/bin/sh\necho theirs\n"))
    assert found == [("text/x-shellscript", "#!/bin/sh\necho theirs\n"), ("text/x-shellscript", "#!/bin/bash\nset -e\necho one\n")]
    assert parts(text(**managed, commands={"pre": ["#!/usr/bin/python3\nprint()"]}))[0][1] == "#!/usr/bin/python3\nprint()\n"
    assert text(**managed) == ""
    assert render({}, {"family": "al2", "mode": "managed"}).document.text == ""
    assert files(**managed) == {}
    with pytest.raises(SpecError) as caught:
        render(CLUSTER, {"family": "al2", **managed, "commands": {"pre": ["true"]}}, "gzip_base64")
    assert problem_list.found(caught.value.problems) == [("output.unsupported_encoding", "encoding")]
    golden_message(caught.value)


def test_override_replaces_the_call_and_finds_eksctls_variables() -> None:
    laid = files(override="echo $CLUSTER_NAME", max_pods=5, labels={"a": "b"})
    helper = laid["/var/lib/cloud/scripts/eksctl/bootstrap.helper.sh"]
    assert helper["mode"] == "0755"
    assert "export CLUSTER_NAME=demo\n" in helper["content"]
    assert "KUBELET_EXTRA_ARGS='--node-labels=a=b --max-pods=5'\n" in helper["content"]
    assert laid["/etc/nodebootstrap/override"]["content"] == "#!/bin/bash\necho $CLUSTER_NAME\n"
    script = text(override="#!/bin/sh\nexit 0")
    assert script.endswith(". /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n/etc/nodebootstrap/override\n")
    assert "bootstrap.sh demo" not in script
    assert text(override="true", local_storage={"strategy": "raid0"}).count("\nsetup-local-disks raid0\n") == 1
    outpost = files({"outpost": True, "id": "1-2"}, override="true")["/var/lib/cloud/scripts/eksctl/bootstrap.helper.sh"]["content"]
    assert "export CLUSTER_ID=1-2\nexport ENABLE_LOCAL_OUTPOST=true\n" in outpost


def test_files_hold_the_calling_script() -> None:
    laid = files(labels={"a": "b"}, kubelet={"config": {"podPidsLimit": 100}})
    assert list(laid) == sorted(laid) == [DROP_IN, "/etc/nodebootstrap/bootstrap.sh"]
    assert laid["/etc/nodebootstrap/bootstrap.sh"]["mode"] == "0755"
    arguments = "'--node-labels=a=b --config-dir=/etc/kubernetes/kubelet/config.json.d'"
    assert laid["/etc/nodebootstrap/bootstrap.sh"]["content"] == f"{HEAD}{CALL} --kubelet-extra-args {arguments}\n"


def flags(**values: Any) -> dict[str, Any]:
    return {"kubelet": {"flags": {name.replace("_", "-"): value for name, value in values.items()}}}


def config(**values: Any) -> dict[str, Any]:
    return {"kubelet": {"config": values}}


def pause(image: str) -> dict[str, Any]:
    return {"containerd": {"pause_image": image}}


ECR = "111122223333.dkr.ecr.{}.amazonaws.com/eks/pause:3.9"
OLD = {"kubernetes_version": "1.27"}

# name, cluster, node group, path (below node_group unless it begins with cluster), part of the message
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("configuration, no version", {"kubernetes_version": None}, config(podPidsLimit=9), "kubelet.config", "kubelet.no_config_drop_in"),
    ("configuration, 1.27", OLD, config(podPidsLimit=9), "kubelet.config", "kubelet.no_config_drop_in"),
    ("configuration, 1.28", {"kubernetes_version": "1.28"}, config(podPidsLimit=9), "kubelet.config", "kubelet.no_config_drop_in"),
    ("reserved, 1.27", OLD, {"reserved": {"kube": {"cpu": "1"}}}, "reserved", "kubelet.no_config_drop_in"),
    ("a quote", {}, flags(root_dir="a'b"), "kubelet.flags.root-dir", "kubelet.unsafe_flag_value"),
    (
        "a quote among several",
        {},
        flags(manifest_url_header=["h:a", 'h:b"']),
        "kubelet.flags.manifest-url-header",
        "kubelet.unsafe_flag_value",
    ),
    ("a backslash", {}, flags(root_dir="a\\b"), "kubelet.flags.root-dir", "kubelet.unsafe_flag_value"),
    (
        "the image's flag",
        {},
        config(containerRuntimeEndpoint="unix:///x"),
        "kubelet.config.containerRuntimeEndpoint",
        "kubelet.flag_overrides_config",
    ),
    ("verbosity", {}, config(logging={"verbosity": 5}), "kubelet.config.logging.verbosity", "kubelet.flag_overrides_config"),
    ("reserved CPUs", {}, config(reservedSystemCPUs="0-1"), "kubelet.config.reservedSystemCPUs", "kubelet.reserved_cpus_conflict"),
    ("a name", {}, {"instance": {"hostname_type": "resource_name"}}, "instance.hostname_type", "strategy.hostname_type"),
    ("another pause image", {}, pause("public.ecr.aws/x/pause:3.9"), "containerd.pause_image", "containerd.pause_image_not_ecr"),
    ("a pause image elsewhere", {}, pause(ECR.format("eu-west-2")), "containerd.pause_image", "containerd.pause_image_other_region"),
    (
        "no region to compare",
        {"region": None},
        pause(ECR.format("eu-west-1")),
        "containerd.pause_image",
        "containerd.pause_image_other_region",
    ),
    ("no image", {}, pause("$(id)"), "containerd.pause_image", "containerd.invalid_pause_image"),
    (
        "no registry",
        {},
        {"containerd": {"registry_mirrors": {"../x": ["https://x"]}}},
        'containerd.registry_mirrors["../x"]',
        "input.invalid_text",
    ),
    (
        "containerd of version 3",
        {},
        {"containerd": {"config": {"version": 3}}},
        "containerd.config.version",
        "containerd.wrong_config_version",
    ),
    (
        "a plugin of version 3",
        {},
        {"containerd": {"config": {"plugins": {NEW_CRI: {}}}}},
        "containerd.config.plugins",
        "containerd.wrong_config_version",
    ),
    ("null in TOML", {}, {"containerd": {"config": {"a": None}}}, "containerd.config.a", "toml.null"),
    ("IPv6 without its CIDR", {"service_cidr": None, "dns_ips": ["fd40::a"]}, {}, "cluster.service_cidr", "cluster.missing_service_cidr"),
    ("a second call", {}, {"user_data": "#!/bin/sh\n  sudo /etc/eks/bootstrap.sh x\n"}, "user_data", "user_data.bootstraps_twice"),
    ("a second call before", {}, {"commands": {"pre": ["/etc/eks/bootstrap.sh x"]}}, "commands.pre[0]", "user_data.bootstraps_twice"),
    (
        "NodeConfig",
        {},
        {"user_data": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"},
        "user_data",
        "user_data.wrong_kind",
    ),
    ("nodeadm", {}, {"nodeadm": {"kubelet": {"flags": ["--v=2"]}}}, "nodeadm", "family.foreign_field"),
    ("ubuntu", {}, {"ubuntu": {"release": "22.04"}}, "ubuntu", "family.foreign_field"),
    ("override and static", {}, {**STATIC, "override": "true"}, "override", "family.unsupported_field"),
    (
        "override, containerd",
        {},
        {"override": "true", "containerd": {"config": {"root": "/x"}}},
        "containerd.config",
        "family.unsupported_field",
    ),
    ("managed and max pods", {}, {"mode": "managed", "max_pods": 5}, "max_pods", "mode.unsupported_field"),
    ("managed and override", {}, {"mode": "managed", "override": "true"}, "override", "mode.unsupported_field"),
    ("managed and post", {}, {"mode": "managed", "commands": {"post": ["true"]}}, "commands.post", "mode.unsupported_field"),
    ("managed and static", {}, {"mode": "managed", "strategy": "static"}, "strategy", "mode.static_strategy"),
    ("static without max pods", {}, {"strategy": "static", "reserved": {"kube": {"cpu": "1"}}}, "max_pods", "strategy.missing_max_pods"),
    ("static without a region", {"region": None}, STATIC, "cluster.region", "cluster.missing_field"),
    ("static on Outposts", {"outpost": True, "id": "1"}, STATIC, "cluster.outpost", "cluster.unsupported_outpost"),
    ("static and line breaks", {}, {**STATIC, **flags(root_dir="a\nb")}, "kubelet.flags.root-dir", "input.control_character"),
]


@pytest.mark.parametrize(("cluster", "fields", "path", "rule"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused_with_path_and_reason(
    cluster: dict[str, Any], fields: dict[str, Any], path: str, rule: str, golden_message: GoldenMessages
) -> None:
    error = error_of(text, cluster, **fields)
    full_path = path if path.startswith("cluster.") else f"node_group.{path}"
    assert f"{rule} {full_path}" in rules_and_paths(error)
    golden_message(error)


def test_max_pods_alone_needs_no_configuration_file() -> None:
    assert words(text({"kubernetes_version": "1.27"}, kubelet={"config": {"maxPods": 20}}))[-1] == "--max-pods=20"


_hostile = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(settings.get_profile("part"))
@given(st.lists(_hostile, min_size=1, max_size=3), st.sampled_from([{}, STATIC]))
def test_whatever_is_not_refused_stands_in_one_word(values: list[str], strategy: dict[str, Any]) -> None:
    values = ["h:" + value.replace(",", ",h:") for value in values]
    fields = {**strategy, "kubelet": {"flags": {"manifest-url-header": values}}}
    before = copy.deepcopy(fields)
    try:
        script = text(**fields)
    except SpecError as error:
        assert {problem.path.split("[")[0] for problem in error.problems} == {"node_group.kubelet.flags.manifest-url-header"}
    else:
        assert script == text(**fields)
        if not strategy:
            expected = " ".join(f'"{word}"' if " " in word else word for value in values for word in [f"--manifest-url-header={value}"])
            assert words(script)[-1] == expected.replace("%", "%%")
    assert fields == before


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_maps_means_nothing(keys: list[str]) -> None:
    flags = {"v": 2, "node-ip": "10.0.0.1", "root-dir": "/x", "cert-dir": "/y"}
    names = dict(zip(sorted(keys), flags, strict=True))
    fields = {
        "labels": {key: "x" for key in keys},
        "kubelet": {"flags": {names[key]: flags[names[key]] for key in keys}},
        "containerd": {"config": {key: 1 for key in keys}, "registry_mirrors": {f"{key}.io": ["https://m"] for key in keys}},
    }
    straight = {
        "labels": dict(sorted(fields["labels"].items())),
        "kubelet": {"flags": dict(sorted(fields["kubelet"]["flags"].items()))},
        "containerd": {name: dict(sorted(value.items())) for name, value in fields["containerd"].items()},
    }
    for strategy in ({}, STATIC):
        assert text(**fields, **strategy) == text(**straight, **strategy)
