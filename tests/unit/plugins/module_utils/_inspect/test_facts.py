# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What node_info makes of a machine whose files lie below a folder, and what it withholds."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import cluster
from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import facts as info
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import host as machines
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_config as kubelet
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_flags as flags
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import redaction as secrets
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubernetes import kubelet_flag_repeatable

CANARY = "cAnArY"


def machine(root: Path, files: dict[str, str | bytes], timeout: float = 60.0) -> Any:
    for path, content in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return machines.Machine(timeout, str(root))


def running(*words: str) -> dict[str, str | bytes]:
    """The files of a kubelet that runs as process 7."""
    return {"/proc/7/cmdline": "\0".join(["/usr/bin/kubelet", *words, ""]), "/proc/7/environ": "PATH=/bin\0NO_PROXY=a\0TOKEN=x\0"}


# --- flags -------------------------------------------------------------------------------------------------------------------------


def test_the_tables_are_those_of_the_library() -> None:
    known = data.kubelet_flags()["flags"]
    assert {name: row["config"] for name, row in known.items() if "config" in row} == flags.FIELDS, "tools/refresh_kubelet.py knows others"
    assert {name for name in known if kubelet_flag_repeatable(name)} == flags.REPEATABLE


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], {}),
        (["--config", "/a", "--config=/b"], {"config": "/b"}),
        (["--node_labels=a=b", "--node-labels", "c=d,e=f"], {"node-labels": ["a=b", "c=d,e=f"]}),
        (["--register-node", "--v=2", "-v", "4"], {"register-node": "true", "v": "4"}),
        (["-v=3"], {"v": "3"}),
        (["-v9"], {"v": "9"}),
        (["--oom-score-adj", "-999", "--root-dir", "-"], {"oom-score-adj": "-999", "root-dir": "-"}),
        (["--node-ip="], {"node-ip": ""}),
        (["--fail-swap-on", "--node-ip", "1.2.3.4", "stray"], {"fail-swap-on": "true", "node-ip": "1.2.3.4"}),
        (["-I", "/opt/program.py", "--v=1", "--", "--v=2"], {"v": "1"}),
    ],
)
def test_flags(words: list[str], found: dict[str, Any]) -> None:
    assert flags.parse(words) == found


# --- configuration -----------------------------------------------------------------------------------------------------------------


def configured(root: Path, words: list[str], files: dict[str, str | bytes], started: float | None = None) -> tuple[Any, Any]:
    found = machine(root, running(*words) | files)
    return kubelet.configuration(found, kubelet.Process(found, 7, started), flags.parse(words))


def test_drop_ins_are_merged_as_kubelet_does(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "/k/config": '{"maxPods": 1, "a": {"b": 1, "c": 2}, "list": [1, 2], "gone": 5, "staticPodURLHeader": {"A": ["' + CANARY + '"]}}',
        "/k/d/20.conf": '{"a": {"c": 4}}',
        "/k/d/10.conf": '{"a": {"c": 3, "d": {"e": 1}}, "list": [3], "gone": null}',
        "/k/d/15/9.conf": '{"a": {"d": {"e": 2}}}',
        "/k/d/30.json": '{"maxPods": 9}',
        "/k/d/.conf": '{"first": true}',
    }
    shown, merged = configured(tmp_path, ["--config=/k/config", "--config-dir", "/k/d", "--max-pods=7"], files)
    assert [file["path"] for file in shown["files"]] == ["/k/config", "/k/d/.conf", "/k/d/10.conf", "/k/d/15/9.conf", "/k/d/20.conf"]
    assert merged["a"] == {"b": 1, "c": 4, "d": {"e": 2}} and merged["list"] == [3] and "gone" not in merged and merged["first"]
    assert shown["effective"]["staticPodURLHeader"] == {"A": [secrets.HIDDEN]}
    assert shown["set_by_flags"] == {"maxPods": {"flag": "max-pods", "value": "7", "in_files": 1}}
    (tmp_path / "link").symlink_to(tmp_path / "k/d")
    assert len(configured(tmp_path, ["--config=/k/config", "--config-dir=/link"], {})[0]["files"]) == 1, "kubelet walks no link"


@pytest.mark.parametrize(
    ("text", "format_", "problem"),
    [
        (None, None, "it does not exist or cannot be read"),
        ("{broken", "json", "it cannot be parsed"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "json", "it cannot be parsed"),
        ("[1]", "yaml", "it holds no mapping"),
        ("maxPods: [\n", "yaml", "it cannot be parsed"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str | None, format_: str | None, problem: str) -> None:
    shown, merged = configured(tmp_path, ["--config=/k/config"], {} if text is None else {"/k/config": text})
    [file] = shown["files"]
    assert file["format"] == format_ and problem in file["problem"]
    assert shown["effective"] is None and merged == {}


def test_yaml_is_read_where_there_is_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"maxPods: 3\nregistry: http://u:{CANARY}@h/\n"
    assert configured(tmp_path, ["--config=/k/config"], {"/k/config": text})[1]["maxPods"] == 3

    def none(_unused: str) -> Any:
        raise ImportError("no PyYAML")

    monkeypatch.setattr(kubelet, "_from_yaml", none)
    shown, _unused = configured(tmp_path, ["--config=/k/config"], {})
    [file] = shown["files"]
    assert file["format"] == "yaml" and "none" in file["problem"] and "maxPods: 3" in file["text"] and CANARY not in file["text"]
    assert shown["effective"] is None


def test_a_file_that_changed_after_the_start(tmp_path: Path) -> None:
    for started, late in ((time.time() + 60, False), (time.time() - 60, True), (None, None)):
        shown, _unused = configured(tmp_path, ["--config=/k/config"], {"/k/config": "{}"}, started)
        assert shown["files"][0]["changed_since_start"] is late


def test_registration_and_name() -> None:
    words = ["--node-labels=a=b,c=", "--node-labels=a=x", "--register-with-taints=k=v:NoSchedule,l=:NoExecute"]
    found = flags.parse(words)
    assert kubelet.registration(found, {}) == {"labels": {"a": "x", "c": ""}, "taints": ["k=v:NoSchedule", "l=:NoExecute"]}
    merged = {"registerWithTaints": [{"key": "k", "effect": "NoSchedule"}, 5]}
    assert kubelet.registration({}, merged)["taints"] == ["k=:NoSchedule"]
    assert kubelet.registration({}, {"registerWithTaints": 5})["taints"] == []
    assert kubelet.node_name({"hostname-override": " I-1.Ec2 "}, True, "other") == "i-1.ec2"
    assert kubelet.node_name({}, True, "Host") == "host"
    assert kubelet.node_name({"cloud-provider": "aws"}, True, "Host") is None and kubelet.node_name({}, False, "Host") is None


# --- the cluster and what is ours ----------------------------------------------------------------------------------------------------

BLOCK = """\
apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster:
    certificate-authority: /ca
    server: https://api.example.com # here
contexts:
- name: kubelet
  context: {cluster: kubernetes, user: kubelet}
current-context: kubelet
users:
- name: kubelet
  user:
    exec:
      command: /usr/bin/aws
      args:
      - eks
      - get-token
      - "--cluster-name"
      - my cluster
      - --region
      - eu-west-1
    client-certificate: '/pki/kubelet.pem'
"""


def kubeconfig(cluster: dict[str, Any], user: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "other", "cluster": {"server": "https://other"}}, {"name": "k", "cluster": cluster}],
        "users": [{"name": "u", "user": user or {}}],
    }


def program(*args: Any) -> dict[str, Any]:
    return {"exec": {"command": "aws", "args": list(args)}}


@pytest.mark.parametrize("written", [json.dumps, yaml.safe_dump, partial(yaml.safe_dump, default_flow_style=None)])
@pytest.mark.parametrize(
    ("document", "server", "name", "certificate"),
    [
        (kubeconfig({"server": "https://u:p@a"}, program("token", "-i", "x", "--region", "y")), "https://********@a", "x", None),
        (kubeconfig({"server": "http://a"}, program("t", "--cluster-id=x")), "http://a", "x", None),
        (kubeconfig({"server": "MASTER_ENDPOINT"}, program("token", "-i", "CLUSTER_NAME")), None, None, None),
        (kubeconfig({}, program("-i", "x", "--cluster-name", "y z")), None, "y z", None),
        (kubeconfig({}, program("token", "-i")), None, None, None),
        (kubeconfig({}, program("--cluster-name=https://u:p@a")), None, "https://********@a", None),
        (kubeconfig({}, program()), None, None, None),
        (kubeconfig({"server": ["https://a"]}, {"exec": {"args": "-i x"}, "client-certificate": ["/a"]}), None, None, None),
        (kubeconfig({}, {"client-certificate": "/c", "client-key": "../k"}), None, None, ("/c", "/etc/k8s/../k")),
    ],
)
def test_kubeconfig(written: Any, document: Any, server: str | None, name: str | None, certificate: Any, tmp_path: Path) -> None:
    node = machine(tmp_path, {"/etc/k8s/kubeconfig": written(document)})
    found = cluster.kubeconfig_at(node, "/etc/k8s/kubeconfig")
    assert (found.server, found.name, found.client_certificate, node.problems) == (server, name, certificate, [])


def test_a_kubeconfig_written_by_hand(tmp_path: Path) -> None:
    node = machine(tmp_path, {"/k": BLOCK})
    found = cluster.kubeconfig_at(node, "/k")
    assert (found.server, found.name, found.authority) == ("https://api.example.com", "my cluster", "/ca") and node.problems == []
    assert found.client_certificate == ("/pki/kubelet.pem", "/pki/kubelet.pem")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "/k cannot be read as YAML: it is empty"),
        (f"a: b\ntoken {CANARY}\n", "/k cannot be read as YAML: line 2: it is no key with a value"),
        (f"a: b\n\npassword: &{CANARY}: x\n", "/k cannot be read as YAML: line 3: it has more than a plain word"),
        (f"a: 'b' {CANARY}\n", "/k cannot be read as YAML: line 1: something follows a value"),
        (f"a: b\n{CANARY}: c\n{CANARY}: d\n", "/k cannot be read as YAML: line 3: its key stands there twice"),
        (f"a:\n    b: 1\n  {CANARY}: 2\n", "/k cannot be read as YAML: line 3: its indentation fits nothing"),
        (f'a: "\\q{CANARY}"\n', "/k cannot be read as YAML: line 1: it escapes what cannot be escaped"),
        ("[]", "/k holds no mapping"),
        ("server: https://a\n", "/k has no context named 'None'"),
        (BLOCK.replace("cluster: kubernetes", "cluster: k"), "/k has no cluster named 'k'"),
    ],
)
def test_a_damaged_kubeconfig_is_a_problem_and_no_error(text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    node = machine(tmp_path, {"/k": text})
    assert cluster.kubeconfig_at(node, "/k") == cluster.Kubeconfig("/k") and node.problems == [problem]
    shown = cluster.cluster(node, cluster.Kubeconfig("/k"))
    assert shown == {"kubeconfig": "/k", "server": None, "name": None, "certificate_authority": {"path": None, "sha256": []}}


def test_a_node_without_a_kubeconfig(tmp_path: Path) -> None:
    node = machine(tmp_path, {})
    assert cluster.kubeconfig_at(node, "/k") == cluster.Kubeconfig("/k") and node.problems == []


def pem(content: bytes) -> str:
    return f"-----BEGIN CERTIFICATE-----\n{base64.b64encode(content).decode()}\n-----END CERTIFICATE-----\n"


def test_certificate_authorities(tmp_path: Path) -> None:
    digests = [hashlib.sha256(one).hexdigest() for one in (b"one", b"two")]
    found = machine(
        tmp_path,
        {"/k": "", "/ca": "# a\n" + pem(b"one") + pem(b"two"), "/bad": "-----BEGIN CERTIFICATE-----\n=\n-----END CERTIFICATE-----"},
    )
    shown = cluster.cluster(found, cluster.Kubeconfig("/k", authority="/ca"))
    assert shown["certificate_authority"] == {"path": "/ca", "sha256": digests} and shown["kubeconfig"] == "/k"
    inline = base64.b64encode(pem(b"two").encode()).decode()
    shown = cluster.cluster(found, cluster.Kubeconfig("/gone", authority="/ca", authority_data=inline))
    assert shown["certificate_authority"] == {"path": None, "sha256": digests[1:]} and shown["kubeconfig"] is None
    cluster.cluster(found, cluster.Kubeconfig("/k", authority_data="x"))
    assert "certificate-authority-data of /k is no base64" in found.problems


def test_what_is_ours(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"x").hexdigest()
    manifest = {"files": {path: {"sha256": digest} for path in ("/same", "/other", "/gone")}, "pending": ["kubelet"]}
    found = machine(tmp_path, {f"{cluster.STATE}/manifest.json": json.dumps(manifest), "/same": "x", "/other": "y"})
    (tmp_path / "var/lib/nodebootstrap/transaction").mkdir()
    assert cluster.ours(found) == {
        "manifest": "/var/lib/nodebootstrap/manifest.json",
        "files": {"/gone": "missing", "/other": "changed", "/same": "unchanged"},
        "pending": ["kubelet"],
        "interrupted": True,
    }
    for damaged in ("{", "[]", '{"files": {"/a": 5}}', '{"files": 5}'):
        assert cluster.ours(machine(tmp_path, {f"{cluster.STATE}/manifest.json": damaged})) is None
    assert cluster.ours(machine(tmp_path / "fresh", {})) is None


def test_documents_of_nodeadm(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{cluster.NODEADM}/{name}": f"password: {CANARY}\na: 1\n" for name in ("b.YAML", "a.json", "c.txt")}
    documents = cluster.nodeadm(machine(tmp_path, files))
    assert [one["path"] for one in documents] == [f"{cluster.NODEADM}/a.json", f"{cluster.NODEADM}/b.YAML"]
    assert all("a: 1" in one["text"] and CANARY not in one["text"] for one in documents)
    assert cluster.nodeadm(machine(tmp_path / "other", {})) is None


# --- the machine ---------------------------------------------------------------------------------------------------------------------


def test_the_system(tmp_path: Path) -> None:
    found = machine(tmp_path, {"/etc/os-release": 'ID="amzn"\nVERSION_ID="2"\nPRETTY_NAME=\'Amazon Linux 2\'\n# x=y\n'})
    assert machines.system(found)["os"] == {"id": "amzn", "version_id": "2", "name": "Amazon Linux 2"}
    assert machines.system(machine(tmp_path / "none", {}))["os"] == {"id": None, "version_id": None, "name": None}


SHOWN = """\
Id=kubelet.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
MainPID=7
NRestarts=3
Result=success
ActiveEnterTimestampMonotonic=2000000
InactiveEnterTimestampMonotonic=0
ExecMainStartTimestampMonotonic=2000000

Id=containerd.service
LoadState=not-found
ActiveState=inactive

Id=old.service
LoadState=loaded
ActiveState=failed
SubState=failed
UnitFileState=
MainPID=0
Result=exit-code
InactiveEnterTimestampMonotonic=0
"""


def test_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = machine(tmp_path, {})
    monkeypatch.setattr(found, "run", lambda *_unused: SHOWN)
    units = machines.units(found, ["kubelet.service"])
    boot = time.time() - time.monotonic()
    assert abs(units["kubelet.service"].pop("started") - boot - 2) < 1 and units["kubelet.service"].pop("since").endswith("Z")
    assert units == {
        "kubelet.service": {
            "state": "active", "sub_state": "running", "enabled": "enabled", "result": "success", "restarts": 3, "pid": 7
        },
        "old.service": {
            "state": "failed", "sub_state": "failed", "enabled": None, "result": "exit-code", "since": None, "restarts": None, "pid": None,
            "started": None,
        },
    }  # fmt: skip


def test_versions(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"/etc/eks/kubelet-version.txt": "Kubernetes v1.33.4-eks-1\n", "/etc/eks/containerd-version.txt": "?"}
    found = machine(tmp_path, {**files, "/usr/bin/containerd": "#!/bin/sh\necho containerd github.com/x v2.0.5 0123\n"})
    (tmp_path / "usr/bin/containerd").chmod(0o755)
    assert machines.versions(found, None) == {
        "kubelet": {"version": "1.33.4-eks-1", "source": "/etc/eks/kubelet-version.txt"},
        "containerd": {"version": "2.0.5", "source": "/usr/bin/containerd --version"},
    }
    snap = machine(tmp_path / "snap", {"/snap/kubelet-eks/current/meta/snap.yaml": "name: x\nversion: 1.31.2\n"})
    assert machines.versions(snap, None)["kubelet"] == {"version": "1.31.2", "source": "/snap/kubelet-eks/current/meta/snap.yaml"}


def test_programs_are_bounded(tmp_path: Path) -> None:
    found, patient = machine(tmp_path, {}, timeout=0.3), machine(tmp_path, {})
    began = time.monotonic()
    assert found.run("sleep", "300") is None and time.monotonic() - began < 100
    assert patient.run("false") is None and patient.run("no-such-program") is None
    assert found.problems + patient.problems == ["sleep 300 took longer than 0.3 s", "false failed (1): it says nothing"]


def test_files_are_bounded(tmp_path: Path) -> None:
    found = machine(tmp_path, {"/large": b"x" * (machines.LARGEST_FILE + 5), "/folder/x": ""})
    assert len(found.read("/large")) == machines.LARGEST_FILE
    assert found.names("/large") == [] and found.names("/gone") == []
    assert found.problems[0].startswith("/large is longer than")


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    found = machine(tmp_path, {"/folder/x": ""})
    os.mkfifo(tmp_path / "pipe")
    assert found.read("/pipe") is None and found.read("/folder") is None
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(tmp_path / "pipe", os.O_WRONLY)
    try:
        before = len(os.listdir("/proc/self/fd"))
        assert found.read("/pipe") is None, "it has a writer that has written nothing"
        os.write(writer, b"x")
        assert found.text("/pipe") is None and os.read(reader, 5) == b"x", "nobody is robbed of what is meant for him"
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        os.close(writer)
        os.close(reader)
    [pipe, folder, *pipes] = found.problems
    assert folder == "/folder cannot be read: it is a folder" and {pipe, *pipes} == {"/pipe cannot be read: it is not a regular file"}
    (tmp_path / "link").symlink_to(tmp_path / "folder/x")
    assert found.read("/link") == b"", "kubelet follows links, too"


def test_a_bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = machine(tmp_path, {"/etc/eks/nodeadm.d/a.yaml": "a: 1"})
    monkeypatch.setattr(found, "run", lambda *_unused: None)
    monkeypatch.setattr(cluster, "ours", lambda _unused: {}[0])
    facts = info.facts(found)
    assert facts["kubelet"]["pid"] is None and facts["units"] == {} and facts["nodeadm"] and facts["ours"] is None
    assert facts["problems"] == ["<lambda>: KeyError: 0"]
    json.dumps(facts)
