# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules that no input shows: causes of a failed join, and checks that guard code which other checks protect.

A failed join is fixed in the input (INPUTS), or on the machine, in the cluster or in AWS (C(joins.py)). REASONS has the rest.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.fields import AL2023
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.kubelet import CONFIG, FLAGS, config, flags
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import REMOVED, Cure, group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import CA

NODE_LABELS = "node_group.labels"
PROXY = {"https": "http://p:3128"}


def _input(cause: str, node_group: Any, edits: dict[str, Any], cluster: Any = None) -> Cure:
    return group(f"join.{cause}", AL2023 | node_group, edits, cluster)


INPUTS = (
    _input("cgroup_driver_mismatch", config(cgroupDriver="cgroupfs"), {f"{CONFIG}.cgroupDriver": "systemd"}),
    _input("cgroup_v1", {}, {f"{CONFIG}.failCgroupV1": False}, {"kubernetes_version": "1.35"}),
    _input("endpoint_unknown", {}, {"cluster.endpoint": "https://abc.eks.amazonaws.com"}, {"endpoint": "https://abd.eks.amazonaws.com"}),
    _input("forbidden_label", {"labels": {"kubernetes.io/role": "x"}}, {NODE_LABELS: REMOVED}),
    _input("invalid_config", config(syncFrequency="1 hour"), {f"{CONFIG}.syncFrequency": "1h"}),
    _input("invalid_flag", flags(event_burst="ten"), {f"{FLAGS}.event-burst": 10}),
    _input("kernel_defaults", config(protectKernelDefaults=True), {f"{CONFIG}.protectKernelDefaults": False}),
    _input("label_not_allowed", {"labels": {"a.k8s.io/b": "x"}}, {NODE_LABELS: REMOVED}),
    _input("no_container_runtime", {"containerd": {"config": {"disabled_plugins": ["cri"]}}}, {"node_group.containerd": REMOVED}),
    _input("nodeadm_failed", {"nodeadm": {"kublet": {}}}, {"node_group.nodeadm": REMOVED}),
    _input("proxy_failed", {"proxy": PROXY}, {"node_group.proxy.no_proxy": ["abc.gr7.eu-west-1.eks.amazonaws.com"]}),
    _input("registration_off", config(registerNode=False), {f"{CONFIG}.registerNode": REMOVED}),
    _input("swap_on", {}, {f"{CONFIG}.failSwapOn": False}),
    _input("unknown_config_field", config(noSuchField=1), {f"{CONFIG}.noSuchField": REMOVED}),
    _input("unknown_feature_gate", config(featureGates={"NoSuchGate": True}), {f"{CONFIG}.featureGates": REMOVED}),
    _input("unknown_flag", flags(container_runtime="remote"), {f"{FLAGS}.container-runtime": REMOVED}),
    _input("wrong_certificate_authority", {}, {"cluster.certificate_authority": CA}, {"certificate_authority": "LS0t"}),
    _input("wrong_cluster_name", {}, {"cluster.name": "prod"}),
    _input("wrong_endpoint", {}, {"cluster.endpoint": "https://abc.eks.amazonaws.com"}, {"endpoint": "https://abd.eks.amazonaws.com"}),
)

_SEARCH = "the message says where to look: the cause is not known exactly"
_GUARD = "another check rejects such an input first; this one protects the code behind it"

REASONS = {
    "access.changed_meanwhile": "another program has to stop: tests/lab/test_access.py",
    **dict.fromkeys(("bottlerocket.unreadable_flag", "live.unencodable_plan"), _GUARD),
    **dict.fromkeys(
        (rule for rule in rules.catalogue() if rule.startswith(("doctor.", "drift."))),
        "found on nodes, not in input: doctor/test_node_report.py has near misses",
    ),
    **dict.fromkeys(
        (rule for rule in rules.catalogue() if rule.startswith("anywhere.")),
        "files of EKS Anywhere: error_rows/anywhere.py breaks valid files, and test_eks_anywhere_rows.py has recorded verdicts",
    ),
    **dict.fromkeys(
        (rule for rule in rules.catalogue() if rule.startswith("launch_template.")),
        "launch templates of an account: publish/test_requirements.py has near misses",
    ),
    **dict.fromkeys(
        (rule for rule in rules.catalogue() if rule.startswith("drain.")),
        "found in clusters, not in input: drain/test_rules.py has an example and its fix for each",
    ),
    "shell.missing_package": "needs a controller without tree-sitter-bash: test_one_winner_shell.py",
    **dict.fromkeys(
        ("sources.no_user_data", "sources.not_base64", "sources.unknown_user_data", "sources.unreadable"),
        "files of other tools: test_read.py",
    ),
    "toml.missing_package": "needs a controller without tomlkit: test_toml.py",
    **{f"join.{cause}": _SEARCH for cause in ("check_failed", "kubelet_exits", "not_ready", "not_registered")},
}
