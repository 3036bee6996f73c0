# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data of every family, read back by readers that know nothing of the library, says what C(node_spec) says.

Readers: Python's email, shlex, json and tomllib, ruamel's YAML 1.2, and the two PowerShell readers of powershell.py. What bash, systemd
and cloud-init make of a script is told by the tests that run them; here it is told for very many node groups.
"""

from __future__ import annotations

import email
import io
import json
import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
import tomllib
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.oracle.test_bottlerocket_windows import block, command_line, powershell

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
STREAMS = " 3>&1 4>&1 5>&1 6>&1"

#: What looks like something else to some reader: in labels, taints and names, and where any text may stand.
LOOKALIKES = [
    "y",
    "no",
    "on",
    "08",
    "010",
    "0o17",
    "0x1f",
    "1e3",
    "1.0",
    "1_000",
    "null",
    "NaN",
    "true",
    "E",
    "EOF",
    "2026-11-21",
    "a.b_c-d",
]
NASTY = ["%b", "%%", "$HOME", "$(id)", "`id`", "a'b", 'a"b', "a\\b", "a b", " a", "a: b", "a #b", "- a", "~", "=", "<<", "[a]", "{a}", "*a",
         "é", "日本", "😀", "a\nb\n", "\t", "--=_", "\nE\n", "]]>", "\u2019", "\x85", "\u2028", ""]  # fmt: skip
WORD = st.one_of(st.sampled_from(LOOKALIKES), st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,12}[A-Za-z0-9])?", fullmatch=True))
TEXT = st.one_of(
    st.sampled_from(LOOKALIKES),
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)
KEY = st.one_of(
    WORD, st.from_regex(r"[a-z0-9]{1,6}\.example\.com/", fullmatch=True).flatmap(lambda prefix: WORD.map(lambda name: prefix + name))
)
EFFECT = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
TAINTS = st.lists(
    st.fixed_dictionaries({"key": KEY, "effect": EFFECT}, optional={"value": WORD}),
    max_size=3,
    unique_by=lambda taint: (taint["key"], taint["effect"]),
)
QUANTITY = st.sampled_from(["1", "70m", "100Mi", "1Gi", "1e3", "2.5Gi"])
ANY_CONFIG: dict[str, st.SearchStrategy[Any]] = {
    "kubeletCgroups": TEXT,
    "staticPodURLHeader": st.dictionaries(TEXT, st.lists(TEXT, min_size=1, max_size=2), min_size=1, max_size=2),
    "podPidsLimit": st.integers(1, 2**40),
    "serializeImagePulls": st.booleans(),
    "registryBurst": st.integers(1, 100),
    "evictionHard": st.just({"memory.available": "5%", "nodefs.available": "1e3"}),
    "imageMinimumGCAge": st.sampled_from(["2m", "1h30m"]),
}
CONFIG = {
    "al2": ANY_CONFIG,
    "al2023": ANY_CONFIG,
    "ubuntu": ANY_CONFIG,
    "bottlerocket": {name: ANY_CONFIG[name] for name in ("podPidsLimit", "registryBurst", "evictionHard", "imageMinimumGCAge")},
    "windows": {},
}
CIDRS = {
    "10.100.0.0/16": "10.100.0.10",
    "172.20.0.0/16": "172.20.0.10",
    "10.100.0.128/25": "10.100.0.138",
    "fd40:6404:f93b::/108": "fd40:6404:f93b::a",
}


@st.composite
def cases(draw: st.DrawFn, family: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A cluster and a node group of a family, nearly always accepted, with text that wants to be something else."""
    cidrs = [cidr for cidr in CIDRS if ":" not in cidr or family != "windows"]
    cluster = {
        "name": draw(
            st.one_of(st.sampled_from(["demo", "08", "y", "1e3"]), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,12}", fullmatch=True))
        ),
        "endpoint": f"https://{draw(st.from_regex(r'[A-Z0-9]{3,8}', fullmatch=True))}.gr7.eu-west-1.eks.amazonaws.com",
        "certificate_authority": CA,
        "service_cidr": draw(st.sampled_from(cidrs)),
        "region": "eu-west-1",
        "kubernetes_version": "1.32",
    }
    group: dict[str, Any] = {"family": family, "labels": draw(st.dictionaries(KEY, WORD, max_size=4)), "taints": draw(TAINTS)}
    if draw(st.booleans()):
        group["max_pods"] = draw(st.integers(4, 700))
    if draw(st.booleans()) and family != "windows":
        group["reserved"] = {"kube": draw(st.dictionaries(st.sampled_from(["cpu", "memory"]), QUANTITY, min_size=1))}
    group["kubelet"] = {"config": draw(st.fixed_dictionaries({}, optional=CONFIG[family]))}
    if family in ("al2", "ubuntu") and draw(st.booleans()):
        group |= {"strategy": "static", "instance": {"type": "m5.large"}}
        group.setdefault("max_pods", 29)
    return cluster, group


Facts = dict[str, Any]


def expected(cluster: Any, group: Any) -> Facts:
    """The facts as C(node_spec) tells them."""
    told = node_spec(cluster, group)
    own = told["node_group"]
    config = dict(own.get("kubelet", {}).get("config", {}))
    return {
        "cluster": {key: told["cluster"][key] for key in ("name", "endpoint", "certificate_authority", "service_cidr")},
        "dns_ips": told["dns_ips"],
        "labels": own.get("labels", {}),
        "taints": {(taint["key"], taint.get("value", ""), taint["effect"]) for taint in own.get("taints", [])},
        "max_pods": own.get("max_pods"),
        "kube_reserved": own.get("reserved", {}).get("kube", {}),
        "config": config,
    }


def flags_of(words: list[str]) -> Facts:
    """labels, taints and max_pods among kubelet's words."""
    given = dict(word.partition("=")[::2] for word in words)
    pairs = [pair for pair in given.get("--node-labels", "").split(",") if pair]
    taints = [re.fullmatch(r"([^=]+)=(.*):([A-Za-z]+)", item) for item in given.get("--register-with-taints", "").split(",") if item]
    return {
        "labels": dict(pair.partition("=")[::2] for pair in pairs),
        "taints": {match.groups() for match in taints if match},
        "max_pods": int(given["--max-pods"]) if "--max-pods" in given else None,
    }


def configured(document: dict[str, Any], *ours: str) -> Facts:
    """dns_ips, max_pods, kube_reserved and the rest of a KubeletConfiguration; C(ours): fields that are of the image or the writer."""
    rest = {key: value for key, value in document.items() if key not in ("clusterDNS", "maxPods", "kubeReserved", *ours)}
    return {
        "dns_ips": document.get("clusterDNS", []),
        "max_pods": document.get("maxPods"),
        "kube_reserved": document.get("kubeReserved", {}),
        "config": rest,
    }


# --- One reader for each family -------------------------------------------------------------------------------------------------


def read_al2023(text: str, _cluster: Any, _group: Any) -> Facts:
    message = email.message_from_string(text)
    (part,) = (part for part in message.walk() if part.get_content_type() == "application/node.eks.aws")
    document = YAML(typ="safe", pure=True).load(io.StringIO(part.get_payload()))
    assert (document["apiVersion"], document["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    cluster, kubelet = document["spec"]["cluster"], document["spec"]["kubelet"]
    facts = flags_of(kubelet.get("flags", [])) | configured(kubelet.get("config", {}))
    names = {"name": "name", "endpoint": "apiServerEndpoint", "certificate_authority": "certificateAuthority", "service_cidr": "cidr"}
    return facts | {"cluster": {ours: cluster[theirs] for ours, theirs in names.items()}}


def file_of(script: str, path: str) -> str | None:
    """The content that a script writes to a path, with a here-document or with printf."""
    found = re.search(rf"^install -Dm[0-7]+ /dev/null {re.escape(path)}\n", script, re.MULTILINE)
    if found is None:
        return None
    rest = script[found.end() :]
    here = re.match(rf"cat >{re.escape(path)} <<'(E[0-9]*)'\n", rest)
    if here:
        body = rest[here.end() :]
        end = re.search(rf"^{here[1]}$", body, re.MULTILINE)
        assert end is not None
        return body[: end.start()]
    words = shlex.shlex(rest, posix=True)
    words.whitespace_split, words.commenters = True, ""
    assert [words.get_token(), words.get_token()] == ["printf", "%s"]
    return words.get_token()


def read_bootstrap_script(text: str, cluster: Any, _group: Any) -> Facts:
    (line,) = (line for line in text.split("\n") if line.startswith("/etc/eks/bootstrap.sh "))
    _unused, name, *options = shlex.split(line)
    given = dict(zip(options[::2], options[1::2], strict=True))
    facts = flags_of(shlex.split(given.get("--kubelet-extra-args", "")))
    document = json.loads(file_of(text, "/etc/kubernetes/kubelet/config.json.d/50-nodebootstrap.conf") or "{}")
    configuration = configured(document, "apiVersion", "kind")
    assert ("--config-dir=/etc/kubernetes/kubelet/config.json.d" in line) == bool(document)
    assert given.get("--use-max-pods") == (None if facts["max_pods"] is None else "false")
    # An IPv4 range is not passed: the scripts of the images only take DNS out of it.
    cidr = given.get("--service-ipv6-cidr", cluster["service_cidr"])
    assert (given.get("--ip-family") == "ipv6") == (":" in cidr)
    identity = {
        "name": name,
        "endpoint": given["--apiserver-endpoint"],
        "certificate_authority": given["--b64-cluster-ca"],
        "service_cidr": cidr,
    }
    return configuration | facts | {"dns_ips": given["--dns-cluster-ip"].split(","), "cluster": identity}


def read_static(text: str, cluster: Any, group: Any) -> Facts:
    document = json.loads(file_of(text, "/etc/kubernetes/kubelet/kubelet-config.json") or "{}")
    asked = group["kubelet"]["config"]
    image = [key for key in document if key not in asked]
    if "evictionHard" in asked:
        # Merged with the image's own, key by key.
        document["evictionHard"] = {key: value for key, value in document["evictionHard"].items() if key in asked["evictionHard"]}
    facts = configured(document, *image)
    if group["family"] == "al2":
        unit = file_of(text, "/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf") or ""
        (line,) = (line for line in unit.split("\n") if line.startswith("ExecStart=/"))
        words = shlex.split(line.removeprefix("ExecStart="))
    else:
        (line,) = (line for line in text.split("\n") if line.startswith("snap set kubelet-eks "))
        (arguments,) = (word for word in shlex.split(line) if word.startswith("args="))
        words = arguments.removeprefix("args=").split()
    flags = flags_of(words)
    kubeconfig = YAML(typ="safe", pure=True).load(io.StringIO(file_of(text, "/var/lib/kubelet/kubeconfig")))
    certificate = file_of(text, "/etc/kubernetes/pki/ca.crt")
    identity = {
        "name": kubeconfig["users"][0]["user"]["exec"]["args"][2],
        "endpoint": kubeconfig["clusters"][0]["cluster"]["server"],
        "certificate_authority": CA if certificate == "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n" else certificate,
        "service_cidr": cluster["service_cidr"],
    }
    assert flags.pop("max_pods") is None
    return facts | flags | {"cluster": identity}


def read_script(text: str, cluster: Any, group: Any) -> Facts:
    return (read_static if group.get("strategy") == "static" else read_bootstrap_script)(text, cluster, group)


BOTTLEROCKET = {
    "pod-pids-limit": "podPidsLimit",
    "registry-burst": "registryBurst",
    "eviction-hard": "evictionHard",
    "image-minimum-gc-age": "imageMinimumGCAge",
}


def read_bottlerocket(text: str, cluster: Any, _group: Any) -> Facts:
    found = tomllib.loads(text)["settings"].pop("kubernetes")
    address = found["cluster-dns-ip"]
    taints = {(key, *item.rpartition(":")[::2]) for key, items in found.get("node-taints", {}).items() for item in items}
    return {
        "cluster": {
            "name": found["cluster-name"],
            "endpoint": found["api-server"],
            "certificate_authority": found["cluster-certificate"],
            "service_cidr": cluster["service_cidr"],
        },
        "dns_ips": [address] if isinstance(address, str) else address,
        "labels": found.get("node-labels", {}),
        "taints": taints,
        "max_pods": found.get("max-pods"),
        "kube_reserved": found.get("kube-reserved", {}),
        "config": {theirs: found[ours] for ours, theirs in BOTTLEROCKET.items() if ours in found},
    }


def read_windows(text: str, _cluster: Any, _group: Any) -> Facts:
    call = block(text)[-1]
    assert call.endswith(STREAMS)
    (one,), (other,) = (read(call.removesuffix(STREAMS) + "\n") for read in (powershell.by_grammar, powershell.by_lexer))
    assert one == other
    values = {name: values[0] for name, values in one.parameters}
    names = {
        "name": "EKSClusterName",
        "endpoint": "APIServerEndpoint",
        "certificate_authority": "Base64ClusterCA",
        "service_cidr": "ServiceCIDR",
    }
    return flags_of(command_line(values.get("KubeletExtraArgs", ""))) | {
        "cluster": {ours: values[theirs] for ours, theirs in names.items()},
        "dns_ips": [values["DNSClusterIP"]],
        "kube_reserved": {},
        "config": {},
    }


READERS: dict[str, Callable[[str, Any, Any], Facts]] = {
    "al2": read_script,
    "al2023": read_al2023,
    "ubuntu": read_script,
    "bottlerocket": read_bottlerocket,
    "windows": read_windows,
}


def unfolded(text: str, family: str) -> str:
    """A script as text, whether it stands alone or in a part of MIME."""
    if family not in ("al2", "ubuntu") or text.startswith("#!"):
        return text
    (part,) = (part for part in email.message_from_string(text).walk() if not part.is_multipart())
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    return content.decode()


@pytest.mark.fuzz
@pytest.mark.parametrize("family", READERS)
def test_user_data_says_what_node_spec_says(family: str) -> None:
    accepted = []

    @settings(settings.get_profile("part"))
    @given(cases(family))
    def check(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
        cluster, group = case
        try:
            text = render(cluster, group).document.text
        except SpecError:
            accepted.append(False)
            return
        accepted.append(True)
        told = expected(cluster, group)
        assert told["dns_ips"] == [CIDRS[cluster["service_cidr"]]]
        assert READERS[family](unfolded(text, family), cluster, group) == told

    check()
    assert sum(accepted) >= len(accepted) * 0.8, f"{sum(accepted)} of {len(accepted)} accepted"
