# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pair of places of what a NodeConfig sets besides kubelet: the cluster, disks, containerd, proxies (Amazon Linux 2023)."""

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


def containerd(value: Any) -> str:
    return f'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nmax_container_log_line_size = {value}\n'


SETTINGS = (
    Setting("cluster.apiServerEndpoint", "endpoint", CLUSTER["endpoint"], "https://other.example", {}),
    Setting("cluster.certificateAuthority", "certificate_authority", CLUSTER["certificate_authority"], CERTIFICATE, {}),
    Setting("cluster.cidr", "service_cidr", "10.100.0.0/16", "172.20.0.0/16", {}),
    Setting("cluster.name", "name", "demo", "another", {}),
    Setting("instance.localStorage.strategy", "local_storage.strategy", "RAID0", "Mount", {"RAID0": "raid0", "Mount": "mount"}),
    Setting("instance.environment.default.HTTPS_PROXY", "proxy.https", "http://a:1", "http://b:1", {}),
    Setting("containerd.config", "containerd.config", 1, 2, {}),
)
PLACES = ("field", "nodeadm", "user_data", "second", "override")
GROUP = ("field", "nodeadm")


def put(setting: Setting, place: str, value: Any) -> Tree:
    if setting.path == "containerd.config":
        table = {"version": 2, "plugins": {"io.containerd.grpc.v1.cri": {"max_container_log_line_size": value}}}
        value = table if place == "field" else containerd(value)
    elif place == "field":
        value = setting.written.get(value, value)
    if place != "field":
        return {"group": {"nodeadm": nest(setting.path, value)}} if place == "nodeadm" else {place: nest(setting.path, value)}
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
    for key in setting.path.split("."):
        value = value[key]
    if setting.path == "containerd.config":
        return toml.parse(value)["plugins"]["io.containerd.grpc.v1.cri"]["max_container_log_line_size"]
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
    where = setting.path.rpartition(".")[2] if setting.path != "containerd.config" else "max_container_log_line_size"
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
