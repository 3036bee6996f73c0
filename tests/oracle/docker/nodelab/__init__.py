# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test nodes: real systemd, bash and cloud-init in Docker containers, with stand-ins for programs and services of EC2 and the images.

Rendered scripts run only here. Write a test like this (fixtures come from tests/oracle/conftest.py):

    def test_it_joins(al2_node):
        done = al2_node.run_user_data(text)                 # bash runs it, as root
        assert done.returncode == 0, done.stderr.decode()
        assert al2_node.bootstrap_calls() == [["my-cluster", "--apiserver-endpoint", …]]
        assert al2_node.extra_args() == ["--node-labels=a=b"]       # one start of kubelet, words after the image's own
        [start] = al2_node.kubelet_records()                # argv, environment, files ({path: text} of --config, --config-dir …)

    def test_parts(cloud_init):
        result = cloud_init.run(user_data)                  # real cloud-init, about a second
        assert result.errors == []
        assert result.ran("bootcmd", "write-files", "script 10-pre.sh", "script 20-join.sh") == […]
        assert cloud_init.read("/etc/x") == b"…" and cloud_init.stat("/etc/x") == ("0600", "root:root")

    def test_boot():
        with boot(Al2023Node, user_data) as (node, result): # a fresh machine, cloud-init as part of the boot
            phases = node.records("nodeadm")                # argv, user_data, drop_ins, cloud_init_done, monotonic

Fixtures: `al2_node`, `ubuntu_node`, `cloud_init` (bookworm) and `cloud_init_new` (trixie's cloud-init); one container each for the
whole session, reset to its baseline before every test. `run(al2_node, user_data)` from this
package runs real cloud-init on an Amazon Linux 2 node: MIME to kubelet in one go. Several cases inside one test: call `node.reset()`
between them.

Node              start(suite=, files={path: content | (content, mode)}, cloud_init=, containerd=, ssh_key=, name=) ·
                  exec(argv, input) → CompletedProcess[bytes] · read · write · exists · stat · journal(unit) · property(unit, name) ·
                  starts(unit) (systemd's own count) · records(program) · imds_requests() · baseline · reset · stop · wait_boot
Al2Node           + run_user_data · bootstrap_calls · bootstrap_environments · kubelet_starts · kubelet_records · kubelet_config ·
                  extra_args
UbuntuNode        the same, + snap_calls · snap_settings
Al2023Node        nodeadm-boot-hook → nodeadm-config → cloud-init → nodeadm-run → containerd and kubelet
CloudInitNode     run(user_data, meta_data, vendor_data) → CloudInitResult

The stand-ins describe themselves in their files below rootfs/opt/nodelab: bootstrap.sh of both families, snap, kubelet, nodeadm,
the metadata service (version 2 at 169.254.169.254). `setup-local-disks`, `mount-bpf-fs`, `aws-iam-authenticator`, `iptables` and `aws`
record their calls; `aws` then fails, as on a node without credentials. A test configures them with files, which `reset` removes:
/etc/nodelab/imds.json and /etc/nodelab/user-data (what the metadata service answers), /etc/nodelab/vcpus (the number of CPUs),
/etc/nodelab/kubelet-healthy (kubelet answers on 127.0.0.1:10248/healthz). containerd and runc are real, but the unit that starts is a
stand-in unless a node is started with `containerd=True`. `extra_args` is for a node that bootstrap.sh configured; if
user data writes kubelet's unit itself, use `kubelet_starts`.

Differences from the images, which cannot be tested here: systemd is Debian's (252 and 257; Amazon Linux 2 has 219), bash is 5.2
(Amazon Linux 2 has 4.2), there is no real kubelet, and cgroups have no controllers.

The machine needs Docker: root installs and starts it (`sudo python3 tests/oracle/docker/nodelab up`), other users get a `HarnessError`.
Images are made from Debian packages (DEBIAN_MIRROR sets another mirror) and rebuilt when their recipe changes. The suite
`images.HARDENED` is bookworm after a remediation by OpenSCAP. A run labels its containers
with its ID and removes them at its end; the next run removes those of runs that were killed. Other containers, even of the same images,
are never removed.
"""

from __future__ import annotations

from .cloudinit import CloudInitNode, CloudInitResult, boot, run
from .engine import HarnessError
from .families import Al2Node, Al2023Node, BootstrapNode, UbuntuNode
from .node import Node

__all__ = [
    "Al2Node",
    "Al2023Node",
    "BootstrapNode",
    "CloudInitNode",
    "CloudInitResult",
    "HarnessError",
    "Node",
    "UbuntuNode",
    "boot",
    "run",
]
