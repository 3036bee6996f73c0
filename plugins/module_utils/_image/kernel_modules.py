# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installed kernels, and whether each has its modules. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from typing import Iterator, List

from . import tree
from .model import ERROR, WARNING, Finding, Machine, Rule

_KERNELS = "/boot/vmlinuz-*"
_MODULES = ("/lib/modules", "/usr/lib/modules")
_DKMS = "/var/lib/dkms"


def _kernels(machine: Machine) -> List[str]:
    """The versions of the installed kernels. A rescue kernel has the modules of another one."""
    names = [path.partition("vmlinuz-")[2] for path in tree.matches(machine.host, _KERNELS)]
    return [name for name in names if "rescue" not in name]


def _missing_modules(machine: Machine) -> Iterator[Finding]:
    for kernel in _kernels(machine):
        if not any(tree.has_content(machine.host, f"{directory}/{kernel}") for directory in _MODULES):
            message = f"kernel {kernel} has no modules, so containerd and kube-proxy do not work if it is booted"
            yield Finding(f"/boot/vmlinuz-{kernel}", message, "install the package with the modules of this kernel, or remove the kernel")


def _dkms(machine: Machine) -> Iterator[Finding]:
    for module in sorted({source.split("/")[-3] for source in tree.matches(machine.host, f"{_DKMS}/*/*/source")}):
        for kernel in _kernels(machine):
            # dkms makes this link when it installs the module for a kernel.
            if not tree.matches(machine.host, f"{_DKMS}/{module}/kernel-{kernel}-*"):
                message = f"the module {module} is not installed for kernel {kernel}, so its device does not work if this kernel is booted"
                fix = f"install the headers of the kernel, then run dkms autoinstall -k {kernel}"
                yield Finding(f"{_DKMS}/{module}", message, fix)


RULES = (
    Rule("image.kernel_modules", ERROR, _missing_modules),
    Rule("image.dkms_module", WARNING, _dkms),
)
