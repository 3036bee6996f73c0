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
from nodeadm_config import ConfigError, deep, imds, merged_toml, toml
from recording import content

PROVIDER = "/etc/eks/image-credential-provider"
CONFIG = "/etc/kubernetes/kubelet/config.json"
DROP_INS = "/etc/kubernetes/kubelet/config.json.d"
#: Network interfaces, and addresses of each, by instance type.
ENIS = {"m5.large": (3, 10), "t3.medium": (3, 6), "m4.xlarge": (4, 15)}
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
BOOTSTRAP = "/var/lib/kubelet/bootstrap-kubeconfig"

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

_V2, _IMAGES, _RUNTIME = "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"

_ECR = [
    *(f"*.dkr.ecr.*.{domain}" for domain in ("amazonaws.com", "amazonaws.com.cn", "c2s.ic.gov", "sc2s.sgov.gov")),
    *(f"*.dkr.ecr.*.{domain}" for domain in ("cloud.adc-e.uk", "csp.hci.ic.gov", "amazonaws.eu")),
    *(f"*.dkr-ecr{fips}.*.on.aws" for fips in ("", "-fips")),
    "*.dkr-ecr.*.on.amazonwebservices.com.cn",
    "*.dkr.ecr-fips.*.amazonaws.com",
    "public.ecr.aws",
]

_RUNTIME_SPEC = {
    "ociVersion": "1.1.0",
    "process": {"noNewPrivileges": True, "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}]},
}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)


def version(program):
    """(major, minor) of kubelet or containerd on this node."""
    said = content(f"/etc/eks/{program}-version.txt")
    if said is None:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(number) for number in re.search(r"\bv?(\d+)\.(\d+)\.\d+", said).groups())


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
        network = ipaddress.ip_network(cluster["cidr"], strict=False)
    except ValueError as error:
        raise ConfigError(f"cluster.cidr: {error}") from error
    facts, minor = instance(), version("kubelet")
    _environment((spec.get("instance") or {}).get("environment") or {})
    _resolved((spec.get("instance") or {}).get("network") or {})
    _containerd(spec.get("containerd") or {}, cdi=minor >= (1, 32))
    pods = _max_pods(facts["instance-type"], kubelet.get("maxPodsExpression"))
    write(CONFIG, json.dumps(_config(cluster, network, facts, minor, pods), indent=4))
    if kubelet.get("config"):
        kind = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
        write(f"{DROP_INS}/40-nodeadm.conf", json.dumps({**kind, **kubelet["config"]}, indent=4))
    name = cluster["id"] if cluster.get("enableOutpost") else cluster["name"]
    known = {"endpoint": cluster["apiServerEndpoint"], "name": name, "region": facts["placement/region"]}
    write(BOOTSTRAP if cluster.get("enableOutpost") else KUBECONFIG, _KUBECONFIG.format(**known))
    write(f"{PROVIDER}/config.json", json.dumps(_credentials(minor), indent=2))
    write("/etc/kubernetes/pki/ca.crt", base64.b64decode(cluster["certificateAuthority"]).decode())
    words = _flags(spec, network, facts)
    lines = ["NODEADM_KUBELET_ARGS=" + " ".join(words)]
    if minor < (1, 30) and kubelet.get("config"):
        lines.append("KUBELET_CONFIG_DROPIN_DIR_ALPHA=on")
    write("/etc/eks/kubelet/environment", "\n".join(lines))


def _credentials(minor):
    provider = {
        "name": "ecr-credential-provider",
        "apiVersion": "credentialprovider.kubelet.k8s.io/v1",
        "matchImages": [*_ECR, *(["ecr-public.aws.com"] if minor >= (1, 32) else [])],
        "defaultCacheDuration": "12h0m0s",
    }
    return {"apiVersion": "kubelet.config.k8s.io/v1", "kind": "CredentialProviderConfig", "providers": [provider]}


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
    if kubelet.get("config"):
        own.append(f"--config-dir={DROP_INS}")
    if spec["cluster"].get("enableOutpost"):
        own.append(f"--bootstrap-kubeconfig={BOOTSTRAP}")
    return [*own, *(kubelet.get("flags") or [])]


def _config(cluster, network, facts, minor, pods):
    base = dict(kubelet_config.BASE, cgroupDriver="systemd", containerRuntimeEndpoint="unix:///run/containerd/containerd.sock")
    first = cluster["cidr"].partition("/")[0]
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
    gates = {"DynamicResourceAllocation": (1, 33), "MutableCSINodeAllocatableCount": (1, 34)}
    base["featureGates"] = {**base["featureGates"], **{gate: True for gate, since in gates.items() if minor >= since}}
    if minor >= (1, 34):
        base.update(shutdownGracePeriod="2m30s", shutdownGracePeriodCriticalPods="30s")
    return base


def _max_pods(kind, expression):
    lines = (content("/etc/eks/eni-max-pods.txt") or "").splitlines()
    known = dict(line.split()[:2] for line in lines if line.strip() and not line.startswith("#"))
    if kind not in known:
        return 110
    standard = int(known[kind])
    if not expression:
        return standard
    # The table has only the number of pods; ENIS says what these few types have.
    enis, ips = ENIS.get(kind, (None, None))
    found = evaluated(expression, {"default_enis": enis, "ips_per_eni": ips, "max_pods": standard})
    return found if found is not None and 0 < found < 2**31 else standard


def evaluated(expression, variables):
    """A number; None where there is none. Python's arithmetic is CEL's here, once ? : and the division of integers are put its way."""
    condition, question, rest = expression.partition("?")
    if question:
        then, _unused, otherwise = rest.partition(":")
        expression = f"({then}) if ({condition}) else ({otherwise})"
    try:
        found = eval(expression.replace("/", "//"), {"__builtins__": {}, "int": int, "uint": int, **variables})
        return None if isinstance(found, bool) else int(found)
    except (ArithmeticError, NameError, SyntaxError, TypeError, ValueError):
        return None


def _containerd(settings, cdi):
    spec = deep(_RUNTIME_SPEC, settings.get("baseRuntimeSpec") or {})
    write("/etc/containerd/base-runtime-spec.json", json.dumps(spec, indent=4))
    users = settings.get("config") or ""
    speaks_3 = version("containerd") >= (2, 0)
    is_3 = _IMAGES in users or _RUNTIME in users
    if is_3 and not speaks_3:
        raise ConfigError("failed to get config template version")
    own = toml(_containerd_3(cdi) if speaks_3 and (is_3 or not users) else _containerd_2(cdi))
    write("/etc/containerd/config.toml", merged_toml(own, users) if users else own)
    if speaks_3 and users and not is_3:
        write(
            "/etc/containerd/config.toml",
            subprocess.run(["containerd", "config", "migrate"], capture_output=True, text=True, check=True).stdout,
        )


_RUNC = {
    "base_runtime_spec": "/etc/containerd/base-runtime-spec.json",
    "runtime_type": "io.containerd.runc.v2",
    "options": {"BinaryName": "/usr/sbin/runc", "SystemdCgroup": True},
}
_PAUSE = "localhost/kubernetes/pause:latest"
_REGISTRY = {"config_path": "/etc/containerd/certs.d:/etc/docker/certs.d"}
_CNI = {"bin_dir": "/opt/cni/bin", "conf_dir": "/etc/cni/net.d"}


def _containerd_settings(number, plugins):
    paths = {"root": "/var/lib/containerd", "state": "/run/containerd", "grpc": {"address": "/run/containerd/containerd.sock"}}
    return {"version": number, **paths, "plugins": plugins}


def _containerd_2(cdi):
    runtimes = {"default_runtime_name": "runc", "discard_unpacked_layers": True, "runtimes": {"runc": _RUNC}}
    cri = {"containerd": runtimes, "sandbox_image": _PAUSE, "enable_cdi": cdi, "registry": _REGISTRY, "cni": _CNI}
    return _containerd_settings(2, {_V2: cri})


def _containerd_3(cdi):
    images = {"discard_unpacked_layers": True, "pinned_images": {"sandbox": _PAUSE}, "registry": _REGISTRY}
    runtime = {"enable_cdi": cdi, "containerd": {"default_runtime_name": "runc", "runtimes": {"runc": _RUNC}}, "cni": _CNI}
    return _containerd_settings(3, {_IMAGES: images, _RUNTIME: runtime})


def _environment(services):
    for name, values in services.items():
        if not values:
            continue
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
