# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence for tests: of recorded joins (recorded_joins.json), and built. `CASES` has one case for each kind of failed join."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import (
    ApiResult,
    Containerd,
    Evidence,
    FailedUnit,
    Instance,
    Kubelet,
    KubeletExit,
    KubeletProcess,
    NetworkConfig,
    NodeObject,
    Settings,
    SettingsFile,
)
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.systemd import Unit

RECORDED: dict[str, dict[str, dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "_join/recorded_joins.json").read_text(encoding="utf-8")
)
GOLDEN = Path(__file__).resolve().parents[3] / "golden/join/messages.txt"
KUBELET, CONTAINERD = "kubelet.service", "containerd.service"
NAME = "ip-10-0-0-5.eu-central-1.compute.internal"
SERVER = "https://10.0.0.1:6443"
CA = "/etc/kubernetes/pki/ca.crt"
NOW, STARTED = 1020.0, 1000.0


def unit(name: str = KUBELET, active: str = "active", sub: str = "running", **fields: Any) -> Unit:
    base = Unit(name, "loaded", active, sub, "enabled", pid=7 if active == "active" else 0, restarts=0, result="success", exit_status="0")
    return base._replace(main_started=100.0, **fields)


def node(ready: str | None = "True", message: str = "", reason: str = "KubeletReady", heartbeat: float = NOW - 10) -> NodeObject:
    return NodeObject(ready, reason, message, heartbeat)


def api(outcome: str = "answer", status: int | None = None, message: str = "", **fields: Any) -> ApiResult:
    """The result of a request; an answer has the status 200 unless told otherwise."""
    base = ApiResult(
        outcome, message, kubeconfig="/var/lib/kubelet/kubeconfig", server=SERVER, host="10.0.0.1", uses_program=True, cluster_name="demo",
        program="aws", credentials="the token of aws", authority=CA,
    )  # fmt: skip
    if outcome == "answer":
        base = base._replace(status=status or 200, is_kubernetes=True, clock_skew=0.0)
    return base._replace(**fields)


def running(result: ApiResult | None = None, found: NodeObject | None = None, lines: tuple[str, ...] = (), **settings: Any) -> Evidence:
    """A machine whose kubelet runs. `settings`: fields of its process."""
    defaults: dict[str, Any] = {"cgroup_driver": "systemd", "config_files": ("/etc/kubernetes/kubelet/config.json",)}
    process = KubeletProcess(started=STARTED)._replace(**{**defaults, **settings})
    result = result or api()
    if found is not None:
        result = result._replace(node=found)
    return Evidence(
        NOW, NAME, {KUBELET: unit()}, Kubelet(KUBELET, True, None, lines, True, process), containerd=Containerd((), True), api=result
    )


def ended(
    lines: tuple[str, ...] = (), systemd_lines: tuple[str, ...] = (), status: str = "1", result: str = "exit-code", is_complete: bool = True
) -> Evidence:
    """A machine whose kubelet exited with these log lines, and which systemd restarts."""
    state = unit(active="activating", sub="auto-restart", result=result, exit_status=status, restarts=3)
    return Evidence(NOW, None, {KUBELET: state}, Kubelet(KUBELET, exit=KubeletExit(lines, systemd_lines, is_complete)))


def stopped(*others: Unit, nodeadm: FailedUnit | None = None, **fields: Any) -> Evidence:
    """A machine whose kubelet was never started. `others`: more units. `fields`: of its unit."""
    state = unit(active="inactive", sub="dead")._replace(**fields)
    return Evidence(NOW, None, {KUBELET: state, **{other.name: other for other in others}}, Kubelet(KUBELET), nodeadm)


def recorded(name: str) -> Evidence:
    """The evidence of a recorded join, `EXIT-MINOR` or `RUNNING-MINOR`: a kubelet that exited, or one that runs and was not asked about."""
    if name in RECORDED["exits"]:
        exit_ = RECORDED["exits"][name]
        return ended(tuple(exit_["lines"]), tuple(exit_["systemd"]), exit_["status"], exit_["result"])
    return running(found=node(), lines=tuple(RECORDED["running"][name]["lines"]))


def with_result(name: str, result: ApiResult) -> Evidence:
    """A recorded join of a kubelet that runs, with the result of the request that goes with its log."""
    return recorded(name)._replace(api=result)


def forbidden(user: str, reason: str = "") -> ApiResult:
    return api(status=403, message=f'nodes "{NAME}" is forbidden: User "{user}" cannot get resource "nodes" at the cluster scope{reason}')


UNAUTHORIZED = api(status=401, message="Unauthorized")
ROLE = Instance({}, "node-role", "111122223333", "eu-central-1")
NODEADM_LINES = (
    '{"level":"info","ts":1,"caller":"init.go:73","msg":"Validating configuration.."}',
    '{"level":"fatal","ts":1,"caller":"main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration"}',
)
CONTAINERD_LINE = "containerd: failed to load TOML: /etc/containerd/config.toml: (2, 1): unterminated array"
CONTROL_EXIT = (
    "kubelet.service: Control process exited, code=exited, status=52/n/a",
    "kubelet.service: Failed with result 'exit-code'.",
)
CNI_MESSAGE = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized"


def register_error(reason: str) -> str:
    return f'E1121 22:50:16.093134 562 kubelet_node_status.go:108] "Unable to register node with API server" err="{reason}" node="{NAME}"'


NODEADM_ENVIRONMENT, NODEADM_CONFIG = "/etc/eks/kubelet/environment", "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"
USER_DATA_FILE = "/var/lib/cloud/instance/user-data.txt"
REFUSED = {"imageGCHighThresholdPercent": 75, "reservedSystemCPUs": "0"}
NODEADM_SETTINGS = Settings(
    (
        SettingsFile(NODEADM_ENVIRONMENT, ("container-runtime", "node-ip", "config"), writer="nodeadm"),
        SettingsFile(
            "/etc/kubernetes/kubelet/config.json", (), ("kind", "cgroupDriver", "cgroupRoot"), "nodeadm", {"cgroupDriver": "systemd"}
        ),
        SettingsFile(NODEADM_CONFIG, (), tuple(REFUSED), "nodeadm", REFUSED),
    ),
    (
        SettingsFile(f"the user data ({USER_DATA_FILE})", ("container-runtime",), tuple(REFUSED)),
        SettingsFile("/etc/eks/nodeadm.d/50-nodebootstrap.yaml", (), ("reservedSystemCPUs",)),
    ),
    {"container-runtime": "remote"},
    "1.36.3",
)
FILE_SETTINGS = Settings(
    (SettingsFile("/etc/k.json", (), ("cgroupRoot", "kubeReservedCgroup")), SettingsFile("/etc/k.conf", ("cgroup-root",)))
)
OOM_KILLED = (
    "kubelet.service: A process of this unit has been killed by the OOM killer.",
    "kubelet.service: Main process exited, code=killed, status=9/KILL",
    "kubelet.service: Failed with result 'oom-kill'.",
)
KERNEL_LINE = "Memory cgroup out of memory: Killed process 4315 (kubelet) total-vm:1999416kB, anon-rss:20012kB, file-rss:52224kB, UID:0"
WARNING = 'W1121 22:49:26.5 294 machine.go:65] "Cannot read vendor id correctly, set empty."'
LISTEN = 'E1121 22:49:26.5 294 server.go:215] "Failed to listen and serve" err="listen tcp 0.0.0.0:10250: bind: address already in use"'


def command_failed(error: str) -> str:
    return f'E1121 22:49:26.5 294 run.go:72] "command failed" err="{error}"'


def manager_failed(error: str) -> str:
    return f'E1121 22:49:26.5 294 kubelet.go:1822] "Failed to start ContainerManager" err="{error}"'


def with_start(evidence: Evidence, **fields: Any) -> Evidence:
    """Evidence of a kubelet that exited, with more about its last start."""
    assert evidence.kubelet is not None and evidence.kubelet.exit is not None
    return evidence._replace(kubelet=evidence.kubelet._replace(exit=evidence.kubelet.exit._replace(**fields)))


def pressed(*names: str) -> NodeObject:
    messages = {"DiskPressure": "kubelet has disk pressure", "MemoryPressure": "kubelet has insufficient memory available"}
    taints = {"DiskPressure": "disk-pressure", "MemoryPressure": "memory-pressure"}
    pressures = tuple((name, messages[name]) for name in names)
    return node()._replace(pressures=pressures, taints=tuple(f"node.kubernetes.io/{taints[name]}:NoSchedule" for name in names))


NOT_FOUND = api(status=404, message=f'nodes "{NAME}" not found')
UPDATE_FAILED = (
    'E1121 22:50:16.1 562 kubelet_node_status.go:479] "Error updating node status, will retry" '
    f'err="error getting node \\"{NAME}\\": nodes \\"{NAME}\\" not found"'
)
NODE_IP_LINE = (
    'E1121 22:50:16.1 562 kubelet_node_status.go:673] "Failed to set some node status fields" err="failed to validate nodeIP: node IP: '
    f'\\"10.9.9.9\\" not found in the host\'s network interfaces" node="{NAME}"'
)
NO_NETWORK = node("False", CNI_MESSAGE, "KubeletNotReady")
CHECKPOINT = (
    'start cpu manager error: could not restore state from checkpoint: configured policy \\"static\\" differs from state checkpoint policy '
    '\\"none\\", please drain this node and delete the CPU manager checkpoint file \\"/var/lib/kubelet/cpu_manager_state\\" before '
    "restarting Kubelet"
)

CASES: dict[str, Evidence] = {
    **{f"recorded exit: {name}": recorded(name) for name in sorted(RECORDED["exits"])},
    **{
        f"recorded log and {title}: {name}-{minor}": with_result(f"{name}-{minor}", result)
        for minor in ("1.30", "1.36")
        for name, title, result in (
            ("endpoint_refused", "refused connection", api("refused", message="10.0.0.1: Connection refused")),
            ("identity_node_without_groups", "answer 403", forbidden(f"system:node:{NAME}")),
            ("identity_without_groups", "answer 403", forbidden("stranger")),
            ("node_name_mismatch", "answer 403", forbidden("system:node:a", f": node 'a' cannot read '{NAME}'")),
            ("proxy_refused", "proxy", api("proxy", message="http://127.0.0.1:3128 (HTTPS_PROXY): 127.0.0.1: Connection refused")),
            ("wrong_ca", "TLS error", api("authority", message="self-signed certificate in certificate chain")),
            ("wrong_cluster_name", "answer 401", UNAUTHORIZED),
            ("unknown_field_config", "Ready node", api(node=node())),
            ("unknown_field_nested_config", "Ready node", api(node=node())),
        )
    },
    "systemd does not answer": Evidence(NOW),
    "no kubelet unit": Evidence(NOW, units={}),
    "kubelet is masked": stopped(load="masked"),
    "kubelet was never started": stopped(),
    "nodeadm is still running": stopped(unit("nodeadm-run.service", "activating", "start")),
    "nodeadm failed": stopped(nodeadm=FailedUnit("nodeadm-config.service", NODEADM_LINES)),
    "nodeadm failed without a log": stopped(nodeadm=FailedUnit("nodeadm-run.service")),
    "containerd is masked": stopped(unit(CONTAINERD, "inactive", "dead", load="masked")),
    "containerd restarts": stopped(unit(CONTAINERD, "activating", "auto-restart", result="exit-code"))._replace(
        containerd=Containerd((CONTAINERD_LINE,))
    ),
    "containerd failed": stopped(unit(CONTAINERD, "failed", "failed", result="exit-code")),
    "ExecStartPre failed": ended(("curl: (52) Empty reply from server",), CONTROL_EXIT, "0"),
    "kubelet exits for an unknown reason": ended(('E1121 22:49:26.5 294 server.go:1] "Something new" err="a new reason"',)),
    "kubelet exits without a log": ended(),
    "a locked feature gate": ended(('E1121 22:49:26.5 294 run.go:72] "command failed" err="cannot set feature gate A to false"',)),
    "kubelet is killed, memory is used up": ended((WARNING,), OOM_KILLED, "9", "oom-kill"),
    "kubelet is killed at its memory limit": with_start(ended((WARNING,), OOM_KILLED[1:2], "9", "signal"), kernel_lines=(KERNEL_LINE,)),
    "kubelet is killed, and its unit has a memory limit": with_start(
        ended((WARNING,), OOM_KILLED[1:2], "9", "signal"), memory_limit=12 << 20
    ),
    "kubelet is killed by a signal": ended(
        (WARNING,), ("kubelet.service: Main process exited, code=killed, status=6/ABRT",), "6", "watchdog"
    ),
    "the disk is full": with_start(
        ended((command_failed("failed to run Kubelet: failed to create kubelet: mkdir /var/lib/kubelet/pki: no space left on device"),)),
        full_disks=("file system of /var/lib/kubelet: 0 of 20480 MiB are free",),
    ),
    "containerd and a full disk": stopped(unit(CONTAINERD, "failed", "failed", result="exit-code"))._replace(
        containerd=Containerd(
            ("containerd: mkdir /var/lib/containerd/tmp: no space left on device",), full_disks=("file system of /: 0 MiB",)
        )
    ),
    "the state of the CPU manager": ended((manager_failed(CHECKPOINT),)),
    "the state of the CPU manager of another machine": ended(
        (manager_failed('start cpu manager error: current set of available CPUs \\"0-1\\" doesn\'t match with CPUs in state \\"0-3\\"'),)
    ),
    "cgroupRoot": with_start(
        ended((command_failed('failed to run Kubelet: invalid configuration: cgroup [\\"a\\"] has some missing paths: /sys/fs/cgroup/a'),)),
        settings=FILE_SETTINGS,
    ),
    "a reserved cgroup": ended(
        (manager_failed('Failed to enforce Kube Reserved Cgroup Limits on \\"/runtime\\": [\\"runtime\\"] is missing'),)
    ),
    "port 10250": with_start(ended((LISTEN,)), port_owners=("python3 (pid 812, web.service)",)),
    "port 10250 of an unknown process": ended((LISTEN,)),
    "an empty certificate authority": ended(
        (command_failed('failed to run Kubelet: missing content for CA bundle \\"client-ca-bundle::/etc/kubernetes/pki/ca.crt\\"'),)
    ),
    "a removed cloud provider": with_start(
        ended((command_failed('failed to run Kubelet: failed to create kubelet: cloud provider \\"aws\\" was specified, but built-in'),)),
        settings=NODEADM_SETTINGS,
    ),
    "a removed flag on AL2023": with_start(
        ended((command_failed("failed to parse kubelet flag: unknown flag: --container-runtime"),)), settings=NODEADM_SETTINGS
    ),
    "an invalid value on AL2023": with_start(
        ended(
            (
                command_failed(
                    "failed to validate kubelet configuration, error: [invalid configuration: imageGCLowThresholdPercent "
                    "(--image-gc-low-threshold) 80 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 75, invalid "
                    "configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or "
                    "kubeReservedCgroup (--kube-reserved-cgroup)], path: &TypeMeta{Kind:,APIVersion:,}"
                ),
            )
        ),
        settings=NODEADM_SETTINGS,
    ),
    "the command of kubelet fails": ended((command_failed("failed to run Kubelet: a new reason"),)),
    "the Node was deleted": running(NOT_FOUND, lines=(UPDATE_FAILED,)),
    "an address that no interface has": running(
        found=node(),
        lines=(NODE_IP_LINE,),
        missing_addresses=("10.9.9.9",),
    ),
    "an address that kubelet rejects": running(
        found=node(),
        lines=(
            NODE_IP_LINE.replace("node IP: ", "nodeIP can't be loopback address").replace(
                '\\"10.9.9.9\\" not found in the host\'s network interfaces', ""
            ),
        ),
    ),
    "a broken CNI configuration": running(found=NO_NETWORK)._replace(
        network=NetworkConfig(
            "/etc/cni/net.d",
            "/etc/cni/net.d/10-aws.conflist",
            "it is not valid JSON: Expecting ',' delimiter: line 3 column 1 (char 40)",
            ("failed to reload cni configuration after receiving fs change event",),
        )
    ),
    "a CNI configuration that is not loaded yet": running(found=NO_NETWORK)._replace(
        network=NetworkConfig("/etc/cni/net.d", "/etc/cni/net.d/10-aws.conflist")
    ),
    "an empty CNI directory": running(found=NO_NETWORK)._replace(network=NetworkConfig("/etc/cni/net.d")),
    "disk pressure": running(found=pressed("DiskPressure"), eviction=("evictionHard of kubelet (/k.json): nodefs.available: 99%",)),
    "memory pressure": running(found=pressed("DiskPressure", "MemoryPressure")),
    "different cgroup drivers": running(found=node(), cgroup_driver="cgroupfs"),
    "no --kubeconfig": running(ApiResult("standalone")),
    "another program in place of kubelet": running(ApiResult("standalone", is_kubelet=False)),
    "no kubeconfig file": running(api("no_kubeconfig")),
    "invalid kubeconfig": running(api("bad_kubeconfig", message="/var/lib/kubelet/kubeconfig has no cluster named 'a'")),
    "kubeconfig with unusual YAML": running(
        api("bad_kubeconfig", message="/var/lib/kubelet/kubeconfig cannot be read as YAML: line 1: an anchor")
    ),
    "no program for credentials": running(api("no_program", message="the program aws does not exist in the PATH of kubelet (/usr/bin)")),
    "the program for credentials fails": running(api("program", message="aws fails (status 253): Unable to locate credentials.")),
    "the program prints no credentials": running(api("output", message="aws does not print an ExecCredential in JSON")),
    "client certificate missing": running(
        api("bad_certificate", message="the client certificate /var/lib/kubelet/pki/a.pem cannot be used: No such file or directory")
    ),
    "unknown host name": running(api("dns", message="a.example.com: Name or service not known", host="a.example.com")),
    "DNS does not answer": running(api("dns_silent", message="no answer for a.example.com", host="a.example.com")),
    "closed connection": running(api("broken", message="Connection reset by peer")),
    "no route": running(api("unreachable", message="10.0.0.1: No route to host")),
    "timeout": running(api("silent", message="the connection to 10.0.0.1 timed out")),
    "timeout through a proxy": running(api("silent", message="timed out", proxy="http://10.0.9.9:3128 (HTTPS_PROXY)")),
    "no TLS": running(api("no_tls", message="the server does not speak TLS")),
    "no certificate authority": running(api("no_authority", message=f"{CA} cannot be read")),
    "certificate for other names": running(api("names", message="IP address mismatch", certificate_names=("10.9.9.9", "api.example.com"))),
    "expired certificate": running(api("dates", message="certificate has expired", date_problem="has expired", clock_skew=1.0)),
    "certificate of tomorrow": running(api("dates", message="certificate is not yet valid", date_problem="is not valid yet")),
    "certificate and wrong clock": running(
        api("dates", message="certificate is not yet valid", date_problem="is not valid yet", clock_skew=-5000.0)
    ),
    "answer 401 and wrong clock": running(UNAUTHORIZED._replace(clock_skew=1200.0)),
    "answer 401 and old token": running(UNAUTHORIZED._replace(expires=500.0)),
    "answer 401 and client certificate": running(UNAUTHORIZED._replace(uses_program=False, credentials="the client certificate /c.pem")),
    "answer 401 and tag of another cluster": running(UNAUTHORIZED)._replace(
        instance=ROLE._replace(clusters={"aws:eks:cluster-name": "prod"})
    ),
    "answer 401 and tag of the same cluster": running(UNAUTHORIZED)._replace(instance=ROLE._replace(clusters={"eks:cluster-name": "demo"})),
    "answer 401 without tags": running(UNAUTHORIZED)._replace(instance=ROLE),
    "answer 401 without cluster name": running(UNAUTHORIZED._replace(cluster_name=None)),
    "answer 401 on Outposts": running(UNAUTHORIZED, is_bootstrapping=True)._replace(instance=ROLE),
    "answer 403 on Outposts": running(forbidden("system:bootstrapper"), is_bootstrapping=True),
    "answer 403 as anonymous": running(forbidden("system:anonymous")),
    "answer 404": running(api(status=404, message=f'nodes "{NAME}" not found')),
    "answer 404 with registration off": running(api(status=404, message=f'nodes "{NAME}" not found'), registers_node=False),
    "answer 404 and refused labels": running(
        api(status=404, message=f'nodes "{NAME}" not found'),
        lines=(register_error(f'nodes \\"{NAME}\\" is forbidden: is not allowed to set the following labels: a.k8s.io/b'),),
    ),
    "answer 404 and refused creation": running(
        api(status=404, message=f'nodes "{NAME}" not found'),
        lines=(register_error('nodes is forbidden: User \\"stranger\\" cannot create resource \\"nodes\\"'),),
    ),
    "answer 404 and refused name": running(
        api(status=404, message=f'nodes "{NAME}" not found'),
        lines=(register_error(f'node \\"a\\" is not allowed to modify node \\"{NAME}\\"'),),
    ),
    "answer 500": running(api(status=500, message="etcdserver: no leader")),
    "answer of another server": running(api(status=404, is_kubernetes=False)),
    "unknown outcome": running(api("new_outcome")),
    "no condition Ready": running(found=NodeObject()),
    "condition of an earlier kubelet": running(found=node(heartbeat=STARTED - 100)),
    "no network plugin": running(found=node("False", CNI_MESSAGE, "KubeletNotReady")),
    "condition Unknown": running(found=node("Unknown", "Kubelet stopped posting node status.", "NodeStatusUnknown")),
    "not Ready": running(found=node("False", "PLEG is not healthy", "KubeletNotReady")),
}
"""Name → evidence of a failed join. The golden file has the full message of each."""


def messages() -> str:
    """The text of the golden file: the message of each case."""
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import diagnosis
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import JoinResult, format_failure

    blocks = []
    for name, evidence in CASES.items():
        finding = diagnosis.diagnose(evidence)
        assert finding is not None, name
        state = "final" if finding.final else "may pass"
        result = JoinResult(is_ready=diagnosis.is_ready(evidence), finding=finding)
        blocks.append(f"## {name}\n## {finding.cause}, {state}\n{format_failure(result.plain())}\n")
    return "\n".join(blocks)
