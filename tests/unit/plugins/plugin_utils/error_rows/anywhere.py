# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of EKS Anywhere clusters that are refused, or accepted with a warning: every rule of the area has a row."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import (
    admin_plan,
    around,
    engine,
    image_list,
    ledger,
    lock,
    status_task,
    upgrade_plan,
    user_manifests,
)
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.capi_machines import CapiOptions, NodeImage
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.check import Check
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.model import Mirror
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.preflight_run import Preflights
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters, vsphere_manifests
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import DELETE, Change
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row

C = "Cluster"
PLANE = "spec.controlPlaneConfiguration"
WORKERS = "spec.workerNodeGroupConfigurations"
NETWORK = "spec.clusterNetwork"
TAINT = {"key": "a", "value": "b", "effect": "NoSchedule"}


def _report(text: str, **options: Any) -> None:
    raise SpecError(validate(text, **options).problems)


def text(what: str, content: str, *, secret: str = "", **options: Any) -> Row:
    """A whole file."""
    return Row(f"anywhere: {what}", lambda: _report(content, **options), (secret,) if secret else ())


def row(what: str, provider: str, *changes: Change, secret: str = "", **options: Any) -> Row:
    """A complete file with changes."""
    return text(what, clusters.file(provider, *changes), secret=secret, **options)


def _engine(what: str, provider: str, *changes: Change) -> Row:
    """A valid cluster that the engine capi cannot make."""

    def call() -> None:
        found = validate(clusters.file(provider, *changes), "cluster")
        problems = Problems()
        if found.cluster is not None:
            engine.check(found.cluster, CapiOptions({"1.36": NodeImage("v1.36.3", "node")}), problems)
        problems.raise_any()

    return Row(f"anywhere: {what}", call)


def _manifests() -> None:
    """The manifests of another cluster."""
    found = validate(vsphere_manifests.cluster_file())
    problems = Problems()
    changes = [("Cluster", "metadata.namespace", "default"), ("KubeadmControlPlane", "spec.replicas", 1)]
    changes += [("MachineDeployment", "metadata.name", "pool"), ("VSphereCluster", "spec.controlPlaneEndpoint", DELETE)]
    if found.cluster is not None:
        user_manifests.check(user_manifests.read([vsphere_manifests.text(*changes)], problems), found.cluster, problems)
    problems.raise_any()


def _images() -> None:
    problems = Problems()
    found = image_list.merge({"clusterctl": ["nginx", "a b", "quay.io/x:1"]}, problems)
    image_list.check_mirror(found, Mirror("Cluster/dev.spec.registryMirrorConfiguration", "r", "443", (), "", False, False), problems)
    problems.raise_any()


def _admin_machine() -> None:
    tool = {"name": "knid", "version": "0.33", "sha256": "abc", "url": "https://me:word@example.com/kind"}
    provider = {"name": "capi", "version": "1.13.4", "components": "a.yaml"}
    machine = {"user": "A", "work_dir": "eks", "tools_dir": "/usr/local/bin", "tools": [tool], "repository": "/p", "providers": [provider]}
    admin_plan.admin_plan(machine, {"id": "rhel"})


def _ledger() -> None:
    problems = Problems()
    ledger.load("[]", problems)
    problems.raise_any()


def _preflight() -> None:
    checks = (
        Check("clock", "failed", "follows no time source", "start a time service"),
        Check("memory", "warning", "the available memory could not be determined"),
        Check("ports", "failed", "in use: 80", "stop what listens there"),
    )
    Preflights(checks, "the admin machine could not be observed: no answer").refuse()


def _kubeconfig() -> None:
    plan = status_task.plan_of_name("dev", "/srv/eks")
    around.check_nodes(plan, frozenset({"dev-md-0"}), ["a", "b", "c", "d"])


def _lock() -> None:
    owners = [lock.Owner("admin1", "boot", lock.Process(1, 2), since="2026-11-25 10:00"), lock.Owner("admin2", "boot", lock.Process(1, 2))]
    machine = lock.Machine("admin1", "boot", {1: 2})
    refusals = [lock.decide(owner, machine).refusal for owner in owners]
    raise SpecError(one for one in refusals if one is not None)


def _upgrade() -> None:
    """Another network, a version that is skipped, one that is older, and older providers."""
    groups = [("KubeadmControlPlane", "dev", "v1.33.1"), ("MachineDeployment", "dev-md-0", "v1.35.0")]
    live = {
        "cluster": {
            "network": {"pods": {"cidrBlocks": ["10.1.0.0/16"]}},
            "endpoint": {},
            "control_plane": {},
            "infrastructure": {},
            "external_etcd": False,
        },
        "groups": [{"kind": kind, "name": name, "version": version} for kind, name, version in groups],
        "providers": {"CoreProvider cluster-api": "v1.14.0"},
        "cert_manager": "v1.20.2",
    }
    network = {"pods": {"cidrBlocks": ["10.2.0.0/16"]}}
    objects = [
        {"kind": "Cluster", "metadata": {"name": "dev"}, "spec": {"clusterNetwork": network, "managedExternalEtcdRef": {"name": "dev"}}},
        {"kind": "KubeadmControlPlane", "metadata": {"name": "dev"}, "spec": {"version": "v1.35.1"}},
        {"kind": "MachineDeployment", "metadata": {"name": "dev-md-0"}, "spec": {"template": {"spec": {"version": "v1.34.2"}}}},
    ]
    problems = Problems()
    upgrade_plan.check(live, objects, [{"type": "CoreProvider", "name": "cluster-api", "version": "v1.13.4"}], "v1.19.0", problems)
    problems.raise_any()


def _machines(what: str, content: str) -> Row:
    return text(what, clusters.file("tinkerbell"), hardware=content, secret="secret-of-bmc")


VSPHERE, TINKERBELL = "VSphereMachineConfig", "TinkerbellMachineConfig"
SECOND = {"name": "md-0", "count": 1}

ROWS = [
    text("an empty file", ""),
    text("not YAML", "a: ["),
    text("a key that is there twice", clusters.file("docker") + "---\nkind: DockerDatacenterConfig\nkind: X\n"),
    text("a document that is a list", clusters.file("docker") + "---\n- a\n"),
    text("a document without a kind", clusters.file("docker") + "---\napiVersion: v1\n"),
    text(
        "a misspelled kind", clusters.file("docker").replace("kind: DockerDatacenterConfig\nmetadata", "kind: DockerDatacenter\nmetadata")
    ),
    text("a document of another API", clusters.file("docker") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"),
    text("two clusters", clusters.file("docker") + "---\n" + clusters.file("docker").split("---\n")[0]),
    text("a document that is there twice", clusters.file("docker") + "---\n" + clusters.file("docker").split("---\n")[1]),
    row("an old API version", "docker", (C, "apiVersion", "anywhere.eks.amazonaws.com/v1beta1")),
    row("an unknown top level field", "docker", (C, "specs", {})),
    row("a misspelled field", "docker", (C, "spec.kubernetesversion", "1.34")),
    row("fields of wrong types", "docker", (C, f"{PLANE}.count", "3"), (C, NETWORK, []), (C, f"{PLANE}.skipLoadBalancerDeployment", "no")),
    row("numbers without quotes", "docker", (C, "spec.registryMirrorConfiguration", {"endpoint": "10.0.0.5", "port": 443})),
    row("a boolean as text", "docker", (C, f"{PLANE}.labels", {"a": True})),
    row("a name that is too long", "docker", (C, "metadata.name", "x" * 36)),
    row("a name in upper case", "docker", (C, "metadata.name", "Dev")),
    row("a name of one character", "docker", (C, "metadata.name", "a")),
    row("no name", "docker", (C, "metadata", {})),
    row("a version that is a number", "docker", (C, "spec.kubernetesVersion", 1.3)),
    row("a patch version", "docker", (C, "spec.kubernetesVersion", "v1.34.2")),
    row("no version", "docker", (C, "spec.kubernetesVersion", DELETE)),
    row("a version of the future", "docker", (C, "spec.kubernetesVersion", "1.99")),
    row("workers that are newer", "docker", (C, f"{WORKERS}.0.kubernetesVersion", "1.35")),
    row("workers that are too old", "docker", (C, f"{WORKERS}.0.kubernetesVersion", "1.30")),
    row("a release that is not one", "docker", (C, "spec.eksaVersion", "latest")),
    row("bundles and a release", "docker", (C, "spec.eksaVersion", "v0.26.1"), (C, "spec.bundlesRef", {"name": "b"})),
    row("bundles", "docker", (C, "spec.bundlesRef", {"name": "b"})),
    row("packages of a workload cluster", "docker", (C, "spec.managementCluster.name", "m"), (C, "spec.packages", {"controller": {}})),
    row("an issuer that is empty", "docker", (C, "spec.podIamConfig", {})),
    row("an unknown provider", "docker", (C, "spec.datacenterRef.kind", "DockerDatacenter")),
    row("a provider that was removed", "cloudstack"),
    row("encryption of etcd on Docker", "docker", (C, "spec.etcdEncryption", [])),
    row("encryption of etcd that is not valid", "vsphere", (C, "spec.etcdEncryption", [{"providers": [{"kms": {}}]}])),
    row("no network of the pods", "docker", (C, f"{NETWORK}.pods", DELETE)),
    row("two networks of the pods", "docker", (C, f"{NETWORK}.pods.cidrBlocks.1", "10.1.0.0/16")),
    row("a network without a length", "docker", (C, f"{NETWORK}.pods.cidrBlocks.0", "192.168.0.0")),
    row("networks that overlap", "docker", (C, f"{NETWORK}.services.cidrBlocks.0", "192.168.128.0/20")),
    row("networks of two families", "docker", (C, f"{NETWORK}.services.cidrBlocks.0", "fd00::/112")),
    row("a small network of services", "docker", (C, f"{NETWORK}.services.cidrBlocks.0", "10.96.0.0/30")),
    row("a small network of pods", "docker", (C, f"{NETWORK}.pods.cidrBlocks.0", "192.168.0.0/24")),
    row("a large node mask", "docker", (C, f"{NETWORK}.nodes.cidrMaskSize", 33)),
    row(
        "a node mask that is too far", "docker", (C, f"{NETWORK}.pods.cidrBlocks.0", "10.0.0.0/9"), (C, f"{NETWORK}.nodes.cidrMaskSize", 26)
    ),
    row("no CNI", "docker", (C, f"{NETWORK}.cniConfig", {})),
    row("two CNIs", "docker", (C, f"{NETWORK}.cniConfig.kindnetd", {})),
    row("kindnetd on vSphere", "vsphere", (C, f"{NETWORK}.cniConfig", {"kindnetd": {}})),
    row("both fields for the CNI", "docker", (C, f"{NETWORK}.cni", "cilium")),
    row("the old field for the CNI", "docker", (C, f"{NETWORK}.cniConfig", DELETE), (C, f"{NETWORK}.cni", "cilium")),
    row("an unknown CNI", "docker", (C, f"{NETWORK}.cniConfig", DELETE), (C, f"{NETWORK}.cni", "ciliun")),
    row("settings of Cilium", "docker", (C, f"{NETWORK}.cniConfig.cilium", {"policyEnforcementMode": "alway", "routingMode": "direct"})),
    row("a Cilium that is left alone", "docker", (C, f"{NETWORK}.cniConfig.cilium", {"skipUpgrade": True, "routingMode": "overlay"})),
    row("an endpoint of Docker", "docker", (C, f"{PLANE}.endpoint.host", "10.0.0.9")),
    row("no endpoint", "vsphere", (C, f"{PLANE}.endpoint", DELETE)),
    row("an endpoint with a port", "vsphere", (C, f"{PLANE}.endpoint.host", "10.0.0.9:6443")),
    row("an endpoint among the pods", "vsphere", (C, f"{PLANE}.endpoint.host", "192.168.0.9")),
    row("an endpoint of CloudStack", "cloudstack", (C, f"{PLANE}.endpoint.host", "300.1.1.1:99999")),
    row("names of the certificate", "docker", (C, f"{PLANE}.certSans", ["localhost", "10.0.0.300"])),
    row("no control plane", "docker", (C, f"{PLANE}.count", 0)),
    row("an even control plane", "docker", (C, f"{PLANE}.count", 2)),
    row("an even etcd", "vsphere", (C, "spec.externalEtcdConfiguration.count", 2)),
    row("an external etcd on Bare Metal", "tinkerbell", (C, "spec.externalEtcdConfiguration", {"count": 3})),
    row("no workers", "docker", (C, WORKERS, [])),
    row("taints without workers", "tinkerbell", (C, WORKERS, []), (C, f"{PLANE}.taints", [TAINT])),
    row("a second group without a name", "docker", (C, f"{WORKERS}.1", {"count": 1})),
    row("a group that is there twice", "docker", (C, f"{WORKERS}.1", SECOND)),
    row("a group with a wrong name", "docker", (C, f"{WORKERS}.0.name", "MD_0")),
    row("a group with a long name", "docker", (C, f"{WORKERS}.0.name", "m" * 60)),
    row("a negative group", "docker", (C, f"{WORKERS}.0.count", -1)),
    row("limits of the autoscaler", "docker", (C, f"{WORKERS}.0.autoscalingConfiguration", {"minCount": 3, "maxCount": 1})),
    row("a count outside of the limits", "docker", (C, f"{WORKERS}.0.autoscalingConfiguration", {"minCount": 3, "maxCount": 5})),
    row("only workers with taints", "docker", (C, f"{WORKERS}.0.taints", [TAINT])),
    row("a taint with a wrong effect", "docker", (C, f"{WORKERS}.0.taints", [{**TAINT, "effect": "NoSchedul"}])),
    row("a taint with a wrong key", "docker", (C, f"{PLANE}.taints", [{**TAINT, "key": "a b", "value": "-b"}])),
    row("labels that are not valid", "docker", (C, f"{PLANE}.labels", {"a b": "c", "d": "-"})),
    row("no machines", "vsphere", (C, f"{PLANE}.machineGroupRef", DELETE)),
    row("machines of another provider", "vsphere", (C, f"{PLANE}.machineGroupRef.kind", "NutanixMachineConfig")),
    row("machines of Docker", "docker", (C, f"{PLANE}.machineGroupRef", {"kind": "DockerMachineConfig", "name": "cp"})),
    row("operating systems that differ", "tinkerbell", (TINKERBELL, "spec.osFamily", "redhat")),
    row("an image for another version", "tinkerbell", ("TinkerbellDatacenterConfig", "spec.osImageURL", "https://example.com/ubuntu.gz")),
    row("no image", "tinkerbell", ("TinkerbellDatacenterConfig", "spec.osImageURL", DELETE)),
    row("a strategy in place for the control plane only", "tinkerbell", (C, f"{PLANE}.upgradeRolloutStrategy", {"type": "InPlace"})),
    row(
        "settings of Bottlerocket that are not valid",
        "vsphere",
        (VSPHERE, "spec.osFamily", "bottlerocket"),
        (VSPHERE, "spec.users", [{"name": "ec2-user"}]),
        (VSPHERE, "spec.hostOSConfiguration.bottlerocketConfiguration.kubernetes", {"maxPods": -1, "clusterDNSIPs": ["x"]}),
    ),
    row("a strategy in place on vSphere", "vsphere", (C, f"{WORKERS}.0.upgradeRolloutStrategy", {"type": "InPlace"})),
    row("a strategy without numbers", "docker", (C, f"{WORKERS}.0.upgradeRolloutStrategy", {"type": "RollingUpdate", "rollingUpdate": {}})),
    row("a strategy that does not exist", "docker", (C, f"{PLANE}.upgradeRolloutStrategy", {"type": "RolingUpdate"})),
    row("a health check", "docker", (C, "spec.machineHealthCheck", {"maxUnhealthy": "x", "nodeStartupTimeout": "-1m"})),
    row("a health check without delay", "docker", (C, "spec.machineHealthCheck", {"unhealthyMachineTimeout": "0s"})),
    row("a duration without unit", "docker", (C, "spec.machineHealthCheck", {"nodeStartupTimeout": "10"})),
    row("flags of the API server", "docker", (C, f"{PLANE}.apiServerExtraArgs", {"v": "2"})),
    row("a kubelet without kind", "docker", (C, f"{PLANE}.kubeletConfiguration", {"maxpods": 20, "providerID": "x"})),
    row("an audit policy", "docker", (C, f"{PLANE}.auditPolicyContent", "kind: Policy\nrules:\n- level: metadata\n")),
    row("no host of a mirror", "docker", (C, "spec.registryMirrorConfiguration", {"port": "99999"})),
    row("a URL as mirror", "docker", (C, "spec.registryMirrorConfiguration", {"endpoint": "https://r.example.com:5000/v2"})),
    row("a mirror that is not verified", "docker", (C, "spec.registryMirrorConfiguration", {"endpoint": "r", "insecureSkipVerify": True})),
    row("a mirror with a broken authority", "docker", (C, "spec.registryMirrorConfiguration", {"endpoint": "r", "caCertContent": "x"})),
    row(
        "proxies",
        "docker",
        (C, "spec.proxyConfiguration", {"httpProxy": "http://me:hidden@p:3128", "httpsProxy": "http://me:hidden@p"}),
        secret="hidden",
    ),
    row("identity providers", "docker", (C, "spec.identityProviderRefs", [{"kind": "OIDC", "name": "o"}, {"kind": "OIDCConfig"}])),
    row("GitOps of another kind", "docker", (C, "spec.gitOpsRef", {"kind": "Flux", "name": "f"})),
    row("documents that are missing", "vsphere", (VSPHERE, "metadata.name", "cpp")),
    row("a document in another namespace", "docker", ("DockerDatacenterConfig", "metadata.namespace", "x")),
    row("failure domains", "vsphere", (C, f"{WORKERS}.0.failureDomains", ["a"])),
    row("a vSphere that is not verified", "vsphere", ("VSphereDatacenterConfig", "spec.insecure", True)),
    row("an endpoint in use", "vsphere", ("VSphereDatacenterConfig", "spec.server", "10.0.0.10")),
    row("a server with a scheme", "vsphere", ("VSphereDatacenterConfig", "spec.server", "https://vcenter")),
    row("an unknown operating system", "vsphere", (VSPHERE, "spec.osFamily", "ubunto")),
    row("settings of Bottlerocket on Ubuntu", "vsphere", (VSPHERE, "spec.hostOSConfiguration.bottlerocketConfiguration.boot", {})),
    row("a user of Bottlerocket", "vsphere", (VSPHERE, "spec.osFamily", "bottlerocket")),
    row("no time servers", "vsphere", (VSPHERE, "spec.hostOSConfiguration.ntpConfiguration.servers", [])),
    row("hardware that is not selected", "tinkerbell", (TINKERBELL, "spec.hardwareSelector", {})),
    row("an image without a scheme", "tinkerbell", (TINKERBELL, "spec.osImageURL", "image.gz")),
    row("a network of Snow", "snow", ("SnowMachineConfig", "spec.network.directNetworkInterfaces.0.primary", False)),
    row("a pool of addresses", "snow", ("SnowIPPool", "spec.pools.0.ipEnd", "10.0.1.1")),
    text(
        "an OIDC provider and a repository",
        clusters.dump(
            [
                *clusters.documents(
                    "docker",
                    (C, "spec.identityProviderRefs", [{"kind": "OIDCConfig", "name": "o"}]),
                    (C, "spec.gitOpsRef", {"kind": "FluxConfig", "name": "f"}),
                ),
                clusters.document("OIDCConfig", "o", {"clientId": "c", "issuerUrl": "http://x"}),
                clusters.document("FluxConfig", "f", {}),
            ]
        ),
    ),
    text("hardware of vSphere", clusters.file("vsphere"), hardware="hostname\n"),
    _machines("hardware that is too little", clusters.hardware(4)),
    _machines("hardware that is there twice", clusters.hardware(mac="cc-48-3a-00-00-02", ip_address="10.0.0.103")),
    _machines("hardware that is not valid", clusters.hardware(netmask="255.0.255.0", labels="type", disk="sda", bmc_username="")),
    _machines("hardware with another column", clusters.hardware().replace("disk\n", "disc\n")),
    _machines("hardware with a column of your own", clusters.hardware().replace("\n", ",\n").replace("disk,", "disk,rack", 1)),
    _engine("an engine for another provider", "vsphere"),
    _engine(
        "fields that the engine cannot render",
        "docker",
        (C, "spec.externalEtcdConfiguration", {"count": 1}),
        (C, "spec.gitOpsRef", {"kind": "FluxConfig", "name": "f"}),
        (C, f"{PLANE}.skipAdmissionForSystemResources", True),
        (C, f"{NETWORK}.cniConfig.cilium", {"policyEnforcementMode": "always"}),
    ),
    Row("anywhere: an admin machine", _admin_machine, ("me:word",)),
    Row("anywhere: manifests of another cluster", _manifests),
    Row("anywhere: images", _images),
    Row("anywhere: a ledger", _ledger),
    Row("anywhere: a lock", _lock),
    Row("anywhere: failed checks of the admin machine", _preflight),
    Row("anywhere: a kubeconfig of another cluster", _kubeconfig),
    Row("anywhere: an upgrade", _upgrade),
]
