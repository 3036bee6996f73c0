# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain against a cluster that moves: what it sends, when it ends, and what it leaves behind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.finding import Settings
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.node_task import OPTIONS, node_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.options import read_options
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.run import Result, UncordonFailed, drain_node
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.drain.api_objects import NOW, Object, budget, exhausted, pod
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.drain.moving_cluster import MovingCluster, Refusal

EVERY_TAINT = [{"operator": "Exists"}]


def drain(cluster: MovingCluster, **options: object) -> Result:
    return drain_node(cluster.api, "a", Settings(**{"timeout": 900.0, **options}), cluster.world)  # type: ignore[arg-type]


def left(result: Result) -> list[str]:
    return [one.pod.full_name for one in result.left]


def test_all_pods_leave_and_the_node_stays_cordoned() -> None:
    cluster = MovingCluster(pod("p"), pod("q"), pod("other", "b"))
    result = drain(cluster)
    assert (result.is_drained, result.evicted, result.changed) == (True, ("web/p", "web/q"), True)
    assert cluster.is_cordoned() and sorted(cluster.sent("EVICT")) == ["p", "q"]
    assert cluster.requests.index((0.0, "PATCH", "nodes/a")) < min(n for n, one in enumerate(cluster.requests) if one[1] == "EVICT")


def test_a_second_drain_changes_nothing() -> None:
    cluster = MovingCluster(pod("p"))
    drain(cluster)
    before = len(cluster.requests)
    result = drain(cluster)
    assert (result.is_drained, result.changed) == (True, False)
    assert {method for _when, method, _path in cluster.requests[before:]} == {"GET", "LIST"}


def test_static_pods_and_daemon_sets_are_left() -> None:
    daemon = pod("d", owner="DaemonSet/aws-node", metadata__namespace="kube-system")
    mirror = pod("m", owner="Node/a", metadata__annotations={"kubernetes.io/config.mirror": "x"})
    cluster = MovingCluster(daemon, mirror, pod("done", owner=None, status__phase="Succeeded"))
    assert drain(cluster).is_drained
    assert cluster.sent("EVICT") == ["done"]


@pytest.mark.parametrize(
    ("one", "option"),
    [
        (pod("p", owner=None), "delete_unmanaged_pods"),
        (pod("p", owner="DaemonSet/gone", metadata__namespace="kube-system"), "delete_unmanaged_pods"),
        (pod("p", spec__volumes=[{"name": "cache", "emptyDir": {}}]), "delete_emptydir_data"),
    ],
)
def test_what_is_not_allowed_is_found_before_anything_is_changed(one: Object, option: str) -> None:
    cluster = MovingCluster(one, pod("q"))
    result = drain(cluster)
    assert (result.is_drained, len(result.left), result.changed) == (False, 1, False)
    assert mentions(result.left[0].reason, option)
    assert {method for _when, method, _path in cluster.requests} == {"GET", "LIST"}
    assert drain(cluster, **{option: True}).is_drained


def test_a_budget_is_waited_for_as_long_as_the_api_server_says() -> None:
    cluster = MovingCluster(pod("p"), exhausted())
    cluster.events.append((25.0, lambda: cluster.budgets[0]["status"].update(disruptionsAllowed=1)))
    assert drain(cluster).is_drained
    assert [when for when, method, _path in cluster.requests if method == "EVICT"] == [0.0, 10.0, 20.0, 30.0]
    assert any(mentions(line, "web/p", "budget") for line in cluster.said)


def test_a_budget_that_never_allows_ends_at_the_timeout_and_the_cordon_is_taken_back() -> None:
    cluster = MovingCluster(pod("p"), pod("q", metadata__labels={"app": "free"}), exhausted())
    result = drain(cluster, timeout=60.0)
    assert (result.is_drained, left(result), result.evicted) == (False, ["web/p"], ("web/q",))
    assert not cluster.is_cordoned() and 60 <= cluster.now - NOW < 65
    assert mentions(result.left[0].reason, "budget")


def test_a_cordon_that_was_there_before_stays() -> None:
    cluster = MovingCluster(pod("p"), exhausted())
    cluster.nodes["a"]["spec"]["unschedulable"] = True
    result = drain(cluster, timeout=10.0)
    assert (result.is_drained, result.was_cordoned, cluster.is_cordoned()) == (False, True, True)
    assert "PATCH" not in {method for _when, method, _path in cluster.requests}


def test_several_budgets_are_final() -> None:
    cluster = MovingCluster(pod("p"), pod("q", metadata__labels={"app": "free"}), budget("x"), budget("y"))
    result = drain(cluster)
    assert (left(result), result.evicted, cluster.sent("EVICT").count("p")) == (["web/p"], ("web/q",), 1)
    assert cluster.now - NOW < 60 and not cluster.is_cordoned()


def test_pods_that_come_back_are_recognized() -> None:
    cluster = MovingCluster(pod("p", spec__tolerations=EVERY_TAINT))
    cluster.recreates = lambda one: "a"
    result = drain(cluster)
    assert (result.is_drained, left(result), len(cluster.sent("EVICT"))) == (False, ["web/p-1"], 1)
    assert cluster.now - NOW < 60


def test_a_pod_of_the_same_name_with_another_uid_is_never_evicted_for_the_old_one() -> None:
    cluster = MovingCluster(pod("p", owner="StatefulSet/p"))
    real = cluster.api.pods_on("a")
    cluster.pods = {"other": pod("p", "b", owner="StatefulSet/p", metadata__uid="other")}
    api = cluster.api
    answers = iter([real, real])
    pods_on = api.pods_on
    api.pods_on = lambda node: next(answers, None) or pods_on(node)  # type: ignore[method-assign]
    assert drain_node(api, "a", Settings(), cluster.world).is_drained
    assert "deletionTimestamp" not in cluster.pods["other"]["metadata"]


def test_delete_after_timeout() -> None:
    cluster = MovingCluster(pod("p"), pod("q"), exhausted(), budget("y", spec__selector={"matchLabels": {"app": "none"}}))
    result = drain(cluster, timeout=60.0, delete_after_timeout=True)
    assert result.is_drained and cluster.is_cordoned()
    assert sorted(cluster.sent("DELETE")) == ["p", "q"]
    assert min(when for when, method, _path in cluster.requests if method == "DELETE") >= 60


def test_delete_after_timeout_ends_as_well() -> None:
    cluster = MovingCluster(pod("p", metadata__finalizers=["example.com/keep"]))
    result = drain(cluster, timeout=60.0, delete_after_timeout=True)
    assert (result.is_drained, left(result), cluster.is_cordoned()) == (False, ["web/p"], False)
    assert mentions(result.left[0].reason, "example.com/keep")


@pytest.mark.parametrize("status", [0, 500, 503])
def test_an_api_server_that_is_away_for_a_while(status: int) -> None:
    cluster = MovingCluster(pod("p"), pod("q"))
    cluster.fails = lambda method, path: Refusal(status) if 4 <= cluster.now - NOW < 40 else None
    assert drain(cluster).is_drained


def test_an_api_server_that_stays_away_leaves_a_hint() -> None:
    cluster = MovingCluster(pod("p"))
    cluster.fails = lambda method, path: Refusal(0, "no answer") if cluster.now > NOW else None
    with pytest.raises(UncordonFailed) as caught:
        drain(cluster, timeout=60.0)
    assert mentions(str(caught.value), "uncordon a") and str(caught.value).count("no answer") == 1


def test_an_api_server_that_comes_back_lets_the_node_be_uncordoned() -> None:
    cluster = MovingCluster(pod("p"))
    cluster.fails = lambda method, path: Refusal(0, "no answer") if 0 < cluster.now - NOW < 80 else None
    with pytest.raises(Refusal):
        drain(cluster, timeout=60.0)
    assert not cluster.is_cordoned() and mentions(cluster.said[-1], "no answer", "uncordon")


@pytest.mark.parametrize(
    ("refusal", "patches"), [(Refusal(403, "nodes is forbidden"), 1), (Refusal(0, "no answer"), 2), (Refusal(503, "overloaded"), 2)]
)
def test_a_cordon_that_was_refused_is_not_taken_back(refusal: Refusal, patches: int) -> None:
    """Without a clear answer, the node may have been cordoned, so that is taken back."""
    cluster = MovingCluster(pod("p"))
    answers = iter([refusal])
    cluster.fails = lambda method, path: next(answers, None) if method == "PATCH" else None
    with pytest.raises(Refusal) as caught:
        drain(cluster)
    assert caught.value is refusal and not cluster.sent("EVICT") and not cluster.is_cordoned()
    assert len([one for one in cluster.requests if one[1] == "PATCH"]) == patches


def test_a_node_that_could_not_be_uncordoned_is_in_the_message() -> None:
    cluster = MovingCluster(pod("p"), exhausted())
    answers = iter([None])
    cluster.fails = lambda method, path: next(answers, Refusal(403, "nodes is forbidden")) if method == "PATCH" else None
    options = {**{name: one.get("default") for name, one in OPTIONS.items()}, "name": "a", "timeout": "10s"}
    _cluster, chosen = read_options(options, NOW)
    found = node_task(options, chosen, cluster.api, cluster.world, check_mode=False)
    assert (found["failed"], found["error"], found["cordoned"]) == (True, "PodEvictionFailure", True) and cluster.is_cordoned()
    assert mentions(found["msg"], "web/p", "forbidden", "uncordon a")
    found = node_task({**options, "state": "uncordoned"}, chosen, cluster.api, cluster.world, check_mode=False)
    assert found["failed"] and mentions(found["msg"], "forbidden", "uncordon a")


def test_a_node_that_others_uncordon_is_cordoned_again() -> None:
    """A drain whose playbook was killed does so, when the next one has begun."""
    cluster = MovingCluster(pod("p"), exhausted())
    cluster.nodes["a"]["spec"]["unschedulable"] = True
    cluster.events.append((3.0, lambda: cluster.nodes["a"]["spec"].update(unschedulable=False)))
    cluster.events.append((8.0, lambda: cluster.budgets[0]["status"].update(disruptionsAllowed=1)))
    result = drain(cluster)
    assert (result.is_drained, result.was_cordoned, cluster.is_cordoned()) == (True, False, True)


def test_a_node_that_is_deleted_meanwhile_has_no_pods() -> None:
    cluster = MovingCluster(pod("p"), exhausted())

    def delete() -> None:
        del cluster.nodes["a"]
        cluster.pods.clear()

    cluster.events.append((3.0, delete))
    assert drain(cluster).is_drained


def test_a_missing_permission_to_evict_is_final() -> None:
    cluster = MovingCluster(pod("p"))
    cluster.fails = lambda method, path: Refusal(403, "pods/eviction is forbidden") if method == "EVICT" else None
    result = drain(cluster)
    assert (left(result), cluster.is_cordoned()) == (["web/p"], False)
    assert mentions(result.left[0].reason, "pods/eviction")


def test_an_interruption_takes_the_cordon_back() -> None:
    cluster = MovingCluster(pod("p"), exhausted())

    def interrupt() -> None:
        raise KeyboardInterrupt

    cluster.events.append((12.0, interrupt))
    with pytest.raises(KeyboardInterrupt):
        drain(cluster)
    assert not cluster.is_cordoned()


def test_progress_names_the_pods_and_what_blocks_each() -> None:
    cluster = MovingCluster(pod("p"), exhausted())
    drain(cluster, timeout=120.0)
    lines = [line for line in cluster.said if mentions(line, "web/p", "budget")]
    assert 3 <= len(lines) <= 6


KINDS = st.sampled_from(["plain", "guarded", "two budgets", "returns", "finalizer", "slow", "daemon", "unmanaged", "empty dir"])


@given(
    st.lists(KINDS, max_size=6), st.booleans(), st.booleans(), st.booleans(), st.booleans(),
    st.lists(st.tuples(st.floats(1, 80), st.sampled_from([0, 1, 3])), max_size=3), st.sets(st.integers(0, 40), max_size=10),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_every_drain_ends_and_keeps_its_promises(
    kinds: list[str], was_cordoned: bool, deletes: bool, unmanaged: bool, empty: bool, changes: list[tuple[float, int]], failures: set[int]
) -> None:
    """Whatever pods, budgets and failures there are: the drain is bounded, the cordon is right, and only the right pods were removed."""
    cluster = MovingCluster(*(_pod(kind, number) for number, kind in enumerate(kinds)), exhausted(), _named("x"), _named("y"))
    cluster.recreates = lambda one: "a" if one["spec"].get("tolerations") else "b"
    if was_cordoned:
        cluster.nodes["a"]["spec"]["unschedulable"] = True
    for when, allowed in changes:
        cluster.events.append((when, lambda allowed=allowed: cluster.budgets[0]["status"].update(disruptionsAllowed=allowed)))  # type: ignore[misc]
    cluster.fails = lambda method, path: Refusal(503) if method in ("EVICT", "DELETE") and len(cluster.requests) in failures else None
    result = drain(cluster, timeout=100.0, delete_after_timeout=deletes, delete_unmanaged_pods=unmanaged, delete_emptydir_data=empty)
    assert cluster.now - NOW <= 100 + 120 + 60 + 5
    assert cluster.is_cordoned() == (was_cordoned or result.is_drained) == result.is_cordoned
    on_node = {one["metadata"]["name"] for one in cluster.pods.values() if one["spec"]["nodeName"] == "a"}
    expected_to_stay = {name for name in on_node if name.startswith("daemon")}
    returned = {name for name in on_node if name.startswith("returns") and name.count("-") > 1}
    assert not result.is_drained or on_node - expected_to_stay - (returned if deletes else set()) == set()
    removed = {*cluster.sent("EVICT"), *cluster.sent("DELETE")}
    assert not any(name.startswith("daemon") for name in removed)
    assert unmanaged or not any(name.startswith("unmanaged") for name in removed)
    assert empty or not any(name.startswith("empty") for name in removed)
    assert deletes or not cluster.sent("DELETE")


def _named(name: str) -> Object:
    return budget(name, spec__selector={"matchLabels": {"app": "two"}})


def _pod(kind: str, number: int) -> Object:
    name = f"{kind.replace(' ', '')}-{number}"
    changes: dict[str, object] = {
        "plain": {"metadata__labels": {"app": "free"}},
        "guarded": {},
        "two budgets": {"metadata__labels": {"app": "two"}},
        "returns": {"metadata__labels": {"app": "free"}, "spec__tolerations": EVERY_TAINT},
        "finalizer": {"metadata__labels": {"app": "free"}, "metadata__finalizers": ["example.com/keep"]},
        "slow": {"metadata__labels": {"app": "free"}, "spec__terminationGracePeriodSeconds": 120},
        "daemon": {"metadata__namespace": "kube-system", "owner": "DaemonSet/aws-node"},
        "unmanaged": {"metadata__labels": {"app": "free"}, "owner": None},
        "empty dir": {"metadata__labels": {"app": "free"}, "spec__volumes": [{"name": "cache", "emptyDir": {}}]},
    }[kind]  # type: ignore[assignment]
    return pod(name, **{"owner": f"ReplicaSet/{name}", **changes})  # type: ignore[arg-type]
