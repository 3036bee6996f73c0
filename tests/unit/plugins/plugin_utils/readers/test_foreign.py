# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data as other tools render it, in own words: what is read, and whether a second rendering keeps the meaning."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
ENDPOINT = "https://abc.gr7.eu-west-1.eks.amazonaws.com"
FACTS = {"name": "shop", "endpoint": ENDPOINT, "certificate_authority": CA}
NODE_CONFIG = f"""\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: shop
    apiServerEndpoint: {ENDPOINT}
    certificateAuthority: {CA}
    cidr: 10.100.0.0/16
"""


@dataclass(frozen=True)
class Foreign:
    """A document of another tool, and what it says. lost: the texts that are not understood. lacks: facts of the cluster it lacks."""

    text: str
    family: str | None
    cluster: dict[str, Any]
    node_group: dict[str, Any]
    lost: tuple[str, ...] = ()
    lacks: dict[str, Any] = field(default_factory=dict)


def multipart(boundary: str, *parts: tuple[str, str]) -> str:
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{boundary}"\n'
    return head + "".join(f"\n--{boundary}\nContent-Type: {kind}\n\n{body}" for kind, body in parts) + f"\n--{boundary}--\n"


AL2023_OF_EKSCTL = Foreign(
    multipart(
        "7f3c1e5a9b",
        (
            "application/node.eks.aws",
            NODE_CONFIG
            + "  kubelet:\n    config:\n      maxPods: 58\n      clusterDNS: [10.100.0.10]\n"
            + "    flags:\n    - --node-labels=team=web,tier=front\n    - --register-with-taints=dedicated=web:NoSchedule\n",
        ),
    ),
    "al2023",
    FACTS | {"service_cidr": "10.100.0.0/16"},
    {
        "family": "al2023",
        "labels": {"team": "web", "tier": "front"},
        "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
        "max_pods": 58,
    },
)
AL2023_OF_TERRAFORM = Foreign(
    multipart(
        "MIMEBOUNDARY",
        ("application/node.eks.aws; charset=us-ascii", NODE_CONFIG),
        ("text/x-shellscript", "#!/bin/bash\nsysctl -w vm.max_map_count=262144\n"),
        (
            "application/node.eks.aws",
            "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      podPidsLimit: 900\n"
            "      kubeReserved: {cpu: 100m}\n    flags: ['--v=3 --max-pods=9']\n  instance: {localStorage: {strategy: RAID0}}\n",
        ),
    ),
    "al2023",
    FACTS | {"service_cidr": "10.100.0.0/16"},
    {
        "family": "al2023",
        "reserved": {"kube": {"cpu": "100m"}},
        "kubelet": {"config": {"podPidsLimit": 900}},
        "local_storage": {"strategy": "raid0"},
        "nodeadm": {"kubelet": {"flags": ["--v=3 --max-pods=9"]}},
        "user_data": ["#!/bin/bash\nsysctl -w vm.max_map_count=262144\n"],
    },
    lost=("'--v=3 --max-pods=9'",),
)
AL2023_WITH_A_MISSPELLING = Foreign(
    base64.b64encode((NODE_CONFIG + "  kubelet:\n    config:\n      maxPodz: 5\n  kublet: {}\n").encode()).decode(),
    "al2023",
    FACTS | {"service_cidr": "10.100.0.0/16"},
    {"family": "al2023", "kubelet": {"config": {"maxPodz": 5}}},
    lost=("kublet", "5"),
)
KEPT_AS_MIME = multipart("=_", ("text/x-shellscript; charset=us-ascii", "#!/bin/bash\nyum install -y nfs-utils\n"))
AL2_OF_EKS = Foreign(
    multipart(
        "//",
        ("text/x-shellscript; charset=us-ascii", "#!/bin/bash\nyum install -y nfs-utils\n"),
        (
            "text/x-shellscript; charset=us-ascii",
            f"#!/bin/bash\nset -ex\n/etc/eks/bootstrap.sh shop --kubelet-extra-args '--node-labels=a=b,c=d --max-pods=29' "
            f"--b64-cluster-ca {CA} --apiserver-endpoint {ENDPOINT} \\\n  --dns-cluster-ip 172.20.0.10 --use-max-pods false\n",
        ),
    ),
    "al2",
    FACTS | {"dns_ips": ["172.20.0.10"]},
    {
        "family": "al2",
        "labels": {"a": "b", "c": "d"},
        "max_pods": 29,
        "user_data": [KEPT_AS_MIME],
    },
)
AL2_BY_HAND = Foreign(
    "#!/bin/bash\nset -euo pipefail\namazon-linux-extras enable lustre\n"
    "/etc/eks/bootstrap.sh shop --docker-config-json '{}' --kubelet-extra-args '--v=2'\necho done > /var/log/joined\n",
    "al2",
    {"name": "shop"},
    {
        "family": "al2",
        "kubelet": {"flags": {"v": "2"}},
        "commands": {"pre": ["set -euo pipefail\namazon-linux-extras enable lustre\n"], "post": ["echo done > /var/log/joined\n"]},
    },
    lost=("--docker-config-json {}",),
    lacks=FACTS | {"service_cidr": "10.100.0.0/16"},
)
AL2_CONDITIONAL = Foreign(
    "#!/bin/bash\nif [ -e /etc/eks/bootstrap.sh ]; then\n  /etc/eks/bootstrap.sh shop\nfi\n",
    None,
    {},
    {},
    lost=("#!/bin/bash\nif [ -e /etc/eks/bootstrap.sh ]; then\n  /etc/eks/bootstrap.sh shop\nfi\n", "/etc/eks/bootstrap.sh shop"),
)
IN_BRACES = "#!/bin/bash\nset -e\n{\n  echo one\n  /etc/eks/bootstrap.sh shop\n} > /var/log/boot.log\n"
AL2_IN_BRACES = Foreign(IN_BRACES, None, {"name": "shop"}, {}, lost=(IN_BRACES,))
AL2_WITH_AN_UNKNOWN_VALUE = Foreign(
    '#!/bin/bash\nset -e\n/etc/eks/bootstrap.sh shop --b64-cluster-ca "$(cat /etc/ca)" \\\n'
    '  --kubelet-extra-args "--node-labels=zone=$(zone) --max-pods=20"\n',
    None,
    {"name": "shop"},
    {"max_pods": 20},
    lost=('"$(cat /etc/ca)"', '"--node-labels=zone=$(zone) --max-pods=20"'),
)
AL2_WITH_VARIABLES_ABOVE_THE_CALL = Foreign(
    f"#!/bin/bash\nset -ex\nB64_CLUSTER_CA={CA}\nAPI_SERVER_URL={ENDPOINT}\nK8S_CLUSTER_DNS_IP=172.20.0.10\n"
    "/etc/eks/bootstrap.sh shop --kubelet-extra-args '--node-labels=team=a --max-pods=29' --b64-cluster-ca $B64_CLUSTER_CA "
    "--apiserver-endpoint $API_SERVER_URL --dns-cluster-ip $K8S_CLUSTER_DNS_IP --use-max-pods false --local-disks raid0\n",
    "al2",
    FACTS | {"dns_ips": ["172.20.0.10"]},
    {"family": "al2", "labels": {"team": "a"}, "max_pods": 29, "local_storage": {"strategy": "raid0"}},
)
AL2_WITH_VARIABLES_FOR_LATER_COMMANDS = Foreign(
    "#!/bin/bash\nNAME=shop\n/etc/eks/bootstrap.sh $NAME --local-disks raid0\necho joined $NAME > /var/log/joined\n",
    "al2",
    {"name": "shop"},
    {
        "family": "al2",
        "local_storage": {"strategy": "raid0"},
        "commands": {"post": ["NAME=shop\necho joined $NAME > /var/log/joined\n"]},
    },
    lacks=FACTS | {"service_cidr": "10.100.0.0/16", "dns_ips": ["10.100.0.10"]},
)
OF_TERRAFORM = f"""#!/bin/bash
set -e
cat <<'EOF' > /etc/motd
run /etc/eks/bootstrap.sh "by hand" $HOME
EOF
URL={ENDPOINT}
NAME=shop
"""
CALL_OF_TERRAFORM = (
    f'/etc/eks/bootstrap.sh --kubelet-extra-args "--node-labels=team=a --register-with-taints=gpu=\\"true\\":NoSchedule" '
    f"--b64-cluster-ca {CA} --apiserver-endpoint $URL $NAME || logger failed"
)
AL2_OF_TERRAFORM = Foreign(
    f"{OF_TERRAFORM}{CALL_OF_TERRAFORM}\n",
    None,
    FACTS,
    {"commands": {"pre": [OF_TERRAFORM.removeprefix("#!/bin/bash\n")]}},
    lost=('"--node-labels=team=a --register-with-taints=gpu=\\"true\\":NoSchedule"', CALL_OF_TERRAFORM),
)
WITH_A_FUNCTION = f"""#!/bin/bash
exec > >(tee /var/log/user-data.log) 2>&1
ARGS=(--b64-cluster-ca {CA})
EXTRA="--node-labels=team=a"
EXTRA+=" --max-pods=20"
join() {{
  sudo -E /etc/eks/bootstrap.sh shop "${{ARGS[@]}}" --apiserver-endpoint {ENDPOINT} --kubelet-extra-args "$EXTRA"
}}
join
"""
AL2_WITH_A_FUNCTION = Foreign(WITH_A_FUNCTION, None, FACTS, {"labels": {"team": "a"}, "max_pods": 20}, lost=(WITH_A_FUNCTION,))
EDIT = "sed -i 's/^set -o errexit/&\\nsource \\/etc\\/profile.d\\/bootstrap.sh/' /etc/eks/bootstrap.sh"
WITHOUT_A_CALL = (
    f"#!/bin/bash\ncat > /etc/profile.d/bootstrap.sh <<'X'\nexport USE_MAX_PODS=false\nX\n{EDIT}\nexport KUBELET_EXTRA_ARGS=--v=3\n"
)
AL2_WITHOUT_A_CALL = Foreign(WITHOUT_A_CALL, None, {}, {"user_data": [WITHOUT_A_CALL]}, lost=(EDIT, "KUBELET_EXTRA_ARGS=--v=3"))
EXPORT = "export USE_MAX_PODS=false KUBELET_EXTRA_ARGS=--max-pods=20\n"
AL2_WITH_EXPORTS = Foreign(
    f"#!/bin/bash\n{EXPORT}API_RETRY_ATTEMPTS=5 /etc/eks/bootstrap.sh shop\n",
    None,
    {"name": "shop"},
    {"commands": {"pre": [f"set +e\n{EXPORT}:\n"]}},
    lost=("USE_MAX_PODS=false", "KUBELET_EXTRA_ARGS=--max-pods=20", "API_RETRY_ATTEMPTS=5 /etc/eks/bootstrap.sh shop"),
)
EVIL = """#!/bin/bash
if false; then /etc/eks/bootstrap.sh dead; fi
eval "/etc/eks/bootstrap.sh inside"
NAME=shop
/etc/eks/bootstrap.sh "${NAME^^}" --dns-cluster-ip 10.0.0.10
"""
AL2_WITH_CALLS_THAT_MAY_NOT_RUN = Foreign(
    EVIL,
    None,
    {"name": "SHOP", "dns_ips": ["10.0.0.10"]},
    {},
    lost=("/etc/eks/bootstrap.sh dead; fi", '"/etc/eks/bootstrap.sh inside"', EVIL),
)
CLOUD_CONFIG_OF_CLUSTER_API = Foreign(
    "#cloud-config\nwrite_files:\n- {path: /etc/motd, content: hi}\nruncmd:\n- [echo, before it]\n"
    "- /etc/eks/bootstrap.sh shop --use-max-pods false --local-disks raid0\n- echo after it\n",
    "al2",
    {"name": "shop"},
    {
        "family": "al2",
        "max_pods": 110,
        "local_storage": {"strategy": "raid0"},
        "user_data": ["#cloud-config\nwrite_files:\n- content: hi\n  path: /etc/motd\n"],
        "commands": {"pre": ["set +e\necho 'before it'\n:\n"], "post": ["echo after it\n"]},
    },
    lacks=FACTS | {"service_cidr": "10.100.0.0/16", "dns_ips": ["10.100.0.10"]},
)
RUNCMD_WITH_A_CONDITION = "#cloud-config\nruncmd:\n- test -e /x && /etc/eks/bootstrap.sh shop\n"
CLOUD_CONFIG_WITH_A_CONDITION = Foreign(
    RUNCMD_WITH_A_CONDITION,
    None,
    {},
    {},
    lost=("#!/bin/sh\ntest -e /x && /etc/eks/bootstrap.sh shop\n", "/etc/eks/bootstrap.sh shop"),
)
BOTTLEROCKET = Foreign(
    f'[settings.kubernetes]\ncluster-name = "shop"\napi-server = "{ENDPOINT}"\ncluster-certificate = "{CA}"\n'
    'cluster-dns-ip = "10.100.0.10"\n'
    '[settings.kubernetes.node-taints]\ngpu = "true:NoSchedule"\n[settings.host-containers.admin]\nenabled = true\n',
    "bottlerocket",
    FACTS | {"dns_ips": ["10.100.0.10"]},
    {
        "family": "bottlerocket",
        "taints": [{"key": "gpu", "value": "true", "effect": "NoSchedule"}],
        "bottlerocket": {"settings": {"host-containers": {"admin": {"enabled": True}}}},
    },
)
BOTTLEROCKET_OF_A_MANAGED_GROUP = Foreign(
    "[settings.motd]\nx = 1\n[other]\ny = 2\n",
    "bottlerocket",
    {},
    {"family": "bottlerocket", "mode": "managed", "bottlerocket": {"settings": {"motd": {"x": 1}}}},
    lost=("[other]",),
)
WINDOWS = Foreign(
    '<powershell>\n[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"\n'
    f'& $EKSBootstrapScriptFile -EKSClusterName shop -APIServerEndpoint {ENDPOINT} -Base64ClusterCA "{CA}" '
    "-DNSClusterIP 10.100.0.10 -KubeletExtraArgs '--node-labels=os=win' 3>&1 4>&1 5>&1 6>&1\nWrite-Host joined\n</powershell>\n",
    "windows",
    FACTS | {"dns_ips": ["10.100.0.10"]},
    {"family": "windows", "labels": {"os": "win"}, "commands": {"post": [{"run": "Write-Host joined\n"}]}},
    lacks={"service_cidr": "10.100.0.0/16", "dns_ips": ["10.100.0.10"]},
)

DOCUMENTS = {name.lower().replace("_", " "): value for name, value in list(globals().items()) if isinstance(value, Foreign)}


@pytest.mark.parametrize("given", DOCUMENTS.values(), ids=DOCUMENTS)
def test_what_other_tools_render_is_read(given: Foreign) -> None:
    found = read(given.text)
    assert (found.family, found.cluster, found.node_group) == (given.family, given.cluster, given.node_group)
    assert tuple(item.text for item in found.not_understood) == given.lost
    for item in found.not_understood:
        text = found.document if item.place.part is None else found.parts[item.place.part].text
        assert text.split("\n")[item.place.line - 1]


RENDERED = {name: given for name, given in DOCUMENTS.items() if not given.lost and given.family}


@pytest.mark.parametrize("given", RENDERED.values(), ids=RENDERED)
def test_what_was_read_means_the_same_after_rendering(given: Foreign) -> None:
    first = read(given.text)
    spec, family = resolve(given.lacks | dict(first.cluster) | {"kubernetes_version": "1.32"}, dict(first.node_group))
    again = read(family.user_data(spec).text, first.family)
    assert (again.family, {**again.cluster, **given.lacks}) == (first.family, {**first.cluster, **given.lacks})
    facts = given.lacks | dict(again.cluster) | {"kubernetes_version": "1.32"}
    again_spec, again_family = resolve(facts, dict(again.node_group))
    assert again_family.user_data(again_spec).text == family.user_data(spec).text


@pytest.mark.parametrize("prefix", ["! ", "timeout 300 ", "sudo timeout -k 9 300 ", "sudo -u ec2-user ", "sudo --user=ec2-user "])
def test_what_changes_the_result_of_a_call_is_not_lost(prefix: str) -> None:
    call = "/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=9'"
    found = read(f"#!/bin/bash\n{prefix}{call}\n", "al2")
    assert found.node_group["max_pods"] == 9
    (item,) = found.not_understood
    assert call in item.text and item.place.line == 2


def test_commands_behind_exec_never_run() -> None:
    found = read("#!/bin/bash\nexec /etc/eks/bootstrap.sh demo\necho after\n", "al2")
    assert "commands" not in found.node_group
    (item,) = found.not_understood
    assert item.place.line == 3 and item.effect == "ignored"
    assert read("#!/bin/bash\nexec sudo -u root /etc/eks/bootstrap.sh demo\n", "al2").not_understood == ()
