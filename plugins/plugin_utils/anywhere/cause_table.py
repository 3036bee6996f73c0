# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Known causes of clusters that do not become available: the texts by which they are recognized, and the cures.

A message of Cluster API often names only the last step that waits. The texts of the causes are in events, statuses of pods, and logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class KnownCause:
    """A cause. pattern: a regular expression for one text, without regard to case. title: what is wrong. cure: what to do."""

    id: str
    pattern: str
    title: str
    cure: str


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


CAUSES = (
    KnownCause(
        "image_credentials",
        r"pull.*(?:401 unauthorized|no basic auth credentials|pull access denied|authorization failed|403 forbidden)",
        "the registry refuses the credentials for an image",
        "log in to the registry again, or set REGISTRY_USERNAME and REGISTRY_PASSWORD; a login to ECR ends after 12 hours",
    ),
    KnownCause(
        "image_limit",
        r"toomanyrequests|pull rate limit",
        "the registry limits the number of pulls",
        "use a registry mirror, or log in to the registry",
    ),
    KnownCause(
        "image_missing",
        r"manifest unknown|(?:image|pull).*manifest.*not found|(?:pull|image).*: not found\b",
        "the registry does not have an image",
        "copy the image to the mirror: the playbook eks_anywhere_images lists all images; check the version",
    ),
    KnownCause(
        "image_certificate",
        r"(?:pull|image|registry).*x509: (?:certificate signed by unknown authority|cannot validate|certificate is valid for)",
        "the certificate of the registry is not trusted",
        "set caCertContent of registryMirrorConfiguration, and use a host name that is in the certificate",
    ),
    KnownCause(
        "image_network",
        r"(?:pull|image|registry).*(?:i/o timeout|no such host|connection refused|handshake timeout|deadline exceeded|unreachable)",
        "a node cannot reach the registry of an image",
        "allow the connection, or set proxyConfiguration or registryMirrorConfiguration; eks_anywhere_preflight checks registries",
    ),
    KnownCause(
        "image_pull",
        r"ImagePullBackOff|ErrImagePull|ErrImageNeverPull|InvalidImageName",
        "an image cannot be pulled",
        "look at the events of the pod; the playbook eks_anywhere_images lists the images that are needed",
    ),
    KnownCause(
        "inotify",
        r"too many open files|inotify_init|fsnotify watcher",
        "the limits of inotify or of open files are too low",
        "sudo sysctl -w fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512 on the machine that runs the containers",
    ),
    KnownCause(
        "disk", r"no space left on device|disk ?pressure|ephemeral-storage", "a disk is full", "make room on the machine: docker system df"
    ),
    KnownCause(
        "memory",
        r"oomkilled|out of memory|memory ?pressure|insufficient memory",
        "there is not enough memory",
        "give Docker or the machines more memory",
    ),
    KnownCause(
        "cgroup_v1",
        r"cgroup ?v1.*(?:not supported|unsupported|deprecated|fail)|failCgroupV1",
        "kubelet does not start on cgroup v1",
        "boot the machine with cgroup v2, or set the argument fail-cgroupv1=false of kubelet",
    ),
    KnownCause(
        "load_balancer_files",
        r"cannot raise fd limit",
        "the load balancer of the Docker provider needs more open files than Docker allows",
        "raise the limit nofile of Docker, or set maxconn in a template of loadBalancer.customHAProxyConfigTemplateRef",
    ),
    KnownCause(
        "kubeadm_ignored_checks",
        r"don't specify individual checks if 'all' is used",
        "kubeadm is told to ignore all checks and also single ones",
        "remove all from ignorePreflightErrors: the Docker provider adds single checks",
    ),
    KnownCause(
        "container_name",
        r"container name .* is already in use|node\(s\) already exist for a cluster with the name",
        "a container of an earlier run has the name",
        "docker ps --all shows it; remove it only if no Cluster of Cluster API owns it",
    ),
    KnownCause(
        "docker_permission",
        r"permission denied while trying to connect to the docker|cannot connect to the docker daemon",
        "the provider cannot use Docker",
        "mount the socket of Docker into the bootstrap cluster, and check that the daemon runs",
    ),
    KnownCause(
        "privileged",
        r"unable to apply caps|operation not permitted.*(?:privileged|cgroup)",
        "Docker cannot start privileged containers here",
        "use a machine on which docker run --privileged works: containers inside of containers often lack capabilities",
    ),
    KnownCause(
        "clock",
        r"x509: certificate has expired or is not yet valid|clock skew",
        "the clocks of machines differ, or a certificate has expired",
        "start a time service on all machines, and compare their clocks",
    ),
    KnownCause(
        "webhook",
        r"failed calling webhook|no endpoints available for service",
        "the webhook of a controller does not answer",
        "wait until its pods are ready; a NetworkPolicy, or a proxy without the network of services in NO_PROXY, can block it",
    ),
    KnownCause(
        "cni",
        r"cni plugin not initialized|NetworkPluginNotReady|cni config uninitialized|NetworkReady=false",
        "the nodes have no network plugin yet",
        "apply the manifests of the CNI to the cluster, and check that its images can be pulled",
    ),
    KnownCause(
        "endpoint",
        r"(?:connection probe|remote connection|control plane endpoint|get .*/(?:healthz|readyz|livez|version)|:6443).*"
        r"(?:connection refused|no route to host|i/o timeout|deadline exceeded|eof)",
        "the controllers cannot reach the API server of the cluster",
        "connect from a pod of the bootstrap cluster, not from the machine: a firewall or the load balancer can be the reason",
    ),
    KnownCause(
        "etcd",
        r"etcdserver: |etcd (?:cluster|member).*(?:not healthy|unhealthy)|etcd.*(?:request timed out|no leader)",
        "etcd is not healthy",
        "check the latency of the disk (etcd needs fsync in 10 ms), and the connections between the control plane nodes",
    ),
    KnownCause(
        "kubeconfig_secret",
        r"kubeconfig.*(?:secret)?.*(?:not found|does not exist)",
        "the kubeconfig of the cluster does not exist yet",
        "it is created with the control plane: look at the conditions of the KubeadmControlPlane",
    ),
    KnownCause(
        "paused",
        r"clusters are paused|\bPaused\b.*\bspec\.paused\b",
        "the cluster is paused, so that no controller works on it",
        "if a move was interrupted, complete it first: unpausing the side that was left creates machines twice",
    ),
    KnownCause(
        "provider_versions",
        r"is older than in the source cluster|contract.*not supported|no matches for kind",
        "the providers of the two clusters do not fit together",
        "install the same versions of the providers in both clusters",
    ),
    KnownCause(
        "github",
        r"api\.github\.com|raw\.githubusercontent\.com",
        "clusterctl asks GitHub for a release",
        "use a local provider repository with versions, and CLUSTERCTL_DISABLE_VERSIONCHECK=true",
    ),
    KnownCause(
        "disruption_budget",
        r"violate the pod's disruption budget|cannot evict pod",
        "a PodDisruptionBudget blocks the drain of a node",
        "the playbook drain_report shows the pods; start more replicas, or change the budget",
    ),
    KnownCause(
        "provider_credentials",
        r"incorrect user name or password|cannot complete login|ServerFaultCode: NoPermission|invalid credentials",
        "the provider refuses the credentials, or they lack a permission",
        "correct the user and its permissions at the provider, then the secret in eksa-system",
    ),
    KnownCause(
        "bmc",
        r"(?:bmc|rufio|ipmi|redfish).*(?:unauthorized|timeout|timed out|unable to|failed|not contactable)",
        "the BMC of a machine does not answer, or refuses the credentials",
        "check the address, the user and the password of the BMC in the CSV file of the hardware",
    ),
    KnownCause(
        "hardware",
        r"no (?:available )?hardware|hardware.*(?:not available|not found)",
        "no hardware is left for a machine",
        "add machines with the labels of hardwareSelector to the CSV file",
    ),
    KnownCause(
        "addresses",
        r"no (?:free|available) (?:ip )?address|ip pool.*exhausted|address(?:es)? (?:is|are) exhausted|failed to allocate.*address",
        "no address is left",
        "extend the pool or the range of DHCP",
    ),
    KnownCause(
        "unschedulable",
        r"[0-9]+/[0-9]+ nodes are available",
        "no node takes a pod",
        "the message lists the reasons: taints, memory, processors; a management cluster needs a group of workers without taints",
    ),
    KnownCause(
        "terminating",
        r"because it is being terminated|namespace .* terminating",
        "a namespace is still being deleted",
        "wait; if it stays, a webhook or an APIService of it does not answer",
    ),
    KnownCause(
        "kubeadm",
        r"kubeadm (?:init|join).*(?:failed|error|exit)|BootstrapFailed|failed to run kubeadm|error execution phase",
        "kubeadm failed on a machine",
        "read /var/log/cloud-init-output.log and the journal of kubelet on the machine; for the Docker provider, with docker exec",
    ),
    KnownCause(
        "crash",
        r"CrashLoopBackOff",
        "a container ends again and again",
        "read its log: kubectl logs --previous",
    ),
)
"""From the special to the general: the first one with a matching text is reported."""


def recognize(texts: Iterable[str]) -> KnownCause | None:
    """The known cause of some texts, most important text first. None if no text is known."""
    for text in texts:
        found = next((cause for cause in CAUSES if _compiled(cause.pattern).search(text)), None)
        if found is not None:
            return found
    return None
