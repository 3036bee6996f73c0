# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of Amazon Linux 2 and Ubuntu share: a cluster, hostile values, and a boot of rendered user data in the laboratory."""

from __future__ import annotations

from typing import Any

from nodelab import BootstrapNode

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
ENDPOINT = "https://ABC.gr7.eu-central-1.eks.amazonaws.com"
CLUSTER = {
    "name": "demo",
    "endpoint": ENDPOINT,
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "region": "eu-central-1",
    "kubernetes_version": "1.30",
}
IPV6_CLUSTER = CLUSTER | {"service_cidr": "fd40:6404:f93b::/108"}
DROP_IN = "/etc/kubernetes/kubelet/config.json.d/50-nodebootstrap.conf"
CONFIG_DIR = "--config-dir=/etc/kubernetes/kubelet/config.json.d"

_HOSTILE = [
    "%b", "%%", "%%b", "100%", "%n%i", "$HOME", "${HOME}", "$(id)", "`id`", "a'b", 'a"b', "'", '"', "a\\b", "\\", "\\n", "a b", "  ",
    "a  b", " lead", "trail ", ";", "; id", "&& id", "|", "#", "# c", "a#b", "=", "a=b=c", "-", "--x=y", "*", "?", "[a-z]", "{a,b}", "~",
    "!", "!!", "<5%", ">x", "(", ")", "é", "日本語", "😀", "\u00a0", "a,b", "&", "a&b", "k=v:NoSchedule", '{"a":1}', "E", "EOF", "a" * 3000,
    "CLUSTER_NAME", "SANDBOX_IMAGE", "MASTER_ENDPOINT", "{instance_id}", "{instance_lifecycle}",
]  # fmt: skip
#: Each is something to bash, systemd, snapd or the image's script. As headers, which kubelet reads as name and value.
HOSTILE = ["h:" + value.replace(",", ",h:") for value in _HOSTILE]
#: A list flag whose values may hold any text: one start of kubelet tries all.
LIST_FLAG = "manifest-url-header"


def text(family: str, cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render(cluster or CLUSTER, {"family": family, **fields}).document.text


def boot(node: BootstrapNode, cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Run the user data; the record of the one start of kubelet."""
    done = node.run_user_data(text(node.family, cluster, **fields))
    assert done.returncode == 0, done.stderr.decode() + node.journal()[-3000:]
    [start] = node.kubelet_records()
    return start


def accepted(family: str, **fields: Any) -> list[str]:
    """Those hostile values that the family does not refuse as values of a flag."""
    kept = []
    for value in HOSTILE:
        try:
            text(family, kubelet={"flags": {LIST_FLAG: [value]}}, **fields)
        except SpecError:
            continue
        kept.append(value)
    return kept


STATIC: dict[str, Any] = {"strategy": "static", "max_pods": 29, "instance": {"type": "m5.large"}}
PAUSE = "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.10"
