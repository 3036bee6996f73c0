# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How os-release is read."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import read_os_release
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine


def test_os_release_is_read_as_shells_read_it(tmp_path: Path) -> None:
    text = '# comment\nNAME="Amazon Linux"\nID=\'amzn\'\nVERSION_ID=2\nBROKEN="x\nnothing\n'
    found = read_os_release(machine(tmp_path, {"/usr/lib/os-release": text}))
    assert (found["NAME"], found["ID"], found["VERSION_ID"], found["BROKEN"]) == ("Amazon Linux", "amzn", "2", '"x')
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").symlink_to("../usr/lib/os-release")
    assert read_os_release(machine(tmp_path, {}))["ID"] == "amzn"
    assert read_os_release(machine(tmp_path / "none", {})) == {}
