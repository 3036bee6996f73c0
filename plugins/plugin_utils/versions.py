# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Kubernetes minors a family and its releases run on."""

from __future__ import annotations

from . import data


def known_minors() -> tuple[int, int]:
    """The oldest and the newest minor version of Kubernetes whose kubelet the collection knows."""
    table = data.kubelet_flags()
    return table["first"], table["last"]


def family_version_problem(family: str, release: str | None, version: tuple[int, int]) -> tuple[str, str] | None:
    """(reason, fix) when EKS has no image of C(family) (and C(release), such as C("22.04") or C("2025")) for C(version), else None."""
    families = data.kubernetes_versions()["families"]
    major, minor = version
    for key in (family, f"{family}-{release}"):
        row = families.get(key)
        if row is None or major != 1:
            continue
        if minor > row.get("until", minor):
            return (
                f"{row['name']} is available up to Kubernetes 1.{row['until']}, but the cluster runs 1.{minor}",
                f"use {row['instead']}",
            )
        if minor < row.get("since", minor):
            return (f"{row['name']} is available from Kubernetes 1.{row['since']}, but the cluster runs 1.{minor}", f"use {row['instead']}")
    return None
