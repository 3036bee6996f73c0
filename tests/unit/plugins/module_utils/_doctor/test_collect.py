# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examination of a machine whose files lie below a folder: every part, secrets, and parts that cannot be read."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._doctor import certificates, failures, resources, sources
from ansible_collections.nodebootstrap.eks.plugins.module_utils._doctor import collect as collection
from ansible_collections.nodebootstrap.eks.plugins.module_utils._doctor.collect import collect, collect_user_data
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import ApiResult, Evidence
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import EXPIRED, SERVER, VALID
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

CANARY = "cAnArY"
KEY = f"-----BEGIN EC PRIVATE KEY-----\n{CANARY}\n-----END EC PRIVATE KEY-----\n"
USER_DATA = "/var/lib/cloud/instance/user-data.txt"
PKI = "/var/lib/kubelet/pki"
PARTS = (
    "certificates", "clock", "disks", "failures", "family", "findings", "image", "info", "join", "kubernetes_version", "memory",
    "node_configs", "pressure", "problems", "user_data",
)  # fmt: skip

Programs = Callable[[str, str], Path]


def kubeconfig(cluster: dict[str, str], user: dict[str, str]) -> str:
    return json.dumps(
        {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "k", "cluster": {"server": "https://api.example.com", **cluster}}],
            "users": [{"name": "u", "user": user}],
        }
    )


@pytest.fixture
def without_systemd(programs: Programs) -> None:
    for name in ("systemctl", "journalctl", "timedatectl", "snap", "getenforce", "sysctl"):
        programs(name, "exit 1\n")


@pytest.mark.usefixtures("without_systemd")
def test_a_machine_without_anything(tmp_path: Path) -> None:
    found = collect(machine(tmp_path / "root", {"/proc/meminfo": ""}))
    assert sorted(found) == sorted(PARTS)
    assert found["certificates"] == [] and found["user_data"] is None and found["node_configs"] == found["failures"] == []
    assert found["clock"] == {"skew": None, "synchronized": None} and found["pressure"] == {} and found["memory"] == {}
    assert found["join"]["cause"] is not None and found["join"]["ready"] is False
    assert found["problems"] and len(set(found["problems"])) == len(found["problems"])
    json.dumps(found)


@pytest.mark.usefixtures("without_systemd")
def test_a_broken_part_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_unused: Any) -> None:
        raise RuntimeError("broken")

    for name in ("clock", "memory"):
        monkeypatch.setattr(resources, name, broken)
    found = collect(machine(tmp_path / "root", {USER_DATA: "#!/bin/bash\n"}), "1.33")
    assert found["clock"] is None and found["memory"] is None
    assert [problem for problem in found["problems"] if "RuntimeError" in problem] == [
        "clock: RuntimeError: broken",
        "memory: RuntimeError: broken",
    ]
    assert found["user_data"]["text"] == "#!/bin/bash\n" and found["kubernetes_version"] == "1.33"


def test_no_key_leaves_the_node(tmp_path: Path) -> None:
    host = machine(
        tmp_path,
        {
            "/var/lib/kubelet/kubeconfig": kubeconfig(
                {"certificate-authority-data": base64.b64encode(EXPIRED.encode()).decode()}, {"client-certificate": f"{PKI}/client.pem"}
            ),
            f"{PKI}/client.pem": VALID + KEY,
            f"{PKI}/kubelet-server-current.pem": KEY + SERVER,
            f"{PKI}/kubelet.crt": EXPIRED,
        },
    )
    found = certificates.read(host, {})
    assert [(one["use"], one["path"], one["pem"]) for one in found] == [
        ("client", f"{PKI}/client.pem", VALID),
        ("serving", f"{PKI}/kubelet-server-current.pem", SERVER),
        ("authority", "/var/lib/kubelet/kubeconfig", EXPIRED),
    ]
    assert CANARY not in json.dumps(found)


@pytest.mark.parametrize(
    ("facts", "files", "expected"),
    [
        ({}, {f"{PKI}/kubelet.crt": VALID}, []),
        (
            {"kubelet": {"flags": {"cert-dir": "/pki"}}},
            {"/pki/kubelet-server-current.pem": VALID},
            [("serving", "/pki/kubelet-server-current.pem")],
        ),
        ({"kubelet": {"config": {"effective": {"tlsCertFile": "/own.pem"}}}}, {"/own.pem": VALID}, [("serving", "/own.pem")]),
        ({}, {f"{PKI}/kubelet-client-current.pem": VALID}, [("client", f"{PKI}/kubelet-client-current.pem")]),
        (
            {},
            {"/var/lib/kubelet/kubeconfig": kubeconfig({"certificate-authority": "/ca.crt"}, {}), "/ca.crt": VALID},
            [("authority", "/ca.crt")],
        ),
        ({}, {"/var/lib/kubelet/kubeconfig": kubeconfig({"certificate-authority-data": "?"}, {})}, []),
    ],
)  # fmt: skip
def test_where_the_certificates_are(facts: dict[str, Any], files: dict[str, str | bytes], expected: Any, tmp_path: Path) -> None:
    assert [(one["use"], one["path"]) for one in certificates.read(machine(tmp_path, files), facts)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("               Local time: Mon\nSystem clock synchronized: yes\n              NTP service: active\n", True),
        ("System clock synchronized: no\n", False),
        ("     NTP enabled: yes\nNTP synchronized: no\n", False),
        ("NTP enabled: yes\n", None),
    ],
)
def test_the_clock(text: str, expected: bool | None, tmp_path: Path, programs: Programs) -> None:
    programs("timedatectl", f"cat <<'E'\n{text}E\n")
    skewed = Evidence(api=ApiResult("answer", clock_skew=12.345))
    assert resources.clock(machine(tmp_path, {}), skewed) == {"skew": 12.3, "synchronized": expected}
    assert resources.clock(machine(tmp_path, {}), Evidence())["skew"] is None


def test_memory_pressure_and_disks(tmp_path: Path) -> None:
    host = machine(
        tmp_path,
        {
            "/proc/meminfo": "MemTotal:     8000 kB\nMemFree:  1 kB\nMemAvailable: 2000 kB\nSwapTotal: 0 kB\nbroken\nSwapTotal: x kB\n",
            "/proc/pressure/memory": "some avg10=0.00 avg60=1.50 avg300=2.25 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.75 total=1\n",
            "/proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=70.00 total=7\nother avg300=1\nfull avg300=nan\n",
            "/var/lib/kubelet/x": "",
        },
    )
    assert resources.memory(host) == {"total": 8192000, "available": 2048000, "swap": 0}
    assert resources.pressure(host) == {"cpu": {"some": 70.0}, "memory": {"some": 2.25, "full": 0.75}}
    found = resources.disks(host)
    assert [disk["path"] for disk in found] == ["/", "/var/lib/kubelet"]
    assert found[0].keys() == {"path", "free_bytes", "bytes", "free_inodes", "inodes"}


FIELDS = (
    "Id={name}", "LoadState=loaded", "ActiveState={active}", "SubState=x", "Result={result}", "NRestarts={restarts}",
    "InactiveEnterTimestampMonotonic=1000000",
)  # fmt: skip


def state(name: str, active: str, result: str, restarts: int) -> str:
    """What systemctl show prints of a unit, for printf."""
    return "\\n".join(FIELDS).format(name=name, active=active, result=result, restarts=restarts) + "\\n\\n"


SYSTEMCTL = f"""\
case "$1" in
list-units) printf "LISTED" ;;
*)
    while [ "$1" != -- ]; do shift; done
    shift
    for name; do
        case $name in
        cron*) printf '{state("cron.service", "failed", "exit-code", 0)}' ;;
        *) printf '{state("kubelet.service", "active", "success", 3)}' ;;
        esac
    done
    ;;
esac
"""
LOG = "".join(
    json.dumps({"__MONOTONIC_TIMESTAMP": str(1000000 + at), "__REALTIME_TIMESTAMP": "1", "MESSAGE": text, "_PID": "1" if systemd else "77"})
    + "\n"
    for at, systemd, text in reversed(
        [
            (1, True, "Started x."),
            (2, False, f"cannot use https://user:{CANARY}@proxy, secret={CANARY}"),
            (3, True, "x.service: Main process exited, code=exited, status=3/NOTIMPLEMENTED"),
            (4, True, "x.service: Scheduled restart job, restart counter is at 3."),
        ]
    )
)


@pytest.mark.parametrize(
    "listed",
    ["cron.service loaded failed failed Cron\\n", "\N{BLACK CIRCLE} cron.service loaded failed failed Cron\\n"],
    ids=["plain", "marked"],
)
def test_failed_and_restarted_units(listed: str, tmp_path: Path, programs: Programs, golden_message: GoldenMessages) -> None:
    programs("systemctl", SYSTEMCTL.replace("LISTED", listed))
    programs("journalctl", f"cat <<'E'\n{LOG}E\n")
    found = failures.read(machine(tmp_path, {}), {"kubelet.service": {"restarts": 3}, "containerd.service": {"restarts": 0}})
    assert [(one["unit"], one["failed"], one["restarts"]) for one in found] == [("cron.service", True, 0), ("kubelet.service", False, 3)]
    golden_message("\n".join(f"{one['unit']}: {one['reason']}: {one['lines']}" for one in found))
    assert CANARY not in json.dumps(found) and found[0]["time"].endswith("Z")


def test_the_image(tmp_path: Path) -> None:
    assert sources.image(machine(tmp_path / "none", {})) == {
        "release": {}, "provenance": None, "ami": None, "instance": None, "instance_type": None
    }  # fmt: skip
    host = machine(
        tmp_path / "root",
        {
            "/etc/eks/release": 'BASE_AMI_ID="ami-1"\nARCH=x86_64\n# comment=1\n',
            "/etc/eks/image-provenance.json": json.dumps({"family": "al2023", "packages": ["a"], "lock": None}),
            "/run/cloud-init/instance-data.json": json.dumps({"ds": {"meta_data": {"ami-id": "ami-2", "instance-type": ["x"]}}}),
        },
    )
    assert sources.image(host) == {
        "release": {"BASE_AMI_ID": "ami-1", "ARCH": "x86_64"},
        "provenance": {"collection": None, "family": "al2023", "kubernetes_version": None, "lock": None},
        "ami": "ami-2",
        "instance": None,
        "instance_type": None,
    }
    damaged = machine(tmp_path / "damaged", {"/run/cloud-init/instance-data.json": "{", "/etc/eks/image-provenance.json": "[]"})
    assert sources.image(damaged)["provenance"] is None and mentions(damaged.problems, "/run/cloud-init/instance-data.json")


@pytest.mark.parametrize(
    ("content", "text", "redacted"),
    [
        (b"#!/bin/bash\ntrue\n", "#!/bin/bash\ntrue\n", False),
        (gzip.compress(b"#!/bin/bash\ntrue\n", mtime=0), "#!/bin/bash\ntrue\n", False),
        (b"#!/bin/bash\nDB_PASSWORD=cAnArY\n", "#!/bin/bash\nDB_PASSWORD=********\n", True),
        (b'{"a": ["********"]}', '{\n "a": [\n  "********"\n ]\n}', False),
        (b"\x1f\x8bnot gzip", "", False),
    ],
)
def test_the_user_data(content: bytes, text: str, redacted: bool, tmp_path: Path) -> None:
    assert sources.user_data(machine(tmp_path, {USER_DATA: content})) == {"path": USER_DATA, "text": text, "redacted": redacted}


def test_damaged_user_data_is_a_problem(tmp_path: Path) -> None:
    host = machine(tmp_path, {USER_DATA: b"\x1f\x8bnot gzip"})
    sources.user_data(host)
    assert mentions(host.problems, USER_DATA, "gzip")


def test_the_documents_of_nodeadm_in_their_order(tmp_path: Path) -> None:
    directory = "/etc/eks/nodeadm.d"
    files = {f"{directory}/b.yaml": "b: 1\n", f"{directory}/a.yml": f"token: {CANARY}\n", f"{directory}/README": "no\n"}
    assert sources.node_configs(machine(tmp_path, dict(files))) == [
        {"path": f"{directory}/a.yml", "text": "token: ********\n", "redacted": True},
        {"path": f"{directory}/b.yaml", "text": "b: 1\n", "redacted": False},
    ]


@pytest.mark.usefixtures("without_systemd")
def test_only_what_a_check_of_the_user_data_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_unused: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(collection, "_check_join", forbidden)
    found = collect_user_data(machine(tmp_path / "root", {USER_DATA: "#!/bin/bash\n"}))
    assert sorted(found) == ["family", "image", "info", "node_configs", "problems", "user_data"]
    assert found["user_data"]["text"] == "#!/bin/bash\n" and "problems" not in found["info"]
    assert not any("AssertionError" in problem for problem in found["problems"])
