# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""apply_plan on machines with a real systemd: every family and strategy from fresh to gone, changes, failures, refusals."""

from __future__ import annotations

import json
import re

import pytest
from nodelab import Al2Node, Al2023Node, BootstrapNode, Node, UbuntuNode, engine

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.post_commands import UNIT as POST
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.post_commands import WAIT_UNTIL_READY
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle.live_nodes import (
    CODE,
    GROUPS,
    HEALTHY,
    KUBELET_UNITS,
    STATE,
    applied,
    apply,
    fresh_node,
    lay_code,
    plan,
    snapshot,
)
from ansible_collections.nodebootstrap.eks.tests.oracle.script_nodes import CA, CLUSTER, STATIC, boot
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

LABELS = {"labels": {"role": "web", "id": "{instance_id}"}}
WRAPPER = '#!/bin/sh\necho "$(basename "$0") $*" >>/run/calls\nexec /usr/bin/$(basename "$0") "$@"\n'


def kubelets(node: Node) -> list[list[str]]:
    """The words of every start of kubelet."""
    return [record["argv"] for record in node.records("kubelet")]


def listen(node: Node, *programs: str) -> None:
    """Remember the calls of programs that the module makes."""
    node.write({f"/usr/local/sbin/{name}": (WRAPPER, 0o755) for name in programs} | {"/run/calls": ""})


def calls(node: Node) -> list[str]:
    return node.read("/run/calls").decode().splitlines()


def without_times(state: str) -> str:
    """What a rollback restores: everything except for the number of the run of a unit."""
    return re.sub(r"InvocationID=.*", "", state)


@pytest.mark.parametrize("kind", repeated(GROUPS, "ubuntu script", "al2023"))
def test_from_fresh_to_gone(kind: str, request: pytest.FixtureRequest) -> None:
    node = fresh_node(kind, request)
    unit = KUBELET_UNITS[type(node)]
    first = plan(kind, **LABELS, kubelet={"flags": {"v": "3"}})
    bare = snapshot(node)

    promised = applied(node, first, check=True)
    assert snapshot(node) == bare
    assert promised["changed"] is True and promised["healthy"] is None
    done = applied(node, first)
    assert (done["actions"], done["diff"]) == (promised["actions"], promised["diff"])
    assert done["healthy"] is True and done["missing"] == [] and done["restarted"] == []
    assert done["diff"] and all(entry["before"] != entry["after"] for entry in done["diff"])
    [words] = kubelets(node)
    assert any(re.search(r"--node-labels=.*id=i-1234567890abcdef0", word) for word in words) and "--v=3" in words
    assert node.stat(f"{STATE}") == ("0700", "root:root") and node.stat(f"{STATE}/manifest.json") == ("0600", "root:root")

    listen(node, "systemctl", "containerd", "systemd-analyze", "snap", "nodeadm", "journalctl")
    before = snapshot(node)
    again = applied(node, first)
    assert (again["changed"], again["actions"], again["restarted"], again["diff"]) == (False, [], [], [])
    assert again["healthy"] is True and snapshot(node) == before
    expected = ["systemctl show"] + (["snap get"] if kind.startswith("ubuntu") else [])
    assert [" ".join(call.split()[:2]) for call in calls(node)] == expected

    second = plan(kind, **LABELS, kubelet={"flags": {"v": "4"}})
    promised = applied(node, second, check=True)
    assert snapshot(node) == before
    done = applied(node, second)
    assert (done["actions"], done["diff"]) == (promised["actions"], promised["diff"])
    assert unit in done["restarted"] and done["healthy"] is True
    assert "--v=4" in kubelets(node)[-1] and "--v=3" not in kubelets(node)[-1]
    assert len(kubelets(node)) == 2 and applied(node, second)["changed"] is False

    before = snapshot(node)
    promised = applied(node, second, state="absent", check=True)
    assert promised["changed"] is True and snapshot(node) == before
    gone = applied(node, second, state="absent")
    assert (gone["actions"], gone["diff"]) == (promised["actions"], promised["diff"])
    assert node.property(unit, "ActiveState") == "inactive"
    assert not node.exists(STATE) and not node.exists("/etc/nodebootstrap")
    assert files_of(snapshot(node)) == files_of(bare)
    assert applied(node, second, state="absent")["changed"] is False


def files_of(state: str) -> list[str]:
    """Files and links of a snapshot; folders that programs of the image made stay."""
    lines = [line for line in state.splitlines() if line.startswith("/") and " d " not in line]
    return [line for line in lines if not line.startswith("/var/lib/nodelab/")]


# --- failures ---------------------------------------------------------------------------------------------------------------------


FUSSY = """#!/bin/sh
case "$*" in *--v=13*) echo "kubelet: unlucky verbosity" >&2; exit 1 ;; esac
exec /usr/bin/python3 -I -B /opt/nodelab/programs/kubelet.py "$@"
"""
SERVICE_COMMANDS = f"{CODE}/ansible_collections/nodebootstrap/eks/plugins/module_utils/_engine/service_commands.py"


@pytest.mark.parametrize("kind", repeated(GROUPS, "al2023"))
def test_a_kubelet_that_fails_brings_the_old_one_back(kind: str, request: pytest.FixtureRequest) -> None:
    node = fresh_node(kind, request)
    unit = KUBELET_UNITS[type(node)]
    node.exec(["mv", "/usr/bin/kubelet", "/usr/bin/kubelet.real"], check=True)
    try:
        node.write({"/usr/bin/kubelet": (FUSSY, 0o755)})
        # Seen for as long as it takes: a snap's unit starts again after 100 ms, and on a busy machine the look comes later than that.
        node.write({f"/etc/systemd/system/{unit}.d/90-seen.conf": "[Service]\nRestartSec=60\n"})
        node.exec(["systemctl", "daemon-reload"], check=True)
        lay_code(node)
        node.exec(["sed", "-i", "s/^WATCH_SECONDS = 1.0$/WATCH_SECONDS = 60.0/", SERVICE_COMMANDS], check=True)
        node.exec(["grep", "-q", "^WATCH_SECONDS = 60", SERVICE_COMMANDS], check=True)
        bad = plan(kind, kubelet={"flags": {"v": "13"}})
        bare = snapshot(node)
        failed = apply(node, bad)
        assert failed["failed"] and not failed.get("changed")
        assert files_of(snapshot(node)) == files_of(bare) and node.property(unit, "ActiveState") == "inactive"

        good = plan(kind, kubelet={"flags": {"v": "3"}})
        applied(node, good)
        before = snapshot(node)
        failed = apply(node, bad)
        assert failed["failed"] and mentions(failed["msg"], "unlucky verbosity"), failed["msg"]
        assert files_of(snapshot(node)) == files_of(before)
        assert node.property(unit, "ActiveState") == "active" and "--v=3" in kubelets(node)[-1]
        assert applied(node, good)["changed"] is False
    finally:
        node.exec(["mv", "-f", "/usr/bin/kubelet.real", "/usr/bin/kubelet"], check=True)
        node.exec(["rm", "-rf", CODE], check=True)


LIMIT = "[Unit]\nStartLimitIntervalSec=1h\nStartLimitBurst=3\n[Service]\nRestartSec=100ms\n"
"""Few starts, so that a test reaches the limit soon, and an interval that does not end during a test."""


def reach_start_limit(node: Node, unit: str) -> None:
    """Restart a unit until systemd refuses to."""
    assert any(node.exec(["systemctl", "restart", unit]).returncode for _unused in range(6))
    assert (node.property(unit, "ActiveState"), node.property(unit, "Result")) == ("failed", "start-limit-hit")


LIMITED = [(kind, daemon) for kind in GROUPS for daemon in ("kubelet", "containerd")]
FAST = [("al2", "kubelet"), ("al2 script", "containerd"), ("al2023", "kubelet"), ("al2023", "containerd")]


@pytest.mark.parametrize("case", repeated(LIMITED, *FAST), ids="-".join)
def test_a_daemon_that_was_started_too_often_starts(case: tuple[str, str], request: pytest.FixtureRequest) -> None:
    kind, daemon = case
    node = fresh_node(kind, request)
    unit = KUBELET_UNITS[type(node)] if daemon == "kubelet" else "containerd.service"
    node.write({f"/etc/systemd/system/{unit}.d/90-limit.conf": LIMIT})
    node.exec(["systemctl", "daemon-reload"], check=True)
    good = plan(kind, kubelet={"flags": {"v": "3"}})
    applied(node, good)

    reach_start_limit(node, unit)
    before = snapshot(node)
    assert applied(node, good, check=True)["changed"] is True
    assert snapshot(node) == before and node.property(unit, "Result") == "start-limit-hit"
    done = applied(node, good)
    assert done["healthy"] is True and node.property(unit, "ActiveState") == "active"
    assert applied(node, good)["changed"] is False

    reach_start_limit(node, unit)
    corrected = plan(kind, kubelet={"flags": {"v": "4"}})
    assert applied(node, corrected)["healthy"] is True and "--v=4" in kubelets(node)[-1]
    assert applied(node, corrected)["changed"] is False


# On the other families undoing reloads systemd, and some versions of systemd then forget how often a unit was started.
@pytest.mark.parametrize("kind", repeated(GROUPS, "ubuntu"))
def test_a_kubelet_that_fails_until_the_limit_brings_the_old_one_back(kind: str, request: pytest.FixtureRequest) -> None:
    node = fresh_node(kind, request)
    unit = KUBELET_UNITS[type(node)]
    node.write({f"/etc/systemd/system/{unit}.d/90-limit.conf": LIMIT})
    node.exec(["mv", "/usr/bin/kubelet", "/usr/bin/kubelet.real"], check=True)
    try:
        node.write({"/usr/bin/kubelet": (FUSSY, 0o755)})
        lay_code(node)
        # The watch looks only when the limit is reached.
        node.exec(["sed", "-i", "s/^end = /time.sleep(5); end = /", SERVICE_COMMANDS], check=True)
        node.exec(["grep", "-q", "^time.sleep(5)", SERVICE_COMMANDS], check=True)
        good = plan(kind, kubelet={"flags": {"v": "3"}})
        applied(node, good)
        failed = apply(node, plan(kind, kubelet={"flags": {"v": "13"}}))
        assert failed["failed"] and mentions(failed["msg"], "unlucky verbosity"), failed["msg"]
        assert "start request repeated too quickly" in node.journal().lower()
        assert node.property(unit, "ActiveState") == "active" and "--v=3" in kubelets(node)[-1]
        assert applied(node, good)["changed"] is False
    finally:
        node.exec(["mv", "-f", "/usr/bin/kubelet.real", "/usr/bin/kubelet"], check=True)
        node.exec(["rm", "-rf", CODE], check=True)


def test_what_programs_of_the_node_refuse_is_not_written(al2_node: Al2Node, al2023_node: Al2023Node) -> None:
    bare = snapshot(al2_node)
    for path, content, message in (
        ("/etc/containerd/config.toml", "version = [", "containerd does not accept the new /etc/containerd/config.toml"),
        ("/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf", "[Service]\nExecStart=\n", "systemd does not accept a unit"),
    ):
        wrong = plan("al2")
        next(file for file in wrong["files"] if file["path"] == path)["content"] = content
        failed = apply(al2_node, wrong)
        assert message in failed.get("msg", ""), failed
        assert snapshot(al2_node) == bare
    wrong = plan("al2023")
    document = next(file for file in wrong["files"] if file["path"].endswith(".yaml"))
    document["content"] = document["content"].replace("cidr:", "cider:")
    bare = snapshot(al2023_node)
    failed = apply(al2023_node, wrong)
    assert failed["failed"] and mentions(failed["msg"], "nodeadm") and snapshot(al2023_node) == bare


def test_a_busy_snapd_is_waited_for_and_a_refusing_one_is_not(ubuntu_node: UbuntuNode) -> None:
    ubuntu_node.write({HEALTHY: ""})
    busy = (
        '#!/bin/sh\n[ "$1" = set ] && ! [ -e /run/told ] && { touch /run/told; '
        'echo \'error: snap "kubelet-eks" has "auto-refresh" change in progress\' >&2; exit 1; }\nexec /usr/bin/snap "$@"\n'
    )
    ubuntu_node.write({"/usr/local/sbin/snap": (busy, 0o755)})
    applied(ubuntu_node, plan("ubuntu", **LABELS))
    assert ubuntu_node.snap_settings()["node-ip"] == "10.0.0.5"
    settings, files = ubuntu_node.snap_settings(), files_of(snapshot(ubuntu_node))
    refusing = '#!/bin/sh\ncase "$*" in set*kubelet-eks*v=9*) echo no such thing >&2; exit 1 ;; esac\nexec /usr/bin/snap "$@"\n'
    ubuntu_node.write({"/usr/local/sbin/snap": (refusing, 0o755)})
    failed = apply(ubuntu_node, plan("ubuntu", **LABELS, kubelet={"flags": {"v": "9"}}))
    assert mentions(failed["msg"], "snap set kubelet-eks", "(status 1)", "such thing")
    assert ubuntu_node.snap_settings() == settings and files_of(snapshot(ubuntu_node)) == files


@pytest.mark.parametrize(
    "attack",
    [
        ["ln", "-s", "/etc/shadow", "/etc/kubernetes/pki/ca.crt"],
        ["ln", "-s", "/nowhere", "/var/lib/nodebootstrap"],
        ["ln", "-sfn", "/tmp", "/etc/nodebootstrap"],
        ["mkfifo", "/etc/kubernetes/pki/ca.crt"],
        ["mkdir", "/etc/kubernetes/pki/ca.crt"],
        ["chmod", "0777", "/etc/kubernetes/pki"],
        ["chown", "daemon", "/etc/kubernetes/pki"],
        ["install", "-d", "-m", "0777", "/var/lib/nodebootstrap", "/var/lib/nodebootstrap/originals"],
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_paths_that_lead_elsewhere_are_refused(al2_node: Al2Node, attack: list[str]) -> None:
    al2_node.exec(["mkdir", "-p", "/etc/kubernetes/pki"], check=True)
    al2_node.exec(attack, check=True)
    bare, shadow = snapshot(al2_node), al2_node.read("/etc/shadow")
    for check in (True, False):
        failed = apply(al2_node, plan("al2"), check=check)
        assert failed["failed"] and attack[-1].replace("/originals", "") in failed["msg"], failed
        assert snapshot(al2_node) == bare and al2_node.read("/etc/shadow") == shadow
    al2_node.exec(["chmod", "0755", "/etc/kubernetes/pki"])
    al2_node.exec(["chown", "root", "/etc/kubernetes/pki"])


# --- who the node is ----------------------------------------------------------------------------------------------------------------


def test_another_machine_is_refused_with_both_names(ubuntu_node: UbuntuNode) -> None:
    failed = apply(ubuntu_node, plan("al2"))
    assert mentions(failed["msg"], "Ubuntu 24.04 LTS", "ID=ubuntu", "VERSION_ID=24.04")
    assert mentions(failed["msg"], "Amazon Linux 2", "family: ubuntu")
    assert not ubuntu_node.exists(STATE)


def test_a_node_of_another_cluster_is_refused_unless_taken_over(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: ""})
    other = CLUSTER | {"name": "other", "endpoint": "https://OTHER.gr7.eu-central-1.eks.amazonaws.com"}
    boot(al2_node, other, **STATIC)
    before = snapshot(al2_node)
    failed = apply(al2_node, plan("al2", **LABELS))
    assert mentions(failed["msg"], "https://OTHER.gr7", "take_over: true")
    assert snapshot(al2_node) == before
    taken = applied(al2_node, plan("al2", **LABELS), take_over=True)
    assert "kubelet.service" in taken["restarted"] and taken["registration"] is None
    failed = apply(al2_node, plan("al2", other))
    assert mentions(failed["msg"], "cluster demo", "manifest")
    assert mentions(apply(al2_node, plan("al2", other), state="absent")["msg"], "cluster demo")


def test_labels_of_a_registered_node_change_only_with_reconcile(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: ""})
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    boot(al2_node, labels={"role": "db", "old": "1"}, taints=[taint], **STATIC)
    wanted = plan("al2", **LABELS)
    before = snapshot(al2_node)
    failed = apply(al2_node, wanted)
    for word in ("label role=web", "label old (removed)", "taint gpu=yes:NoSchedule (removed)", "reconcile: true"):
        assert word in failed["msg"]
    assert snapshot(al2_node) == before
    expected = {
        "node": "ip-10-0-0-5.eu-central-1.compute.internal",
        "labels": {"role": "web", "id": "i-1234567890abcdef0", "old": None},
        "taints": {"set": [], "remove": ["gpu=yes:NoSchedule"]},
    }
    assert applied(al2_node, wanted, reconcile=True, check=True)["registration"] == expected
    assert applied(al2_node, wanted, reconcile=True)["registration"] == expected
    # The controller's patch may have failed: it is asked for again, and the node itself has nothing to change.
    again = applied(al2_node, wanted, reconcile=True)
    assert (again["registration"], again["changed"]) == (expected, False)
    assert applied(al2_node, wanted)["registration"] is None
    assert mentions(apply(al2_node, plan("al2", labels={"role": "db", "id": "{instance_id}"}))["msg"], "label role=db")


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
def test_a_node_that_user_data_set_up_is_adopted(family: str, request: pytest.FixtureRequest) -> None:
    node: BootstrapNode = fresh_node(family, request)
    group = {**STATIC, **LABELS, "commands": {"pre": ["echo once >>/var/tmp/pre"]}}
    # What the images bring and the laboratory does not.
    node.exec(["mkdir", "-p", "/etc/cni/net.d", "/etc/containerd/config.d"], check=True)
    node.exec(["systemctl", "enable", "containerd.service"], check=True)
    boot(node, **group)
    before = snapshot(node)
    adopted = applied(node, plan(family, **group))
    assert (adopted["changed"], adopted["restarted"], adopted["actions"]) == (False, [], [])
    ours = ("/var/lib/nodebootstrap", "nodebootstrap-recover.service")
    left = [line for line in snapshot(node).splitlines() if not any(name in line for name in ours) and ".requires " not in line]
    assert left == before.splitlines()
    assert json.loads(node.read(f"{STATE}/manifest.json"))["files"]
    assert len(kubelets(node)) == 1 and node.read("/var/tmp/pre") == b"once\n"
    assert applied(node, plan(family, **group))["changed"] is False


# --- phases ---------------------------------------------------------------------------------------------------------------------------


def test_what_is_not_restarted_stays_noted(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: ""})
    written = applied(al2_node, plan("al2"), phases=["preflight", "configure", "validate"])
    assert written["changed"] and written["healthy"] is None and kubelets(al2_node) == []
    started = applied(al2_node, plan("al2"), phases=["start", "verify"])
    assert "start kubelet.service" in started["actions"] and started["healthy"] is True
    second = plan("al2", kubelet={"flags": {"v": "5"}})
    for _unused in range(2):
        held = applied(al2_node, second, restart="never")
        assert held["restarted"] == [] and len(kubelets(al2_node)) == 1
    assert held["changed"] is False
    done = applied(al2_node, second)
    assert (done["actions"], done["restarted"]) == (["restart kubelet.service"], ["kubelet.service"])
    assert "--v=5" in kubelets(al2_node)[-1] and applied(al2_node, second)["changed"] is False
    early = apply(al2_node, plan("al2", commands={"post": ["true"]}), phases=["start"])
    assert mentions(early["msg"], "phase configure")


def test_verify_says_what_is_missing(al2_node: Al2Node) -> None:
    result = applied(al2_node, plan("al2"), wait_timeout=0)
    assert result["healthy"] is False and result["missing"] == ["no answer from http://127.0.0.1:10248/healthz"]
    al2_node.exec(["systemctl", "stop", "kubelet.service"], check=True)
    result = applied(al2_node, plan("al2"), wait_timeout=0, phases=["verify"])
    assert result["missing"] == ["kubelet.service is inactive (dead)"] and result["changed"] is False


def test_scripts_run_once_and_post_commands_are_not_waited_for(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: ""})
    group = {"commands": {"pre": ["echo pre >>/var/tmp/ran"], "post": ["echo post >>/var/tmp/ran; sleep 3600; touch /var/tmp/slept"]}}
    first = applied(al2_node, plan("al2", **group))
    assert first["actions"][0] == "run commands.pre" and not al2_node.exists("/var/tmp/slept")
    assert applied(al2_node, plan("al2", **group))["changed"] is False
    assert al2_node.read("/var/tmp/ran").splitlines()[0] == b"pre" and al2_node.read("/var/tmp/ran").count(b"pre") == 1
    bad = plan("al2", commands={"pre": ["echo broken >&2; exit 7"]})
    before = files_of(snapshot(al2_node))
    failed = apply(al2_node, bad)
    assert mentions(failed["msg"], "commands.pre", "status 7", "broken") and files_of(snapshot(al2_node)) == before


def test_commands_that_wait_for_the_node_run_once_for_each_change(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: ""})
    applied(al2_node, plan("al2"))
    before, kubelet = snapshot(al2_node), al2_node.property("kubelet.service", "InvocationID")
    group = {"commands": {"post": [{"run": "touch /run/post-ran", "when": "ready", "timeout": 2}]}}
    looked = applied(al2_node, plan("al2", **group), check=True)
    assert looked["changed"] is True and WAIT_UNTIL_READY in json.dumps(looked["diff"]) and snapshot(al2_node) == before
    done = applied(al2_node, plan("al2", **group))
    assert (done["actions"], done["restarted"], done["healthy"]) == (looked["actions"], looked["restarted"], True)
    # There is no API server. The play has ended with success before the unit fails.
    engine.wait_for("the end of the unit", lambda: al2_node.property(POST, "ActiveState") == "failed", 600)
    assert "within 2 s: /usr/bin/aws-iam-authenticator prints no token" in al2_node.journal(POST)
    invocation = al2_node.property(POST, "InvocationID")
    assert applied(al2_node, plan("al2", **group))["changed"] is False, "a failed unit is not run again"
    assert (al2_node.property(POST, "InvocationID"), al2_node.exists("/run/post-ran")) == (invocation, False)
    group["commands"]["post"][0] |= {"when": "healthy", "timeout": 60}
    assert applied(al2_node, plan("al2", **group))["changed"] is True and not al2_node.exists(WAIT_UNTIL_READY)
    engine.wait_for("the commands", lambda: al2_node.exists("/run/post-ran"), 600)
    assert al2_node.property("kubelet.service", "InvocationID") == kubelet


def test_what_a_plan_no_longer_has_goes_and_comments_restart_nothing(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: "", "/etc/containerd/certs.d/docker.io/hosts.toml": "# theirs\n"})
    mirrors = {"containerd": {"registry_mirrors": {"docker.io": ["https://mirror.example"]}}}
    applied(al2_node, plan("al2", **mirrors, proxy={"https": "http://proxy.example:3128"}))
    proxy = "/etc/systemd/system/kubelet.service.d/50-nodebootstrap-proxy.conf"
    assert al2_node.exists(proxy) and b"mirror" in al2_node.read("/etc/containerd/certs.d/docker.io/hosts.toml")
    done = applied(al2_node, plan("al2"))
    assert not al2_node.exists(proxy) and al2_node.read("/etc/containerd/certs.d/docker.io/hosts.toml") == b"# theirs\n"
    assert "kubelet.service" in done["restarted"] and "containerd.service" in done["restarted"]
    for path in ("/etc/systemd/system/kubelet.service", "/etc/containerd/config.toml"):
        al2_node.write({path: b"# a remark\n" + al2_node.read(path)})
    before = al2_node.property("kubelet.service", "InvocationID")
    done = applied(al2_node, plan("al2"))
    assert done["changed"] is True and done["restarted"] == []
    assert al2_node.property("kubelet.service", "InvocationID") == before


def test_no_secret_in_a_diff(al2_node: Al2Node) -> None:
    al2_node.write({HEALTHY: "", "/etc/kubernetes/pki/ca.crt": ("canary-theirs", 0o600)})
    secret = plan("al2", allow_secrets_in_user_data=True, proxy={"https": "http://user:canary-ours@proxy.example:3128"})
    shown = json.dumps([applied(al2_node, secret), applied(al2_node, plan("al2"))])
    assert "canary" not in shown and "50-nodebootstrap-proxy.conf" in shown and CA not in shown


def test_a_run_that_was_killed_is_finished_by_the_next(al2_node: Al2Node) -> None:
    killer = (
        '#!/bin/sh\ncase "$*" in *restart*kubelet.service) [ -e /run/killed ] || { touch /run/killed; kill -9 $PPID; exit 1; } ;; esac\n'
        'exec /usr/bin/systemctl "$@"\n'
    )
    al2_node.write({HEALTHY: "", "/usr/local/sbin/systemctl": (killer, 0o755)})
    assert mentions(apply(al2_node, plan("al2"))["msg"], "recover boot")
    assert kubelets(al2_node) == []
    before = snapshot(al2_node)
    looked = applied(al2_node, plan("al2"), check=True)
    assert mentions(looked["warnings"], "interrupted run") and snapshot(al2_node) == before
    done = applied(al2_node, plan("al2"))
    assert (done["recovered"], done["changed"], done["actions"], done["healthy"]) == ("finished", True, [], True)
    assert len(kubelets(al2_node)) == 1 and applied(al2_node, plan("al2"))["recovered"] is None
