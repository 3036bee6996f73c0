# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node families by name, and the one way from input to a checked specification."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..artifacts.comparison import may_change_settings
from ..artifacts.model import File, Notes, UserData
from ..errors import Problem, Problems, SpecError
from ..model.checks import shows_secret
from ..model.parse import parse
from ..model.spec import NodeSpec

if TYPE_CHECKING:
    # Only live nodes need it, and the first call of a filter pays for every module that is loaded.
    from ..artifacts.kubelet_layers import Layers
    from ..artifacts.node_plan import Plan

FAMILIES = {
    "al2": "al2",
    "al2023": "al2023",
    "bottlerocket": "bottlerocket",
    "ubuntu": "ubuntu",
    "windows": "windows",
}
"""Family name → the module in this package that knows it. Modules are loaded when they are needed: each brings its own serializers."""


class Family(Protocol):
    """What the module of a family offers. All are pure; C(check) has to cope with a specification that lacks fields."""

    def check(self, spec: NodeSpec, problems: Problems) -> None:
        """Report everything the family cannot express, what is wrong in existing user data included."""

    def notes(self, spec: NodeSpec) -> Notes:
        """Warnings and skipped checks of a checked specification, beside those of the specification itself."""

    def kubelet_input(self, spec: NodeSpec, problems: Problems) -> Layers | None:
        """What kubelet is given; None where we do not know its whole configuration. problems: the result of C(check)."""

    def user_data(self, spec: NodeSpec) -> UserData:
        """The user data document of a checked specification."""

    def files(self, spec: NodeSpec) -> tuple[File, ...]:
        """The files the same specification means on a live node or in an image, sorted by path."""

    def plan(self, spec: NodeSpec) -> Plan:
        """What the action C(apply) brings to a live node. Raises C(SpecError) for what only a boot can do."""


def family_module(name: str) -> Family:
    """The module of a family."""
    return cast(Family, importlib.import_module(f".{FAMILIES[name]}", __package__))


def resolve(cluster: Any, node_group: Any, running: str | None = None) -> tuple[NodeSpec, Family]:
    """The checked specification of a node group and its family. Raises C(SpecError) with every problem there is.

    running: the instance type of the one running node that this is about.
    """
    problems = Problems()
    spec = parse(cluster, node_group, problems, running)
    family = family_module(spec.family) if spec is not None else None
    if spec is not None and family is not None:
        if spec.mode == "karpenter":
            from ..artifacts.karpenter import Karpenter

            family = Karpenter(family)
        if spec.proxy is not None and may_change_settings(spec):
            from ..artifacts import proxy_places

            spec = proxy_places.in_force(spec, problems)
        family.check(spec, problems)
        layers = family.kubelet_input(spec, problems)
        if layers is not None:
            from ..artifacts import kubelet_layers

            found = kubelet_layers.check(spec, layers, problems)
            spec = replace(spec, warnings=(*spec.warnings, *found)) if found else spec
    problems.withhold_values(shows_secret)
    if problems or spec is None or family is None:
        raise SpecError(_as_written(problems, cluster, node_group))
    notes = family.notes(spec)
    warnings, unchecked = (
        _as_written(found, cluster, node_group) for found in ((*spec.warnings, *notes.warnings), (*spec.unchecked, *notes.unchecked))
    )
    return replace(spec, warnings=warnings, unchecked=unchecked), family


def _as_written(problems: Iterable[Problem], cluster: Any, node_group: Any) -> tuple[Problem, ...]:
    """C(problems) with the paths that the user wrote."""
    found = tuple(problems)
    if not found:
        return ()
    from ..model.written import as_written

    return tuple(as_written(problem, {"cluster": cluster, "node_group": node_group}) for problem in found)
