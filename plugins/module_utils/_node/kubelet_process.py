# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet as a process: its unit, its command line, parsed as kubelet does, and what follows from them.

Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

import os
import re
from typing import Callable, Container, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Union

from .host import Host

UNITS = ("snap.kubelet-eks.daemon.service", "kubelet.service")
ROOT_DIRECTORY = "/var/lib/kubelet"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
BOOTSTRAP_KUBECONFIG = "/var/lib/kubelet/bootstrap-kubeconfig"
"""Where all images have the kubeconfigs of kubelet."""

_REPEATABLE = """
    allowed-unsafe-sysctls cluster-dns cpu-manager-policy-options enforce-node-allocatable eviction-hard eviction-minimum-reclaim
    eviction-soft eviction-soft-grace-period feature-gates kube-reserved manifest-url-header node-labels qos-reserved reserved-memory
    system-reserved tls-cipher-suites topology-manager-policy-options
"""
REPEATABLE = frozenset(_REPEATABLE.split())
"""Flags that can be given more than once: each one adds to the earlier ones."""

_FIELDS = """
    address=address allowed-unsafe-sysctls=allowedUnsafeSysctls anonymous-auth=authentication.anonymous.enabled
    authentication-token-webhook=authentication.webhook.enabled authentication-token-webhook-cache-ttl=authentication.webhook.cacheTTL
    authorization-mode=authorization.mode authorization-webhook-cache-authorized-ttl=authorization.webhook.cacheAuthorizedTTL
    authorization-webhook-cache-unauthorized-ttl=authorization.webhook.cacheUnauthorizedTTL cgroup-driver=cgroupDriver
    cgroup-root=cgroupRoot cgroups-per-qos=cgroupsPerQOS client-ca-file=authentication.x509.clientCAFile cluster-dns=clusterDNS
    cluster-domain=clusterDomain container-log-max-files=containerLogMaxFiles container-log-max-size=containerLogMaxSize
    container-runtime-endpoint=containerRuntimeEndpoint contention-profiling=enableContentionProfiling cpu-cfs-quota=cpuCFSQuota
    cpu-cfs-quota-period=cpuCFSQuotaPeriod cpu-manager-policy=cpuManagerPolicy cpu-manager-policy-options=cpuManagerPolicyOptions
    cpu-manager-reconcile-period=cpuManagerReconcilePeriod enable-controller-attach-detach=enableControllerAttachDetach
    enable-debugging-handlers=enableDebuggingHandlers enable-server=enableServer enforce-node-allocatable=enforceNodeAllocatable
    event-burst=eventBurst event-qps=eventRecordQPS eviction-hard=evictionHard eviction-max-pod-grace-period=evictionMaxPodGracePeriod
    eviction-minimum-reclaim=evictionMinimumReclaim eviction-pressure-transition-period=evictionPressureTransitionPeriod
    eviction-soft=evictionSoft eviction-soft-grace-period=evictionSoftGracePeriod
    experimental-kernel-memcg-notification=kernelMemcgNotification fail-cgroupv1=failCgroupV1 fail-swap-on=failSwapOn
    feature-gates=featureGates file-check-frequency=fileCheckFrequency hairpin-mode=hairpinMode healthz-bind-address=healthzBindAddress
    healthz-port=healthzPort http-check-frequency=httpCheckFrequency image-gc-high-threshold=imageGCHighThresholdPercent
    image-gc-low-threshold=imageGCLowThresholdPercent image-service-endpoint=imageServiceEndpoint iptables-drop-bit=iptablesDropBit
    iptables-masquerade-bit=iptablesMasqueradeBit kernel-memcg-notification=kernelMemcgNotification kube-api-burst=kubeAPIBurst
    kube-api-content-type=contentType kube-api-qps=kubeAPIQPS kube-reserved=kubeReserved kube-reserved-cgroup=kubeReservedCgroup
    kubelet-cgroups=kubeletCgroups local-storage-capacity-isolation=localStorageCapacityIsolation
    make-iptables-util-chains=makeIPTablesUtilChains manifest-url=staticPodURL manifest-url-header=staticPodURLHeader
    max-open-files=maxOpenFiles max-pods=maxPods memory-manager-policy=memoryManagerPolicy minimum-image-ttl-duration=imageMinimumGCAge
    node-status-max-images=nodeStatusMaxImages node-status-update-frequency=nodeStatusUpdateFrequency oom-score-adj=oomScoreAdj
    pod-cidr=podCIDR pod-manifest-path=staticPodPath pod-max-pids=podPidsLimit pods-per-core=podsPerCore port=port
    protect-kernel-defaults=protectKernelDefaults provider-id=providerID qos-reserved=qosReserved read-only-port=readOnlyPort
    register-node=registerNode register-with-taints=registerWithTaints registry-burst=registryBurst registry-qps=registryPullQPS
    reserved-cpus=reservedSystemCPUs reserved-memory=reservedMemory resolv-conf=resolvConf rotate-certificates=rotateCertificates
    rotate-server-certificates=serverTLSBootstrap runonce=runOnce runtime-request-timeout=runtimeRequestTimeout
    serialize-image-pulls=serializeImagePulls streaming-connection-idle-timeout=streamingConnectionIdleTimeout
    sync-frequency=syncFrequency system-cgroups=systemCgroups system-reserved=systemReserved system-reserved-cgroup=systemReservedCgroup
    tls-cert-file=tlsCertFile tls-cipher-suites=tlsCipherSuites tls-min-version=tlsMinVersion tls-private-key-file=tlsPrivateKeyFile
    topology-manager-policy=topologyManagerPolicy topology-manager-policy-options=topologyManagerPolicyOptions
    topology-manager-scope=topologyManagerScope volume-plugin-dir=volumePluginDir volume-stats-agg-period=volumeStatsAggPeriod
"""
FIELDS = dict(pair.split("=") for pair in _FIELDS.split())
"""Flag → the field of kubelet's configuration that it sets. Flags override files."""

Flags = Mapping[str, Union[str, List[str]]]
"""The flags of a command line: name without dashes → value, or the list of values of a flag in C(REPEATABLE)."""

_REGISTERED = re.compile(r"register(?:ed)? node\b.* node=\"?(?P<name>[0-9A-Za-z.-]+)")
_NUMBER = re.compile(r"-[0-9]+\Z")


def parse(words: Sequence[str]) -> Dict[str, Union[str, List[str]]]:
    """The flags among the words after the name of the program.

    As kubelet parses them: C(--name=value) or C(--name value); an underscore in the name is a dash; a later value wins; a flag without a
    value is V(true). Words that are not flags are left out: kubelet does not start with them, but a program in front of kubelet may.
    """
    found: Dict[str, Union[str, List[str]]] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = name.replace("_", "-")
        elif word[:2] == "-v":
            name, equals, value = "v", word[2:], word[2:].lstrip("=")
        else:
            continue
        if not equals:
            takes_next = rest and (not rest[0].startswith("-") or rest[0] == "-" or _NUMBER.match(rest[0]))
            value = rest.pop(0) if takes_next else "true"
        if name in REPEATABLE:
            found[name] = [*values(found, name), value]
        else:
            found[name] = value
    return found


def values(flags: Flags, name: str) -> List[str]:
    """All values of a flag."""
    value = flags.get(name, [])
    return list(value) if isinstance(value, list) else [value]


def last(flags: Flags, name: str) -> str | None:
    """The value of a flag that counts, None without the flag."""
    given = values(flags, name)
    return given[-1] if given else None


def pairs(flags: Flags, name: str) -> Dict[str, str]:
    """The mapping of a flag such as C(--node-labels=a=b,c=d)."""
    found = {}
    for value in values(flags, name):
        for pair in value.split(","):
            if pair.strip():
                key, _equals, item = pair.partition("=")
                found[key.strip()] = item.strip()
    return found


def find_unit(units: Container[str]) -> str | None:
    """The unit that runs kubelet, among the units that exist. The unit of the snap comes first."""
    return next((name for name in UNITS if name in units), None)


class NodeName(NamedTuple):
    """The name of the Node object of this machine. If it is not certain, the Node with this name may be that of another machine."""

    name: str
    is_certain: bool = True


def node_name(flags: Flags, hostname: str, read_log: Callable[[], Iterable[str]]) -> NodeName:
    """The name under which a running kubelet registers.

    C(read_log): returns lines of its log. Only a kubelet with the cloud provider that was built in before Kubernetes 1.27 needs it: it gets
    the name from EC2. Without such a line, the host name is a guess.
    """
    if last(flags, "cloud-provider") != "aws":
        return NodeName((last(flags, "hostname-override") or hostname).strip().lower())
    names = [match.group("name") for match in map(_REGISTERED.search, read_log()) if match]
    return NodeName(names[-1]) if names else NodeName(hostname.lower(), False)


def find_kubeconfig(host: Host, flags: Flags) -> str | None:
    """The kubeconfig that kubelet uses now. None for a kubelet without a cluster."""
    path, bootstrap = last(flags, "kubeconfig"), last(flags, "bootstrap-kubeconfig")
    if path and bootstrap and not host.exists(path) and host.exists(bootstrap):
        return bootstrap
    return path or bootstrap or None


def has_served(host: Host, flags: Flags) -> bool:
    """Whether the node has something that only a cluster gives: pods, or a signed serving certificate."""
    root = last(flags, "root-dir") or ROOT_DIRECTORY
    certificates = last(flags, "cert-dir") or os.path.join(root, "pki")
    return os.path.lexists(host.path(os.path.join(certificates, "kubelet-server-current.pem"))) or bool(host.names(f"{root}/pods"))
