# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd reports of units."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import systemd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import Result
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

SHOWN = """Id=containerd.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
MainPID=17

MainPID=0
Id=real-name.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
"""


def test_one_call_for_all_units_in_the_order_of_the_question(programs: Any) -> None:
    calls = programs("systemctl", f"cat <<'EOF'\n{SHOWN}EOF\n")
    found = systemd.read_units(["containerd.service", "alias.service", "containerd.service"])
    assert len(calls.read_text().splitlines()) == 1
    assert found["containerd.service"][:6] == ("containerd.service", "loaded", "active", "running", "enabled", 17)
    assert found["alias.service"].load == "not-found" and found["alias.service"].needs_enable
    assert systemd.read_units([]) == {}


def test_a_silent_systemd_is_refused(programs: Any, golden_message: GoldenMessages) -> None:
    programs("systemctl", "echo 'no bus' >&2; exit 1\n")
    with pytest.raises(ApplyRefused) as caught:
        systemd.read_units(["a.service"])
    golden_message(caught.value)


# Printed by systemd 252. The drop-ins set all commands but iptables and kubelet.
COMMANDS = r"""ExecStartPre={ path=/sbin/iptables ; argv[]=/sbin/iptables -P FORWARD ACCEPT -w 5 ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStartPre={ path=/bin/sh ; argv[]=/bin/sh -c sed -i "s/a b/c;d/" /etc/x.json; echo $$HOME kubelet.service "q\n" ; ignore_errors=yes ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStartPre={ path=/bin/sh ; argv[]=/bin/sh -c true ;     false || true ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStartPre={ path=/bin/sh ; argv[]=myname -c true ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
ExecStart={ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet $NODEADM_KUBELET_ARGS ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
FragmentPath=/etc/systemd/system/kubelet.service
DropInPaths=/etc/systemd/system/kubelet.service.d/50-a.conf /etc/systemd/system/kubelet.service.d/90-x.conf
"""  # noqa: E501


def test_the_commands_of_a_unit_with_their_files() -> None:
    found = systemd.read_commands("kubelet.service", lambda argv: Result(0, COMMANDS, ""))
    folder = "/etc/systemd/system/kubelet.service"
    assert found.files == (folder, f"{folder}.d/50-a.conf", f"{folder}.d/90-x.conf")
    assert found.commands == (
        ("ExecStartPre", "/sbin/iptables -P FORWARD ACCEPT -w 5"),
        ("ExecStartPre", '/bin/sh -c sed -i "s/a b/c;d/" /etc/x.json; echo $$HOME kubelet.service "q\\n"'),
        ("ExecStartPre", "/bin/sh -c true ;     false || true"),
        ("ExecStartPre", "myname -c true"),
        ("ExecStart", "/usr/bin/kubelet $NODEADM_KUBELET_ARGS"),
    )
    # systemd prints no command of a unit that it does not know, and succeeds.
    assert systemd.read_commands("gone.service", lambda argv: Result(0, "FragmentPath=\nDropInPaths=\n", "")) == ((), ())
    assert systemd.read_commands("kubelet.service", lambda argv: Result(1, "", "no bus")) == ((), ())
