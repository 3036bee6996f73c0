# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2023 through a whole boot: real systemd, real cloud-init, the image's units with stand-ins for nodeadm and kubelet.

nodeadm-config → cloud-init (scripts of the user data) → nodeadm-run → kubelet → commands.post. Every case is a fresh machine, except for
cases that only differ in how a script fails: cloud-init alone shows them.
"""

from __future__ import annotations

import email
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import tomllib
from nodelab import Al2023Node, CloudInitResult, boot, engine, run

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import post_commands
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import envelope
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

pytestmark = pytest.mark.docker

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-central-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "region": "eu-central-1",
    "kubernetes_version": "1.33",
}
LABELS_FILE = "60-nodebootstrap-labels.yaml"

#: Writes "NAME SECONDS" behind the other events; kubelet's program and every command of a test use it.
EVENT = "#!/usr/bin/python3\nimport sys, time\nopen('/etc/events', 'a').write(f'{sys.argv[1]} {time.monotonic()}\\n')\n"
#: Refuses connections first, then says that it is not well, then is well: only the last counts.
KUBELET = """#!/usr/bin/python3
import http.server, subprocess, time
subprocess.run(["/usr/local/bin/event", "kubelet"])
time.sleep(1.5)
well = time.monotonic() + %s
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if time.monotonic() > well:
            subprocess.run(["/usr/local/bin/event", "healthy"])
        self.send_response(200 if time.monotonic() > well and self.path == "/healthz" else 500)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 10248), Health).serve_forever()
"""
#: What nodeadm-run finds on the node when it starts is kept for the test.
RUN_UNIT = "[Service]\nExecStartPre=/usr/local/bin/event nodeadm-run\nExecStartPre=-/bin/cp -a /etc/containerd /etc/seen\n"


@contextmanager
def machine(
    document: str, files: dict[str, Any] | None = None, *, sick: bool = False
) -> Iterator[tuple[Al2023Node, CloudInitResult, list[str]]]:
    """A booted node, what cloud-init did, and the events in their order. C(sick): kubelet never gets well."""
    laid = {
        "/usr/local/bin/event": (EVENT, 0o755),
        "/usr/local/bin/slow-kubelet": (KUBELET % ("1e9" if sick else "2"), 0o755),
        "/etc/systemd/system/kubelet.service.d/50-test.conf": "[Service]\nExecStart=\nExecStart=/usr/local/bin/slow-kubelet\n",
        "/etc/systemd/system/nodeadm-run.service.d/10-test.conf": RUN_UNIT,
        **(files or {}),
    }
    with boot(Al2023Node, document, files=laid) as (node, result):
        # systemd says "started" before the program has written anything.
        engine.wait_for("kubelet's event", lambda: not node.starts("kubelet.service") or "kubelet" in events(node), 600)
        yield node, result, events(node)


def events(node: Al2023Node) -> list[str]:
    if not node.exists("/etc/events"):
        return []
    pairs = [line.split() for line in node.read("/etc/events").decode().splitlines()]
    ordered = [name for name, _unused in sorted(pairs, key=lambda pair: float(pair[1]))]
    return list(dict.fromkeys(ordered))


def text(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render(cluster or CLUSTER, {"family": "al2023", **fields}).document.text


def phases(node: Al2023Node) -> list[str]:
    """Which phases of nodeadm ran: C(config), C(run)."""
    skipped = {"run": "config", "config": "run"}
    return [skipped[record["argv"][2]] for record in node.records("nodeadm") if record["argv"][0] == "init"]


def test_everything_happens_in_its_order() -> None:
    document = text(
        labels={"a": "b", "id": "{instance_id}", "life": "x-{instance_lifecycle}", "zone": "{availability_zone}"},
        taints=[{"key": "k", "effect": "NoSchedule"}],
        proxy={"https": "http://proxy.example:3128"},
        containerd={
            "registry_mirrors": {"docker.io": ["https://one.example", "https://two.example/v2/x"], "quay.io": ["https://one.example"]}
        },
        commands={
            "pre": ["cd /etc/eks", "event pre && pwd > /etc/where", "#!/usr/bin/python3\nimport os\nos.system('event python')"],
            "post": ["event post", "cat /proc/self/environ > /dev/null; touch /etc/post-ran"],
        },
        user_data=["#!/bin/bash\nevent user\n", "#cloud-config\nruncmd: [[event, runcmd]]\nbootcmd: [[event, bootcmd]]\n"],
    )
    with machine(document) as (node, result, order):
        assert result.errors == []
        assert order == ["bootcmd", "user", "runcmd", "pre", "python", "nodeadm-run", "kubelet", "healthy", "post"]
        assert node.read("/etc/where") == b"/etc/eks\n"
        assert phases(node) == ["config", "run"]
        config, run = (record for record in node.records("nodeadm") if record["argv"][0] == "init")
        # The config phase reads the document before any script has run; what nodeadm finds in it says the proxy.
        assert config["user_data"] == run["user_data"] == document
        assert config["drop_ins"] == {}
        spec = envelope.effective(config["user_data"].encode())["spec"]
        assert spec["instance"]["environment"]["default"]["HTTPS_PROXY"] == "http://proxy.example:3128"
        assert spec["kubelet"]["flags"] == ["--node-labels=a=b", "--register-with-taints=k=:NoSchedule"]
        # The run phase sees the labels that only the node knows.
        assert list(run["drop_ins"]) == [LABELS_FILE]
        labels = "--node-labels=id=i-1234567890abcdef0,life=x-on-demand,zone=eu-central-1a"
        assert yaml.load(run["drop_ins"][LABELS_FILE]) == {
            "apiVersion": "node.eks.aws/v1alpha1",
            "kind": "NodeConfig",
            "spec": {"kubelet": {"flags": [labels]}},
        }
        asked = {request["path"].removeprefix("/latest/meta-data/") for request in node.imds_requests() if request["status"] == 200}
        assert {"instance-id", "instance-life-cycle", "placement/availability-zone"} <= asked
        # nodeadm-run found the mirrors.
        hosts = tomllib.loads(node.read("/etc/seen/certs.d/docker.io/hosts.toml").decode())
        assert hosts["server"] == "https://registry-1.docker.io"
        assert list(hosts["host"]) == ["https://one.example", "https://two.example/v2/x"]
        assert node.exists("/etc/seen/certs.d/quay.io/hosts.toml")
        assert node.property("nodebootstrap-post.service", "Result") == "success"
        assert node.starts("kubelet.service") == node.starts("nodebootstrap-post.service") == 1
        assert node.wait_boot() == "running"


def test_a_failed_pre_command_keeps_the_node_out_for_good() -> None:
    document = text(
        labels={"zone": "{availability_zone}"},
        commands={"pre": ["event pre", "systemctl list-jobs >/etc/jobs", "false", "event never", "#!/bin/sh\nevent never"]},
    )
    with machine(document) as (node, result, order):
        assert "nodeadm-run.service" in node.read("/etc/jobs").decode(), "its start waited already when the command failed"
        assert order == ["pre"]
        assert phases(node) == ["config"]
        assert len(result.errors) == 1 and "1 failures (part-001)" in result.errors[0]
        assert node.exec(["systemctl", "is-enabled", "nodeadm-run"]).stdout == b"disabled\n"
        # Neither a reload nor whatever starts the boot's target again brings it in.
        node.exec(["systemctl", "daemon-reload"], check=True)
        node.exec(["systemctl", "start", "multi-user.target"], check=True)
        assert phases(node) == ["config"]
        assert node.property("kubelet.service", "ActiveState") == "inactive"


@pytest.fixture(scope="module")
def _booted() -> Iterator[Al2023Node]:
    with Al2023Node.start(files={"/usr/local/bin/event": (EVENT, 0o755)}) as node:
        node.baseline()
        yield node


@pytest.fixture
def booted(_booted: Al2023Node) -> Al2023Node:
    """A node whose boot is over; cloud-init has never run on it."""
    _booted.reset()
    return _booted


def joins(node: Al2023Node) -> bool:
    """Whether nodeadm-run starts at a boot. That its waiting start goes with that is shown by test_a_failed_pre_command_…, in a boot."""
    state = node.exec(["systemctl", "is-enabled", "nodeadm-run"]).stdout
    assert state in (b"enabled\n", b"disabled\n")
    return state == b"enabled\n"


def test_commands_that_succeed_keep_the_node_in(booted: Al2023Node) -> None:
    assert run(booted, text(commands={"pre": ["event one", "event two"]})).errors == []
    assert (events(booted), joins(booted)) == (["one", "two"], True)


@pytest.mark.parametrize("command", ["exit 3", "no-such-command", "#!/usr/bin/python3\nraise SystemExit(3)"])
def test_every_way_to_fail_keeps_the_node_out(booted: Al2023Node, command: str) -> None:
    assert joins(booted)
    result = run(booted, text(commands={"pre": [command, "event never"]}))
    assert len(result.errors) == 1
    assert (events(booted), joins(booted), phases(booted)) == ([], False, [])


@pytest.mark.matrix
def test_mask_would_not_do() -> None:
    """The reason for disabling the unit: a runtime mask loses to the unit file that the image has in /etc."""
    with machine(text(user_data="#!/bin/bash\nsystemctl mask --runtime nodeadm-run.service\n")) as (node, _unused, _order):
        assert phases(node) == ["config", "run"]


def with_part_of_eks(document: str) -> str:
    """What EKS makes of the user data of a managed group: its own NodeConfig comes last."""
    message = email.message_from_string(document)
    message.attach(email.message_from_string(f"Content-Type: application/node.eks.aws\n\n{yaml.dump(envelope.effective(text().encode()))}"))
    return message.as_string()


def test_in_a_managed_group_a_failure_cannot_keep_the_node_out() -> None:
    with machine(with_part_of_eks(text(mode="managed", commands={"pre": ["event pre", "false"]}))) as (_node, result, order):
        assert len(result.errors) == 1
        assert order[:2] == ["pre", "nodeadm-run"]


@pytest.mark.parametrize("answer", ["", 'a"$(touch /etc/pwned)"'])
def test_a_label_that_imds_does_not_answer_well_keeps_the_node_out(booted: Al2023Node, answer: str) -> None:
    assert joins(booted)
    booted.write({"/etc/nodelab/imds.json": json.dumps({"meta-data/placement/availability-zone": answer})})
    result = run(booted, text(labels={"zone": "{availability_zone}"}))
    assert len(result.errors) == 1
    assert (joins(booted), phases(booted)) == (False, [])
    assert not booted.exists(f"/etc/eks/nodeadm.d/{LABELS_FILE}") and not booted.exists("/etc/pwned")


POST = "nodebootstrap-post.service"


def test_post_commands_never_run_beside_a_kubelet_that_is_not_healthy() -> None:
    with machine(text(commands={"post": [{"run": "event post", "timeout": 3}]}), sick=True) as (node, result, order):
        assert result.errors == []
        assert order == ["nodeadm-run", "kubelet"]
        engine.wait_for("the end of the unit", lambda: node.property(POST, "ActiveState") == "failed", 600)
        assert "commands.post: kubelet was not healthy within 3 s: http://127.0.0.1:10248/healthz: curl: (" in node.journal(POST)
        # Its failure changes nothing for kubelet, and a reload or another start of the boot's target does not start it again.
        assert (node.property("kubelet.service", "ActiveState"), node.starts("kubelet.service")) == ("active", 1)
        invocation = node.property(POST, "InvocationID")
        node.exec(["systemctl", "daemon-reload"], check=True)
        node.exec(["systemctl", "start", "multi-user.target"], check=True)
        assert (node.property(POST, "ActiveState"), node.property(POST, "InvocationID")) == ("failed", invocation)
        # What asks the API server finds this kubelet, which has no kubeconfig.
        group = {"family": "al2023", "commands": {"post": [{"run": "event post", "when": "ready", "timeout": 1}]}}
        files = {file["path"]: (file["content"], int(file["mode"], 8)) for file in node_files(CLUSTER, group)}
        node.write({path: files[path] for path in post_commands.FILES if path in files})
        assert node.exec(["systemctl", "restart", POST]).returncode != 0
        assert "commands.post: the Node was not Ready within 1 s: the kubeconfig of kubelet (none) does not exist" in node.journal(POST)
        assert events(node) == ["nodeadm-run", "kubelet"] and node.starts("kubelet.service") == 1


def test_files_of_an_image_configure_the_node_without_user_data() -> None:
    labels = {"a": "b", "id": "{instance_id}"}
    group = {
        "family": "al2023",
        "labels": labels,
        "max_pods": 20,
        "containerd": {"registry_mirrors": {"docker.io": ["https://one.example"]}},
    }
    files = {file["path"]: (file["content"], int(file["mode"], 8)) for file in node_files(CLUSTER, group)}
    with machine("#!/bin/sh\nevent user\n", files) as (node, result, order):
        assert result.errors == []
        assert order == ["user", "nodeadm-run", "kubelet"]
        config, run = (record for record in node.records("nodeadm") if record["argv"][0] == "init")
        assert "file:///etc/eks/nodeadm.d/" in config["argv"]
        document = yaml.load(config["drop_ins"]["50-nodebootstrap.yaml"])
        assert document["spec"]["cluster"]["name"] == "demo"
        assert document["spec"]["kubelet"]["config"]["maxPods"] == 20
        assert document["spec"]["kubelet"]["flags"] == ["--node-labels=a=b"]
        assert yaml.load(run["drop_ins"][LABELS_FILE])["spec"]["kubelet"]["flags"] == ["--node-labels=id=i-1234567890abcdef0"]
        assert node.exists("/etc/seen/certs.d/docker.io/hosts.toml")


# --- Registry mirrors, as containerd itself reads them ----------------------------------------------------------------------------


@pytest.fixture
def containerd() -> Iterator[tuple[Path, str]]:
    """(folder, socket) of a containerd of its own; the one of Debian comes with Docker. It needs no rights: nothing is unpacked."""
    engine.ensure()
    if shutil.which("containerd") is None or shutil.which("ctr") is None:
        pytest.fail("containerd and ctr are not on the PATH: install the package containerd (Docker's is containerd.io)")
    # Not pytest's folder: a socket's path may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="nodelab-") as name:
        folder, address = Path(name), f"{name}/socket"
        lines = ["version = 2", f'root = "{name}/root"', f'state = "{name}/state"']
        lines += ['disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]']
        lines += ["[grpc]", f'address = "{address}"', f"uid = {os.getuid()}", f"gid = {os.getgid()}"]
        folder.joinpath("config.toml").write_text("\n".join(lines))
        with (
            folder.joinpath("log").open("wb") as log,
            subprocess.Popen(["containerd", "-c", f"{name}/config.toml"], stdout=log, stderr=log) as program,
        ):
            try:
                engine.wait_for("containerd", lambda: Path(address).exists(), 120, 0.05)
                yield folder, address
            finally:
                program.terminate()


@pytest.fixture
def mirror() -> Iterator[tuple[str, list[str]]]:
    """(address of a registry that has nothing, the paths it was asked for)."""
    asked: list[str] = []

    class Registry(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_GET = do_HEAD

        def log_message(self, *words: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_containerd_asks_the_mirrors_in_the_order_given(containerd: tuple[Path, str], mirror: tuple[str, list[str]]) -> None:
    (folder, address), (registry, asked) = containerd, mirror
    mirrors = {"one.invalid": ["z", "a", "m/y"], "two.invalid": ["b"], "_default": ["d", "c"]}
    group = {
        "family": "al2023",
        "containerd": {"registry_mirrors": {host: [f"{registry}/{name}" for name in names] for host, names in mirrors.items()}},
    }
    for file in node_files(CLUSTER, group):
        if file["path"].startswith("/etc/containerd/certs.d/"):
            laid = folder / file["path"].removeprefix("/etc/containerd/")
            laid.parent.mkdir(parents=True)
            laid.write_text(file["content"])
    for host, names in (("one.invalid", mirrors["one.invalid"]), ("two.invalid", ["b"]), ("other.invalid", mirrors["_default"])):
        pull = ["ctr", "-a", address, "images", "pull", "--hosts-dir", str(folder / "certs.d"), f"{host}/x/y:latest"]
        done = subprocess.run(pull, capture_output=True, text=True, timeout=600, check=False)
        # Behind the last mirror comes the registry itself, which does not exist.
        assert done.returncode != 0 and f"https://{host}/v2/x/y/manifests/latest" in done.stderr, done.stderr
        assert asked == [f"/{name}/v2/x/y/manifests/latest?ns={host}" for name in names]
        asked.clear()
