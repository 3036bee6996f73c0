# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the config phase of nodeadm writes, from the merged spec: the same paths, formats and order as the real one's."""

import base64
import ipaddress
import json
import os
import re
import subprocess

import kubelet_config
from nodeadm_config import ConfigError, deep, imds, merged_toml
from recording import content

PROVIDER = "/etc/eks/image-credential-provider"
CONFIG = "/etc/kubernetes/kubelet/config.json"
DROP_INS = "/etc/kubernetes/kubelet/config.json.d"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"

_KUBECONFIG = """---
apiVersion: v1
kind: Config
clusters:
  - name: kubernetes
    cluster:
      certificate-authority: /etc/kubernetes/pki/ca.crt
      server: {endpoint}
current-context: kubelet
contexts:
  - name: kubelet
    context:
      cluster: kubernetes
      user: kubelet
users:
  - name: kubelet
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1beta1
        command: aws
        args: [eks, get-token, --cluster-name, {name}, --region, {region}]
"""

_CONTAINERD = """version = 2
root = "/var/lib/containerd"
state = "/run/containerd"

[grpc]
address = "/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"
discard_unpacked_layers = true

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/kubernetes/pause:latest"

[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d:/etc/docker/certs.d"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
base_runtime_spec = "/etc/containerd/base-runtime-spec.json"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "/usr/sbin/runc"
SystemdCgroup = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/opt/cni/bin"
conf_dir = "/etc/cni/net.d"
"""

_RUNTIME_SPEC = {
    "ociVersion": "1.1.0",
    "process": {"noNewPrivileges": True, "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}]},
}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)


def kubelet_minor():
    """(major, minor) of the kubelet on this node."""
    said = content("/etc/eks/kubelet-version.txt")
    if said is None:
        said = subprocess.run(["kubelet", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(number) for number in re.search(r"v(\d+)\.(\d+)\.\d+", said).groups())


def instance():
    """What nodeadm asks EC2 for; the stand-in has all of it from the metadata service."""
    wanted = ("instance-id", "instance-type", "local-ipv4", "hostname", "mac", "placement/availability-zone", "placement/region")
    facts = {name: imds("meta-data/" + name).decode() for name in wanted}
    facts["ipv6"] = (imds(f"meta-data/network/interfaces/macs/{facts['mac']}/ipv6s") or b"").decode()
    return facts


def write_all(spec):
    """The whole config phase."""
    cluster, kubelet = spec["cluster"], spec.get("kubelet") or {}
    try:
        network = ipaddress.ip_network(cluster["cidr"])
    except ValueError as error:
        raise ConfigError(f"cluster.cidr: {error}") from error
    facts, minor = instance(), kubelet_minor()
    _environment((spec.get("instance") or {}).get("environment") or {})
    _resolved((spec.get("instance") or {}).get("network") or {})
    _containerd(spec.get("containerd") or {})
    write(CONFIG, json.dumps(_config(cluster, network, facts, minor), indent=4))
    if kubelet.get("config"):
        kind = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
        write(f"{DROP_INS}/40-nodeadm.conf", json.dumps({**kind, **kubelet["config"]}, indent=4))
    known = {"endpoint": cluster["apiServerEndpoint"], "name": cluster["name"], "region": facts["placement/region"]}
    write(KUBECONFIG, _KUBECONFIG.format(**known))
    write(f"{PROVIDER}/config.json", json.dumps({"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig"}, indent=2))
    write("/etc/kubernetes/pki/ca.crt", base64.b64decode(cluster["certificateAuthority"]).decode())
    words = _flags(spec, network, facts)
    lines = ["NODEADM_KUBELET_ARGS=" + " ".join(words)]
    if minor < (1, 30) and kubelet.get("config"):
        lines.append("KUBELET_CONFIG_DROPIN_DIR_ALPHA=on")
    write("/etc/eks/kubelet/environment", "\n".join(lines))


def _flags(spec, network, facts):
    kubelet = spec.get("kubelet") or {}
    by_id = (spec.get("featureGates") or {}).get("InstanceIdNodeName")
    own = [
        f"--config={CONFIG}",
        f"--kubeconfig={KUBECONFIG}",
        f"--node-ip={facts['ipv6'] if network.version == 6 else facts['local-ipv4']}",
        "--cloud-provider=external",
        f"--hostname-override={facts['instance-id'] if by_id else facts['hostname']}",
        "--runtime-cgroups=/runtime.slice/containerd.service",
        f"--image-credential-provider-bin-dir={PROVIDER}",
        f"--image-credential-provider-config={PROVIDER}/config.json",
    ]
    return [*own, *([f"--config-dir={DROP_INS}"] if kubelet.get("config") else []), *(kubelet.get("flags") or [])]


def _config(cluster, network, facts, minor):
    base = dict(kubelet_config.BASE, cgroupDriver="systemd", containerRuntimeEndpoint="unix:///run/containerd/containerd.sock")
    first = cluster["cidr"].partition("/")[0]
    pods = _max_pods(facts["instance-type"])
    cores = int((content("/etc/nodelab/vcpus") or "2").strip())
    base.update(
        logging={"verbosity": 2},
        evictionHard={"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
        kubeReserved={"cpu": f"{kubelet_config.cpu(cores)}m", "ephemeral-storage": "1Gi", "memory": f"{11 * pods + 255}Mi"},
        kubeReservedCgroup="/runtime",
        systemReservedCgroup="/system",
        maxPods=pods,
        providerID=f"aws:///{facts['placement/availability-zone']}/{facts['instance-id']}",
        clusterDNS=[first + "a" if network.version == 6 else first.rpartition(".")[0] + ".10"],
    )
    if minor >= (1, 34):
        base.update(shutdownGracePeriod="2m30s", shutdownGracePeriodCriticalPods="30s")
    return base


def _max_pods(kind):
    with open("/etc/eks/eni-max-pods.txt", encoding="utf-8") as handle:
        known = dict(line.split() for line in handle if line.strip() and not line.startswith("#"))
    return int(known.get(kind, 110))


def _containerd(settings):
    spec = deep(_RUNTIME_SPEC, settings.get("baseRuntimeSpec") or {})
    write("/etc/containerd/base-runtime-spec.json", json.dumps(spec, indent=4))
    write("/etc/containerd/config.toml", merged_toml(_CONTAINERD, settings["config"]) if settings.get("config") else _CONTAINERD)


def _environment(services):
    for name, values in services.items():
        system = name == "default"
        folder = "system.conf.d" if system else f"system/{name}.service.d"
        key, section = ("DefaultEnvironment", "Manager") if system else ("Environment", "Service")
        # Go's %q and JSON agree on what such a value can hold; systemd reads % twice.
        lines = [f"{key}=" + json.dumps(f"{word}={value}", ensure_ascii=False).replace("%", "%%") for word, value in sorted(values.items())]
        write(f"/etc/systemd/{folder}/environment.conf", "\n".join([f"[{section}]", *lines, ""]))
    if services:
        subprocess.run(["systemctl", "daemon-reload"], check=True)


def _resolved(network):
    lines = [f"{key}={' '.join(network[name])}" for key, name in (("DNS", "nameservers"), ("Domains", "domains")) if network.get(name)]
    if lines:
        write("/run/systemd/resolved.conf.d/40-eks.conf", "\n".join(["[Resolve]", *lines, ""]))
