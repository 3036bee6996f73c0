# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bed of the EKS Anywhere playbooks: real kind, kubeadm, Cluster API, cert-manager and clusterctl, offline (python -m ... --help)."""

from __future__ import annotations
