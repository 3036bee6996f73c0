# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid user data of Bottlerocket: settings in TOML."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.nodebootstrap.eks.tests.known_good.model import CA, DNS, ENDPOINT, KnownGood, base64_of

EKSCTL = "https://github.com/eksctl-io/eksctl/blob/main/pkg/nodebootstrap"
TERRAFORM = "https://github.com/terraform-aws-modules/terraform-aws-eks/blob"
KARPENTER = "https://github.com/aws/karpenter-provider-aws/blob/main/pkg/providers/launchtemplate/testdata"
SETTINGS = "https://bottlerocket.dev/en/os/latest/api/settings"

_CLUSTER = f'cluster-name = "shop"\napi-server = "{ENDPOINT}"\ncluster-certificate = "{CA}"\n'
_OWN = f"[settings.kubernetes]\n{_CLUSTER}"
_LIGHT = f'[settings.kubernetes]\n"cluster-name" = "shop"\n"api-server" = "{ENDPOINT}"\n"cluster-certificate" = "{CA}"\n'
_DATA = base64_of('{"ssh": {"authorized-keys": ["ssh-ed25519 AAAAC3Nza ops"]}}')
_PEM = CA


def _table(name: str, *lines: str) -> str:
    return "\n".join([f"[settings.{name}]", *lines, ""])


def _rows() -> Iterable[tuple[str, str, str, str]]:
    """Name, tool, text and example. The text of a managed node group names no cluster."""
    kernel = "# more settings\n" + _table("kernel", 'lockdown = "integrity"')
    dns = f'"cluster-dns-ip" = "{DNS}"\n'
    several = f'"cluster-dns-ip" = ["169.254.20.10", "{DNS}"]\n'
    rendered = f"{TERRAFORM}/v20.37.2/tests/user-data/rendered/bottlerocket"
    yield "managed additions", "terraform-aws-eks", kernel, f"{rendered}/eks-mng-additional.toml"
    yield "managed custom AMI", "terraform-aws-eks", _LIGHT + several + kernel, f"{rendered}/eks-mng-custom-ami.toml"
    yield "self managed", "terraform-aws-eks", _LIGHT + dns + "\n" + kernel, f"{rendered}/self-mng-bootstrap.toml"
    yield "v18", "terraform-aws-eks", _LIGHT + "\n" + kernel, f"{TERRAFORM}/v18.31.2/templates/bottlerocket_user_data.tpl"
    labels = _table("kubernetes.node-labels", 'label1 = "foo"', 'label2 = "bar"') + _table(
        "kubernetes.node-taints", 'dedicated = "web:PreferNoSchedule"'
    )
    admin = _table("host-containers.admin", "enabled = false")
    control = _table("host-containers.control", "enabled = true")
    yield (
        "example",
        "terraform-aws-eks",
        _LIGHT + dns + admin + control + kernel + labels,
        f"{TERRAFORM}/v21.0.0/examples/self-managed-node-group/eks-bottlerocket.tf",
    )

    indented = "\n[settings]\n\n  [settings.kubernetes]\n"
    facts = f'    api-server = "{ENDPOINT}"\n    cluster-certificate = "{CA}"\n    cluster-name = "shop"\n'
    test, managed = f"{EKSCTL}/bottlerocket_test.go", f"{EKSCTL}/managed_bottlerocket_test.go"
    yield "default", "eksctl", indented + facts, test
    yield "DNS", "eksctl", indented + facts + f'    cluster-dns-ip = "{DNS}"\n', test
    yield "max pods", "eksctl", indented + facts + "    max-pods = 32\n", test
    yield "labels", "eksctl", indented + facts + '\n    [settings.kubernetes.node-labels]\n      team = "web"\n', test
    yield "taints", "eksctl", indented + facts + '\n    [settings.kubernetes.node-taints]\n      dedicated = "web:NoExecute"\n', test
    yield (
        "admin container",
        "eksctl",
        "\n[settings]\n\n  [settings.host-containers]\n\n    [settings.host-containers.admin]\n      enabled = true\n"
        + indented[11:]
        + facts,
        test,
    )
    yield "encoded", "eksctl", base64_of(indented + facts + '    cluster-domain = "cluster.local"\n'), test
    yield "managed, nothing", "eksctl", indented, managed
    yield "managed, max pods", "eksctl", indented + "    max-pods = 44\n", managed
    yield (
        "managed, admin container",
        "eksctl",
        "\n[settings]\n\n  [settings.host-containers]\n\n    [settings.host-containers.admin]\n      enabled = true\n\n  "
        "[settings.kubernetes]\n",
        managed,
    )
    yield (
        "managed, container",
        "eksctl",
        "\n[settings]\n\n  [settings.host-containers]\n\n    [settings.host-containers.ops]\n      enabled = true\n\n  "
        "[settings.kubernetes]\n",
        managed,
    )

    literal = (
        f"[settings]\n[settings.kubernetes]\napi-server = '{ENDPOINT}'\ncloud-provider = 'external'\ncluster-certificate "
        f"= '{CA}'\ncluster-name = 'shop'\n"
    )
    pool = "\n[settings.kubernetes.node-labels]\n'karpenter.sh/capacity-type' = 'on-demand'\n'karpenter.sh/nodepool' = 'web'\n"
    taints = (
        "\n[settings.kubernetes.node-taints]\n'karpenter.sh/unregistered' = [':NoExecute']\nspot = ['true:NoSchedule', 'true:NoExecute']\n"
    )
    base = literal + f"cluster-dns-ip = '{DNS}'\nmax-pods = 110\n"
    yield "unmerged", "karpenter", base + pool + taints, f"{KARPENTER}/br_userdata_unmerged.golden"
    yield (
        "merged",
        "karpenter",
        base
        + pool
        + taints
        + "\n[settings.kubernetes.eviction-hard]\n'memory.available' = '12%'\n\n[settings.network]\nhostname = 'web.example.com'\n"
        + (
            "hosts = [['10.0.0.1', ['a.example.com', 'b.example.com']]]\nhttps-proxy = '10.0.0.2:8080'\nno-proxy = ['localhost', "
            "'127.0.0.1']\n"
        )
        + "\n[settings.ntp]\ntime-servers = ['169.254.169.123']\n",
        f"{KARPENTER}/br_userdata_merged.golden",
    )
    yield (
        "several DNS addresses",
        "karpenter",
        literal + f"cluster-dns-ip = ['{DNS}', '169.254.20.10']\n" + pool,
        f"{KARPENTER}/br_userdata_multi_dns_merged.golden",
    )
    yield (
        "one DNS address",
        "karpenter",
        literal + f"cluster-dns-ip = '{DNS}'\n" + pool,
        f"{KARPENTER}/br_userdata_single_dns_string_merged.golden",
    )
    yield (
        "reservations",
        "karpenter",
        base
        + pool
        + "[settings.kubernetes.kube-reserved]\ncpu = '80m'\nmemory = '893Mi'\n[settings.kubernetes.system-reserved]\ncpu = '100m'\n"
        + "ephemeral-storage = '1Gi'\n[settings.kubernetes.eviction-soft]\n'memory.available' = '10%'\n"
        + "[settings.kubernetes.eviction-soft-grace-period]\n'memory.available' = '2m0s'\n",
        "https://github.com/aws/karpenter-provider-aws/blob/main/pkg/providers/amifamily/bootstrap/bottlerocketsettings.go",
    )
    yield (
        "disks",
        "karpenter",
        literal
        + "[settings.bootstrap-commands.000-mount-instance-storage]\ncommands = [['apiclient', 'ephemeral-storage', 'init'], "
        + "['apiclient', 'ephemeral-storage', 'bind', '--dirs', '/var/lib/containerd', '/var/lib/kubelet', '/var/log/pods']]\n"
        + "mode = 'always'\nessential = true\n",
        "https://karpenter.sh/docs/concepts/nodeclasses/#specinstancestorepolicy",
    )
    yield (
        "input",
        "karpenter",
        _table("kubernetes", "max-pods = 42", "kube-api-qps = 30", "kube-api-burst = 40"),
        "https://karpenter.sh/docs/concepts/nodeclasses/#bottlerocket-2",
    )

    doc = "bottlerocket-docs"
    yield (
        "bootstrap container",
        doc,
        _OWN
        + _table(
            "bootstrap-containers.setup",
            'source = "registry.example.com/setup:1.0.0"',
            'mode = "once"',
            f'user-data = "{_DATA}"',
            "essential = true",
        ),
        f"{SETTINGS}/bootstrap-containers/",
    )
    yield (
        "bootstrap command",
        doc,
        _OWN + _table("bootstrap-commands.motd", 'commands = [["apiclient", "set", "motd=hello"]]', 'mode = "always"', "essential = false"),
        f"{SETTINGS}/bootstrap-commands/",
    )
    yield (
        "host containers",
        doc,
        _OWN
        + _table("host-containers.admin", "enabled = true", f'user-data = "{_DATA}"')
        + _table("host-containers.own", "enabled = true", 'source = "registry.example.com/own:1.0.0"', "superpowered = false"),
        f"{SETTINGS}/host-containers/",
    )
    yield (
        "proxy",
        doc,
        _OWN
        + _table(
            "network", 'https-proxy = "http://proxy.example.com:3128"', 'no-proxy = ["169.254.169.254", "10.100.0.0/16", ".internal"]'
        ),
        f"{SETTINGS}/network/",
    )
    yield (
        "sysctl and modules",
        doc,
        _OWN
        + _table("kernel.sysctl", '"net.core.somaxconn" = "4096"', '"vm.max_map_count" = "262144"')
        + _table("kernel.modules.udf", "allowed = false")
        + _table("kernel.modules.ip_vs", "allowed = true", "autoload = true"),
        f"{SETTINGS}/kernel/",
    )
    yield (
        "kernel parameters",
        doc,
        _OWN
        + _table("boot", "reboot-to-reconcile = true")
        + _table("boot.kernel-parameters", '"console" = ["tty0", "ttyS1,115200n8"]', '"slub_debug" = ["FZPU"]'),
        f"{SETTINGS}/boot/",
    )
    yield (
        "mirrors",
        doc,
        _OWN + '[[settings.container-registry.mirrors]]\nregistry = "docker.io"\nendpoint = ["https://mirror.example.com"]\n',
        f"{SETTINGS}/container-registry/",
    )
    yield (
        "mirrors in one line",
        doc,
        _OWN + '[settings.container-registry]\nmirrors = [{registry = "*", endpoint = ["https://mirror.example.com"]}]\n',
        f"{SETTINGS}/container-registry/#mirrors",
    )
    yield (
        "time",
        doc,
        _OWN + _table("ntp", 'time-servers = ["169.254.169.123", "0.amazon.pool.ntp.org"]', 'options = ["minpoll", "1"]'),
        f"{SETTINGS}/ntp/",
    )
    yield "name servers", doc, _OWN + _table("dns", 'name-servers = ["10.0.0.2"]', 'search-list = ["example.com"]'), f"{SETTINGS}/dns/"
    yield "own certificate authority", doc, _OWN + _table("pki.internal", f'data = "{_PEM}"', "trusted = true"), f"{SETTINGS}/pki/"
    yield "updates", doc, _OWN + _table("updates", 'version-lock = "latest"', "ignore-waves = false", "seed = 1234"), f"{SETTINGS}/updates/"
    yield (
        "metrics and message",
        doc,
        '[settings]\nmotd = "hello"\n' + _OWN + _table("metrics", "send-metrics = false"),
        f"{SETTINGS}/metrics/",
    )
    yield (
        "runtime",
        doc,
        _OWN
        + _table(
            "container-runtime", "max-container-log-line-size = 32768", "max-concurrent-downloads = 5", "enable-unprivileged-ports = true"
        ),
        f"{SETTINGS}/container-runtime/",
    )
    yield (
        "limits",
        doc,
        _OWN
        + _table("oci-defaults.resource-limits.max-open-files", "soft-limit = 65536", "hard-limit = 1048576")
        + _table("oci-defaults.capabilities", "sys-admin = false"),
        f"{SETTINGS}/oci-defaults/",
    )
    yield (
        "managers",
        doc,
        _OWN
        + (
            'cpu-manager-policy = "static"\ncpu-manager-reconcile-period = "10s"\ntopology-manager-policy = "best-effort"\n'
            'topology-manager-scope = "pod"\n'
        )
        + _table("kubernetes.kube-reserved", 'cpu = "200m"'),
        f"{SETTINGS}/kubernetes/",
    )
    yield (
        "images",
        doc,
        _OWN
        + (
            "image-gc-high-threshold-percent = 85\nimage-gc-low-threshold-percent = 80\nregistry-qps = 10\nregistry-burst = 20\n"
            'container-log-max-size = "50M"\ncontainer-log-max-files = 3\n'
        ),
        f"{SETTINGS}/kubernetes/#image-gc-high-threshold-percent",
    )
    yield (
        "shutdown and sysctls",
        doc,
        _OWN
        + (
            'shutdown-grace-period = "45s"\nshutdown-grace-period-for-critical-pods = "10s"\nallowed-unsafe-sysctls = '
            '["net.core.somaxconn"]\npod-pids-limit = 4096\n'
        ),
        f"{SETTINGS}/kubernetes/#shutdown-grace-period",
    )
    yield (
        "static pods",
        doc,
        _OWN + _table("kubernetes.static-pods.agent", f'manifest = "{base64_of("apiVersion: v1")}"', "enabled = true"),
        f"{SETTINGS}/kubernetes/#static-pods",
    )
    yield (
        "credential providers",
        doc,
        _OWN
        + _table(
            "kubernetes.credential-providers.ecr-credential-provider",
            "enabled = true",
            'image-patterns = ["*.dkr.ecr.*.amazonaws.com"]',
            'cache-duration = "30m"',
        ),
        f"{SETTINGS}/kubernetes/#credential-providers",
    )
    yield (
        "server certificate",
        doc,
        _OWN + 'server-tls-bootstrap = true\n"event-qps" = 5\nevent-burst = 10\n',
        f"{SETTINGS}/kubernetes/#server-tls-bootstrap",
    )
    yield (
        "static cluster",
        doc,
        _OWN + f'cluster-dns-ip = "{DNS}"\ncluster-domain = "cluster.local"\nauthentication-mode = "aws"\nnode-ip = "10.0.0.17"\n',
        f"{SETTINGS}/kubernetes/#authentication-mode",
    )
    yield (
        "host name",
        doc,
        _OWN + 'hostname-override-source = "instance-id"\n' + _table("aws", 'region = "eu-west-1"'),
        f"{SETTINGS}/kubernetes/#hostname-override-source",
    )
    yield (
        "stack",
        "cloudformation",
        _OWN + _table("cloudformation", "should-signal = true", 'stack-name = "shop-nodes"', 'logical-resource-id = "NodeGroup"'),
        f"{SETTINGS}/cloudformation/",
    )
    yield "Auto Scaling group", doc, _OWN + _table("autoscaling", "should-wait = true"), f"{SETTINGS}/autoscaling/"
    yield (
        "GPU",
        doc,
        _OWN
        + _table(
            "kubelet-device-plugins.nvidia",
            "pass-device-specs = true",
            'device-id-strategy = "index"',
            'device-list-strategy = "volume-mounts"',
        ),
        f"{SETTINGS}/kubelet-device-plugins/",
    )
    yield (
        "knowledge center",
        "aws-docs",
        _OWN
        + 'cluster-dns-ip = "10.100.0.10"\nmax-pods = 29\n'
        + _table("kubernetes.node-labels", '"eks.amazonaws.com/nodegroup" = "web"'),
        "https://repost.aws/knowledge-center/eks-configure-user-data-for-node-groups",
    )
    yield (
        "quick start",
        doc,
        "[settings.kubernetes]\n"
        + f'api-server = "{ENDPOINT}"\ncluster-name = "shop"\ncluster-certificate = "{CA}"\ncluster-dns-ip = "{DNS}"\nmax-pods = 29\n',
        "https://github.com/bottlerocket-os/bottlerocket/blob/develop/QUICKSTART-EKS.md",
    )
    yield (
        "user data",
        "pulumi-eks",
        f'[settings.kubernetes]\napi-server = "{ENDPOINT}"\ncluster-certificate = "{CA}"\ncluster-dns-ip = "{DNS}"\n'
        'cluster-name = "shop"\n\n[settings.kubernetes.node-labels]\nteam = "web"\n\n[settings.kubernetes.node-taints]\n'
        'dedicated = "web:NoSchedule"\n',
        "https://github.com/pulumi/pulumi-eks/blob/master/nodejs/eks/nodes/userdata.ts",
    )
    yield (
        "node groups",
        "eks-blueprints",
        '[settings.kubernetes]\nmax-pods = 58\n[settings.kubernetes.system-reserved]\ncpu = "10m"\nmemory = "100Mi"\n'
        'ephemeral-storage = "1Gi"\n',
        "https://github.com/aws-ia/terraform-aws-eks-blueprints",
    )
    yield (
        "node groups",
        "cloudposse",
        "[settings.host-containers.admin]\nenabled = true\n[settings.host-containers.control]\nenabled = true\n"
        "[settings.kubernetes]\nmax-pods = 110\n",
        "https://github.com/cloudposse/terraform-aws-eks-node-group/blob/main/userdata_nitro.tpl",
    )


def _known() -> Iterable[KnownGood]:
    without = ("managed additions", "managed, ", "input", "node groups")
    for name, tool, text, url in _rows():
        cluster = None if name.startswith(without) else "shop"
        yield KnownGood(f"{tool} bottlerocket {name}", tool, "bottlerocket", text, url, cluster=cluster)


ROWS = tuple(_known())
