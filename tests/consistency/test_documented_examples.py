# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples that ansible-doc shows run as they stand, pasted into a playbook."""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock
from ansible_collections.nodebootstrap.eks.tests.consistency import documented, project
from ansible_collections.nodebootstrap.eks.tests.oracle import windows_lab
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs, kubernetes_api
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in, upgrade_lab
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action.anywhere_machine import Machine
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_bed, kubernetes_stand_in, ssm_stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.imds_stand_in import serving
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import admin_machines, clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.drain import api_objects
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

KINDS = ("filter", "test", "action", "modules")
# A module that only documents an action is that action.
CASES = [(kind, stem) for kind in KINDS for stem in project.plugins(kind) if kind != "modules" or stem not in project.plugins("action")]

EMPTY_LOCK = lock.dump(lock.Lock(lock.System("ubuntu", "24.04", "x86_64"), (), (), ()))

# Modules run on the Python of the tests, not on whichever the machine finds first.
HERE = {"ansible_python_interpreter": sys.executable}


@contextmanager
def aws() -> Iterator[dict[str, str]]:
    """Nothing to tell the examples: boto3 reads where the stand-in for AWS is from the environment."""
    with documented.aws_stand_in() as settings, pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield {}


@contextmanager
def imds() -> Iterator[dict[str, str]]:
    """The variable with which the examples of imds_info ask a stand-in instead of EC2."""
    with serving() as service:
        yield {"imds_endpoint": service.endpoint}


@contextmanager
def node() -> Iterator[dict[str, Any]]:
    """The variables of the examples of apply and apply_plan, and stand-ins for what would set up this machine."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in node_stand_in.make(Path(folder)).items():
            patch.setenv(name, value)
        yield {"ansible_become": False, "cluster": COMPLETE, "node_group": {"family": "al2023"}, "plan": "none"}


@contextmanager
def joined() -> Iterator[dict[str, Any]]:
    """A stand-in for a node that has joined: on this machine, the examples of join_check would wait for one."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in node_stand_in.make(Path(folder), join_check=[{"changed": False, "cause": None}]).items():
            patch.setenv(name, value)
        yield {"ansible_become": False}


@contextmanager
def logs() -> Iterator[dict[str, Any]]:
    """A stand-in for a node with logs: those of this machine would take seconds."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in node_stand_in.make(Path(folder), doctor_logs=[{"changed": False, "archive": "", "entries": 0}]).items():
            patch.setenv(name, value)
        yield {"ansible_become": False}


@contextmanager
def admin_machine() -> Iterator[dict[str, Any]]:
    """A stand-in for an admin machine: this machine may not have the tools."""
    collected = {"changed": False, "archive_base64": "", "objects": {}, "logs": {}, "unreachable": {}, "entries": 0}
    answers: dict[str, list[Any]] = {
        "anywhere_limits": [{"changed": False, "limits": {}}],
        "anywhere_tools": [{"changed": False, "tools": []}],
        "anywhere_machine_info": [{"changed": False, "machine": admin_machines.facts()}],
        "anywhere_diagnostics": [collected],
        "anywhere_images": [{"changed": False, "lines": ["registry.k8s.io/cluster-api/cluster-api-controller:v1.14.0"]}],
    }
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in node_stand_in.make(Path(folder), **answers).items():
            patch.setenv(name, value)
        yield {"ansible_become": False}


@contextmanager
def clusters_of(prepare: Callable[[anywhere_bed.Bed], Any]) -> Iterator[dict[str, Any]]:
    """Stand-ins of kind, clusterctl, kubectl and docker in PATH, with the cluster dev in a prepared state and its files in the home."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        machine, bed = Machine(Path(folder)), anywhere_bed.Bed(Path(folder) / "eks-anywhere" / "dev")
        prepare(bed)
        machine.save(bed.state)
        for name, value in {"HOME": folder, **machine.settings}.items():
            patch.setenv(name, value)
        yield {}


def no_cluster() -> AbstractContextManager[dict[str, Any]]:
    return clusters_of(lambda bed: None)


def before_the_move() -> AbstractContextManager[dict[str, Any]]:
    return clusters_of(anywhere_bed.before_the_move)


def whole_cluster() -> AbstractContextManager[dict[str, Any]]:
    return clusters_of(lambda bed: bed.run("create", texts={"cluster_file": clusters.file("docker")}))


def archives_of_images() -> AbstractContextManager[dict[str, Any]]:
    def prepare(bed: anywhere_bed.Bed) -> None:
        anywhere_bed.before_the_move(bed)
        folder = bed.folder.parents[1] / "images"
        folder.mkdir()
        (folder / "manifest.json").write_text('[{"RepoTags": ["capi:1"]}]', encoding="utf-8")
        with tarfile.open(folder / "capi.tar", "w") as archive:
            archive.add(folder / "manifest.json", "manifest.json")

    return clusters_of(prepare)


def eks_anywhere() -> AbstractContextManager[dict[str, Any]]:
    def prepare(bed: anywhere_bed.Bed) -> None:
        for name in ("eksctl", "eksctl-anywhere"):
            program = bed.folder.parents[1] / "bin" / name
            program.write_text("#!/bin/sh\n", encoding="utf-8")
            program.chmod(0o755)

    return clusters_of(prepare)


@contextmanager
def builder() -> Iterator[dict[str, Any]]:
    """A stand-in for a machine that becomes an image: the examples of these modules would change this one."""
    answers = {
        "image_import": [{"changed": False, "missing": []}],
        "image_provenance": [{"changed": False, "provenance": {}}],
        "image_seal": [{"changed": False, "removed": []}],
    }
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in node_stand_in.make(Path(folder), **answers).items():
            patch.setenv(name, value)
        yield {"ansible_become": False}


@contextmanager
def packages() -> Iterator[dict[str, Any]]:
    """A stand-in for the package manager of a machine that becomes an image."""
    system = {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"}
    answers: dict[str, list[Any]] = {
        "image_lock": [{"changed": False, "packages": [], "system": system}],
        "image_packages": [{"changed": True, "installed": [], "missing": [], "held": []}],
        "image_verify": [{"changed": False, "system": system}],
    }
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name, value in node_stand_in.make(Path(folder), **answers).items():
            patch.setenv(name, value)
        yield {"ansible_become": False}


@contextmanager
def bottlerocket() -> Iterator[dict[str, Any]]:
    """The variables of the examples of bottlerocket_settings; boto3 reads where the stand-in for Systems Manager is."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        service = ssm_stand_in.SystemsManager(ssm_stand_in.Node(Path(folder) / "node", {}))
        for name, value in {"ENDPOINT_URL": service.url, "ACCESS_KEY_ID": "none", "SECRET_ACCESS_KEY": "none"}.items():
            patch.setenv(f"AWS_{name}", value)
        yield {"cluster": {**COMPLETE, "name": "demo"}, "instance_id": ssm_stand_in.INSTANCE}
        service.close()


@contextmanager
def windows() -> Iterator[dict[str, Any]]:
    """The variables of the examples of apply_windows, and a recorder in the place of the connection."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        asked = {"changed": False, "result": {"problem": "", "instance_type": "m5.large"}}
        for name, value in windows_lab.recorder(Path(folder), [asked, windows_lab.said(), windows_lab.said()]).items():
            patch.setenv(name, value)
        yield {**windows_lab.CONNECTION, "cluster": COMPLETE, "node_group": {"family": "windows"}}


@contextmanager
def kubernetes() -> Iterator[dict[str, Any]]:
    """A stand-in for a cluster with one node, which is named like the host of the examples and has a pod."""
    made = kubernetes_stand_in.Objects(
        api_objects.lists(
            api_objects.pod("p", "localhost"),
            nodes=[api_objects.node("localhost", metadata__labels={"eks.amazonaws.com/nodegroup": "web"}), api_objects.node("b")],
        )  # type: ignore[arg-type]
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        kubernetes_stand_in.serving(reply=made.reply) as server,
    ):
        patch.setenv("KUBECONFIG", str(kubernetes_stand_in.kubeconfig(Path(folder) / "config", server.url)))
        yield {}


@contextmanager
def upgraded_group() -> Iterator[dict[str, Any]]:
    """A stand-in for a group whose nodes are upgraded: the waits of a whole upgrade would take minutes."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        upgrade_lab.group(has_new_version=False) as made,
    ):
        settings = {"AWS_ENDPOINT_URL": made.aws.url, "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}
        for name, value in {**settings, "KUBECONFIG": str(made.api.kubeconfig(Path(folder) / "config"))}.items():
            patch.setenv(name, value)
        yield {"eks_node_cluster": {"name": "demo", "region": made.aws.region}}


@contextmanager
def old_node() -> Iterator[dict[str, Any]]:
    """A stand-in for a cluster with one node with an old kubelet, which is named like the host of the examples."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        kubernetes_api.serving() as api,
    ):
        api.node("localhost", "i-1")
        patch.setenv("KUBECONFIG", str(api.kubeconfig(Path(folder) / "config")))
        yield {"eks_node_cluster": {"name": "demo"}}


def nothing() -> AbstractContextManager[dict[str, Any]]:
    return nullcontext({})


# Module → what runs while its examples run, and the variables that lead there. Every module has an entry: a module that is not known here
# could change the machine on which the tests run.
STAND_INS: dict[str, Callable[[], AbstractContextManager[dict[str, Any]]]] = {
    "anywhere_cluster": whole_cluster,
    "anywhere_eksctl": eks_anywhere,
    "anywhere_step": no_cluster,
    "capi_apply": before_the_move,
    "capi_delete": before_the_move,
    "capi_info": before_the_move,
    "capi_kubeconfig": before_the_move,
    "capi_move": before_the_move,
    "capi_package": whole_cluster,
    "capi_wait": before_the_move,
    "clusterctl_init": before_the_move,
    "clusterctl_upgrade": whole_cluster,
    "kind_cluster": no_cluster,
    "kind_images": archives_of_images,
    "anywhere_diagnostics": admin_machine,
    "anywhere_images": admin_machine,
    "anywhere_limits": admin_machine,
    "anywhere_machine_info": admin_machine,
    "anywhere_tools": admin_machine,
    "anywhere_preflight": admin_machine,
    "anywhere_validate": nothing,
    "access_entry": aws,
    "access_entry_info": aws,
    "apply": node,
    "apply_plan": node,
    "apply_windows": windows,
    "bottlerocket_settings": bottlerocket,
    "cluster_access": aws,
    "cluster_info": aws,
    "imds_info": imds,
    "join_check": joined,
    "image_import": builder,
    "image_lock": packages,
    "image_packages": packages,
    "image_provenance": builder,
    "image_seal": builder,
    "doctor_logs": logs,
    "drain_report": kubernetes,
    "node_drain": kubernetes,
    # They change nothing outside the folder of the playbook.
    "doctor_info": nothing,
    "doctor_report": nothing,
    "image_fetch": nothing,
    "image_verify": nothing,
    "node_info": nothing,
    "lint": nothing,
    "migrate": nothing,
    "publish": aws,
    "render": nothing,
    "upgrade_group": upgraded_group,
    "upgrade_nodes": old_node,
}


def stand_in(kind: str, stem: str) -> Callable[[], AbstractContextManager[dict[str, Any]]]:
    if kind not in ("filter", "test"):
        assert stem in STAND_INS, f"{stem}: its examples may change this machine; add what they meet instead to STAND_INS"
    return STAND_INS.get(stem, nothing)


def as_playbook(examples: str) -> list[dict[str, Any]]:
    """Tasks become one play on localhost; plays stay what they are."""
    items = yaml.safe_load(examples)
    plays = [item for item in items if "hosts" in item]
    tasks = [item for item in items if "hosts" not in item]
    return plays + ([{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}] if tasks else [])


def run_playbook(plays: list[dict[str, Any]], folder: Path, variables: Mapping[str, Any]) -> str:
    """Run C(plays) in C(folder): '' when all went well, otherwise what ansible-playbook printed."""
    (folder / "ca.pem").write_text(documented.CERTIFICATE, encoding="utf-8")
    (folder / "cni.yaml").write_text(anywhere_bed.NETWORK, encoding="utf-8")
    (folder / "dev.yaml").write_text(clusters.file("docker"), encoding="utf-8")
    (folder / "inputs.lock").write_text(EMPTY_LOCK, encoding="utf-8")
    playbook = folder / "examples.yml"
    playbook.write_text(yaml.safe_dump(plays, sort_keys=False), encoding="utf-8")
    extra = json.dumps({**HERE, **variables})
    done = ansible_runs.run(folder, "ansible-playbook", "--inventory", "localhost,", "--extra-vars", extra, str(playbook))
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(("kind", "stem"), CASES, ids=[f"{kind}-{stem}" for kind, stem in CASES])
def test_examples_run(kind: str, stem: str, tmp_path: Path) -> None:
    plays = as_playbook(project.documentation(kind, stem).get("examples") or "")
    assert plays
    with stand_in(kind, stem)() as variables:
        output = run_playbook(plays, tmp_path, variables)
    project.none_of([f"{kind} {stem}: {output}"] if output else [])


def test_a_module_that_is_not_known_is_not_run() -> None:
    with pytest.raises(AssertionError):
        stand_in("modules", "a_new_one")
    assert stand_in("filter", "user_data") is nothing


def test_an_example_that_fails_is_seen(tmp_path: Path) -> None:
    plays = as_playbook("- name: Wrong\n  ansible.builtin.debug:\n    msg: \"{{ 'x' | nodebootstrap.eks.cluster_dns_ips }}\"\n")
    assert "cluster_dns_ips" in run_playbook(plays, tmp_path, {})
