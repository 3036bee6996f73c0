# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults of live nodes, in groups that one run of the playbook handles in parallel."""

from __future__ import annotations

from .failing import ANOTHER_NAME, NOWHERE, Fault, another_authority, credential, groupless, no_such_names, plugin, tags, unknown_token
from .faulty_proxies import SilentServer, TcpProxy, TlsProxy

#: Minutes by which a wrong clock differs.
SKEW = 20

#: Faults on the way to the API server, and refusals of the API server.
ACCESS = {
    "wrong-authority": Fault(
        cause="wrong_certificate_authority",
        says=("{endpoint}", "/etc/kubernetes/pki/ca.crt", "aws eks describe-cluster --query cluster.certificateAuthority.data"),
        shown="x509: certificate signed by unknown authority",
        journal="x509: certificate signed by unknown authority",
        cluster={"certificate_authority": another_authority()},
    ),
    "wrong-endpoint": Fault(
        cause="wrong_endpoint",
        says=("other.example.com", "endpoint"),
        shown="x509: (certificate is valid for|cannot validate certificate)",
        journal="x509: (certificate is valid for|cannot validate certificate)",
        case="al2-static",
        proxy=lambda lab: TlsProxy(lab, names=("other.example.com",)),
    ),
    "wrong-cluster-by-tag": Fault(
        cause="wrong_cluster_name",
        says=("other", "demo"),
        shown="401|Unauthorized",
        journal="Unauthorized",
        cluster={"name": "other"},
        node={"imds": tags(**{"eks:cluster-name": "demo", "Name": "web"})},
    ),
    "wrong-cluster": Fault(
        cause="unauthorized",
        says=("its cluster is not named other", "the role node of account"),
        shown="401|Unauthorized",
        journal="Unauthorized",
        case="ubuntu-static",
        cluster={"name": "other"},
    ),
    "role-not-mapped": Fault(
        cause="unauthorized",
        says=("the role node of account", "demo", "nodebootstrap.eks.access"),
        shown="401|Unauthorized",
        journal="Unauthorized",
        case="al2-static",
        node={"imds": tags(**{"aws:eks:cluster-name": "demo"})},
        spoil=unknown_token,
    ),
    "role-without-groups": Fault(
        cause="not_a_node",
        says=("system:nodes",),
        shown="forbidden",
        journal="is forbidden",
        spoil=groupless,
    ),
    "another-name": Fault(
        cause="node_name_mismatch",
        says=(ANOTHER_NAME, "{node}"),
        shown="forbidden",
        journal="is forbidden|not allowed to modify node",
        # Its image takes the node's name from the metadata service.
        node={"imds": {"meta-data/hostname": ANOTHER_NAME, "meta-data/local-hostname": ANOTHER_NAME}},
    ),
    "endpoint-unknown": Fault(
        cause="endpoint_unknown",
        says=("{host}",),
        shown="no such host",
        journal="no such host",
        cluster={"endpoint": NOWHERE},
        spoil=no_such_names,
    ),
}

#: Faults on the node.
NODE = {
    "cgroup-driver": Fault(
        cause="cgroup_driver_mismatch",
        says=("cgroupfs", "systemd"),
        shown="cgroup",
        fields={"kubelet": {"config": {"cgroupDriver": "cgroupfs"}}},
    ),
    "token-expired": Fault(
        cause="token_expired",
        says=("the token of aws-iam-authenticator expired",),
        shown="401",
        journal="Unauthorized",
        case="al2-static",
        spoil=lambda node: plugin(node, credential("k8s-aws-v1.old", "2026-01-01T00:00:00Z")),
    ),
    "clock": Fault(
        cause="clock_skew",
        says=("clock",),
        shown="[Dd]ate",
        journal="Unauthorized",
        spoil=unknown_token,
        proxy=lambda lab: TlsProxy(lab, ahead=SKEW * 60),
    ),
    "clock-before-certificate": Fault(
        cause="clock_skew",
        says=("clock",),
        shown="not yet valid",
        journal="x509: certificate has expired or is not yet valid",
        case="ubuntu-static",
        proxy=lambda lab: TlsProxy(lab, valid=(3600, 7200), ahead=5400),
    ),
}

#: Faults that may go away: the play reports them at once, and waits.
WAITING = {
    "no-network-plugin": Fault(
        cause="no_network_plugin",
        says=("CNI",),
        shown="cni plugin not initialized",
        journal="Successfully registered node",
        final=False,
        node={"cni": False},
    ),
    "endpoint-refused": Fault(
        cause="endpoint_refused",
        says=("{endpoint}", "refuses"),
        shown="connection refused",
        journal="connection refused",
        case="al2-static",
        final=False,
        proxy=lambda lab: TcpProxy(lab, is_open=False),
    ),
    "endpoint-silent": Fault(
        cause="endpoint_silent",
        says=("{endpoint}",),
        shown="timed out|timeout|no answer",
        # kubelet itself logs nothing for half a minute.
        case="ubuntu-static",
        final=False,
        proxy=SilentServer,
    ),
    "credentials": Fault(
        cause="credentials_failed",
        says=("Unable to locate credentials", "status 253"),
        shown="aws",
        journal="exec: executable .* failed with exit code 253|getting credentials",
        final=False,
        spoil=lambda node: plugin(node, "echo 'Unable to locate credentials.' >&2; exit 253"),
    ),
}
