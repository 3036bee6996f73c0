# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which test shows that a feature works on a family: feature → test → families.

C(docs/capabilities.md) shows the strongest kind of evidence. The folder of a test says which kind it is: in C(tests/lab) a kubelet joins a
cluster, and in a marked file of C(tests/oracle) programs of a node run the output. A feature without a row here is only read by tests.
"""

from __future__ import annotations

_JOIN = "tests/lab/test_join.py::test_user_data_joins"
_SETTINGS = "tests/lab/test_join_settings.py"
_WINNER = "tests/lab/test_one_winner.py"
_SCRIPTS = "tests/oracle/test_script_families.py"
_BOOT = "tests/oracle/test_al2023_boot.py"
_CLOUD_INIT = "tests/oracle/test_cloud_init.py"

_SCRIPT = ("al2", "ubuntu")
_LINUX = ("al2", "al2023", "ubuntu")

#: Feature, as in docs/capabilities.md → test → families.
EVIDENCE: dict[str, dict[str, tuple[str, ...]]] = {
    "`labels`, `taints`": {_JOIN: _LINUX},
    "label values known at boot": {
        f"{_SCRIPTS}::test_labels_known_only_at_boot": _SCRIPT,
        f"{_BOOT}::test_everything_happens_in_its_order": ("al2023",),
    },
    "`max_pods`: a number, or EKS's formulas": {_JOIN: _LINUX},
    "`reserved`: values, or `auto`": {
        f"{_WINNER}::test_kubelet_uses_the_arguments_of_the_call_in_override": ("al2",),
        f"{_WINNER}::test_kubelet_uses_the_declared_winner": ("al2023",),
        f"{_SCRIPTS}::test_configuration_lies_there_before_the_first_start": _SCRIPT,
    },
    "`kubelet.config`": {f"{_SETTINGS}::test_kubelet_has_the_configuration_and_the_flags": _LINUX},
    "`kubelet.flags`": {f"{_SETTINGS}::test_kubelet_has_the_configuration_and_the_flags": _LINUX},
    "`containerd.config`": {f"{_SCRIPTS}::test_containerd_configuration_is_complete": ("al2",)},
    "`containerd.registry_mirrors`": {f"{_SETTINGS}::test_containerd_asks_the_mirrors_in_their_order": _LINUX},
    "`trust`": {f"{_SCRIPTS}::test_certificates_are_trusted_before_the_commands_run": ("ubuntu",)},
    "`local_storage`": {f"{_SCRIPTS}::test_local_disks": ("al2",)},
    "`proxy`": {f"{_SETTINGS}::test_proxies_are_for_what_is_outside": _LINUX},
    "`commands.pre`": {
        f"{_SCRIPTS}::test_preparation_comes_first": _SCRIPT,
        f"{_BOOT}::test_everything_happens_in_its_order": ("al2023",),
    },
    "`commands.post`": {f"{_SETTINGS}::test_commands_run_after_the_node_is_ready": _LINUX},
    "`commands.post` with `when: ready`": {f"{_SETTINGS}::test_commands_run_after_the_node_is_ready": _LINUX},
    "`override`": {
        f"{_WINNER}::test_kubelet_uses_the_arguments_of_the_call_in_override": ("al2",),
        f"{_WINNER}::test_kubelet_uses_the_declared_winner": ("al2023",),
        f"{_SCRIPTS}::test_overrides_of_eksctl_run_unchanged": _SCRIPT,
    },
    "`user_data` of your own, merged": {
        f"{_WINNER}::test_kubelet_uses_the_declared_winner": ("al2023",),
        f"{_CLOUD_INIT}::test_parts_run_in_the_documented_order": _LINUX,
    },
    "IPv6": {"tests/lab/test_join_ipv6.py::test_user_data_registers_ipv6_addresses": _LINUX},
    "local clusters on Outposts": {f"{_SCRIPTS}::test_outpost": ("al2",)},
    "`strategy: static`": {_JOIN: _SCRIPT},
    "`mode: managed`": {f"{_BOOT}::test_in_a_managed_group_a_failure_cannot_keep_the_node_out": ("al2023",)},
    "compressed user data": {f"{_CLOUD_INIT}::test_a_compressed_document_is_the_same": _LINUX},
}

KINDS = {"tests/lab/": "joined", "tests/oracle/": "booted"}
"""Folder of a test → what it shows, strongest first."""


def verified(feature: str, family: str) -> str:
    """Return the strongest evidence for a feature on a family."""
    tests = [test for test, families in EVIDENCE.get(feature, {}).items() if family in families]
    return next((kind for folder, kind in KINDS.items() if any(test.startswith(folder) for test in tests)), "read")
