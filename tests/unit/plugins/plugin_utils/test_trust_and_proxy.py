# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Own certificate authorities reach every family before anything is pulled, and the proxy reaches commands.pre."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, PEM

OTHER = PEM.replace("MIIB", "MIIC")
STATIC = {"strategy": "static", "max_pods": 20, "reserved": {"kube": {"cpu": "1"}}}
SCRIPTS: list[dict[str, Any]] = [
    {"family": "al2"},
    {"family": "al2", **STATIC},
    {"family": "al2", "override": "/etc/eks/bootstrap.sh demo"},
    {"family": "ubuntu"},
    {"family": "ubuntu", **STATIC},
    {"family": "al2023"},
]
MANAGED = [{"family": family, "mode": "managed"} for family in ("al2", "al2023")]
UPDATES = {"al2": "update-ca-trust extract", "al2023": "update-ca-trust extract", "ubuntu": "update-ca-certificates"}
FOLDERS = {
    "al2": "/etc/pki/ca-trust/source/anchors",
    "al2023": "/etc/pki/ca-trust/source/anchors",
    "ubuntu": "/usr/local/share/ca-certificates",
}


def name(group: dict[str, Any]) -> str:
    return "-".join(str(value) for key, value in group.items() if key in ("family", "mode", "strategy", "override"))


def text_of(**group: Any) -> str:
    return render(COMPLETE, group).document.text


def positions(text: str, *parts: str) -> Iterator[int]:
    for part in parts:
        assert text.count(part) >= 1, part
        yield text.index(part)


@pytest.mark.parametrize("group", SCRIPTS + MANAGED, ids=name)
def test_certificates_are_installed_before_the_commands_and_the_start(group: dict[str, Any]) -> None:
    family = group["family"]
    text = text_of(**group, trust=[PEM, OTHER], commands={"pre": ["echo own command"]})
    paths = [f"{FOLDERS[family]}/nodebootstrap-{number}.crt" for number in (1, 2)]
    found = [*positions(text, *paths, UPDATES[family], "echo own command")]
    assert found == sorted(found)
    assert [text.count(f"cat >{path}") for path in paths] == [1, 1], "no certificate is in the user data twice"
    start = {"al2023": "kind: NodeConfig", "al2": "/etc/eks/bootstrap.sh", "ubuntu": "/etc/eks/bootstrap.sh"}[family]
    if "strategy" in group:
        start = "systemctl start kubelet" if family == "al2" else "snap start"
    if group.get("mode") != "managed":
        assert found[-1] < text.index(start)


@pytest.mark.parametrize("group", SCRIPTS, ids=name)
def test_certificates_without_commands(group: dict[str, Any]) -> None:
    family = group["family"]
    text = text_of(**group, trust=OTHER)
    assert text.count(OTHER) == 1
    start = "kind: NodeConfig" if family == "al2023" else "systemctl restart containerd" if "strategy" in group else "systemctl try-restart"
    found = [*positions(text, OTHER, UPDATES[family], start)]
    assert found == sorted(found)


@pytest.mark.parametrize("group", SCRIPTS, ids=name)
def test_files_of_a_node(group: dict[str, Any]) -> None:
    family = group["family"]
    files = {file["path"]: file["content"] for file in node_files(COMPLETE, group | {"trust": [PEM, OTHER]})}
    assert [files[f"{FOLDERS[family]}/nodebootstrap-{number}.crt"] for number in (1, 2)] == [PEM, OTHER]
    runs = "/etc/nodebootstrap/bootstrap.sh"
    if family == "al2023":
        runs = "/etc/systemd/system/nodeadm-config.service.d/40-nodebootstrap-trust.conf"
    assert UPDATES[family] in files[runs]
    if family != "al2023":
        # The program that pulls the pause image asks the AWS CLI, which does not use the certificates of the system.
        drop_in = files["/etc/systemd/system/sandbox-image.service.d/40-nodebootstrap-trust.conf"]
        assert re.search(r"Environment=AWS_CA_BUNDLE=/etc/\S+\.crt$", drop_in, re.MULTILINE)
        assert "export AWS_CA_BUNDLE=" in files[runs]


@pytest.mark.parametrize("group", SCRIPTS, ids=name)
def test_plan_of_a_live_node(group: dict[str, Any]) -> None:
    folder = FOLDERS[group["family"]]
    plan = node_plan(COMPLETE, group | {"trust": PEM}).plain()
    (file,) = [file for file in plan["files"] if file["path"].startswith(folder)]
    assert file["content"] == PEM
    names = [step["name"] for step in plan["steps"]]
    assert file["read_by"] and set(file["read_by"]) <= set(names), "containerd starts again"
    assert "trust" not in names, "without scripts, the transaction is enough"
    steps = node_plan(COMPLETE, group | {"trust": PEM, "commands": {"pre": "echo own"}}).plain()["steps"]
    assert [step["name"] for step in steps][:2] == ["trust", "commands.pre"]
    assert PEM in steps[0]["script"] and UPDATES[group["family"]] in steps[0]["script"]


def test_bottlerocket() -> None:
    for mode in ("self_managed", "managed"):
        settings = toml.parse(text_of(family="bottlerocket", mode=mode, trust=[PEM, OTHER]))["settings"]
        assert base64.b64decode(settings["pki"]["nodebootstrap"].pop("data")).decode() == PEM + OTHER
        assert settings["pki"] == {"nodebootstrap": {"trusted": True}}


@pytest.mark.parametrize("mode", ["self_managed", "managed"])
def test_windows(mode: str) -> None:
    text = text_of(family="windows", mode=mode, trust=[PEM, OTHER], commands={"pre": "Get-Date"})
    assert re.findall(r"FromBase64String\('(.*?)'\)", text) == ["MIIB", "MIIC"]
    found = [*positions(text, "'Root', 'LocalMachine'", "$Store.Open('ReadWrite')", "MIIB", "MIIC", "$Store.Close()", "Get-Date")]
    assert found == sorted(found)


# --- The proxy ---------------------------------------------------------------------------------------------------------------------

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
PROXY = {"http": "http://one.example.com:3128", "https": "http://two.example.com:3128"}
ECHO = f'printf "%s\\n" {" ".join(f"${word}" for word in VARIABLES)}'
PYTHON = f"#!/usr/bin/env python3\nimport os\nfor name in {VARIABLES!r}:\n    print(os.environ[name])\n"


def scripts(text: str) -> list[str]:
    """The shell parts of user data with a command of this test."""
    parts = re.findall(r"Content-Type: text/x-shellscript[^\n]*\n(?:[^\n]+\n)*\n(.*?)\n--=_", text, re.DOTALL)
    return [part for part in parts if ECHO in part or PYTHON in part]


@pytest.mark.parametrize("command", [ECHO, PYTHON], ids=["shell", "own interpreter"])
@pytest.mark.parametrize("group", [*SCRIPTS, {"family": "al2023", "mode": "managed"}], ids=name)
def test_the_commands_see_the_proxy(group: dict[str, Any], command: str, tmp_path: Any) -> None:
    given = {**group, "proxy": PROXY, "commands": {"pre": [command]}}
    (script,) = scripts(text_of(**given))
    programs = [script]
    if group.get("mode") != "managed":
        programs += [step["script"] for step in node_plan(COMPLETE, given).plain()["steps"] if step["name"] == "commands.pre"]
        assert len(programs) == 2
    for program in programs:
        # Where cloud-init keeps scripts is not ours to write on this machine; nor is the node's own end.
        here = re.sub(r"trap .*\n", "", program).replace("/var/lib/cloud/scripts", str(tmp_path))
        done = subprocess.run(["bash", "-c", here], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}, check=True)
        http, https, no_proxy, *lower = done.stdout.split("\n")[:6]
        assert [http, https] == list(PROXY.values())
        assert lower == [http, https, no_proxy]
        assert "169.254.169.254" in no_proxy and COMPLETE["service_cidr"] in no_proxy


def test_without_a_proxy_nothing_is_exported() -> None:
    for group in SCRIPTS:
        (script,) = scripts(text_of(**group, commands={"pre": [ECHO]}))
        assert "export" not in script
