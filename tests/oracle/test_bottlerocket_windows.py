# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bottlerocket and Windows user data, read back by readers that know nothing of the library.

Bottlerocket's is read by tomllib (Python's own), and its lines by a small check of the lines that EKS's merger takes. Windows' block
is read by the two PowerShell readers of C(powershell.py), and kubelet's arguments by a model of Windows' CommandLineToArgvW.
Hostile text goes into every free field: it is refused, or it comes back exactly. Nothing is executed on Windows.
"""

from __future__ import annotations

import copy
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import tomllib
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

_SPEC = importlib.util.spec_from_file_location("oracle_powershell", Path(__file__).with_name("powershell.py"))
assert _SPEC is not None and _SPEC.loader is not None
powershell = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = powershell
_SPEC.loader.exec_module(powershell)

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "kubernetes_version": "1.35",
}
SCRIPT = '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"'
STREAMS = " 3>&1 4>&1 5>&1 6>&1"

# What means something to TOML, PowerShell, Windows or EC2Launch; and what no field of one line takes.
QUOTES = list("'\"\\\u2018\u2019\u201a\u201b\u201c`#@&|%=;[]{} $")
NASTY = ["''", '"""', "'''", "$x", "$(x)", "${x}", "; x", "@'", "'@", "--%", "%PATH%", "\u00e9", *QUOTES]
WORSE = ["\n", "\r", "\t", "\0", "\x1b", "\u2028", "\ud800", "</powershell>", "<script>", *NASTY]
HOSTILE = st.lists(st.one_of(st.sampled_from(WORSE), st.text(max_size=4)), max_size=6).map("".join)
QUOTED = st.lists(st.sampled_from(NASTY), max_size=5).map("".join)
PLAIN = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,10}[a-z0-9])?", fullmatch=True)
# Mostly text that passes, so that much is rendered; and each time a chance that it does not.
TEXT = st.sampled_from([*[PLAIN] * 20, *[QUOTED] * 3, HOSTILE]).flatmap(lambda kind: kind)
EFFECT = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
TAINTS = st.lists(
    st.fixed_dictionaries({"key": PLAIN, "value": TEXT, "effect": EFFECT}), max_size=2, unique_by=lambda t: (t["key"], t["effect"])
)


def rendered(group: dict[str, Any]) -> str | None:
    """The user data, or None when it was refused; either way inputs stay as they are and a second time is the same."""
    cluster, before = copy.deepcopy(CLUSTER), copy.deepcopy(group)
    try:
        text: str | None = render(cluster, group).document.text
    except SpecError as error:
        assert error.problems
        assert all(problem.path.startswith(("node_group", "cluster", "user_data")) for problem in error.problems)
        text = None
    assert (cluster, group) == (CLUSTER, before)
    if text is not None:
        assert render(cluster, group).document.text == text
        assert [file["content"] for file in node_files(cluster, group)]
    return text


# --- Bottlerocket -------------------------------------------------------------------------------------------------------


@st.composite
def bottlerocket_groups(draw: st.DrawFn) -> dict[str, Any]:
    labels = draw(st.dictionaries(TEXT, TEXT, max_size=3))
    sysctl = draw(st.dictionaries(TEXT, TEXT, max_size=2))
    kernel = draw(st.dictionaries(TEXT, st.lists(TEXT, min_size=1, max_size=2), max_size=2))
    return {
        "family": "bottlerocket",
        "labels": labels,
        "taints": draw(TAINTS),
        "kubelet": {
            "config": draw(st.fixed_dictionaries({}, optional={"allowedUnsafeSysctls": st.lists(TEXT, max_size=2), "providerID": TEXT}))
        },
        "containerd": {
            "registry_mirrors": {host: [f"https://{url}"] for host, url in draw(st.dictionaries(TEXT, TEXT, max_size=1)).items()}
        },
        "bottlerocket": {
            "settings": {"motd": draw(st.one_of(QUOTED, TEXT)), "kernel": {"sysctl": sysctl}, "boot": {"kernel-parameters": kernel}}
        },
    }


def readable_by_eks(text: str) -> bool:
    """No header with a quoted key, and nothing but headers, keys with values, and blank lines."""
    lines = [line for line in text.split("\n") if line]
    return all(
        re.match(r"\[\[?[A-Za-z0-9_.-]+\]\]?$" if line.startswith("[") else r"([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*') = ", line)
        for line in lines
    )


def taint_table(taints: list[dict[str, str]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for taint in taints:
        table.setdefault(taint["key"], []).append(f"{taint['value']}:{taint['effect']}")
    return table


@settings.get_profile("part")
@given(bottlerocket_groups())
def test_bottlerocket_settings_come_back(group: dict[str, Any]) -> None:
    text = rendered(group)
    if text is None:
        return
    found = tomllib.loads(text)["settings"]
    kubernetes = found["kubernetes"]
    assert kubernetes["api-server"] == CLUSTER["endpoint"]
    assert kubernetes.get("node-labels", {}) == group["labels"]
    assert kubernetes.get("node-taints", {}) == taint_table(group["taints"])
    config = group["kubelet"]["config"]
    assert kubernetes.get("allowed-unsafe-sysctls") == config.get("allowedUnsafeSysctls")
    assert kubernetes.get("provider-id") == config.get("providerID")
    given_settings = group["bottlerocket"]["settings"]
    assert found["motd"] == given_settings["motd"]
    assert found.get("kernel", {}).get("sysctl", {}) == given_settings["kernel"]["sysctl"]
    assert found.get("boot", {}).get("kernel-parameters", {}) == given_settings["boot"]["kernel-parameters"]
    mirrors = {row["registry"]: row["endpoint"] for row in found.get("container-registry", {}).get("mirrors", [])}
    expected = {"*" if host == "_default" else host: urls for host, urls in group["containerd"]["registry_mirrors"].items()}
    # Bottlerocket does not append /v2 to a path.
    assert {host: [url.removesuffix("/v2") for url in urls] for host, urls in mirrors.items()} == {
        host: [url.rstrip("/") if "/" in url[8:] else url for url in urls] for host, urls in expected.items()
    }
    assert all(re.fullmatch(r"\[\[?[A-Za-z0-9_.-]+\]\]?", line) for line in text.split("\n") if line.startswith("["))


@settings.get_profile("part")
@given(bottlerocket_groups())
def test_managed_settings_are_what_the_merger_of_eks_reads(group: dict[str, Any]) -> None:
    text = rendered({**group, "mode": "managed"})
    if text is not None:
        found = tomllib.loads(text)["settings"]
        assert not found.get("kubernetes", {}).keys() & {"api-server", "cluster-certificate", "cluster-name", "node-labels", "node-taints"}
        assert found["motd"] == group["bottlerocket"]["settings"]["motd"]
        assert readable_by_eks(text)


@settings.get_profile("part")
@given(st.one_of(HOSTILE, HOSTILE.map(lambda text: f"[settings]\nmotd = {text}\n"), HOSTILE.map(lambda text: f"[settings]\n{text}\n")))
def test_existing_toml_is_refused_or_means_the_same(text: str) -> None:
    document = rendered({"family": "bottlerocket", "user_data": text})
    if document is None or not text.strip():
        return
    try:
        before = tomllib.loads(text)["settings"]
    except ValueError:
        pytest.fail("accepted text that is not TOML")
    after = tomllib.loads(document)["settings"]
    assert {key: value for key, value in after.items() if key != "kubernetes"} == {
        key: value for key, value in before.items() if value not in ({}, []) and key != "kubernetes"
    }


def test_bottlerocket_readers_can_fail() -> None:
    assert not readable_by_eks('[settings."a.b"]\n')
    assert not readable_by_eks("nonsense\n")
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads("[settings]\na = 'x'y'\n")


# --- Windows ------------------------------------------------------------------------------------------------------------


def command_line(text: str) -> list[str]:
    """The arguments of a Windows command line (CommandLineToArgvW, behind the program's name)."""
    words: list[str] = []
    current: str | None = None
    quoted = False
    at = 0
    while at < len(text):
        slashes = len(text) - at - len(text[at:].lstrip("\\"))
        if slashes:
            before_quote = text[at + slashes : at + slashes + 1] == '"'
            current = (current or "") + "\\" * (slashes // 2 if before_quote else slashes)
            at += slashes
            if before_quote and slashes % 2:
                current += '"'
                at += 1
        elif text[at] == '"':
            quoted, current = not quoted, current or ""
            at += 1
        elif text[at] in " \t" and not quoted:
            words += [] if current is None else [current]
            current = None
            at += 1
        else:
            current = (current or "") + text[at]
            at += 1
    assert not quoted
    return words + ([] if current is None else [current])


def invocations_of_grammar(text: str) -> int:
    """How often a whole script invokes something with &, by tree-sitter-pwsh; an ERROR node fails."""
    import tree_sitter
    import tree_sitter_pwsh

    root = tree_sitter.Parser(tree_sitter.Language(tree_sitter_pwsh.language())).parse(text.encode("utf-8")).root_node
    assert not root.has_error
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        count += node.type == "command_invocation_operator"
        waiting.extend(node.children)
    return count


@st.composite
def windows_groups(draw: st.DrawFn) -> dict[str, Any]:
    flags = draw(st.fixed_dictionaries({}, optional={"hostname-override": TEXT, "provider-id": TEXT, "cert-dir": TEXT, "root-dir": TEXT}))
    words = [
        f"--{name}={value}"
        for name, value in draw(st.dictionaries(PLAIN.map(lambda text: text.replace(".", "")), TEXT, max_size=2)).items()
    ]
    windows = draw(st.fixed_dictionaries({}, optional={"eks_endpoint": TEXT.map(lambda text: f"https://{text}"), "persist": st.booleans()}))
    return {
        "family": "windows",
        "labels": draw(st.dictionaries(PLAIN, TEXT, max_size=2)),
        "taints": draw(TAINTS),
        "kubelet": {"flags": flags},
        "windows": {
            **windows,
            "kube_proxy_extra_args": words,
            "excluded_snat_cidrs": draw(st.sampled_from([[], ["10.0.0.0/8"], ["10.0.0.0/8", "10.1.0.0/16"]])),
        },
    }


def expected_words(group: dict[str, Any]) -> list[str]:
    labels = ",".join(f"{key}={value}" for key, value in sorted(group["labels"].items()))
    taints = ",".join(f"{taint['key']}={taint['value']}:{taint['effect']}" for taint in group["taints"])
    words = [f"--node-labels={labels}"] if labels else []
    words += [f"--register-with-taints={taints}"] if taints else []
    return [*words, *(f"--{name}={value}" for name, value in sorted(group["kubelet"]["flags"].items()))]


def block(text: str) -> list[str]:
    """The lines between the tags of the one block."""
    match = re.fullmatch(r"<powershell>\n(.*\n)</powershell>\n(<persist>true</persist>\n)?", text, re.DOTALL)
    assert match
    assert text.lower().count("powershell>") == 2
    return match[1].removesuffix("\n").split("\n")


@settings.get_profile("part")
@given(windows_groups())
def test_windows_parameters_come_back(group: dict[str, Any]) -> None:
    text = rendered(group)
    if text is None:
        return
    script, call = block(text)
    assert script == SCRIPT
    assert call.endswith(STREAMS)
    windows = group["windows"]
    names = ["EKSClusterName", "APIServerEndpoint", "Base64ClusterCA", "ServiceCIDR", "DNSClusterIP"]
    names += ["KubeletExtraArgs"] if expected_words(group) else []
    names += [
        parameter
        for parameter, field in (
            ("KubeProxyExtraArgs", "kube_proxy_extra_args"),
            ("ExcludedSnatCIDRs", "excluded_snat_cidrs"),
            ("Endpoint", "eks_endpoint"),
        )
        if windows.get(field)
    ]
    for read in (powershell.by_grammar, powershell.by_lexer):
        (found,) = read(call.removesuffix(STREAMS) + "\n")
        assert (found.command, found.arguments) == ("$EKSBootstrapScriptFile", [])
        assert [name for name, _unused in found.parameters] == names
        values = dict(found.parameters)
        assert [values[name][0] for name in names[:5]] == ["demo", CLUSTER["endpoint"], CA, "10.100.0.0/16", "10.100.0.10"]
        assert command_line(values.get("KubeletExtraArgs", ("",))[0]) == expected_words(group)
        assert command_line(values.get("KubeProxyExtraArgs", ("",))[0]) == windows["kube_proxy_extra_args"]
        assert list(values.get("ExcludedSnatCIDRs", ())) == windows["excluded_snat_cidrs"]
        assert values.get("Endpoint", (None,))[0] == windows.get("eks_endpoint")
    assert ("<persist>true</persist>" in text) == windows.get("persist", False)


@pytest.mark.parametrize(
    "override", [None, "& $EKSBootstrapScriptFile -EKSClusterName $EKSClusterName -KubeletExtraArgs $KubeletExtraArgs"]
)
def test_the_whole_script_parses_and_invokes_once(override: str | None) -> None:
    group = {
        "family": "windows",
        "labels": {"a": "b", "c": "d"},
        "taints": [{"key": "k", "effect": "NoExecute"}],
        "kubelet": {"flags": {"root-dir": 'it\'s "so"\\'}},
        "windows": {"excluded_snat_cidrs": ["10.0.0.0/8", "10.1.0.0/16"]},
        "commands": {"pre": ["Write-Host 'a'", "if ($true) {\n  Get-Date\n}"], "post": "Write-Host done"},
        "user_data": "<powershell>\nGet-Date\n</powershell>",
        **({"override": override} if override else {}),
    }
    assert invocations_of_grammar("\n".join(block(render(CLUSTER, group).document.text)) + "\n") == 1
    for file in node_files(CLUSTER, group):
        assert invocations_of_grammar(file["content"]) == (1 if file["path"].endswith(".ps1") else 0)


@settings.get_profile("part")
@given(HOSTILE)
def test_what_a_flag_holds_cannot_leave_its_literal_in_a_data_file_or_an_override(value: str) -> None:
    group = {"family": "windows", "kubelet": {"flags": {"root-dir": value}}}
    if rendered(group) is None:
        return
    line = next(line for line in node_files(CLUSTER, group)[1]["content"].split("\n") if "KubeletExtraArgs" in line)
    text = rendered({**group, "override": "x"})
    assert text is not None
    assigned = next(line for line in block(text) if line.startswith("[string]$KubeletExtraArgs = "))
    mapped = next(line for line in block(text) if line.startswith("$KubeletExtraArgsMap = "))
    literals = [line.partition(" = ")[2], assigned.partition(" = ")[2]]
    for read in (powershell.by_grammar, powershell.by_lexer):
        for literal in literals:
            (found,) = read(f"& $S -A {literal}\n")
            assert command_line(found.parameters[0][1][0]) == [f"--root-dir={value}"]
        literal = mapped.removeprefix("$KubeletExtraArgsMap = @{ 'root-dir' = ").removesuffix(" }")
        (found,) = read(f"& $S -A {literal}\n")
        assert found.parameters == [("A", (value,))]


@settings.get_profile("part")
@given(HOSTILE, st.sampled_from(["pre", "post", "override", "user_data"]))
def test_commands_stay_inside_the_one_block(text: str, where: str) -> None:
    fields = {"commands": {where: text}} if where in ("pre", "post") else {where: text}
    document = rendered({"family": "windows", **fields})
    if document is not None and text:
        assert SCRIPT in block(document)
        assert "\r" not in document


def test_command_lines_are_split_as_windows_splits_them() -> None:
    # The examples of the documentation of CommandLineToArgvW's rules.
    assert command_line('"abc" d e') == ["abc", "d", "e"]
    assert command_line('a\\\\\\b d"e f"g h') == ["a\\\\\\b", "de fg", "h"]
    assert command_line('a\\\\\\"b c d') == ['a\\"b', "c", "d"]
    assert command_line('a\\\\\\\\"b c" d e') == ["a\\\\b c", "d", "e"]
