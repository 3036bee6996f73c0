# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pair of places of a kubelet setting on Bottlerocket: fields, kubelet.config, kubelet.flags, settings, and existing user data."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_one_winner import (
    CLUSTER,
    PRECEDENCES,
    flag_text,
    nest,
    unite,
)


class Setting(NamedTuple):
    """A setting with two values; field, config and flag that also set it."""

    name: str
    one: Any
    other: Any
    field: str | None = None
    config: str | None = None
    flag: str | None = None

    @property
    def path(self) -> str:
        """Below settings."""
        return self.name if "." in self.name else f"kubernetes.{self.name}"


CERTIFICATE = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUMKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="

SETTINGS = (
    Setting("max-pods", 58, 20, "max_pods", "maxPods"),
    Setting("kube-reserved", {"cpu": "100m"}, {"cpu": "90m"}, "reserved.kube", "kubeReserved"),
    Setting("system-reserved", {"memory": "1Gi"}, {"memory": "2Gi"}, "reserved.system", "systemReserved"),
    Setting("cluster-dns-ip", ["10.100.0.53"], ["9.9.9.9"], "dns_ips", "clusterDNS"),
    Setting("pod-pids-limit", 1024, 2048, None, "podPidsLimit", "pod-max-pids"),
    Setting("cluster-domain", "a.example", "b.example", None, "clusterDomain", "cluster-domain"),
    Setting("eviction-hard", {"memory.available": "100Mi"}, {"memory.available": "5%"}, None, "evictionHard", "eviction-hard"),
    Setting("node-labels", {"a": "1"}, {"a": "2"}, "labels"),
    Setting("network.https-proxy", "http://a:1", "http://b:1", "proxy.https"),
    Setting("api-server", CLUSTER["endpoint"], "https://other.example", "endpoint"),
    Setting("cluster-certificate", CLUSTER["certificate_authority"], CERTIFICATE, "certificate_authority"),
    Setting("cluster-name", "demo", "another", "name"),
)
OF_CLUSTER = ("dns_ips", "endpoint", "certificate_authority", "name")


def places(setting: Setting) -> list[str]:
    own = {"field": setting.field, "config": setting.config, "flag": setting.flag}
    return [*(name for name, found in own.items() if found), "settings", "user_data"]


def put(setting: Setting, place: str, value: Any) -> dict[str, Any]:
    if place == "field":
        return {"cluster": {setting.field: value}} if setting.field in OF_CLUSTER else {"group": nest(str(setting.field), value)}
    if place == "config":
        return {"group": nest(f"kubelet.config.{setting.config}", value)}
    if place == "flag":
        return {"group": nest(f"kubelet.flags.{setting.flag}", flag_text(str(setting.flag), value))}
    settings = nest(setting.path, value[0] if isinstance(value, list) else value)
    return {"group": {"bottlerocket": {"settings": settings}} if place == "settings" else {"user_data": toml.dump({"settings": settings})}}


def named(setting: Setting, place: str) -> str:
    if place == "field":
        return f"cluster.{setting.field}" if setting.field in OF_CLUSTER else str(setting.field)
    return {"config": f"kubelet.config.{setting.config}", "flag": f"kubelet.flags.{setting.flag}", "settings": "bottlerocket.settings"}.get(
        place, "user_data"
    )


def rendered(setting: Setting, values: dict[str, Any], precedence: str | None) -> Any:
    given: dict[str, Any] = {}
    for place, value in values.items():
        given = unite(given, put(setting, place, value))
    group = {"family": "bottlerocket", **given.get("group", {})} | ({"user_data_precedence": precedence} if precedence else {})
    text = render({**CLUSTER, **given.get("cluster", {})}, group).document.text
    table, _dot, key = setting.path.rpartition(".")
    found = toml.parse(text)["settings"][table][key]
    return [found] if isinstance(setting.one, list) and not isinstance(found, list) else found


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.name)
def test_every_pair_of_places_has_one_winner(setting: Setting, precedence: str | None) -> None:
    for first, second in itertools.combinations(places(setting), 2):
        assert rendered(setting, {first: setting.one, second: setting.one}, precedence) == setting.one
        values = {first: setting.one, second: setting.other}
        # The identity of the cluster is that of the group and the cluster, unless the user asks for theirs.
        wanted = precedence or ("ours" if setting.field in OF_CLUSTER and setting.field != "dns_ips" else "")
        winner = {"ours": first, "theirs": second}.get(wanted) if second == "user_data" else None
        if winner is not None:
            assert rendered(setting, values, precedence) == values[winner]
        else:
            with pytest.raises(SpecError) as refused:
                rendered(setting, values, precedence)
            assert mentions(refused.value, named(setting, first), named(setting, second)), refused.value


# --- the list of hosts without a proxy ---------------------------------------------------------------------------------------------------

NEEDED = ["localhost", "127.0.0.1", "::1", "169.254.169.254", "fd00:ec2::254", ".internal", "10.100.0.0/16"]
EVERY = ["a.example", "b.example", *NEEDED, "abc.gr7.eu-west-1.eks.amazonaws.com"]
NO_PROXY = ("settings", "user_data")


def no_proxy(values: dict[str, list[str]], precedence: str | None) -> list[str]:
    """The list in the output, for lists in some places; "field" is proxy.no_proxy."""
    group: dict[str, Any] = {"family": "bottlerocket", "proxy": {"https": "http://a:1"}}
    if "field" in values:
        group["proxy"] |= {"no_proxy": values["field"]}
    if "settings" in values:
        group["bottlerocket"] = {"settings": {"network": {"no-proxy": values["settings"]}}}
    if "user_data" in values:
        group["user_data"] = toml.dump({"settings": {"network": {"no-proxy": values["user_data"]}}})
    text = render(CLUSTER, group | ({"user_data_precedence": precedence} if precedence else {})).document.text
    found: list[str] = toml.parse(text)["settings"]["network"]["no-proxy"]
    return found


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("place", NO_PROXY)
def test_the_same_hosts_without_a_proxy_are_one_list(place: str, precedence: str | None) -> None:
    for listed in (EVERY[:2], EVERY[1::-1], EVERY):
        assert no_proxy({"field": EVERY[:2], place: listed}, precedence) == EVERY
        assert no_proxy({"settings": listed, "user_data": listed}, precedence) == [*listed, *(one for one in EVERY if one not in listed)]


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize("place", NO_PROXY)
def test_what_is_computed_is_added_to_the_list_of_the_user(place: str, precedence: str | None) -> None:
    assert no_proxy({place: ["c.example"]}, precedence) == ["c.example", *EVERY[2:]]


@pytest.mark.parametrize("precedence", PRECEDENCES)
@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(("field", *NO_PROXY), 2)))
def test_other_hosts_without_a_proxy_have_one_winner(first: str, second: str, precedence: str | None) -> None:
    values = {first: EVERY[:2], second: ["c.example"]}
    winner = {"ours": first, "theirs": second}.get(precedence or "") if second == "user_data" else None
    if winner is not None:
        assert no_proxy(values, precedence) == (["c.example"] if winner == "user_data" else EVERY)
        return
    with pytest.raises(SpecError) as refused:
        no_proxy(values, precedence)
    names = {"field": "proxy.no_proxy", "settings": "bottlerocket.settings", "user_data": "user_data"}
    assert mentions(refused.value, names[first], names[second]), refused.value
