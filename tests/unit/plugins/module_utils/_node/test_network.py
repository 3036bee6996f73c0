# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The addresses and listening processes of a machine, from recorded files of /proc, and from those of this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import network
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import MAX_FILE_BYTES, Host

FIB_TRIE = """Main:
  +-- 0.0.0.0/0 3 0 4
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.0.0.0/24 2 0 2
        |-- 10.0.0.0
           /24 link UNICAST
        |-- 10.0.0.255
           /32 link BROADCAST
Local:
     +-- 10.0.0.0/24 2 0 2
        |-- 10.0.0.5
           /32 host LOCAL
        |-- 10.0.0.6
           /31 link UNICAST
           /32 host LOCAL
        |-- 10.0.0.255
           /32 link BROADCAST
"""
IF_INET6 = "fd000000000000000000000000000005 02 40 00 80     eth0\n00000000000000000000000000000001 01 80 10 80       lo\n"
TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:280A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 0100007F:280A 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0
"""


def machine(root: Path) -> Host:
    net, process = root / "proc/net", root / "proc/812"
    net.mkdir(parents=True)
    (net / "fib_trie").write_text(FIB_TRIE)
    (net / "if_inet6").write_text(IF_INET6)
    (net / "tcp").write_text(TCP)
    (process / "fd").mkdir(parents=True)
    (process / "comm").write_text("python3\n")
    (process / "cgroup").write_text("1:name=systemd:/system.slice/web.service\n")
    os.symlink("/dev/null", process / "fd/0")
    os.symlink("socket:[4711]", process / "fd/3")
    (root / "proc/813/fd").mkdir(parents=True)
    os.symlink("socket:[4712]", root / "proc/813/fd/3")
    return Host(root=str(root))


def test_addresses(tmp_path: Path) -> None:
    assert network.addresses(machine(tmp_path)) == {"10.0.0.5", "10.0.0.6", "fd00::5", "::1"}
    assert network.addresses(Host(root=str(tmp_path / "none"))) is None
    (tmp_path / "proc/net/fib_trie").write_text(FIB_TRIE + " " * MAX_FILE_BYTES)
    assert network.addresses(Host(root=str(tmp_path))) is None, "the rest of a long table is cut off"


def test_the_process_that_listens_on_a_port(tmp_path: Path) -> None:
    host = machine(tmp_path)
    assert network.listeners(host, 10250) == ["python3 (pid 812, web.service)"]
    assert network.listeners(host, 10248) == []
    (tmp_path / "proc/812/cgroup").unlink()
    assert network.listeners(host, 10250) == ["python3 (pid 812)"]


def test_this_machine() -> None:
    known = network.addresses(Host())
    assert known is not None and "127.0.0.1" in known
    with socket.create_server(("127.0.0.1", 0)) as server:
        [owner] = network.listeners(Host(), server.getsockname()[1])
        assert f"(pid {os.getpid()}" in owner
