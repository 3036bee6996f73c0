# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of the families whose nodes run no Linux shell: Bottlerocket and Windows."""

from __future__ import annotations

from typing import NoReturn

from ..errors import Problem, Problems, SpecError, joined
from ..model.spec import NodeSpec
from .boot_labels import split_labels


def refuse_boot_labels(spec: NodeSpec, problems: Problems) -> None:
    """Report label values that a script on the node would have to fill in."""
    if spec.managed:
        return  # every such label of a managed group is reported already
    for key, value in split_labels(spec.labels)[1].items():
        problems.add(
            "labels.known_at_boot_only",
            joined("node_group.labels", key),
            f"is only known on the node, and nothing on {spec.family} fills it in before kubelet registers",
            value=value,
            fix="give a fixed value, or set the label on the Node after it joined",
        )


def refuse_outpost(spec: NodeSpec, problems: Problems) -> None:
    """Report a local cluster on Outposts."""
    if spec.cluster.outpost:
        problems.add(
            "cluster.unsupported_outpost",
            "cluster.outpost",
            f"{spec.family} nodes cannot join a local cluster on Outposts",
            fix="set family: al2023 or al2",
        )


def refuse_apply(spec: NodeSpec, reason: str) -> NoReturn:
    """Raise C(SpecError): the action C(apply) works through a shell and files. The family's role does it another way."""
    fix = f"use the role nodebootstrap.eks.eks_node_{spec.family}"
    raise SpecError([Problem("live.wrong_family", "node_group.family", reason, value=spec.family, allowed="al2, al2023, ubuntu", fix=fix)])
