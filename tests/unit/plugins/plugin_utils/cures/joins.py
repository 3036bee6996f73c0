# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes of a failed join that are fixed on the machine, in the cluster or in AWS: the evidence before and after the fix.

The lab shows some of them on real nodes (C(tests/lab/test_fail_running.py), C(tests/lab/test_fail_live.py)).
"""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import diagnosis
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import Evidence, Kubelet, NetworkConfig
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import join_evidence as build
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import Cure


def _check(evidence: Evidence) -> None:
    finding = diagnosis.diagnose(evidence)
    if finding is not None:
        raise SpecError([Problem(f"join.{finding.cause}", evidence.node_name or "node", finding.message, fix=finding.fix)])


def _api(cause: str, case: str, *words: str, **after: Any) -> Cure:
    """The request succeeds after the fix. `words`: what the message tells to change. `after`: other evidence that the fix changes."""
    before = build.CASES[case]
    assert before.api is not None
    answer = before.api._replace(outcome="answer", status=200, is_kubernetes=True, message="", clock_skew=0.0, node=build.node())
    return Cure(f"join.{cause}", _check, before, before._replace(api=answer, **after), words)


def _start(cause: str, case: str, *words: str) -> Cure:
    """kubelet starts after the fix, with the units as they are otherwise."""
    before = build.CASES[case]
    running = build.running(found=build.node())
    units = {**(before.units or {}), **(running.units or {})}
    units = {name: build.unit(name) if name == build.CONTAINERD else one for name, one in units.items()}
    return Cure(f"join.{cause}", _check, before, running._replace(units=units), words)


def _running(cause: str, case: str, *words: str, **after: Any) -> Cure:
    """A part of the evidence changes. `after`: fields of the Kubelet, its process, or the evidence."""
    before = build.CASES[case]
    kubelet = before.kubelet or Kubelet(build.KUBELET)
    process = kubelet.process._replace(**{name: value for name, value in after.items() if name in kubelet.process._fields})
    kubelet = kubelet._replace(process=process, **{name: value for name, value in after.items() if name in kubelet._fields})
    rest = {name: value for name, value in after.items() if name in before._fields}
    return Cure(f"join.{cause}", _check, before, before._replace(kubelet=kubelet, **rest), words)


HEALTHY = build.api(node=build.node())

JOINS = (
    _api("api_error", "answer 500", "cluster"),
    _api("bad_kubeconfig", "invalid kubeconfig", "bootstrap"),
    _api("certificate_dates", "expired certificate", "renew"),
    _running("certificate_pending", "answer 403 on Outposts", "approve", is_bootstrapping=False, api=HEALTHY),
    _api("clock_skew", "answer 401 and wrong clock", "clock"),
    _api("credentials_failed", "the program for credentials fails", "instance profile", "STS"),
    _api("endpoint_refused", "closed connection", "security groups"),
    _api("endpoint_silent", "timeout", "routes"),
    _api("endpoint_unreachable", "no route", "routes"),
    _api("no_credentials_program", "no program for credentials", "install aws"),
    _api("no_kubeconfig", "no --kubeconfig", "bootstrap"),
    _api("node_deleted", "the Node was deleted", "systemctl restart"),
    _api("node_name_mismatch", "answer 404 and refused name", "--hostname-override"),
    _api("not_a_node", "answer 403 as anonymous", "EC2_LINUX"),
    _api("token_expired", "answer 401 and old token", "old tokens"),
    _api("unauthorized", "answer 401 without tags", "nodebootstrap.eks.access"),
    _start("disk_full", "the disk is full", "free space"),
    _start("kubelet_killed", "kubelet is killed at its memory limit", "MemoryMax"),
    _start("kubelet_not_started", "kubelet is masked", "systemctl unmask"),
    _start("missing_cgroup", "cgroupRoot", "cgroupRoot from /etc/k.json", "systemctl restart"),
    _start("missing_file", "recorded exit: client_ca_missing_in_kubelet-1.36", "create the file"),
    _start("no_credential_provider", "recorded exit: credential_provider_missing-1.36", "ecr-credential-provider"),
    _start("no_kubelet", "recorded exit: kubelet_program_missing-1.36", "install kubelet"),
    _start("port_in_use", "port 10250", "python3 (pid 812, web.service)", "stop that process"),
    _start("stale_manager_state", "the state of the CPU manager", "rm /var/lib/kubelet/cpu_manager_state"),
    _running("invalid_cni_config", "a broken CNI configuration", "correct or remove", network=None, api=HEALTHY),
    _running("no_network_plugin", "an empty CNI directory", "network plugin", network=NetworkConfig("/etc/cni/net.d", "a"), api=HEALTHY),
    _running("under_pressure", "disk pressure", "free space", api=HEALTHY),
    _running("wrong_node_ip", "an address that no interface has", "--node-ip", missing_addresses=()),
)
