# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is observed of an admin machine, with stand-ins for its programs and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin import connections, docker, machine
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin.tools import TIMED_OUT, Tools
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import api_stand_in, host_files
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._anywhere_admin import programs

TCP = """  sl  local_address rem_address   st tx_queue rx_queue
   0: 00000000:0016 00000000:0000 0A 00000000:00000000
   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000
"""
FILES: dict[str, str | bytes] = {
    "/proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\n",
    "/proc/sys/fs/inotify/max_user_watches": "524288\n",
    "/proc/sys/fs/inotify/max_user_instances": "128\n",
    "/proc/net/tcp": TCP,
    "/proc/net/tcp6": TCP.replace("0016", "0050"),
    "/sys/fs/cgroup/cgroup.controllers": "cpu",
    "/srv/eks/dev/dev.kubeconfig": "apiVersion: v1",
}


def observe(folder: Path, environment: dict[str, str], **changes: Any) -> dict[str, Any]:
    request = machine.Request(("docker", "kind", "clusterctl", "kubectl", "helm"), "/srv/eks/a/b", (), (), ())
    host = host_files.machine(folder / "root", FILES)
    return machine.collect(host, Tools(10.0, environment), request._replace(**changes))


def test_a_complete_machine(tmp_path: Path) -> None:
    bin_dir = tmp_path / "bin"
    found = observe(tmp_path, programs.machine(bin_dir), work_dir="/srv/eks", files=("dev/dev.kubeconfig", "dev/none"))
    versions = {"docker": "28.0.1", "kind": "0.33.0", "clusterctl": "1.14.0", "kubectl": "1.34.1", "helm": "4.3.1"}
    assert {name: tool["version"] for name, tool in found["tools"].items()} == versions
    assert found["docker"]["version"] == "28.0.1" and found["docker"]["memory"] == 33331486720 and found["docker"]["problem"] == ""
    assert [(one["name"], one["cluster"]) for one in found["containers"]] == [
        ("dev-eks-a-cluster-control-plane", "dev-eks-a-cluster"),
        ("eksa_1700000000", ""),
        ("web", ""),
    ]
    assert found["memory"]["available"] == 8_000_000 * 1024
    assert found["inotify"] == {"max_user_watches": 524288, "max_user_instances": 128}
    assert found["cgroup_version"] == 2 and found["listening_ports"] == [22, 80]
    assert found["files"] == {"dev/dev.kubeconfig": 14, "dev/none": None}
    assert all(disk["free_bytes"] > 0 for disk in found["disks"].values()) and len(found["disks"]) == 2
    # A preflight changes nothing: these are all the commands that it may run.
    allowed = ("docker version", "docker info", "docker ps", "kind version", "clusterctl version", "kubectl version", "helm version")
    assert [call for call in programs.calls(bin_dir) if not call.startswith(allowed)] == []


def test_a_folder_that_does_not_exist_has_the_space_above_it(tmp_path: Path) -> None:
    found = observe(tmp_path, programs.machine(tmp_path / "bin"))
    assert found["disks"]["work_dir"]["path"] == "/srv/eks/a/b"


def test_a_machine_without_tools(tmp_path: Path) -> None:
    found = observe(tmp_path, {"PATH": str(tmp_path)})
    assert {tool["path"] for tool in found["tools"].values()} == {None}
    assert found["docker"]["version"] is None and found["docker"]["problem"] and found["containers"] == []


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ((1, "", "permission denied while trying to connect to the Docker daemon socket"), "permission denied"),
        ('{"ServerErrors": ["Cannot connect to the Docker daemon"]}', "Cannot connect"),
        ("no json", "no json"),
        ("[]", "[]"),
    ],
)
def test_a_daemon_that_does_not_answer(answer: Any, fact: str, tmp_path: Path) -> None:
    programs.script(tmp_path, "docker", {"info*": answer})
    found = docker.daemon(Tools(10.0, {"PATH": f"{tmp_path}:/bin"}))
    assert found["version"] is None and fact in found["problem"]


def test_a_tool_that_hangs_ends_with_its_time(tmp_path: Path) -> None:
    (tmp_path / "kind").write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    (tmp_path / "kind").chmod(0o755)
    tools = Tools(0.2, {"PATH": f"{tmp_path}:/bin:/usr/bin"})
    assert tools.run(("kind", "version")).status == TIMED_OUT
    assert tools.versions(("kind",))["kind"]["version"] is None


@pytest.mark.parametrize(("status", "is_reachable"), [(200, True), (401, True), (403, True), (404, False), (503, False)])
def test_a_registry_answers_by_its_own_authority(status: int, is_reachable: bool, tmp_path: Path) -> None:
    authority = api_stand_in.Authority(tmp_path)
    with api_stand_in.serving(authority.sign("registry", ("127.0.0.1",)), (status, b"")) as server:
        host = f"127.0.0.1:{server.server_address[1]}"
        found = connections.registry({"host": host, "ca_cert": authority.path.read_text(encoding="utf-8")}, {}, 10.0)
        unknown = connections.registry({"host": host}, {}, 10.0)
        trusting = connections.registry({"host": host, "verify": False}, {}, 10.0)
        paths = [path for path, headers, _client in server.requests if "Authorization" not in headers]
    assert found["status"] == trusting["status"] == status and paths == ["/v2/", "/v2/"]
    assert (found["problem"] == "") == is_reachable
    assert unknown["kind"] == "authority"


@pytest.mark.parametrize(
    ("options", "environment", "kind"),
    [
        ({"host": "127.0.0.1:1"}, {}, "refused"),
        ({"host": "registry.lan", "proxy": "http://user:planted@127.0.0.1:1"}, {}, "proxy"),
        ({"host": "registry.lan"}, {"HTTPS_PROXY": "http://user:planted@127.0.0.1:1"}, "proxy"),
        ({"host": "10.0.0.1:1", "proxy": "socks5://127.0.0.1:2"}, {}, "options"),
        ({"host": "127.0.0.1:1", "ca_cert": "none"}, {}, "options"),
    ],
)
def test_a_registry_that_cannot_be_reached(options: dict[str, Any], environment: dict[str, str], kind: str) -> None:
    found = connections.registry(options, environment, 10.0)
    assert found["status"] is None and found["kind"] == kind and found["problem"]
    assert "planted" not in str(found)


def test_a_refused_connection_shows_that_an_address_is_taken() -> None:
    assert connections.answering_port("127.0.0.1") in (6443, 443, 22)
