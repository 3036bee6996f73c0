# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The weaknesses of terraform-aws-eks (5A), Karpenter (5B) and Cluster API AWS (5C) that docs/parity.md lists, shown not to be ours."""

from __future__ import annotations

import base64
import email
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import tomllib

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell, yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.importers.eksctl_files import CALLER

CLUSTER = {**CALLER, "name": "c", "region": "eu-west-1", "kubernetes_version": "1.32"}
FAMILIES = ("al2", "al2023", "ubuntu", "bottlerocket", "windows")
SCRIPTS = ("al2", "ubuntu")
MODES = ("self_managed", "managed_custom_ami", "managed")


def text(family: str, cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render({**CLUSTER, **(cluster or {})}, {"family": family, **fields}).document.text


def refused(family: str, cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    with pytest.raises(SpecError) as caught:
        render({**CLUSTER, **(cluster or {})}, {"family": family, **fields})
    return str(caught.value)


def parts(document: str) -> list[tuple[str, str]]:
    """(content type, decoded body) of each part."""
    message = email.message_from_string(document)
    assert message.is_multipart()
    return [(part.get_content_type(), part.get_payload(decode=True).decode("utf-8")) for part in message.get_payload()]


def node_config(document: str) -> Any:
    (body,) = (body for kind, body in parts(document) if kind == "application/node.eks.aws")
    return yaml.load(body)


# -- terraform-aws-eks ---------------------------------------------------------------------------------------------


def test_5a01_al2_gets_its_dns_address_and_no_option_that_older_images_lack() -> None:
    rendered = text("al2")
    assert "--service-ipv4-cidr" not in rendered
    assert "--dns-cluster-ip 10.100.0.10" in rendered


@pytest.mark.parametrize("family", FAMILIES)
def test_5a02_a_missing_newline_glues_nothing(family: str) -> None:
    if family == "bottlerocket":
        assert tomllib.loads(text(family, user_data='settings.motd = "x"'))["settings"]["kubernetes"]["cluster-name"] == "c"
        return
    existing = "echo existing" if family == "windows" else "#!/bin/bash\necho existing"
    lines = text(family, commands={"pre": ["echo pre"]}, user_data=existing).splitlines()
    assert "echo pre" in lines
    assert "echo existing" in lines


@pytest.mark.parametrize("family", FAMILIES)
def test_5a03_no_value_becomes_a_command(family: str) -> None:
    assert "cluster.name: " in refused(family, {"name": "c; reboot"})
    assert "cluster.endpoint: " in refused(family, {"endpoint": "https://x $(reboot)"})
    assert "cluster.certificate_authority: " in refused(family, {"certificate_authority": "`reboot`"})


@pytest.mark.parametrize("name", ["0123", "123", "true", "1e3", "null", "0x1F"])
def test_5a04_scalars_keep_their_type(name: str) -> None:
    assert node_config(text("al2023", {"name": name}))["spec"]["cluster"]["name"] == name


def test_5a05_existing_settings_are_merged_not_pasted() -> None:
    merged = text("bottlerocket", user_data="[settings.kubernetes]\nregistry-qps = 5\n", max_pods=9)
    assert merged.count("[settings.kubernetes]") == 1
    assert tomllib.loads(merged)["settings"]["kubernetes"]["registry-qps"] == 5


FIELDS: dict[str, Any] = {
    "labels": {"a": "b"},
    "taints": [{"key": "k", "effect": "NoExecute"}],
    "max_pods": 9,
    "reserved": {"kube": {"cpu": "1"}, "system": {"memory": "1Gi"}},
    "kubelet": {"config": {"registryPullQPS": 7}},
    "containerd": {"registry_mirrors": {"docker.io": ["https://mirror.example.com"]}},
    "local_storage": {"strategy": "raid0"},
    "proxy": {"http": "http://proxy.example.com:3128"},
    "commands": {"pre": ["echo x"]},
    "override": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n",
    "user_data": "#!/bin/sh\necho x\n",
    "nodeadm": {"featureGates": {"InstanceIdNodeName": True}},
    "bottlerocket": {"settings": {"motd": "x"}},
    "windows": {"persist": True},
    "strategy": "static",
    "commands_post": {"post": ["echo x"]},
    "kubelet_flags": {"flags": {"v": 6}},
    "containerd_config": {"config": {"version": 2, "root": "/x"}},
    "pause_image": {"pause_image": "example.com/pause:3.10"},
}
SPELLED = {"commands_post": "commands", "kubelet_flags": "kubelet", "containerd_config": "containerd", "pause_image": "containerd"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("field", FIELDS)
def test_5a06_5c11_a_field_is_expressed_or_refused_never_dropped(
    field: str, family: str, mode: str, golden_message: GoldenMessages
) -> None:
    name = SPELLED.get(field, field)
    base = {"family": family, "mode": mode, "instance": {"type": "m5.large"}}
    if (family, mode) == ("ubuntu", "managed"):
        with pytest.raises(SpecError) as caught:
            render(CLUSTER, base)
        assert problem_list.found(caught.value.problems) == [("mode.unknown_on_family", "node_group.mode")]
        golden_message(caught.value)
        return
    if field == "strategy" and family in SCRIPTS and mode != "managed":
        base["max_pods"] = 29  # static demands a number
    try:
        found = render(CLUSTER, {**base, name: FIELDS[field]}).document.text
    except SpecError as error:
        assert any(problem.path.startswith(f"node_group.{name}") for problem in error.problems), error
    else:
        left_to_eks = mode == "managed" and name in ("labels", "taints")
        assert (found == render(CLUSTER, base).document.text) == left_to_eks


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("cidr", ["10.100.0.0", "10.100.0.0/33", "not-a-cidr", "10.100.0.1/16", ""])
def test_5a07_a_malformed_cidr_is_an_error(family: str, cidr: str) -> None:
    assert "cluster.service_cidr: " in refused(family, {"service_cidr": cidr})


@pytest.mark.parametrize("line", ["--=_", "--//", "--MIMEBOUNDARY--", "--=_0", "--=_1"])
def test_5a08_5b08_no_content_ends_a_part(line: str) -> None:
    rendered = text("al2023", commands={"pre": [f"cat <<'X'\n{line}\nX", "echo ünïcode"]})
    assert [kind for kind, _unused in parts(rendered)] == ["text/x-shellscript", "application/node.eks.aws"]
    assert f"\n{line}\nX\necho ünïcode\n" in parts(rendered)[0][1]


@pytest.mark.parametrize("family", ["al2", "al2023"])
def test_5a09_what_eks_completes_is_mime(family: str) -> None:
    assert text(family, mode="managed", commands={"pre": ["date"]}).startswith("MIME-Version: 1.0\n")


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu", "windows"])
def test_5a10_user_data_of_another_family_is_refused(family: str) -> None:
    assert "node_group.user_data: " in refused(family, user_data='[settings.kubernetes]\ncluster-name = "c"\n')


def test_5a11_core_and_full_differ_in_nothing_that_is_rendered() -> None:
    editions = (
        text("windows", windows={"version": version, "edition": edition}) for version in ("2019", "2022") for edition in ("core", "full")
    )
    assert len(set(editions)) == 1


@pytest.mark.parametrize("family", ["al2", "al2023", "bottlerocket", "windows"])
def test_5a12_nothing_to_say_is_an_empty_text_not_a_missing_one(family: str) -> None:
    for encoding in ("plain", "base64"):
        assert render({}, {"family": family, "mode": "managed"}, encoding).text == ""


# -- Karpenter -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["al2", "al2023"])
def test_5b01_existing_parts_keep_their_headers(family: str) -> None:
    body = base64.b64encode(b"#!/bin/bash\necho decoded\n").decode()
    existing = (
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/x-shellscript\n"
        f'Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="a.sh"\n\n{body}\n--b--\n'
    )
    document = email.message_from_string(text(family, user_data=existing))
    first = document.get_payload()[0]
    assert first.get_payload(decode=True) == b"#!/bin/bash\necho decoded\n"
    assert first.get_filename() == "a.sh"


def test_5b02_a_document_is_what_it_says_it_is() -> None:
    assert parts(text("al2023", user_data="#cloud-config\nruncmd: [date]\n"))[0][0] == "text/cloud-config"
    assert "contains a NodeConfig" in refused("al2", user_data="apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n")
    assert "node_group.user_data: " in refused("al2023", user_data="# nothing but a comment\n")


@pytest.mark.parametrize("family", FAMILIES)
def test_5b03_reservations_stand_in_one_order(family: str) -> None:
    forwards = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi"}
    backwards = dict(reversed(forwards.items()))
    assert text(family, reserved={"kube": forwards}) == text(family, reserved={"kube": backwards})


@pytest.mark.parametrize("family", FAMILIES)
def test_5b04_a_name_server_that_is_no_address_is_an_error(family: str, golden_message: GoldenMessages) -> None:
    golden_message(refused(family, {"dns_ips": ["10.100.0.x"]}))


def test_5b05_settings_are_known_or_refused(golden_message: GoldenMessages) -> None:
    golden_message(refused("bottlerocket", bottlerocket={"settings": {"kubernetes": {"max-podz": 3}}}))
    taints = "[settings.kubernetes.node-taints]\nmine = ['v:NoExecute']\n[settings.kubernetes]\ncluster-dns-ip = ['1.2.3.4', '1.2.3.5']\n"
    merged = tomllib.loads(
        text("bottlerocket", user_data=taints, taints=[{"key": "ours", "effect": "NoSchedule"}], user_data_precedence="theirs")
    )
    assert set(merged["settings"]["kubernetes"]["node-taints"]) == {"mine", "ours"}
    assert merged["settings"]["kubernetes"]["cluster-dns-ip"] == ["1.2.3.4", "1.2.3.5"]


def test_5b06_powershell_tags_stand_once() -> None:
    rendered = text("windows", user_data="<powershell>\necho x\n</powershell>\n<persist>true</persist>\n")
    assert rendered.count("<powershell>") == rendered.count("</powershell>") == rendered.count("<persist>true</persist>") == 1
    assert "-ServiceCIDR '10.100.0.0/16'" in rendered
    assert "node_group.local_storage: " in refused("windows", local_storage={"strategy": "raid0"})


MIME = (
    "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho x\n\n--b--\n"
)


@pytest.mark.parametrize(
    "existing", [MIME, f"\n{MIME}", MIME.replace("Content-Type", "content-type"), MIME.replace("boundary=b\n\n", "boundary=b\n")]
)
def test_5b07_mime_is_recognised_or_refused_in_words(existing: str) -> None:
    try:
        assert parts(text("al2023", user_data=existing))[0][1].startswith("#!/bin/sh\necho x")
    except SpecError as error:
        assert all(problem.path.startswith("node_group.user_data") and problem.fix for problem in error.problems)


@pytest.mark.parametrize("family", SCRIPTS)
def test_5b09_nothing_is_traced_or_copied_to_the_console(family: str) -> None:
    rendered = text(family, labels={"a": "{instance_id}"})
    assert "set -x" not in rendered
    assert "xtrace" not in rendered
    assert "tee " not in rendered


@pytest.mark.parametrize("family", FAMILIES)
def test_5b10_no_empty_taints(family: str) -> None:
    assert "register-with-taints" not in text(family, labels={"a": "b"})


def test_5b11_the_order_is_the_documented_one() -> None:
    existing = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config: {registryPullQPS: 7}\n"
    override = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config: {registryPullQPS: 8}\n"
    bodies = [body for _unused, body in parts(text("al2023", user_data=existing, commands={"pre": ["date"]}, override=override))]
    assert "registryPullQPS: 7" in bodies[0]
    assert "date" in bodies[1]
    assert "apiServerEndpoint" in bodies[2]
    assert "registryPullQPS: 8" in bodies[3]


@pytest.mark.parametrize("family", FAMILIES)
def test_5b12_reservations_follow_the_final_max_pods(family: str) -> None:
    assert "1465Mi" in text(family, instance={"type": "m5.large"}, max_pods=110, reserved={"kube": "auto"})


@pytest.mark.parametrize("family", FAMILIES)
def test_5b13_a_reservation_that_is_no_quantity_is_an_error(family: str, golden_message: GoldenMessages) -> None:
    golden_message(refused(family, reserved={"kube": {"cpu": "lots"}}))


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu", "windows"])
def test_5b14_commands_after_kubelet(family: str) -> None:
    assert "echo after" in text(family, commands={"post": ["echo after"]})


# -- Cluster API AWS -----------------------------------------------------------------------------------------------


def test_5c01_no_part_is_empty() -> None:
    found = parts(text("al2023", commands={"pre": ["date"], "post": ["date"]}, labels={"a": "{instance_id}"}, user_data="#!/bin/sh\nx\n"))
    assert all(body.strip() for _unused, body in found)


def test_5c02_toml_inside_yaml_comes_out_as_it_went_in() -> None:
    config = {"version": 2, "plugins": {"io.containerd.grpc.v1.cri": {"containerd": {"discard_unpacked_layers": False}}}}
    spec = node_config(text("al2023", containerd={"config": config}))["spec"]
    assert tomllib.loads(spec["containerd"]["config"]) == config


@pytest.mark.parametrize("value", ["a # b", "a: b", "it's", 'say "x"', "back\\slash", "%b", "- x", "{x}", "*x", "é"])
def test_5c03_5c05_flags_reach_kubelet_as_written(value: str) -> None:
    try:
        flags = node_config(text("al2023", kubelet={"flags": {"provider-id": value}}))["spec"]["kubelet"]["flags"]
    except SpecError as error:
        assert error.problems[0].path == "node_group.kubelet.flags.provider-id"
    else:
        # nodeadm joins the flags for systemd, which reads quotes: a flag comes out as it went in, or quoted as systemd reads it.
        assert f"--provider-id={value}" in [*flags, *(word for flag in flags for word in shlex.split(flag))]


def test_5c04_false_stays_false() -> None:
    assert "enabled = false" in text("bottlerocket", bottlerocket={"settings": {"host-containers": {"admin": {"enabled": False}}}})
    spec = node_config(text("al2023", kubelet={"config": {"serializeImagePulls": False}}))["spec"]
    assert spec["kubelet"]["config"]["serializeImagePulls"] is False


@pytest.mark.parametrize("family", FAMILIES)
def test_5c06_no_service_cidr_is_assumed(family: str, golden_message: GoldenMessages) -> None:
    cluster = {name: value for name, value in CLUSTER.items() if name != "service_cidr"}
    with pytest.raises(SpecError) as caught:
        render(cluster, {"family": family})
    assert problem_list.found(caught.value.problems) == [("cluster.missing_field", "cluster.service_cidr")]
    golden_message(caught.value)


def test_5c07_ipv6_is_the_family_of_the_service_cidr() -> None:
    spec = node_config(text("al2023", {"service_cidr": "fd40:6404:f93b::/108"}))["spec"]
    assert spec["cluster"]["cidr"] == "fd40:6404:f93b::/108"
    assert spec["kubelet"]["config"]["clusterDNS"] == ["fd40:6404:f93b::a"]


@pytest.mark.parametrize("content", ["  indented first\nx\n", "a: b # c\n", "three newlines\n\n\n", "E\nE\n", "$HOME `x` \\ '\n"])
def test_5c08_files_have_the_content_that_was_given(content: str, tmp_path: Path) -> None:
    target = tmp_path / "folder" / "file"
    subprocess.run(["/bin/bash", "-e"], input=shell.write_file(str(target), content, "0600"), text=True, check=True)
    assert target.read_text() == content
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", MODES)
def test_5c09_5c10_nothing_empty_is_written(mode: str) -> None:
    rendered = text("al2023", mode=mode, commands={"pre": []}, kubelet={"config": {}, "flags": {}}, user_data=[], reserved={})
    assert "{}" not in rendered
    assert "null" not in rendered
    assert "cloud-config" not in rendered
    assert (rendered == "") == (mode == "managed")


@pytest.mark.parametrize("family", FAMILIES)
def test_5c12_a_node_looks_nothing_up_that_is_known(family: str) -> None:
    rendered = text(family)
    assert CALLER["endpoint"] in rendered
    assert CALLER["certificate_authority"] in rendered
    assert "describe-cluster" not in rendered
    assert "169.254.169.254" not in rendered


@pytest.mark.parametrize("mode", MODES)
def test_5c13_the_size_is_checked_on_every_path(mode: str, golden_message: GoldenMessages) -> None:
    golden_message(refused("al2023", mode=mode, commands={"pre": [f"echo {'x' * 17000}"]}))


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_5c14_commands_run_without_surprising_options(family: str) -> None:
    rendered = text(family, commands={"pre": ["echo $UNSET"]})
    assert "nounset" not in rendered
    assert "set -eu" not in rendered
    own = text(family, commands={"pre": ["echo a", "#!/bin/sh -u\necho b\n"]})
    assert any("#!/bin/sh -u\necho b\n" in body for kind, body in parts(own) if kind == "text/x-shellscript")
