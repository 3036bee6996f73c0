# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configurations and mirrors that both generations of containerd are asked about, and the tests that ask.

tests/oracle/test_containerd.py asks containerd 1, tests/lab/test_containerd.py asks containerd 2 (C(tests_of)).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import kubelet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.containerd_files import IMAGES, RUNTIME
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.oracle import containerd_daemon
from ansible_collections.nodebootstrap.eks.tests.oracle.containerd_daemon import Daemon, Programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

VERSIONS = {1: "1.29", 2: "1.33"}
"""The Kubernetes version whose images run a generation of containerd."""
MIRROR = {"docker.io": {"endpoint": ["https://mirror.example.com"]}}
TLS = {"docker.io": {"tls": {"insecure_skip_verify": True}}}
RUNC = {"runtime_type": "io.containerd.runc.v2"}

Config = dict[str, Any]


def v2(**section: Any) -> Config:
    return {"plugins": {kubelet.CRI: section}}


def images(**section: Any) -> Config:
    return {"plugins": {IMAGES: section}}


def runtime(**section: Any) -> Config:
    return {"plugins": {RUNTIME: section}}


ACCEPTED: dict[str, tuple[tuple[int, ...], Config]] = {
    "nothing": ((1, 2), {}),
    "no plugin": ((1, 2), {"version": 2, "debug": {"level": "info"}, "oom_score": -999}),
    "version 2": ((1, 2), v2(max_concurrent_downloads=9, enable_selinux=False)),
    "another path beside ours": ((1, 2), v2(registry={"config_path": "/etc/own:/etc/containerd/certs.d"})),
    "mirrors without config_path": ((1, 2), v2(registry={"config_path": "", "mirrors": MIRROR})),
    "a second runtime": ((1, 2), v2(containerd={"default_runtime_name": "own", "runtimes": {"own": RUNC}})),
    "a duration": ((1, 2), v2(stream_idle_timeout="4h", image_pull_progress_timeout="5m0s", drain_exec_sync_io_timeout="0")),
    "another plugin is disabled": ((1, 2), {"disabled_plugins": ["io.containerd.snapshotter.v1.zfs"]}),
    "version 3, images": ((2,), images(max_concurrent_downloads=9)),
    "version 3, runtime": ((2,), {"version": 3, **runtime(enable_selinux=False)}),
    "version 2 with names of version 3": ((2,), {"version": 2, **images(max_concurrent_downloads=9)}),
    "version 3 with the server's settings": ((2,), {"plugins": {IMAGES: {}, kubelet.CRI: {"stream_idle_timeout": "4h"}}}),
}
"""Generations, and a configuration that is rendered and that they load with CRI."""

REFUSED: dict[str, tuple[tuple[int, ...], str, Config]] = {
    "mirrors": ((1, 2), "disables_cri", v2(registry={"mirrors": MIRROR})),
    "TLS of a registry": ((1,), "disables_cri", v2(registry={"configs": TLS})),
    "CRI disabled": ((1, 2), "disables_cri", {"disabled_plugins": ["io.containerd.grpc.v1.cri"]}),
    "CRI disabled by its short name": ((1,), "disables_cri", {"version": 2, "disabled_plugins": ["cri"]}),
    "unknown default runtime": ((1, 2), "disables_cri", v2(containerd={"default_runtime_name": "own"})),
    "no default runtime": ((1, 2), "disables_cri", v2(containerd={"default_runtime_name": ""})),
    "cgroup switch of the first runtime": ((1,), "disables_cri", v2(systemd_cgroup=True)),
    "engine of the first runtime": ((1,), "disables_cri", v2(containerd={"runtimes": {"runc": {"runtime_engine": "/usr/bin/x"}}})),
    "no duration": ((1, 2), "disables_cri", v2(stream_idle_timeout="5 minutes")),
    "devices": (
        (2,),  # containerd 1.6 does not know the setting
        "disables_cri",
        v2(containerd={"runtimes": {"runc": {"privileged_without_host_devices_all_devices_allowed": True}}}),
    ),
    "another type": ((1, 2), "disables_cri", v2(registry="none")),
    "version 3, mirrors": ((2,), "disables_cri", images(registry={"mirrors": MIRROR})),
    "version 3, unknown default runtime": ((2,), "disables_cri", runtime(containerd={"default_runtime_name": "own"})),
    "version 3, images disabled": ((2,), "disables_cri", {"disabled_plugins": [IMAGES], **images()}),
    # CRI starts, but without what the image and the user have set.
    "version 3 with names of version 2": ((2,), "wrong_config_version", {"version": 3, **v2(max_concurrent_downloads=9)}),
    "both versions": ((2,), "wrong_config_version", {"plugins": {IMAGES: {}, kubelet.CRI: {"max_concurrent_downloads": 9}}}),
    "version 3 on containerd 1": ((1,), "wrong_config_version", images(max_concurrent_downloads=9)),
}
"""Generations, the rule, and a configuration with which they lack CRI, or what was set."""


def group_of(config: Config) -> dict[str, Any]:
    return {"family": "al2023", "containerd": {"config": config}}


def cluster_of(programs: Programs) -> dict[str, Any]:
    return COMPLETE | {"kubernetes_version": VERSIONS[programs.major]}


def loads_what_we_render(programs: Programs, config: Config) -> None:
    """What nodeadm makes of the user data, and on containerd 1 the finished file of AL2 too, is loaded with CRI."""
    render(cluster_of(programs), group_of(config))
    with containerd_daemon.tempfile.TemporaryDirectory() as folder:
        texts = [containerd_daemon.as_on_a_node(config, programs, Path(folder))]
    if not {IMAGES, RUNTIME} & set(config.get("plugins", {})):
        static = {"strategy": "static", "max_pods": 20, "reserved": {"kube": {"cpu": "1"}}, "containerd": {"config": config}}
        files = {file["path"]: file["content"] for file in node_files(cluster_of(programs), {"family": "ubuntu", **static})}
        texts.append(files["/etc/containerd/config.toml"])
    for text in texts:
        with containerd_daemon.running(programs, text) as daemon:
            assert set(daemon.plugins.values()) == {"ok"}, (daemon.plugins, daemon.folder.joinpath("log").read_text()[-3000:])
            assert "SystemdCgroup = true" in daemon.dump()


def lacks_cri(programs: Programs, rule: str, config: Config) -> None:
    """We refuse it, and containerd shows why."""
    try:
        render(cluster_of(programs), group_of(config))
        rules = []
    except SpecError as error:
        rules = [problem.rule for problem in error.problems]
    assert rules == [f"containerd.{rule}"]
    with containerd_daemon.tempfile.TemporaryDirectory() as folder:
        try:
            text = containerd_daemon.as_on_a_node(config, programs, Path(folder))
        except (containerd_daemon.subprocess.CalledProcessError, containerd_daemon.containerd_files.NodeConfigError):
            return  # nodeadm fails
    with containerd_daemon.running(programs, text) as daemon:
        works = bool(daemon.plugins) and set(daemon.plugins.values()) == {"ok"} and len(daemon.plugins) == {1: 1, 2: 3}[programs.major]
        keeps = "SystemdCgroup = true" in daemon.dump() and ("9" in daemon.dump().split("max_concurrent_downloads = ")[1][:2])
        assert not (works and (keeps or rule == "disables_cri")), daemon.plugins


# --- Mirrors -----------------------------------------------------------------------------------------------------------------------

IMAGE = "docker.io/library/nginx:1"
ASKED = "library/nginx/manifests/1?ns=docker.io"
PATHS: dict[str, tuple[str, bool | None, str]] = {
    "no path": ("", None, "/v2"),
    "a slash": ("/", None, "/v2"),
    "the root of the API": ("/v2", None, "/v2"),
    "a path": ("/proxy", None, "/proxy/v2"),
    "a path that ends with v2": ("/a/v2", None, "/a/v2"),
    "a pull-through cache": ("/v2/docker-hub", None, "/v2/docker-hub"),
    "a proxy project": ("/v2/proxy/", None, "/v2/proxy"),
    "v2 in the middle": ("/a/v2/b/c", None, "/a/v2/b/c"),
    "explicitly not the root": ("/v2/docker-hub", False, "/v2/docker-hub/v2"),
    "explicitly the root": ("/own", True, "/own"),
    "no path, explicitly the root": ("", True, ""),
}
"""The path of a mirror's URL, C(override_path), and the beginning of the path that containerd asks for."""


def lay_hosts(daemon: Daemon, mirrors: dict[str, Any]) -> None:
    """Write the C(certs.d) of a node group into the daemon's folder."""
    folder = daemon.folder / "certs.d"
    for file in node_files(COMPLETE, {"family": "al2023", "containerd": {"registry_mirrors": mirrors}}):
        if file["path"].startswith("/etc/containerd/certs.d/"):
            laid = folder / file["path"].removeprefix("/etc/containerd/certs.d/")
            laid.parent.mkdir(parents=True, exist_ok=True)
            laid.write_text(file["content"].replace("/etc/containerd/certs.d/", f"{folder}/"))


def asks_for_every_path(daemon: Daemon) -> None:
    """The exact request for each row of C(PATHS)."""
    with containerd_daemon.recording_registry() as registry:
        found = {}
        for name, (path, override, _expected) in PATHS.items():
            mirror = {"url": f"{registry.url}{path}"} | ({} if override is None else {"override_path": override})
            lay_hosts(daemon, {"docker.io": mirror})
            assert daemon.pull(IMAGE).returncode != 0
            found[name] = list(registry.asked)
            registry.asked.clear()
    assert found == {name: [f"{expected}/{ASKED}"] for name, (_path, _override, expected) in PATHS.items()}


def asks_in_order(daemon: Daemon, folder: Path) -> None:
    """Fallback: the mirrors in their order, without the mirrors that cannot resolve or be trusted, then the registry itself."""
    certificate, key = containerd_daemon.certificate_authority(folder)
    with containerd_daemon.recording_registry() as plain, containerd_daemon.recording_registry(certificate, key) as secure:
        trusted = {"url": f"{secure.url}/trusted", "ca": certificate.read_text()}
        by_path = {"url": f"{secure.url}/by-path", "ca": str(certificate)}
        unchecked = {"url": f"{secure.url}/unchecked", "skip_verify": True}
        only_pull = {"url": f"{plain.url}/only-pull", "capabilities": ["pull"]}
        slow = {"url": f"{plain.url}/slow", "dial_timeout": "5s"}
        lay_hosts(
            daemon, {"quay.invalid": [f"{plain.url}/z", trusted, only_pull, by_path, unchecked, slow], "_default": f"{plain.url}/all"}
        )
        answer = daemon.pull("quay.invalid/a:1")
        assert plain.asked == [f"/{name}/v2/a/manifests/1?ns=quay.invalid" for name in ("z", "slow")]
        assert secure.asked == [f"/{name}/v2/a/manifests/1?ns=quay.invalid" for name in ("trusted", "by-path", "unchecked")]
        assert answer.returncode != 0 and "https://quay.invalid/v2/a/manifests/1" in answer.stderr
        plain.asked.clear()
        daemon.pull("other.invalid/a:1")
        assert plain.asked == ["/all/v2/a/manifests/1?ns=other.invalid"]
        secure.asked.clear()
        lay_hosts(daemon, {"quay.invalid": [f"{secure.url}/untrusted"]})
        answer = daemon.pull("quay.invalid/a:1")
        assert answer.returncode != 0 and secure.asked == [], "without its authority, nothing is sent to the mirror"


# --- The tests of a generation -----------------------------------------------------------------------------------------------------


def tests_of(generation: int) -> type:
    """A class of tests for a generation. Its module has a fixture C(programs)."""

    def names(rows: dict[str, Any]) -> list[str]:
        return [name for name, row in rows.items() if generation in row[0]]

    class TestContainerd:
        @pytest.mark.parametrize("name", names(ACCEPTED))
        def test_it_loads_what_we_render(self, programs: Programs, name: str) -> None:
            loads_what_we_render(programs, ACCEPTED[name][1])

        @pytest.mark.parametrize("name", names(REFUSED))
        def test_what_we_refuse_lacks_cri(self, programs: Programs, name: str) -> None:
            _generations, rule, config = REFUSED[name]
            lacks_cri(programs, rule, config)

        def test_mirrors(self, programs: Programs, tmp_path: Path) -> None:
            with containerd_daemon.running(programs) as daemon:
                asks_for_every_path(daemon)
                asks_in_order(daemon, tmp_path)

    return TestContainerd
