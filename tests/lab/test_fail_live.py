# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Joins that fail, with the reason: the collection's playbook on live nodes, then module join_check alone on the same nodes."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import format_failure
from ansible_collections.nodebootstrap.eks.tests.lab import Lab
from ansible_collections.nodebootstrap.eks.tests.lab.fail_play import Ended, Output, bootstrap, bootstrap_host, check, playing
from ansible_collections.nodebootstrap.eks.tests.lab.fail_table import ACCESS, NODE, WAITING
from ansible_collections.nodebootstrap.eks.tests.lab.failing import Failing, Fault, failing, journal
from ansible_collections.nodebootstrap.eks.tests.lab.faulty_proxies import TcpProxy
from ansible_collections.nodebootstrap.eks.tests.lab.joining import CASES, LAB_ONLY, booted
from ansible_collections.nodebootstrap.eks.tests.lab.progress import say

pytestmark = pytest.mark.docker

#: Faults in the cluster of the inventory only.
MISTAKEN = ("wrong-authority", "wrong-endpoint", "wrong-cluster-by-tag", "wrong-cluster")

#: Seconds from the evidence to the message. Ten are documented; a machine on which many nodes boot in parallel is slower.
PROMISED, BUSY = 10, 60

#: Seconds for which a play waits for a fault that may go away.
WAIT_TIMEOUT = 40


#: One fault of each kind, on each family. Unit tests have the evidence of all of them.
FIRST = ("wrong-authority", "wrong-cluster", "role-not-mapped", "another-name", "cgroup-driver", "token-expired")
FIRST_WAITING = ("no-network-plugin", "credentials")


def shares(faults: dict[str, Fault], first: tuple[str, ...]) -> pytest.MarkDecorator:
    """The faults of C(make test), and the other ones."""
    ways = {"first": {name: faults[name] for name in first}, "other": {name: faults[name] for name in faults if name not in first}}
    marked = [pytest.param(those, id=way, marks=[pytest.mark.matrix] * (way == "other")) for way, those in ways.items()]
    return pytest.mark.parametrize("faults", marked)


@shares(ACCESS | NODE, FIRST)
def test_a_join_that_cannot_be_ends_with_its_cause(lab: Lab, faults: dict[str, Fault]) -> None:
    with failing(lab, faults) as sites:
        began = time.time()
        output = bootstrap({name: host(site) for name, site in sites.items()})
        asked = check({name: site.node for name, site in sites.items()}, wait_timeout=4 * BUSY)
        judged(
            sites, lambda name, site: against(site, output.ended(name)) + told_in_time(name, site, began, output.ended(name).moment), output
        )
        judged(sites, lambda name, site: against(site, asked.ended(name)), asked)
        # A node that never joined may go to another cluster without confirmation.
        corrected = {name: bootstrap_host(sites[name].node, sites[name].fault.case) for name in MISTAKEN if name in sites}
        if corrected:
            output = bootstrap(corrected)
            assert output.code == 0, output.text
            assert all(sites[name].node.object() for name in corrected)


@shares(WAITING, FIRST_WAITING)
def test_what_may_change_is_told_and_waited_for(lab: Lab, faults: dict[str, Fault]) -> None:
    with failing(lab, faults) as sites:
        began = time.time()
        output = bootstrap({name: {**host(site), "eks_node_wait_timeout": WAIT_TIMEOUT} for name, site in sites.items()})

        def judge(name: str, site: Failing) -> list[str]:
            ended = output.ended(name)
            told = next((line for line in output.lines if line.text.startswith(f"{name}: verify: ") and site.says[0] in line.text), None)
            if told is None:
                return [*against(site, ended), f"no line of progress has {site.says[0]!r}"]
            return [
                *against(site, ended),
                *told_in_time(name, site, began, told.moment),
                *([] if ended.moment - began >= WAIT_TIMEOUT else ["it did not wait"]),
            ]

        judged(sites, judge, output)


def test_an_api_server_that_comes_back_is_joined(lab: Lab) -> None:
    case = "al2023-stand-in"
    with booted(lab, case) as node, TcpProxy(lab, is_open=False) as proxy:
        with playing({"web": bootstrap_host(node, case, {"endpoint": proxy.endpoint})}) as output:
            waiting = output.read_until(lambda line: line.startswith("web: verify: ") and "refuses" in line)
            assert waiting is not None, output.text
            assert proxy.endpoint in waiting.text
            assert node.object() is None
            proxy.open()
            output.wait()
            assert output.code == 0, output.text
        assert node.object() is not None
        joined = output.ended("web")
        say(f"API server back: the play ended {joined.moment - proxy.changed:.1f} s later")
        assert joined.moment - proxy.changed < 2 * BUSY
        [asked] = [check({"web": node}, wait_timeout=4 * BUSY).ended("web")]
        assert not asked.failed, asked


def host(site: Failing) -> dict[str, Any]:
    """Variables of the host of a fault."""
    fields = dict(site.fault.fields)
    if "kubelet" in fields:
        fields["kubelet"] = {"config": {**LAB_ONLY[CASES[site.fault.case].minor], **fields["kubelet"]["config"]}}
    return bootstrap_host(site.node, site.fault.case, site.cluster, **fields)


def against(site: Failing, ended: Ended) -> list[str]:
    """Problems of a task's message for the user."""
    fault, message = site.fault, ended.message
    if not ended.failed:
        return ["it did not fail"]
    found = ended.result.get("join") or ended.result
    problems = [f"it does not say {word!r}" for word in site.says if not re.search(word if "|" in word else re.escape(word), message)]
    if not message.startswith(format_failure(found).partition(str(found["message"]))[0]):
        problems.append("it does not say whether the node joined")
    if found.get("cause") != fault.cause:
        problems.append(f"the cause is {found.get('cause')!r}, not {fault.cause!r}")
    if found.get("final") is not fault.final:
        problems.append(f"final is {found.get('final')!r}")
    if not found.get("fix") or str(found["fix"])[1:] not in message:
        problems.append("the message has no fix")
    evidence = [str(line) for line in found.get("evidence") or []]
    if not any(re.search(fault.shown, line) for line in evidence):
        problems.append(f"no evidence like {fault.shown!r}: {evidence}")
    problems += [f"the message does not quote {line!r}" for line in evidence if line not in message]
    return [*problems, f"the message: {message}"] if problems else []


def told_in_time(name: str, site: Failing, began: float, moment: float) -> list[str]:
    """Measure, print and compare the time from the evidence to the message."""
    evidence = site.evidence_since(began)
    if evidence is None:
        return [f"kubelet said nothing like {site.fault.journal!r}: {[line[:300] for _when, line in journal(site.node, began)[-5:]]}"]
    took = moment - evidence
    load = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs"
    say(f"{name} ({site.fault.cause}, {site.fault.case}): told {took:.1f} s after the evidence; {PROMISED} s are promised ({load})")
    return [] if took < BUSY else [f"told {took:.1f} s after the evidence"]


def judged(sites: dict[str, Failing], judge: Callable[[str, Failing], list[str]], output: Output) -> None:
    """All problems of all hosts, at once."""
    problems = {name: judge(name, site) for name, site in sites.items()}
    wrong = {name: said for name, said in problems.items() if said}
    lines = [f"{name}:\n  " + "\n  ".join(said) for name, said in wrong.items()]
    assert not wrong, "\n".join([*lines, output.text[-6000:]])
