# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of the trust store reach the system, whichever way a file changes, and certificates that expire are warnings."""

from __future__ import annotations

import calendar
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import decision, removal, trust_store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.file_changes import FileChange, Originals
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import ManagedFile, Manifest
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.steps import StepContext
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import certificates, snapd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change, Current
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.placeholders import Identity
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import EXPIRED, NOT_YET, SERVER, VALID
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import node_state, typed_plan, unit

AMAZON = "/etc/pki/ca-trust/source/anchors/nodebootstrap-1.crt"
UBUNTU = "/usr/local/share/ca-certificates/nodebootstrap-1.crt"
UPDATES = {AMAZON: ("update-ca-trust", "extract"), UBUNTU: ("update-ca-certificates",)}
KINDS = {"al2": AMAZON, "al2 script": AMAZON, "al2023": AMAZON, "ubuntu": UBUNTU, "ubuntu script": UBUNTU}


class WithoutMetadata(Identity):
    def setting(self, text: str, facts: Any) -> str:
        return text


def at(year: int, month: int = 6, day: int = 1) -> float:
    return float(calendar.timegm((year, month, day, 0, 0, 0)))


@pytest.mark.parametrize("content", [b"", None], ids=["written", "removed"])
@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize(("kind", "path"), KINDS.items())
def test_a_change_updates_the_store_before_anything_starts(
    kind: str, path: str, hold: bool, content: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapd, "read_settings", lambda snap: {})
    # The plan does not contain the file: what an earlier plan has written is removed.
    plan = typed_plan(kind)
    change = FileChange(Change(path, content), None, True, (), False, "")
    node = node_state(units={name: unit(name) for name in plan.units()})
    originals = Originals(SimpleNamespace(folder="/var/lib/nodebootstrap"), node.manifest)
    nothing: Any = None
    context = StepContext(plan, node, [change], originals, hold, False, nothing, WithoutMetadata(), lambda path: None)
    work = decision.decide_steps(context, True)
    assert work.forward[0].argv == UPDATES[path]
    assert UPDATES[path] in [command.argv for command in work.back]
    assert " ".join(UPDATES[path]) in work.actions
    without = decision.decide_steps(context._replace(changes=[change._replace(change=Change("/etc/motd", content))]), True)
    assert UPDATES[path] not in [command.argv for command in [*without.forward, *without.back]]


@pytest.mark.parametrize("path", [AMAZON, UBUNTU])
def test_a_removal_updates_the_store_and_restarts_containerd(path: str) -> None:
    manifest = Manifest(units=("containerd.service",), files={path: ManagedFile("", (), False, None)})
    originals = Originals(SimpleNamespace(folder="/var/lib/nodebootstrap"), manifest)
    current = Current(VALID.encode(), 0o644, 0, 0)
    found = removal.decide(manifest, originals, {name: unit(name) for name in manifest.units}, lambda path: current)
    commands = [command.argv for command in found.forward]
    assert commands.index(UPDATES[path]) < commands.index(("systemctl", "restart", "containerd.service"))
    assert UPDATES[path] in [command.argv for command in found.back]


def test_validity() -> None:
    found = certificates.validity(VALID + "text between\n" + EXPIRED)
    assert [(one.name, one.begins, one.ends) for one in found] == [
        ("corporate root", at(2020, 1), at(2120, 1)),
        ("expired root", at(2020, 1), at(2021, 1)),
    ]
    # The standard library does not describe it.
    assert certificates.validity(SERVER) == []


def test_what_is_not_a_certificate() -> None:
    with pytest.raises(ValueError) as error:
        certificates.validity("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
    assert str(error.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("certificate", "now", "names"),
    [
        (VALID, at(2026), []),
        (VALID, at(2119, 12, 20), ["corporate root"]),
        (VALID, at(2121), ["corporate root"]),
        (EXPIRED, at(2026), ["expired root"]),
        (NOT_YET, at(2026), ["future root"]),
        (SERVER, at(2026), []),
        (VALID + EXPIRED, at(2026), ["expired root"]),
        (VALID.replace("M", "N"), at(2026), ["certificate"]),
    ],
)
def test_expiry(kind: str, certificate: str, now: float, names: list[str]) -> None:
    mirrors = {"registry_mirrors": {"docker.io": {"url": "https://mirror.example.com", "ca": certificate}}}
    for plan in (typed_plan(kind, trust=certificate), typed_plan(kind, containerd=mirrors)):
        warnings = trust_store.expiry_warnings(plan, now)
        assert mentions(warnings, *names) and len(warnings) == len(names), warnings


def test_without_certificates_there_is_nothing_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "validity", lambda pem: pytest.fail("read"))
    assert trust_store.expiry_warnings(typed_plan("al2023"), at(2026)) == []
