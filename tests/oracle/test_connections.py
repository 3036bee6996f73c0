# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way to a node: ssh as a user who may become root, docker, and Session Manager through a recording stand-in.

Over each of them the same plays work, leave no temporary file behind, and show no secret, not even with -vvv.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from nodelab import Al2Node, Al2023Node, Node, UbuntuNode, engine

from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tools.checking.steps import cores

pytestmark = pytest.mark.docker

HERE = Path(__file__).resolve().parent
CANARY = "cAnArY-5150"
CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {
    "name": "demo",
    "endpoint": "https://ABC.gr7.eu-central-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "region": "eu-central-1",
    "kubernetes_version": "1.30",
}
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: kubelet
clusters: [{name: kubernetes, cluster: {server: "https://ABC.gr7.eu-central-1.eks.amazonaws.com"}}]
contexts: [{name: kubelet, context: {cluster: kubernetes, user: kubelet}}]
users: [{name: kubelet, user: {token: none}}]
"""
TOP = HERE.parents[1]

#: Newer releases of ansible-core cannot manage the Python of Amazon Linux 2, so its users stay on the oldest one.
OLDEST = cores()[0]
WAYS = (f"ssh with ansible-core {OLDEST}", "ssh with pipelining", "docker", "ssm")


@dataclass
class Way:
    """A node, how Ansible reaches it, and what the stand-in recorded."""

    node: Node
    folder: Path
    variables: dict[str, Any]
    program: str = "ansible-playbook"
    calls: list[dict[str, Any]] = field(default_factory=list)

    def play(self, *tasks: dict[str, Any], options: tuple[str, ...] = (), fails: bool = False) -> str:
        """Everything that ansible-playbook -vvv prints; the play must succeed, or fail."""
        play = [{"hosts": "all", "gather_facts": False, "become": True, "tasks": list(tasks)}]
        (self.folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
        (self.folder / "inventory.json").write_text(json.dumps({"all": {"hosts": {"node": self.variables}}}), encoding="utf-8")
        record = self.folder / "calls.jsonl"
        record.write_text("", encoding="utf-8")
        environment = os.environ | {
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_HOME": str(self.folder / "home"),
            "ANSIBLE_CONNECTION_PLUGINS": str(HERE / "connection_plugins"),
            "ANSIBLE_HOST_KEY_CHECKING": "false",
            "ANSIBLE_TIMEOUT": "300",
            "RECORDING_SSM": str(record),
        }
        command = [self.program, "-i", "inventory.json", "-vvv", "play.yml", *options]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=1800)
        self.calls = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        assert done.returncode == (2 if fails else 0), done.stdout[-6000:] + done.stderr[-2000:]
        return done.stdout + done.stderr

    def left_behind(self) -> list[str]:
        """Files below every folder for temporary files."""
        folders = ["/tmp", "/var/tmp", "/dev/shm", "/root/.ansible", "/home/ec2-user/.ansible"]
        return self.node.exec(["find", *folders, "-type", "f"]).stdout.decode().split()


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("key") / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


@pytest.fixture(scope="module")
def _node(key: Path) -> Iterator[Al2Node]:
    with Al2Node.start(ssh_key=key.with_suffix(".pub").read_text(encoding="utf-8")) as node:
        node.baseline()
        yield node


@pytest.fixture(params=repeated(WAYS, *(way for way in WAYS if way != "ssh with pipelining")))
def way(request: pytest.FixtureRequest, _node: Al2Node, key: Path, tmp_path: Path) -> Way:
    _node.reset()
    common = {"ansible_python_interpreter": "/usr/bin/python3"}
    name, program = request.param, "ansible-playbook"
    if name == "docker":
        variables = {"ansible_connection": "community.docker.docker", "ansible_host": _node.container, "ansible_user": "ec2-user"}
    elif name == "ssm":
        variables = {"ansible_connection": "recording_ssm", "ansible_host": _node.container}
    else:
        shown = engine.docker("inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", _node.container)
        variables = {"ansible_host": shown.stdout.decode().strip(), "ansible_user": "ec2-user", "ansible_ssh_private_key_file": str(key)}
        # A control socket's path has 108 characters at most, and pytest's folders are long.
        variables |= {"ansible_ssh_args": "-o ControlMaster=no -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"}
        variables |= {"ansible_pipelining": name.endswith("pipelining")}
        if name.endswith(OLDEST):
            program = str(TOP / ".cache" / f"venv-core-{OLDEST}" / "bin" / "ansible-playbook")
            assert Path(program).is_file(), f"no ansible-core {OLDEST}: make setup"
    return Way(_node, tmp_path, common | variables, program)


def task(name: str, register: str = "", **options: Any) -> dict[str, Any]:
    return {f"nodebootstrap.eks.{name}": options} | ({"register": register} if register else {})


def must(*conditions: str) -> dict[str, Any]:
    return {"ansible.builtin.assert": {"that": list(conditions)}}


def assert_files_come_first(way: Way, files: int) -> None:
    """What the stand-in for Session Manager was asked: a module is one file in a folder that only the user reads, and goes again."""
    sent = [number for number, call in enumerate(way.calls) if call["call"] == "put_file"]
    assert len(sent) == files and {call["call"] for call in way.calls} == {"exec_command", "put_file"}
    assert {call["status"] for call in way.calls} == {0} and not any(call.get("in_data") for call in way.calls)
    for number in sent:
        folder = way.calls[number]["path"].rpartition("/")[0]
        before, after = ([call.get("command", "") for call in part] for part in (way.calls[:number], way.calls[number:]))
        assert any("umask 77" in command and "mkdir" in command and folder.rpartition("/")[2] in command for command in before)
        assert any("rm -f -r" in command and folder in command for command in after), f"{folder} stays"
    assert CANARY not in json.dumps(way.calls)


def is_ssm(way: Way) -> bool:
    return bool(way.variables.get("ansible_connection") == "recording_ssm")


PLUGIN = "io.containerd.grpc.v1.cri"
GROUP: dict[str, Any] = {
    "family": "al2",
    "strategy": "static",
    "max_pods": 29,
    "instance": {"type": "m5.large"},
    "allow_secrets_in_user_data": True,
    "proxy": {"http": f"http://user:{CANARY}-proxy@proxy:3128", "https": f"http://user:{CANARY}-proxy@proxy:3128"},
    "kubelet": {"flags": {"manifest-url-header": f"Authorization:{CANARY}-flag"}},
    "containerd": {
        "config": {
            "plugins": {
                PLUGIN: {
                    "registry": {"configs": {"registry.example.com": {"auth": {"username": "user", "password": f"{CANARY}-registry"}}}}
                }
            }
        }
    },
}


def assert_no_secret(shown: str) -> None:
    assert CANARY not in shown, shown[max(0, shown.index(CANARY) - 2000) : shown.index(CANARY) + 500]


def readable_without_rights(node: Node) -> tuple[list[str], set[str]]:
    """In which files a user without rights finds the canary, and in which properties that systemd shows to every user."""
    without_rights = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    # /run/recorded is the stand-ins' own.
    folders = ["/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/usr/local", "/var", "/run", "/dev/shm"]
    found = node.exec([*without_rights, "grep", "-rlsF", "--exclude-dir=recorded", CANARY, *folders]).stdout.decode().split()
    shown = node.exec([*without_rights, "systemctl", "show", "kubelet", "containerd"]).stdout.decode()
    return found, {line.partition("=")[0] for line in shown.splitlines() if CANARY in line}


def test_the_modules_work_show_no_secret_and_leave_none(way: Way) -> None:
    way.node.write({"/etc/eks/kubelet-version.txt": "Kubernetes v1.30.9-eks-1\n", "/var/lib/kubelet/kubeconfig": (KUBECONFIG, 0o600)})
    way.node.write({"/etc/nodelab/kubelet-healthy": ""})
    before = way.left_behind()
    apply = task("apply", "done", cluster=CLUSTER, node_group=GROUP, wait_timeout=600, wait_for="healthy")
    look = task("node_info", "seen", timeout=60)
    # One play: a program for each of them would take longer than all that they do.
    shown = way.play(
        task("imds_info", "who", timeout=60),
        must("who.imds.instance_id == 'i-1234567890abcdef0'", "who is not changed"),
        look,
        # Only root may read it.
        must(f"seen.node.cluster.server == '{CLUSTER['endpoint']}'"),
        # The file of the image names another version, and the program itself counts.
        must("seen.node.versions.kubelet.source == '/usr/bin/kubelet --version'", "seen.node.problems == []"),
        apply | {"check_mode": True},
        must("done is changed"),
        apply,
        must("done is changed", "done.healthy"),
        apply,
        must("done is not changed", "done.restarted == []"),
        look,
        must("seen.node.ours.files.values() | unique == ['unchanged']"),
        options=("--diff",),
    )
    if is_ssm(way):
        assert_files_come_first(way, files=6)
    assert_no_secret(shown)
    # They are there, and others than root do not find them but where systemd shows the words and the variables of a unit.
    [start] = way.node.records("kubelet")
    assert f"--manifest-url-header=Authorization:{CANARY}-flag" in start["argv"]
    assert f"{CANARY}-proxy" in start["environment"]["HTTP_PROXY"]
    assert f"{CANARY}-registry".encode() in way.node.read("/etc/containerd/config.toml")
    assert readable_without_rights(way.node) == ([], {"ExecStart", "ExecStartEx", "Environment"})
    assert way.left_behind() == before


# Beside the node group: what programs of the image write by themselves and leave readable by all, as they do without us.
FAMILIES: dict[str, tuple[type[Node], dict[str, Any], set[str]]] = {
    "al2 bootstrap_script": (
        Al2Node,
        {"family": "al2", "strategy": "bootstrap_script"},
        {
            "/etc/containerd/config.toml",
            "/etc/eks/containerd/containerd-config.toml",
            "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf",
        },
    ),
    # Where the stand-in for snapd keeps settings; snapd's own folder is root's.
    "ubuntu static": (UbuntuNode, {"family": "ubuntu"}, {"/var/lib/nodelab/snap.json"}),
    "ubuntu bootstrap_script": (UbuntuNode, {"family": "ubuntu", "strategy": "bootstrap_script"}, {"/var/lib/nodelab/snap.json"}),
    "al2023": (
        Al2023Node,
        {"family": "al2023"},
        {
            "/etc/containerd/config.toml",
            "/etc/eks/kubelet/environment",
            "/etc/systemd/system.conf.d/environment.conf",
            "/run/eks/nodeadm/config.json",
        },
    ),
}


@pytest.mark.parametrize("name", repeated(FAMILIES, "al2023"))
def test_no_family_shows_a_secret(name: str, tmp_path: Path) -> None:
    kind, fields, of_the_image = FAMILIES[name]
    group = {**GROUP, **fields}
    if name == "al2023":
        del group["strategy"]
    if name == "ubuntu bootstrap_script":
        # Its script takes no configuration of containerd.
        del group["containerd"]
    with kind.start(files={"/etc/nodelab/kubelet-healthy": ""}) as node:
        variables = {"ansible_connection": "community.docker.docker", "ansible_host": node.container}
        way = Way(node, tmp_path, {"ansible_python_interpreter": "/usr/bin/python3", **variables})
        before = way.left_behind()
        options = {"cluster": CLUSTER, "wait_timeout": 600, "wait_for": "healthy"}
        apply = task("apply", "done", node_group=group, **options)
        shown = way.play(
            apply | {"check_mode": True},
            must("done is changed"),
            apply,
            must("done is changed", "done.healthy"),
            apply,
            must("done is not changed"),
            task("node_info", "seen", timeout=60),
            must("seen.node.kubelet.flags['manifest-url-header'] == ['********']"),
            # Other values: what the image's script wrote is put back before it runs again.
            task("apply", "done", node_group={**group, "max_pods": 20}, **options),
            must("done is changed"),
            options=("--diff",),
        )
        assert_no_secret(shown)
        assert way.left_behind() == before
        ours = json.loads(node.read("/var/lib/nodebootstrap/manifest.json"))["files"]
        files, _unused = readable_without_rights(node)
        assert not set(files) & ours.keys() and set(files) == of_the_image
        gone = way.play(task("apply", node_group=group, state="absent", **options), options=("--diff",))
        assert CANARY not in gone and not node.exists("/var/lib/nodebootstrap") and way.left_behind() == before


def test_failures_show_no_secret(tmp_path: Path) -> None:
    with Al2Node.start() as node:
        variables = {"ansible_connection": "community.docker.docker", "ansible_host": node.container}
        way = Way(node, tmp_path, {"ansible_python_interpreter": "/usr/bin/python3", **variables})
        before = way.left_behind()
        containerd = {"config": {**GROUP["containerd"]["config"], "oom_score": f"{CANARY}-score"}}
        options = {"cluster": CLUSTER, "wait_timeout": 2, "wait_for": "healthy"}
        refused = way.play(task("apply", node_group={**GROUP, "containerd": containerd}, **options), options=("--diff",), fails=True)
        assert mentions(refused, "containerd") and CANARY not in refused, refused[-3000:]
        node.exec(["ln", "-sfn", "/bin/false", "/usr/bin/kubelet"], check=True)
        broken = way.play(task("apply", node_group=GROUP, **options), options=("--diff",), fails=True)
        assert "kubelet.service is" in broken and CANARY not in broken, broken[-3000:]
        assert way.left_behind() == before
