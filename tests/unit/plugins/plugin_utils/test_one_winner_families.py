# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pair of places of a kubelet setting on the families with a bootstrap script: fields, kubelet.config, kubelet.flags, override."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_reading import in_force
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_one_winner import (
    BESIDE,
    CLUSTER,
    PLACES,
    REST,
    SETTINGS,
    Setting,
    flag_text,
    same_text,
    unite,
    word,
)

FAMILIES = ("al2", "ubuntu", "windows")
GROUP_PLACES = ("field", "kubelet.config", "kubelet.flags")
OWN_FIELDS = ("maxPods", "clusterDNS", "kubeReserved", "systemReserved", "registerWithTaints")
"""Fields of kubelet.config that have a field of the node group. Windows accepts no others."""
ONE_DNS = Setting("clusterDNS", "cluster-dns", ["9.9.9.9"], ["10.100.0.53"], ("dns_ips",))
"""The scripts of Ubuntu and Windows accept one address."""
EVERY = tuple(ONE_DNS if one.field == "clusterDNS" else one for one in (*SETTINGS, *REST))
NOT_HERE = {
    "al2": ("containerRuntimeEndpoint",),
    "ubuntu": ("containerRuntimeEndpoint", "imageServiceEndpoint", "resolvConf"),
    "windows": (),
}
"""Fields that the image of a family sets by a flag, so that kubelet.config cannot set them."""
NO_START = {("al2", "failCgroupV1")}
"""Settings with which kubelet does not start on the image of a family."""


def group_places(family: str, setting: Setting) -> list[str]:
    known = ["field"] if setting.fields else []
    has_config = not setting.field.startswith("--") and (family != "windows" or setting.field in OWN_FIELDS)
    if has_config and setting.field not in NOT_HERE[family]:
        known.append("kubelet.config")
    return [*known, *(["kubelet.flags"] if (family, setting.field) not in NO_START else [])]


def inputs(family: str, setting: Setting, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    given: dict[str, Any] = {} if family == "windows" else {"group": {"kubelet": {"config": BESIDE.get(setting.field, {})}}}
    for place, value in values.items():
        given = unite(given, PLACES[place].put(setting, value))
    return {**CLUSTER, **given.get("cluster", {})}, {"family": family, **given.get("group", {})}


def used(family: str, cluster: dict[str, Any], group: dict[str, Any]) -> dict[str, Any]:
    """What kubelet uses, read from the files of the node."""
    files = {one["path"]: one["content"] for one in node_files(cluster, group)}
    if family == "windows":
        [data] = [content for path, content in files.items() if path.endswith(".psd1")]
        found = {name: value.replace("''", "'") for name, value in re.findall(r"(?m)^ +([A-Za-z]+) = '(.*)'$", data)}
        flags, dns = found.get("KubeletExtraArgs", ""), found["DNSClusterIP"]
        config: dict[str, Any] = {}
    else:
        lines = files["/etc/nodebootstrap/bootstrap.sh"].replace("\\\n", " ").splitlines()
        [line] = [line for line in lines if line.startswith("/etc/eks/bootstrap.sh")]
        words = shlex.split(line)
        options = dict(zip(words[2::2], words[3::2], strict=True))
        # The image of al2 writes the flags into a unit of systemd.
        flags, dns = options.get("--kubelet-extra-args", "").replace("%%", "%"), options["--dns-cluster-ip"]
        config = json.loads(files.get("/etc/kubernetes/kubelet/config.json.d/50-nodebootstrap.conf", "{}"))
    return in_force([{"spec": {"kubelet": {"config": {"clusterDNS": dns.split(","), **config}, "flags": [flags]}}}])


def names_of(setting: Setting, *places: str) -> list[str]:
    return [PLACES[place].named(setting) for place in places]


def check_pair(family: str, setting: Setting, first: str, second: str) -> None:
    equal = inputs(family, setting, {first: setting.one, second: setting.one})
    assert same_text(used(family, *equal)[setting.field], setting.one), (first, second)
    with pytest.raises(SpecError) as refused:
        node_files(*inputs(family, setting, {first: setting.one, second: setting.other}))
    assert mentions(refused.value, *names_of(setting, first, second)), (first, second, refused.value)


def override(family: str, setting: Setting, value: Any) -> str:
    """A call that passes every value of the cluster, and C(value)."""
    option = ",".join(value) if setting.field == "clusterDNS" else CLUSTER_DNS
    text = "" if setting.field == "clusterDNS" else f"--{setting.flag}={flag_text(setting.flag, value)}"
    if family == "windows":
        quoted = re.sub(r"=(.*)", r'="\1"', text)
        facts = f"-EKSClusterName '{CLUSTER['name']}' -APIServerEndpoint '{CLUSTER['endpoint']}' -ServiceCIDR $ServiceCIDR"
        rest = f"-Base64ClusterCA \"$Base64ClusterCA\" -DNSClusterIP '{option}' -KubeletExtraArgs '{quoted}'"
        return f"& $EKSBootstrapScriptFile {facts} `\n  {rest} 3>&1 4>&1\n"
    facts_of_call = ["--apiserver-endpoint", CLUSTER["endpoint"], "--b64-cluster-ca", CLUSTER["certificate_authority"]]
    words = ["/etc/eks/bootstrap.sh", CLUSTER["name"], *facts_of_call, "--dns-cluster-ip", option, "--kubelet-extra-args", text]
    return f"#!/bin/bash\n{shlex.join(words)}\n"


CLUSTER_DNS = "10.100.0.10"


def check_override(family: str, setting: Setting, place: str) -> None:
    """C(override) wins: an equal value is not a warning, and a different one is a warning that names both places."""
    for value, expected in ((setting.one, 0), (setting.other, 1)):
        cluster, group = inputs(family, setting, {place: setting.one})
        found = node_spec(cluster, group | {"override": override(family, setting, value)})
        replaced = [one["message"] for one in found["warnings"] if one["rule"] == "user_data.replaced_by_override"]
        messages = [text for text in replaced if "--config-dir" not in text]
        assert len(messages) == expected and found["unchecked"] == [], (place, messages, found["unchecked"])
        if expected:
            script = "Start-EKSBootstrap.ps1" if family == "windows" else "/etc/eks/bootstrap.sh"
            assert mentions(messages[0], *names_of(setting, place), script), messages


def in_the_call(setting: Setting, place: str) -> bool:
    """Whether our call passes the value. Other fields of kubelet.config are in a file, which a call uses as a whole."""
    return place != "kubelet.config" or setting.field in ("maxPods", "clusterDNS", "registerWithTaints")


def is_in_a_file(family: str, setting: Setting) -> bool:
    """Reservations of al2 and ubuntu are in the drop-in of kubelet, whichever place sets them."""
    return family != "windows" and setting.field in ("kubeReserved", "systemReserved")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("setting", EVERY, ids=lambda one: one.field)
def test_every_pair_of_places_has_one_winner(setting: Setting, family: str) -> None:
    places = group_places(family, setting)
    for first, second in itertools.combinations(places, 2):
        check_pair(family, setting, first, second)
    for place in places:
        if in_the_call(setting, place) and not is_in_a_file(family, setting):
            check_override(family, setting, place)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_flag_alone_is_read_like_its_field(family: str) -> None:
    setting = SETTINGS[0]
    assert word(setting, setting.one) == "--max-pods=58"
    assert used(family, *inputs(family, setting, {"kubelet.flags": setting.one})) == used(
        family, *inputs(family, setting, {"field": setting.one})
    )
