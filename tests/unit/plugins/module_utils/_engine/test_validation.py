# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How programs of a node judge candidates, and what follows from that."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.validation import ValidationSandbox
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Current
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import Result
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions

UNIT = "/etc/systemd/system/kubelet.service"
DROP_IN = "/etc/systemd/system/containerd.service.d/50-x.conf"
STARTED = ["kubelet.service", "containerd.service"]


class Programs:
    """Programs that answer as a test sets, and the calls that they got."""

    def __init__(self) -> None:
        self.answer: tuple[int, str, str] = (0, "", "")
        self.calls: list[list[str]] = []
        self.seen: dict[str, str] = {}

    def __call__(self, argv: Sequence[str]) -> Result:
        self.calls.append(list(argv))
        for word in argv:
            path = Path(word.replace("file://", ""))
            for found in [path, *(path.rglob("*") if path.is_dir() else [])]:
                if found.is_file():
                    self.seen[str(found)] = found.read_text(encoding="utf-8")
        status, output, said = self.answer
        folder = next((os.path.dirname(word) for word in argv if "/units/" in word), "")
        return Result(status, output, said.replace("FOLDER", folder))


@pytest.fixture
def programs() -> Programs:
    return Programs()


@pytest.fixture
def sandbox(tmp_path: Path, programs: Programs) -> Iterator[ValidationSandbox]:
    with ValidationSandbox(str(tmp_path), programs) as made:
        yield made
    assert os.listdir(tmp_path) == []


def test_candidates_are_private(sandbox: ValidationSandbox, tmp_path: Path) -> None:
    laid = Path(sandbox.add("a/b", b"x"))
    [folder] = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700 and laid.read_bytes() == b"x"


def test_containerd_reads_each_content_once(sandbox: ValidationSandbox, programs: Programs) -> None:
    programs.answer = (0, 'imports = ["x"]\nversion = 2\n', "")
    sandbox.check_containerd("/etc/containerd/config.toml", b"a")
    assert sandbox.containerd_dump(b"a") == "version = 2\n" and len(programs.calls) == 1
    assert sandbox.containerd_dump(b"b") == "version = 2\n" and len(programs.calls) == 2


def test_messages_that_may_quote_secrets_are_not_passed_on(tmp_path: Path, programs: Programs, golden_message: GoldenMessages) -> None:
    with ValidationSandbox(str(tmp_path), programs, is_secret=True) as made:
        programs.answer = (1, "", "Can't convert CANARY to int")
        for check in (lambda: made.check_containerd("/c", b"x"), lambda: made.check_nodeadm({"50-b.yaml": b"x"})):
            with pytest.raises(ApplyRefused) as refused:
                check()
            golden_message(refused.value)
            assert "CANARY" not in str(refused.value)
        programs.answer = (0, "", "FOLDER/kubelet.service.d/50.conf:3: Invalid environment assignment, ignoring: CANARY\n")
        said = made.check_units({UNIT: b"[Service]\n", DROP_IN: b"[Service]\n"}, lambda _unused: None, STARTED)
        assert len(said) == 1 and "CANARY" not in said[0]
        golden_message(said[0])


def test_what_containerd_refuses_is_refused_with_its_reason(
    sandbox: ValidationSandbox, programs: Programs, golden_message: GoldenMessages
) -> None:
    programs.answer = (1, "", "warning\ncontainerd: failed to load TOML: bare key\n")
    with pytest.raises(ApplyRefused) as caught:
        sandbox.check_containerd("/c", b"x")
    golden_message(caught.value)
    assert sandbox.containerd_dump(b"x") is None
    programs.answer = (127, "", "not installed")
    sandbox.check_containerd("/c", b"y")


def check(sandbox: ValidationSandbox, read: Any = lambda path: None) -> list[str]:
    return sandbox.check_units({UNIT: b"[Service]\n", DROP_IN: b"[Service]\n"}, read, STARTED)


def test_drop_ins_are_verified_with_the_unit_of_the_image(sandbox: ValidationSandbox, programs: Programs) -> None:
    image = {"/usr/lib/systemd/system/containerd.service": Current(b"[Service]\nExecStart=/x\n", 0o644, 0, 0)}
    assert check(sandbox, image.get) == []
    [argv] = programs.calls
    assert argv[:2] == ["systemd-analyze", "verify"] and [os.path.basename(word) for word in argv[2:]] == [
        "containerd.service",
        "kubelet.service",
    ]
    assert "[Service]\nExecStart=/x\n" in programs.seen.values()


@pytest.mark.parametrize(
    "said",
    [
        "kubelet.service: Service has no ExecStart=. Refusing.\n",
        "FOLDER/kubelet.service:3: Missing '='.\n",
        "FOLDER/containerd.service.d/50-x.conf:1: Invalid section header\n",
    ],
)
def test_units_that_do_not_load_are_refused(
    sandbox: ValidationSandbox, programs: Programs, said: str, golden_message: GoldenMessages
) -> None:
    programs.answer = (1, "", said)
    with pytest.raises(ApplyRefused) as caught:
        check(sandbox)
    golden_message(caught.value)
    assert "FOLDER" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "warnings"),
    [
        ("kubelet.service: Command /etc/nodebootstrap/node-facts is not executable: No such file or directory\n", 0),
        ("other.service: Service has no ExecStart=. Refusing.\n", 0),
        ("sys-fs-bpf.mount: Cannot create mount unit for API file system /sys/fs/bpf. Refusing.\n", 0),
        ("FOLDER/kubelet.service:3: Unknown key name 'X' in section 'Service', ignoring.\n", 1),
    ],
)
def test_what_is_harmless_refuses_nothing(sandbox: ValidationSandbox, programs: Programs, said: str, warnings: int) -> None:
    programs.answer = (1, "", said)
    found = check(sandbox)
    assert len(found) == warnings and all(mentions(text, f"{UNIT}:3") for text in found)


def test_nodeadm_sees_the_folder_as_it_will_be(sandbox: ValidationSandbox, programs: Programs, golden_message: GoldenMessages) -> None:
    sandbox.check_nodeadm({"40-a.yaml": b"theirs", "50-b.yaml": b"ours"})
    [argv] = programs.calls
    assert argv[:5] == ["nodeadm", "config", "check", "--config-source", "imds://user-data"] and argv[6].endswith("/")
    assert sorted(programs.seen.values()) == ["ours", "theirs"]
    programs.answer = (1, "", 'Error: unknown command "check" for "config"\n')
    sandbox.check_nodeadm({"50-b.yaml": b"ours"})
    programs.answer = (1, "", "log line\ncidr is missing\n")
    with pytest.raises(ApplyRefused) as caught:
        sandbox.check_nodeadm({"50-b.yaml": b"ours"})
    golden_message(caught.value)
    assert sandbox.nodeadm_dump("after", {}) is None
    programs.answer = (0, "{}\n", "")
    assert sandbox.nodeadm_dump("before", {}) == "{}\n" and programs.calls[-1][-1] == "imds://user-data"
