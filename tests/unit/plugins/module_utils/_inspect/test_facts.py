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

from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import cluster, units, versions
from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import facts as info
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import host as hosts
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import nodeadm_files
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import Result
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

CANARY = "cAnArY"


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
        ("", "/k cannot be read as YAML: the file is empty"),
        (f"a: b\ntoken {CANARY}\n", "/k cannot be read as YAML: line 2: it is not a key with a value"),
        (f"a: b\n\npassword: &{CANARY}: x\n", "/k cannot be read as YAML: line 3: its value is not a plain scalar"),
        (f"a: 'b' {CANARY}\n", "/k cannot be read as YAML: line 1: there is text after the value"),
        (f"a: b\n{CANARY}: c\n{CANARY}: d\n", "/k cannot be read as YAML: line 3: its key is given twice"),
        (f"a:\n    b: 1\n  {CANARY}: 2\n", "/k cannot be read as YAML: line 3: its indentation does not match any line above"),
        (f'a: "\\q{CANARY}"\n', "/k cannot be read as YAML: line 1: it has an invalid escape sequence"),
        ("[]", "/k is not a mapping"),
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
    assert any(mentions(problem, "certificate-authority-data", "/k", "base64") for problem in found.problems)


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
    folder = nodeadm_files.DIRECTORY
    files: dict[str, str | bytes] = {f"{folder}/{name}": f"password: {CANARY}\na: 1\n" for name in ("b.YAML", "a.json", "c.txt")}
    documents = cluster.nodeadm(machine(tmp_path, files))
    assert [one["path"] for one in documents] == [f"{folder}/a.json", f"{folder}/b.YAML"]
    assert all("a: 1" in one["text"] and CANARY not in one["text"] for one in documents)
    assert cluster.nodeadm(machine(tmp_path / "other", {})) is None


# --- the machine ---------------------------------------------------------------------------------------------------------------------


def test_the_system(tmp_path: Path) -> None:
    found = machine(tmp_path, {"/etc/os-release": 'ID="amzn"\nVERSION_ID="2"\nPRETTY_NAME=\'Amazon Linux 2\'\n# x=y\n'})
    assert versions.system(found)["os"] == {"id": "amzn", "version_id": "2", "name": "Amazon Linux 2"}
    assert versions.system(machine(tmp_path / "none", {}))["os"] == {"id": None, "version_id": None, "name": None}


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
    monkeypatch.setattr(units, "UNITS", ("kubelet.service", "containerd.service", "old.service"))
    monkeypatch.setattr(found, "run_program", lambda _argv: Result(0, SHOWN, ""))
    described = units.read(found)
    assert abs((units.started(described["kubelet.service"]) or 0) - (time.time() - time.monotonic()) - 2) < 1
    assert units.started(described["old.service"]) is None
    shown = units.describe(described)
    assert shown["kubelet.service"].pop("since").endswith("Z")
    assert shown == {
        "kubelet.service": {
            "state": "active", "sub_state": "running", "enabled": "enabled", "result": "success", "restarts": 3, "pid": 7
        },
        "old.service": {
            "state": "failed", "sub_state": "failed", "enabled": None, "result": "exit-code", "since": None, "restarts": None, "pid": None,
        },
    }  # fmt: skip


def test_versions(tmp_path: Path) -> None:
    found = machine(tmp_path, {"/etc/eks/kubelet-version.txt": "Kubernetes v1.33.4-eks-1\n"})
    assert versions.versions(found, 0) == {
        "kubelet": {"version": "1.33.4-eks-1", "source": "/etc/eks/kubelet-version.txt"},
        "containerd": None,
    }


def test_programs_are_bounded(tmp_path: Path, golden_message: GoldenMessages) -> None:
    found, patient = machine(tmp_path, {}, timeout=0.3), machine(tmp_path, {})
    began = time.monotonic()
    assert found.run("sleep", "300") is None and time.monotonic() - began < 100
    assert patient.run("false") is None and patient.run("no-such-program") is None
    late, failed = found.problems + patient.problems
    golden_message(late)
    golden_message(failed)


def test_files_are_bounded(tmp_path: Path, golden_message: GoldenMessages) -> None:
    found = machine(tmp_path, {"/large": b"x" * (hosts.MAX_FILE_BYTES + 5), "/folder/x": ""})
    assert len(found.read("/large")) == hosts.MAX_FILE_BYTES
    assert found.names("/large") == [] and found.names("/gone") == []
    golden_message(found.problems[0])


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
        assert found.text("/pipe") is None and os.read(reader, 5) == b"x", "the reader of the pipe still gets its text"
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        os.close(writer)
        os.close(reader)
    [pipe, folder, *pipes] = found.problems
    assert folder == "/folder cannot be read: it is a directory" and {pipe, *pipes} == {"/pipe cannot be read: it is not a regular file"}
    (tmp_path / "link").symlink_to(tmp_path / "folder/x")
    assert found.read("/link") == b"", "kubelet follows links, too"


def test_a_bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = machine(tmp_path, {"/etc/eks/nodeadm.d/a.yaml": "a: 1"})
    monkeypatch.setattr(found, "run_program", lambda _argv: Result(1, "", "no bus"))
    monkeypatch.setattr(cluster, "ours", lambda _unused: {}[0])
    facts = info.facts(found)
    assert facts["kubelet"]["pid"] is None and facts["units"] == {} and facts["nodeadm"] and facts["ours"] is None
    assert facts["problems"][1:] == ["<lambda>: KeyError: 0"] and "no bus" in facts["problems"][0]
    json.dumps(facts)
