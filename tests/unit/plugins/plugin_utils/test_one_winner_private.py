# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pair of places for the fields of private clusters: proxies, registry mirrors, certificate authorities, the pause image.

The places of proxies in NodeConfigs and Bottlerocket settings are in test_one_winner_node_config.py and test_one_winner_bottlerocket.py.
"""

from __future__ import annotations

import base64
import itertools
import re
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml, yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import PEM
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_one_winner import CLUSTER, PRECEDENCES, document, unite

Tree = dict[str, Any]
LINUX = ("al2", "al2023", "ubuntu")
ONE, OTHER = "http://a.example:3128", "http://b.example:3128"
NEEDED = ["localhost", "127.0.0.1", "::1", "169.254.169.254", "fd00:ec2::254", ".internal", "10.100.0.0/16"]
NEEDED += [CLUSTER["endpoint"].removeprefix("https://")]


def cloud_config(**keys: Any) -> str:
    return "#cloud-config\n" + yaml.dump(keys)


def writes(path: str, content: str, **more: Any) -> str:
    return cloud_config(write_files=[{"path": path, "content": content, **more}])


def given(family: str, precedence: str | None, **group: Any) -> Tree:
    return {"family": family, **group} | ({"user_data_precedence": precedence} if precedence else {})


# --- proxies -----------------------------------------------------------------------------------------------------------------------------

ENVIRONMENT, DROP_INS = "/etc/environment", "/etc/systemd/system/containerd.service.d"
USER_DATA = {
    "environment file": lambda value: writes(ENVIRONMENT, f"LANG=C\nhttps_proxy={value}\n"),
    "encoded file": lambda value: writes(ENVIRONMENT, base64.b64encode(f"HTTPS_PROXY='{value}'\n".encode()).decode(), encoding="b64"),
    "profile": lambda value: writes("/etc/profile.d/proxy.sh", f"export HTTPS_PROXY={value} X=1\n"),
    "drop-in before ours": lambda value: writes(f"{DROP_INS}/10-proxy.conf", f'[Service]\nEnvironment="X=1" "HTTPS_PROXY={value}"\n'),
    "drop-in after ours": lambda value: writes(f"{DROP_INS}/http-proxy.conf", f"[Service]\nEnvironment=HTTPS_PROXY={value}\n"),
    "script": lambda value: f"#!/bin/bash\nexport HTTPS_PROXY={value}\n",
    "script, lower case": lambda value: f"#!/bin/bash\nhttps_proxy='{value}'\nexport https_proxy\n",
    "boothook": lambda value: f'#cloud-boothook\n#!/bin/bash\ndeclare -x HTTPS_PROXY="{value}"\n',
}
"""Literal places of the user data on Linux."""
POWERSHELL = {"powershell": lambda value: f"$env:HTTPS_PROXY = '{value}'\n", "lower case": lambda value: f'$Env:https_proxy="{value}"\n'}


def value_of(name: str, family: str, group: Tree) -> str:
    """The value of a proxy variable in everything that we write."""
    texts = [file["content"] for file in node_files(CLUSTER, group)]
    linux = rf"(?m)^(?:Environment=|export |\s+){name}(?:=|: )(\S+)$"
    pattern = rf"'{name}=([^']*)'" if family == "windows" else linux
    [found] = {value for text in texts for value in re.findall(pattern, text)}
    return str(found)


PROXY_PAIRS = [(family, name, put) for family in LINUX for name, put in USER_DATA.items()]
PROXY_PAIRS += [("windows", name, put) for name, put in POWERSHELL.items()]


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize(("family", "name", "put"), PROXY_PAIRS, ids=[f"{family}, {name}" for family, name, _put in PROXY_PAIRS])
def test_a_proxy_in_user_data_has_one_winner(family: str, name: str, put: Any, precedence: str | None) -> None:
    equal, different = (given(family, precedence, proxy={"https": ONE}, user_data=put(value)) for value in (ONE, OTHER))
    found = node_spec(CLUSTER, equal)
    assert (found["warnings"], found["unchecked"]) == ([], [])
    assert value_of("HTTPS_PROXY", family, equal) == ONE
    # systemd reads these after what we write, so the field cannot win.
    is_last = "drop-in" in name and (family == "al2023" or "after" in name)
    if precedence is None or (precedence == "ours" and is_last):
        error = error_of(render, CLUSTER, different)
        assert rules_and_paths(error) == ["user_data.conflict node_group.user_data"]
        assert mentions(error, "proxy.https", "user_data", *([DROP_INS] if "drop-in" in name else []))
    else:
        assert value_of("HTTPS_PROXY", family, different) == (ONE if precedence == "ours" else OTHER)


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("family", [*LINUX, "windows"])
def test_a_proxy_in_commands_has_one_winner(family: str, precedence: str | None) -> None:
    put = POWERSHELL["powershell"] if family == "windows" else "export HTTPS_PROXY={}\n".format
    equal, different = (given(family, precedence, proxy={"https": ONE}, commands={"pre": [put(value)]}) for value in (ONE, OTHER))
    assert node_spec(CLUSTER, equal)["unchecked"] == []
    if precedence is None:
        assert mentions(error_of(render, CLUSTER, different), "proxy.https", "commands.pre[0]")
    else:
        # The command has its own value. Everything else has that of the field.
        assert value_of("HTTPS_PROXY", family, different) == ONE


OVERRIDES = {
    "al2": "#!/bin/bash\nexport HTTPS_PROXY={}\n/etc/eks/bootstrap.sh demo\n",
    "ubuntu": "#!/bin/bash\nexport https_proxy={}\n/etc/eks/bootstrap.sh demo\n",
    "windows": "$env:HTTPS_PROXY = '{}'\n& $EKSBootstrapScriptFile -EKSClusterName $EKSClusterName -ServiceCIDR $ServiceCIDR\n",
}


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("family", OVERRIDES)
def test_a_proxy_in_override_wins_with_a_warning(family: str, precedence: str | None) -> None:
    for value, expected in ((ONE, []), (OTHER, [True])):
        group = given(family, precedence, proxy={"https": ONE}, override=OVERRIDES[family].replace("{}", value))
        found = [one["message"] for one in node_spec(CLUSTER, group)["warnings"]]
        assert [mentions(one, "proxy.https", OTHER) for one in found if "PROXY" in one.upper()] == expected


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("family", LINUX)
def test_a_list_of_hosts_in_user_data_has_one_winner(family: str, precedence: str | None) -> None:
    def hosts(own: list[str] | None, theirs: str) -> list[str]:
        proxy = {"https": ONE} | ({"no_proxy": own} if own else {})
        group = given(family, precedence, proxy=proxy, user_data=writes(ENVIRONMENT, f"no_proxy={theirs}\n"))
        return value_of("NO_PROXY", family, group).split(",")

    assert hosts(None, "x.example") == ["x.example", *NEEDED]
    for same in ("x.example,y.example", "y.example,x.example", ",".join([*NEEDED, "x.example", "y.example"])):
        assert hosts(["x.example", "y.example"], same) == ["x.example", "y.example", *NEEDED]
    if precedence is None:
        with pytest.raises(SpecError) as refused:
            hosts(["x.example"], "z.example")
        assert mentions(refused.value, "proxy.no_proxy", "user_data", ENVIRONMENT)
    else:
        assert hosts(["x.example"], "z.example") == [{"ours": "x.example", "theirs": "z.example"}[precedence], *NEEDED]


def test_two_places_of_the_user_that_disagree_are_an_error() -> None:
    texts = [USER_DATA[name](value) for name, value in (("environment file", OTHER), ("script", "http://c.example"))]
    error = error_of(render, CLUSTER, given("al2", "theirs", proxy={"https": ONE}, user_data=texts))
    assert mentions(error, "user_data[0]", "user_data[1]", "http://c.example", OTHER)


def test_a_variable_that_the_field_does_not_set_is_no_disagreement() -> None:
    for family, text in (("al2", f"#!/bin/bash\nexport HTTP_PROXY={OTHER}\n"), ("windows", f"$env:HTTP_PROXY = '{OTHER}'\n")):
        assert render(CLUSTER, given(family, None, proxy={"https": ONE}, user_data=text)).document.text
        assert render(CLUSTER, given(family, None, user_data=text)).document.text


def test_a_disagreement_does_not_show_credentials() -> None:
    text = "#!/bin/bash\nexport HTTPS_PROXY=http://me:geheim@b.example\n"
    error = error_of(render, CLUSTER, given("al2", None, proxy={"https": ONE}, user_data=text, allow_secrets_in_user_data=True))
    assert "geheim" not in str(error)


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("family", LINUX)
def test_the_variables_of_another_unit_are_no_disagreement(family: str, precedence: str | None) -> None:
    text = writes("/etc/systemd/system/agent.service.d/proxy.conf", f"[Service]\nEnvironment=HTTPS_PROXY={OTHER}\n")
    group = given(family, precedence, proxy={"https": ONE}, user_data=text)
    assert value_of("HTTPS_PROXY", family, group) == ONE
    assert node_spec(CLUSTER, group)["unchecked"] == []


def test_defaults_that_systemd_reads_after_those_of_nodeadm() -> None:
    def group(name: str) -> Tree:
        text = writes(f"/etc/systemd/system.conf.d/{name}.conf", f"[Manager]\nDefaultEnvironment=HTTPS_PROXY={OTHER}\n")
        return given("al2023", "ours", proxy={"https": ONE}, user_data=text)

    assert value_of("HTTPS_PROXY", "al2023", group("a")) == ONE
    assert mentions(error_of(render, CLUSTER, group("proxy")), "proxy.https", "/etc/systemd/system.conf.d/proxy.conf")


UNREAD = {
    "a variable": "#!/bin/bash\nexport HTTPS_PROXY=$OTHER\n",
    "a condition": f"#!/bin/bash\nif [ -e /x ]; then\n  export HTTPS_PROXY={OTHER}\nfi\n",
    "a redirect": f"#!/bin/bash\necho HTTPS_PROXY={OTHER} >>/etc/environment\n",
    "a here-document": f"#!/bin/bash\ncat >/etc/environment <<EOF\nhttps_proxy={OTHER}\nEOF\n",
    "a boothook": f"#cloud-boothook\n#!/bin/bash\necho HTTPS_PROXY={OTHER} >>/etc/environment\n",
    "another program": f"#!/usr/bin/python3\nHTTPS_PROXY = 1\nHTTPS_PROXY='{OTHER}'\n",
    "runcmd": cloud_config(runcmd=[f"echo HTTPS_PROXY={OTHER} >>/etc/environment"]),
    "bootcmd": cloud_config(bootcmd=[["sed", "-i", "s/https_proxy=.*//", "/etc/environment"]]),
    "a file with a variable": writes("/etc/profile.d/x.sh", "export HTTPS_PROXY=$OTHER\n"),
    "a file with arguments of kubelet": writes("/etc/x", f"HTTPS_PROXY={ONE}\nKUBELET_EXTRA_ARGS=--max-pods=3\n"),
    "a file with another file": writes(f"{DROP_INS}/x.conf", f"[Service]\nEnvironment=HTTPS_PROXY={ONE}\nEnvironmentFile=/etc/x\n"),
    "a file of a unit": writes(f"{DROP_INS}/http-proxy.conf", "[Service]\nEnvironmentFile=/etc/x\n"),
    "appended": writes("/etc/environment.d/no_proxy", f"HTTPS_PROXY={OTHER}\n", append=True),
    "compressed": writes(f"{DROP_INS}/http-proxy.conf", "H4sI", encoding="gz+b64"),
    "an address": "#include\nhttps://x.example/user-data\n",
    "a template": f"## template: jinja\n#!/bin/bash\nexport HTTPS_PROXY={OTHER}\n",
    "mirrors in a script": "#!/bin/bash\ncat >/etc/containerd/certs.d/docker.io/hosts.toml </x\n",
    "mirrors that are appended": writes("/etc/containerd/certs.d/docker.io/hosts.toml", "server = 'x'\n", append=True),
    "certificates in a script": "#!/bin/bash\ncurl -o /etc/pki/ca-trust/source/anchors/x.crt https://x.example/ca\n",
    "a pause image in a script": "#!/bin/bash\nsed -i s,sandbox_image,x, /etc/containerd/config.toml\n",
}


@pytest.mark.parametrize("family", LINUX)
@pytest.mark.parametrize("name", UNREAD)
def test_other_texts_are_named_and_not_guessed(family: str, name: str, golden_message: GoldenMessages) -> None:
    containerd = {"registry_mirrors": {"docker.io": ["https://m.example"]}}
    found = node_spec(CLUSTER, given(family, None, proxy={"https": ONE}, containerd=containerd, trust=PEM, user_data=UNREAD[name]))
    assert [(one["rule"], one["path"]) for one in found["unchecked"]] == [("user_data.unread_shell", "node_group.user_data")]
    golden_message(found["unchecked"][0]["message"])


@pytest.mark.parametrize("family", LINUX)
def test_texts_about_something_else_are_not_named(family: str) -> None:
    text = cloud_config(runcmd=["yum install -y x"], write_files=[{"path": "/etc/motd", "content": "hello"}])
    assert node_spec(CLUSTER, given(family, None, proxy={"https": ONE}, user_data=text))["unchecked"] == []
    if family == "al2023":
        assert node_spec(CLUSTER, given(family, None, user_data="#!/bin/bash\nyum install -y x\n"))["unchecked"] == []


UNREAD_POWERSHELL = {
    "of the machine": "[Environment]::SetEnvironmentVariable('HTTPS_PROXY', 'http://b.example', 'Machine')\n",
    "a block": "if ($true) {\n  $env:HTTPS_PROXY = 'http://b.example'\n}\n",
    "a variable": "$env:HTTPS_PROXY = $Other\n",
    "setx": "setx /m HTTPS_PROXY http://b.example\n",
    "an item": "Set-Item env:HTTPS_PROXY 'http://b.example'\n",
}


@pytest.mark.parametrize("text", UNREAD_POWERSHELL.values(), ids=UNREAD_POWERSHELL)
def test_other_powershell_is_named_and_not_guessed(text: str) -> None:
    for place in ({"user_data": text}, {"commands": {"pre": [text]}}):
        found = node_spec(CLUSTER, given("windows", None, proxy={"https": ONE}, **place))
        assert [one["rule"] for one in found["unchecked"]] == ["user_data.unread_shell"]


def test_powershell_that_only_uses_the_proxy_is_not_named() -> None:
    text = "Invoke-WebRequest -Proxy $env:HTTPS_PROXY https://x.example\n"
    assert node_spec(CLUSTER, given("windows", None, proxy={"https": ONE}, user_data=text))["unchecked"] == []


# --- registry mirrors --------------------------------------------------------------------------------------------------------------------

HOSTS = "/etc/containerd/certs.d/docker.io/hosts.toml"
MIRRORS = {"registry_mirrors": {"docker.io": ["https://m.example", "https://n.example"]}}


def hosts_toml(*mirrors: str) -> str:
    tables = [f'[host."https://{mirror}"]\n  capabilities = ["pull", "resolve"]\n' for mirror in mirrors]
    return 'server = "https://registry-1.docker.io"\n\n' + "".join(tables)


def our_hosts(group: Tree) -> list[str]:
    """The mirrors in the file that we write; nothing if we do not write it."""
    files = {file["path"]: file["content"] for file in node_files(CLUSTER, group)}
    text = render(CLUSTER, group).document.text
    assert (f"cat >{HOSTS}" in text) == (HOSTS in files)
    return list(toml.parse(files[HOSTS])["host"]) if HOSTS in files else []


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("family", LINUX)
def test_mirrors_in_a_file_of_user_data_have_one_winner(family: str, precedence: str | None) -> None:
    ours = ["https://m.example", "https://n.example"]
    equal = given(family, precedence, containerd=MIRRORS, user_data=writes(HOSTS, hosts_toml("m.example", "n.example")))
    assert our_hosts(equal) == ours
    assert node_spec(CLUSTER, equal)["unchecked"] == []
    for other in (("o.example",), ("n.example", "m.example")):
        different = given(family, precedence, containerd=MIRRORS, user_data=writes(HOSTS, hosts_toml(*other)))
        if precedence is None:
            error = error_of(render, CLUSTER, different)
            assert mentions(error, "node_group.user_data", HOSTS, 'registry_mirrors["docker.io"]')
        else:
            assert our_hosts(different) == (ours if precedence == "ours" else [])


def test_mirrors_of_another_registry_are_no_disagreement() -> None:
    user_data = writes(HOSTS.replace("docker.io", "quay.io"), hosts_toml("o.example"))
    for precedence in PRECEDENCES:
        assert our_hosts(given("al2023", precedence, containerd=MIRRORS, user_data=user_data))


CRI = "io.containerd.grpc.v1.cri"
IN_TOML = {
    "with the image's config_path": {"mirrors": {"docker.io": {"endpoint": ["https://m.example"]}}},
    "without config_path": {"config_path": "", "mirrors": {"docker.io": {"endpoint": ["https://m.example"]}}},
}


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("place", ["containerd.config", "nodeadm", "user_data", "override"])
@pytest.mark.parametrize("registry", IN_TOML.values(), ids=IN_TOML)
def test_mirrors_in_toml_are_an_error_that_names_both(registry: Tree, place: str, precedence: str | None) -> None:
    """containerd reads one of the two forms only, so equal mirrors cannot be written twice either."""
    config = {"plugins": {CRI: {"registry": registry}}}
    section = {"containerd": {"config": toml.dump(config)}}
    more: Tree = {"nodeadm": {"nodeadm": section}, "containerd.config": {"containerd": {"config": config}}}.get(place) or {
        place: document(section)
    }
    error = error_of(render, CLUSTER, given("al2023", precedence, **unite({"containerd": MIRRORS}, more)))
    assert mentions(error, f"node_group.{place}", "containerd.registry_mirrors")


# --- certificate authorities -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("family", LINUX)
def test_every_certificate_authority_of_every_place_is_trusted(family: str, precedence: str | None) -> None:
    """Trust is a set: certificates of two places are no disagreement, and equal ones are trusted once."""
    other = PEM.replace("MIIB", "MIIC")
    for content in (PEM, other):
        texts = [writes("/etc/pki/ca-trust/source/anchors/own.crt", content), cloud_config(ca_certs={"trusted": [content]})]
        for text in texts:
            group = given(family, precedence, trust=PEM, user_data=text)
            assert PEM in render(CLUSTER, group).document.text
            assert any(file["content"] == PEM for file in node_files(CLUSTER, group))


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("place", ["settings", "user_data"])
def test_certificate_authorities_of_bottlerocket_have_one_winner(place: str, precedence: str | None) -> None:
    def data(content: str, name: str) -> Tree:
        settings = {"pki": {name: {"data": base64.b64encode(content.encode()).decode(), "trusted": True}}}
        more: Tree = {"bottlerocket": {"settings": settings}} if place == "settings" else {"user_data": toml.dump({"settings": settings})}
        found: Tree = toml.parse(render(CLUSTER, given("bottlerocket", precedence, trust=PEM, **more)).document.text)["settings"]["pki"]
        return {key: base64.b64decode(one["data"]).decode() for key, one in found.items()}

    other = PEM.replace("MIIB", "MIIC")
    assert data(PEM, "nodebootstrap") == {"nodebootstrap": PEM}
    assert data(other, "own") == {"nodebootstrap": PEM, "own": other}
    if place == "user_data" and precedence is not None:
        assert data(other, "nodebootstrap") == {"nodebootstrap": PEM if precedence == "ours" else other}
        return
    with pytest.raises(SpecError) as refused:
        data(other, "nodebootstrap")
    assert mentions(refused.value, "node_group.trust", "pki.nodebootstrap")


# --- the pause image ---------------------------------------------------------------------------------------------------------------------

PAUSE = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:{}"
STATIC = {"strategy": "static", "max_pods": 20, "reserved": {"kube": {"cpu": "1"}}}


@pytest.mark.parametrize(("family", "more"), [("al2", {}), ("al2", STATIC), ("ubuntu", STATIC)], ids=["al2", "al2-static", "ubuntu-static"])
def test_a_pause_image_in_two_fields_is_written_once_or_an_error(family: str, more: Tree) -> None:
    def group(image: str) -> Tree:
        config = {"plugins": {CRI: {"sandbox_image": image}}}
        return given(family, None, containerd={"pause_image": PAUSE.format("3.9"), "config": config}, **more)

    cluster = CLUSTER | {"region": "eu-west-1"}
    assert PAUSE.format("3.9") in render(cluster, group(PAUSE.format("3.9"))).document.text
    error = error_of(render, cluster, group(PAUSE.format("3.10")))
    assert mentions(error, "containerd.pause_image", "sandbox_image", PAUSE.format("3.9"), PAUSE.format("3.10"))


@pytest.mark.parametrize(("place", "precedence"), list(itertools.product(["user_data", "override", "nodeadm"], PRECEDENCES)))
def test_the_field_of_the_pause_image_is_always_rejected_on_al2023(place: str, precedence: str | None) -> None:
    section = {"containerd": {"config": toml.dump({"plugins": {CRI: {"sandbox_image": "a"}}})}}
    more = {place: section if place == "nodeadm" else document(section)}
    assert mentions(
        error_of(render, CLUSTER, given("al2023", precedence, containerd={"pause_image": "a"}, **more)), "containerd.pause_image"
    )
