# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pair of places of the other values in a NodeConfig than kubelet's: the cluster, disks, containerd, proxies (Amazon Linux 2023)."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.nodeconfig_parts import merged
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_one_winner import CLUSTER, document, nest, unite

Tree = dict[str, Any]
CERTIFICATE = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUMKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="


class Setting(NamedTuple):
    """A value of a NodeConfig. path: below spec. field: of the group, or of the cluster, that sets it. one, other: as nodeadm reads them.

    written: how the fields spell a value.
    """

    path: str
    field: str
    one: Any
    other: Any
    written: dict[Any, Any]

    @property
    def is_cluster(self) -> bool:
        return self.path.startswith("cluster.")


CRI, IMAGES = "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images"
TOML = {
    "containerd.config": (CRI, "max_container_log_line_size"),
    "pause image of version 2": (CRI, "sandbox_image"),
    "pause image of version 3": (IMAGES, "pinned_images", "sandbox"),
}
"""Values in the TOML for containerd: where they are, below plugins."""
PAUSE = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:{}"


def containerd(place: tuple[str, ...], value: Any) -> Tree:
    for key in reversed(place):
        value = {key: value}
    return {"plugins": value}


SETTINGS = (
    Setting("cluster.apiServerEndpoint", "endpoint", CLUSTER["endpoint"], "https://other.example", {}),
    Setting("cluster.certificateAuthority", "certificate_authority", CLUSTER["certificate_authority"], CERTIFICATE, {}),
    Setting("cluster.cidr", "service_cidr", "10.100.0.0/16", "172.20.0.0/16", {}),
    Setting("cluster.name", "name", "demo", "another", {}),
    Setting("instance.localStorage.strategy", "local_storage.strategy", "RAID0", "Mount", {"RAID0": "raid0", "Mount": "mount"}),
    Setting("instance.environment.default.HTTPS_PROXY", "proxy.https", "http://a:1", "http://b:1", {}),
    Setting("instance.environment.default.https_proxy", "proxy.https", "http://a:1", "http://b:1", {}),
    Setting("instance.environment.default.http_proxy", "proxy.http", "http://a:1", "http://b:1", {}),
    Setting("instance.environment.containerd.HTTPS_PROXY", "proxy.https", "http://a:1", "http://b:1", {}),
    Setting("instance.environment.kubelet.HTTP_PROXY", "proxy.http", "http://a:1", "http://b:1", {}),
    Setting("containerd.config", "containerd.config", 1, 2, {}),
    Setting("pause image of version 2", "containerd.config", PAUSE.format("3.9"), PAUSE.format("3.10"), {}),
    Setting("pause image of version 3", "containerd.config", PAUSE.format("3.9"), PAUSE.format("3.10"), {}),
)
PLACES = ("field", "nodeadm", "user_data", "second", "override")
GROUP = ("field", "nodeadm")


def put(setting: Setting, place: str, value: Any) -> Tree:
    path = "containerd.config" if setting.path in TOML else setting.path
    if setting.path in TOML:
        table = containerd(TOML[setting.path], value)
        value = table if place == "field" else toml.dump(table)
    elif place == "field":
        value = setting.written.get(value, value)
    if place != "field":
        return {"group": {"nodeadm": nest(path, value)}} if place == "nodeadm" else {place: nest(path, value)}
    return {"cluster": {setting.field: value}} if setting.is_cluster else {"group": nest(setting.field, value)}


def inputs(setting: Setting, precedence: str | None, values: dict[str, Any]) -> tuple[Tree, Tree]:
    united: Tree = {}
    for place, value in values.items():
        united = unite(united, put(setting, place, value))
    group = {"family": "al2023", **united.get("group", {})}
    texts = [document(united[name]) for name in ("user_data", "second") if name in united]
    group |= {"user_data": texts} if texts else {}
    group |= {"override": document(united["override"])} if "override" in united else {}
    return {**CLUSTER, **united.get("cluster", {})}, group | ({"user_data_precedence": precedence} if precedence else {})


def in_force(setting: Setting, cluster: Tree, group: Tree) -> Any:
    value: Any = merged(node_config(cluster, group))["spec"]
    place = TOML.get(setting.path)
    if place:
        value = toml.parse(value["containerd"]["config"])["plugins"]
    for key in place or setting.path.split("."):
        value = value[key]
    return value


def winner_of(setting: Setting, first: str, second: str, precedence: str | None) -> str | None:
    """The declared winner; None for an error. The identity of the cluster is that of the fields, unless the user asks for theirs."""
    if second == "override":
        return second
    if first in GROUP and second in GROUP:
        return None
    if first not in GROUP:
        return None
    wanted = precedence or ("ours" if setting.is_cluster else None)
    return {"ours": first, "theirs": second}.get(wanted or "")


def named(setting: Setting, place: str, *, is_ours: bool = False) -> str:
    """How a message names a place. Of the cluster, it names the fields, which win over user data."""
    where = TOML[setting.path][-1] if setting.path in TOML else setting.path.rpartition(".")[2]
    return {
        "field": setting.field,
        "nodeadm": "nodeadm",
        "user_data": f"cluster.{setting.field}" if is_ours and setting.is_cluster else "user_data",
        "second": "user_data",
        "override": where,
    }[place]


PAIRS = [
    (setting, first, second)
    for setting in SETTINGS
    for first, second in itertools.combinations(PLACES, 2)
    # The cluster is not a part of nodeadm. A second document is like the first one beside the other places.
    if not (setting.is_cluster and "nodeadm" in (first, second)) and (second != "second" or first == "user_data") and first != "second"
]


@pytest.mark.parametrize(("setting", "first", "second"), PAIRS, ids=[f"{one.path}, {first}, {second}" for one, first, second in PAIRS])
def test_every_pair_of_places_has_one_winner(setting: Setting, first: str, second: str) -> None:
    for precedence in (None, "ours", "theirs"):
        equal = inputs(setting, precedence, {first: setting.one, second: setting.one})
        assert in_force(setting, *equal) == setting.one
        assert [one["rule"] for one in node_spec(*equal)["warnings"]] == []
        values = {first: setting.one, second: setting.other}
        both = inputs(setting, precedence, values)
        winner = winner_of(setting, first, second, precedence)
        if winner is None:
            assert mentions(error_of(node_config, *both), named(setting, first), named(setting, second)), precedence
            continue
        assert in_force(setting, *both) == values[winner], precedence
        if winner == "override":
            [warning] = node_spec(*both)["warnings"]
            assert warning["path"] == "node_group.override"
            assert mentions(warning["message"], named(setting, first, is_ours=precedence != "theirs"), named(setting, second)), warning


# --- the list of hosts without a proxy ---------------------------------------------------------------------------------------------------

NEEDED = "localhost,127.0.0.1,::1,169.254.169.254,fd00:ec2::254,.internal,10.100.0.0/16,abc.gr7.eu-west-1.eks.amazonaws.com"
HTTPS = {"https": "http://a:1"}
NO_PROXY = Setting("instance.environment.default.NO_PROXY", "proxy.no_proxy", "a.example,b.example", "c.example", {})
LOWER = NO_PROXY._replace(path="instance.environment.default.no_proxy")


@pytest.mark.parametrize("precedence", [None, "ours", "theirs"])
@pytest.mark.parametrize("place", ["nodeadm", "user_data", "override"])
@pytest.mark.parametrize("setting", [NO_PROXY, LOWER], ids=["NO_PROXY", "no_proxy"])
def test_what_is_computed_is_added_to_the_list_of_the_user(setting: Setting, place: str, precedence: str | None) -> None:
    cluster, group = inputs(setting, precedence, {place: setting.other})
    group |= {"proxy": HTTPS}
    # C(override) is the last document: nothing is added to it.
    assert in_force(setting, cluster, group) == (setting.other if place == "override" else f"{setting.other},{NEEDED}")
    assert set(merged(node_config(cluster, group))["spec"]["instance"]["environment"]["default"]) == {"HTTPS_PROXY", setting.path[-8:]}
    assert node_spec(cluster, group)["warnings"] == []


@pytest.mark.parametrize("precedence", [None, "ours", "theirs"])
@pytest.mark.parametrize("place", ["nodeadm", "user_data", "override"])
@pytest.mark.parametrize("setting", [NO_PROXY, LOWER], ids=["NO_PROXY", "no_proxy"])
def test_the_same_entries_are_the_same_list(setting: Setting, place: str, precedence: str | None) -> None:
    proxy = {"proxy": HTTPS | {"no_proxy": ["a.example", "b.example"]}}
    every = f"a.example,b.example,{NEEDED}"
    for written in ("a.example,b.example", "b.example, a.example", every):
        cluster, group = inputs(setting, precedence, {place: written})
        group |= proxy
        last = place == "override" and written != every
        assert in_force(setting, cluster, group) == (written if last else every)
        # C(override) is the last document: the entries that every node needs are missing there.
        assert [one["path"] for one in node_spec(cluster, group)["warnings"]] == (["node_group.override"] if last else [])


@pytest.mark.parametrize("precedence", [None, "ours", "theirs"])
@pytest.mark.parametrize("place", ["nodeadm", "user_data", "override"])
@pytest.mark.parametrize("setting", [NO_PROXY, LOWER], ids=["NO_PROXY", "no_proxy"])
def test_other_entries_have_one_winner(setting: Setting, place: str, precedence: str | None) -> None:
    cluster, group = inputs(setting, precedence, {place: setting.other})
    group |= {"proxy": HTTPS | {"no_proxy": ["a.example", "b.example"]}}
    winner = winner_of(setting, "field", place, precedence)
    if winner is None:
        assert mentions(error_of(node_config, cluster, group), "proxy.no_proxy", named(setting, place))
        return
    assert in_force(setting, cluster, group) == (setting.other if winner == place else f"a.example,b.example,{NEEDED}")
    warnings = [one["message"] for one in node_spec(cluster, group)["warnings"]]
    assert [mentions(one, "proxy.no_proxy", setting.path[-8:]) for one in warnings] == ([True] if place == "override" else [])


@pytest.mark.parametrize(("first", "second"), [("HTTPS_PROXY", "https_proxy"), ("https_proxy", "HTTPS_PROXY")])
def test_two_documents_have_one_proxy_in_either_case(first: str, second: str) -> None:
    environment = "instance.environment.default."
    same, other = ([document(nest(environment + first, "http://a:1")), document(nest(environment + second, value))] for value in VALUES)
    assert len(node_config(CLUSTER, {"family": "al2023", "user_data": same})) == 3
    assert mentions(error_of(node_config, CLUSTER, {"family": "al2023", "user_data": other}), "user_data[0]", "user_data[1]", second)


VALUES = ("http://a:1", "http://b:1")


# --- the pause image in two versions of containerd's configuration -----------------------------------------------------------------------


@pytest.mark.parametrize("precedence", [None, "ours", "theirs"])
@pytest.mark.parametrize(("first", "second"), [*itertools.permutations(("field", "user_data", "override"), 2)])
def test_a_pause_image_in_two_versions_is_an_error_that_names_both(first: str, second: str, precedence: str | None) -> None:
    old, new = [one for one in SETTINGS if one.path.startswith("pause image")]
    united = unite(put(old, first, old.one), put(new, second, new.one))
    _cluster, group = inputs(old, precedence, {})
    group |= united.get("group", {})
    group |= {name: document(united[name]) for name in ("user_data", "override") if name in united}
    error = error_of(node_config, CLUSTER, group)
    names = {"field": "node_group.containerd.config", "user_data": "node_group.user_data", "override": "node_group.override"}
    assert mentions(error, names[first], names[second]), error
