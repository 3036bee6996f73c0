# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small eksctl configurations, and what becomes of them: shared by the tests of the importer."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CALLER = {"endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com", "certificate_authority": CA, "service_cidr": "10.100.0.0/16"}
HEAD = {"apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig"}


def config(*, managed: dict[str, Any] | None = None, own: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    tree: dict[str, Any] = {**HEAD, "metadata": {"name": "c", "region": "eu-west-1", "version": "1.32"}, **top}
    if own is not None:
        tree["nodeGroups"] = [{"name": "g", **own}]
    if managed is not None:
        tree["managedNodeGroups"] = [{"name": "m", **managed}]
    return tree


def group(*, managed: bool = False, **fields: Any) -> dict[str, Any]:
    tree = config(managed=fields) if managed else config(own=fields)
    result: dict[str, Any] = from_eksctl(tree, CALLER)["node_groups"][0]
    return result


def problems(tree: Any, cluster: Any = None) -> str:
    with pytest.raises(SpecError) as caught:
        from_eksctl(tree, cluster)
    return str(caught.value)


def user_data(fields: dict[str, Any], *, managed: bool = False, cluster: dict[str, Any] | None = None, **top: Any) -> str:
    """The user data that a group of an eksctl file gets here, as plain text."""
    tree = config(managed=fields, **top) if managed else config(own=fields, **top)
    facts = {**CALLER, **(cluster or {})}
    facts = {name: value for name, value in facts.items() if value is not None}
    result = from_eksctl(tree, facts)
    return render(result["cluster"], result["node_groups"][0]).document.text


def refusal(fields: dict[str, Any], *, managed: bool = False, cluster: dict[str, Any] | None = None, **top: Any) -> str:
    """Why a group of an eksctl file is refused."""
    tree = config(managed=fields, **top) if managed else config(own=fields, **top)
    return problems(tree, {**CALLER, **(cluster or {})})
