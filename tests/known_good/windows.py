# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid user data of Windows: PowerShell with a call of EKS's script."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.nodebootstrap.eks.tests.known_good.model import CA, DNS, ENDPOINT, KnownGood, base64_of

EKSCTL = "https://github.com/eksctl-io/eksctl/blob/main/pkg/nodebootstrap/windows_test.go"
TERRAFORM = "https://github.com/terraform-aws-modules/terraform-aws-eks/blob"
KARPENTER = "https://github.com/aws/karpenter-provider-aws/blob/main/pkg/providers/launchtemplate/testdata"
AWS_DOCS = "https://docs.aws.amazon.com/eks/latest/userguide"

_FILE = r'[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"'
_BY_NAME = (
    r'[string]$EKSBinDir = "$env:ProgramFiles\Amazon\EKS"',
    "[string]$EKSBootstrapScriptName = 'Start-EKSBootstrap.ps1'",
    r'[string]$EKSBootstrapScriptFile = "$EKSBinDir\$EKSBootstrapScriptName"',
)
_STREAMS = "3>&1 4>&1 5>&1 6>&1"
_RESULT = "$LastError = if ($?) { 0 } else { $Error[0].Exception.HResult }"
_SIGNAL = r'[string]$cfn_signal = "$env:ProgramFiles\Amazon\cfn-bootstrap\cfn-signal.exe"'
_SEND = '& $cfn_signal --exit-code=$LastError `\n  --stack="shop-nodes" `\n  --resource="NodeGroup" `\n  --region=eu-west-1'


def _powershell(*lines: str) -> str:
    return "\n".join(["<powershell>", *lines, "</powershell>", ""])


def _call(*words: str, facts: str = "double") -> str:
    """A call. facts: the quotes around what is known of the cluster, or none of it but the name."""
    mark = {"double": '"', "single": "'", "bare": "", "name": ""}[facts]
    named = [f"-EKSClusterName {mark}shop{mark}"]
    if facts != "name":
        named += [f"-APIServerEndpoint {mark}{ENDPOINT}{mark}", f"-Base64ClusterCA {mark}{CA}{mark}"]
    return " ".join(["& $EKSBootstrapScriptFile", *named, *words])


def _rows() -> Iterable[tuple[str, str, str, str, tuple[int, int] | None]]:
    """Name, tool, text, example and version."""
    args = '-KubeletExtraArgs "--node-labels= --register-with-taints="'
    labels = '-KubeletExtraArgs "--node-labels=team=web --register-with-taints=os=windows:NoSchedule"'
    yield "standard", "eksctl", _powershell(_FILE, _call(args, _STREAMS)), EKSCTL, None
    yield "labels and taints", "eksctl", _powershell(_FILE, _call(labels, _STREAMS)), EKSCTL, None
    yield (
        "max pods",
        "eksctl",
        _powershell(_FILE, _call('-KubeletExtraArgs "--node-labels= --register-with-taints= --max-pods=100"', _STREAMS)),
        EKSCTL,
        None,
    )
    yield (
        "command",
        "eksctl",
        _powershell(_FILE, "wget -UseBasicParsing -O agent.msi https://s3.example.com/agent.msi", _call(args, _STREAMS)),
        EKSCTL,
        None,
    )
    yield (
        "commands",
        "eksctl",
        _powershell(
            _FILE,
            "wget -UseBasicParsing -O agent.msi https://s3.example.com/agent.msi",
            'start /wait msiexec.exe /qb /i "agent.msi"',
            _call(args, _STREAMS),
        ),
        EKSCTL,
        None,
    )
    yield "containerd", "eksctl", _powershell(_FILE, _call('-ContainerRuntime "containerd"', args, _STREAMS)), EKSCTL, None
    yield (
        "DNS",
        "eksctl",
        _powershell(_FILE, _call(f'-DNSClusterIP "{DNS}"', '-ContainerRuntime "containerd"', args, _STREAMS)),
        EKSCTL,
        None,
    )
    yield "encoded", "eksctl", base64_of(_powershell(_FILE, _call(f'-DNSClusterIP "{DNS}"', labels, _STREAMS))), EKSCTL, None

    yield (
        "v18",
        "terraform-aws-eks",
        _powershell("Write-Host before", *_BY_NAME, _call(_STREAMS, facts="bare"), _RESULT),
        f"{TERRAFORM}/v18.31.2/templates/windows_user_data.tpl",
        None,
    )
    yield (
        "self managed",
        "terraform-aws-eks",
        _powershell(
            "[string]$Zone = 'a'",
            *_BY_NAME,
            _call("-KubeletExtraArgs --node-labels=node.kubernetes.io/lifecycle=spot", _STREAMS, facts="bare"),
            _RESULT,
            "[string]$Zone = 'b'",
        ),
        f"{TERRAFORM}/v20.37.2/tests/user-data/rendered/windows/self-mng-bootstrap.ps1",
        None,
    )
    yield (
        "v17",
        "terraform-aws-eks",
        _powershell("", *_BY_NAME, _SIGNAL, _call("-KubeletExtraArgs '--node-labels=team=web'", _STREAMS, facts="name"), _RESULT),
        f"{TERRAFORM}/v17.24.0/templates/userdata_windows.tpl",
        None,
    )
    yield (
        "managed additions",
        "terraform-aws-eks",
        _powershell("[string]$Zone = 'a'"),
        f"{TERRAFORM}/v20.37.2/tests/user-data/rendered/windows/eks-mng-additional.ps1",
        None,
    )

    pool = '--node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=web"'
    unregistered = '--register-with-taints="karpenter.sh/unregistered:NoExecute"'
    yield (
        "unmerged",
        "karpenter",
        _powershell(_FILE, _call(f"-KubeletExtraArgs '{pool} {unregistered} --max-pods=110'", f"-DNSClusterIP '{DNS}'", facts="single")),
        f"{KARPENTER}/windows_userdata_unmerged.golden",
        None,
    )
    yield (
        "merged",
        "karpenter",
        _powershell(
            'Write-Host "before"',
            'Write-Host "more"',
            _FILE,
            _call(f"-KubeletExtraArgs '{pool} --max-pods=110'", f"-DNSClusterIP '{DNS}'", facts="single"),
        ),
        f"{KARPENTER}/windows_userdata_merged.golden",
        None,
    )
    yield (
        "reservations",
        "karpenter",
        _powershell(
            _FILE,
            _call(
                f'-KubeletExtraArgs \'{pool} --kube-reserved="cpu=80m,memory=893Mi" --eviction-hard="memory.available<500Mi"\'',
                facts="single",
            ),
        ),
        "https://github.com/aws/karpenter-provider-aws/blob/main/pkg/providers/amifamily/bootstrap/windows.go",
        None,
    )
    yield "input", "karpenter", _powershell('Write-Host "before"'), "https://karpenter.sh/docs/concepts/nodeclasses/#windows20192022", None

    yield (
        "stack",
        "cloudformation",
        _powershell(*_BY_NAME, _SIGNAL, _call(_STREAMS, facts="name"), _RESULT, _SEND),
        "https://github.com/awslabs/amazon-eks-ami/blob/al2/amazon-eks-windows-nodegroup.yaml",
        None,
    )
    yield (
        "arguments",
        "cloudformation",
        _powershell(
            *_BY_NAME,
            _SIGNAL,
            _call("-KubeletExtraArgs '--node-labels=team=web'", '-ServiceCIDR "10.100.0.0/16"', _STREAMS, facts="name"),
            _RESULT,
            _SEND,
        ),
        f"{AWS_DOCS}/launch-windows-workers.html",
        None,
    )
    yield (
        "disk",
        "eks-blueprints",
        _powershell(
            "",
            *_BY_NAME,
            _call("-KubeletExtraArgs '--node-labels=a=b'", _STREAMS, facts="name"),
            _RESULT,
            "$disk = Get-Disk | Where-Object PartitionStyle -Match RAW",
            "if ($disk -ne $null) {",
            '  $style = "MBR"',
            "  if ($disk.Size -gt 2199023255552) {",
            '    $style = "GPT"',
            "  }",
            "  Initialize-Disk -Number $disk.Number -PartitionStyle $style",
            "  New-Partition -DiskNumber $disk.Number -UseMaximumSize -AssignDriveLetter | Format-Volume -FileSystem NTFS",
            "}",
        ),
        "https://github.com/aws-ia/terraform-aws-eks-blueprints/blob/v4.32.1/modules/aws-eks-self-managed-node-groups/templates/userdata-windows.tpl",
        None,
    )
    yield (
        "name only",
        "hand-written",
        _powershell(*_BY_NAME, _SIGNAL, _call("", _STREAMS, facts="name")),
        "https://github.com/ryecarrigan/terraform-cloudbees-ci/blob/main/eks/roots/cluster_setup/windows_user_data.tpl",
        None,
    )
    yield (
        "workers",
        "cloudposse",
        _powershell(
            _FILE,
            "",
            "Write-Host before",
            "",
            _call('-KubeletExtraArgs "--node-labels=team=web"', _STREAMS),
            _RESULT,
            "",
            "Write-Host after",
        ),
        "https://github.com/cloudposse/terraform-aws-eks-node-group/blob/main/userdata_windows.tpl",
        None,
    )
    yield (
        "persist",
        "aws-docs",
        _powershell(_FILE, _call(_STREAMS)) + "<persist>true</persist>\n",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html",
        None,
    )
    yield (
        "CSI proxy",
        "hand-written",
        _powershell(
            "New-Item -ItemType Directory -Force -Path C:\\etc\\kubernetes | Out-Null",
            "Stop-Service -Name csiproxy -ErrorAction SilentlyContinue",
            _FILE,
            _call(f"-DNSClusterIP {DNS}", "-KubeletExtraArgs '--node-labels=csi=true'", facts="single"),
        ),
        f"{AWS_DOCS}/windows-support.html",
        None,
    )
    yield (
        "gMSA",
        "aws-docs",
        _powershell(
            "$secret = Get-SECSecretValue -SecretId 'shop/gmsa' -Region eu-west-1",
            "Import-Module $env:ProgramFiles\\Amazon\\EKS\\gmsa.psm1 -ErrorAction SilentlyContinue",
            _FILE,
            _call("-KubeletExtraArgs '--node-labels=gmsa=true'", facts="single"),
        ),
        f"{AWS_DOCS}/ad-windows.html",
        None,
    )
    yield (
        "prefix delegation",
        "aws-docs",
        _powershell(_FILE, _call("-KubeletExtraArgs '--max-pods=110'", facts="single")),
        "https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-win.html",
        None,
    )
    yield (
        "custom AMI",
        "aws-docs",
        _powershell(_FILE, _call(f"-DNSClusterIP '{DNS}'", "-ServiceCIDR '10.100.0.0/16'", _STREAMS, facts="single")),
        f"{AWS_DOCS}/eks-custom-ami-windows.html",
        None,
    )
    yield (
        "proxy",
        "hand-written",
        _powershell(
            '[Environment]::SetEnvironmentVariable("HTTPS_PROXY", "http://proxy.example.com:3128", "Machine")',
            '[Environment]::SetEnvironmentVariable("NO_PROXY", "169.254.169.254,10.100.0.0/16", "Machine")',
            _FILE,
            _call(facts="single"),
        ),
        "https://github.com/eksctl-io/eksctl/issues/2752",
        None,
    )
    yield (
        "label of the instance",
        "hand-written",
        _powershell(
            '$token = Invoke-RestMethod -Method PUT -Uri "http://169.254.169.254/latest/api/token" -Headers '
            '@{"X-aws-ec2-metadata-token-ttl-seconds" = "60"}',
            '$type = Invoke-RestMethod -Uri "http://169.254.169.254/latest/meta-data/instance-type" -Headers '
            '@{"X-aws-ec2-metadata-token" = $token}',
            _FILE,
            _call('-KubeletExtraArgs "--node-labels=type=$($type)"'),
        ),
        "https://github.com/terraform-aws-modules/terraform-aws-eks/pull/1082",
        None,
    )
    yield (
        "capital tag",
        "hand-written",
        _powershell(_FILE, _call("-ContainerRuntime containerd")).replace("powershell>", "PowerShell>"),
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2launch-v2.html",
        None,
    )


def _known() -> Iterable[KnownGood]:
    for name, tool, text, url, version in _rows():
        cluster = None if name in ("managed additions", "input", "label of the instance") else "shop"
        yield KnownGood(f"{tool} windows {name}", tool, "windows", text, url, version, cluster)


ROWS = tuple(_known())
