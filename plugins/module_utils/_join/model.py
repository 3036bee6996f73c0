# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The evidence about a join (`Evidence` and its parts) and the conclusion from it (`Finding`). Pure, Python 3.7 and newer.

Every text in the evidence is printable and free of secrets. None means: not collected, or not known.
"""

from __future__ import annotations

import re
from typing import Any, Iterable, Mapping, NamedTuple

from .._node.redaction import redact_document, redact_string
from .._node.systemd import Unit

CAUSES = (
    "kubelet_not_started", "nodeadm_failed", "no_kubelet", "no_container_runtime", "unknown_flag", "invalid_flag", "forbidden_label",
    "unknown_feature_gate", "invalid_config", "unknown_config_field", "cgroup_driver_mismatch", "cgroup_v1", "swap_on", "kernel_defaults",
    "missing_file", "missing_cgroup", "stale_manager_state", "port_in_use", "disk_full", "no_credential_provider", "kubelet_killed",
    "kubelet_exits", "no_kubeconfig", "bad_kubeconfig", "no_credentials_program",
    "credentials_failed", "endpoint_unknown", "endpoint_refused", "endpoint_unreachable", "endpoint_silent", "proxy_failed",
    "wrong_certificate_authority", "wrong_endpoint", "certificate_dates", "clock_skew", "token_expired", "wrong_cluster_name",
    "unauthorized", "not_a_node", "node_name_mismatch", "label_not_allowed", "registration_off", "certificate_pending", "node_deleted",
    "not_registered", "wrong_node_ip", "invalid_cni_config", "no_network_plugin", "not_ready", "under_pressure", "api_error",
    "check_failed",
)  # fmt: skip
"""Every cause of a Finding, in the order in which a node starts. In the catalogue of rules its id is `join.` with this name."""

# Parts of a fix that several causes share.
BOOTSTRAP = "bootstrap the node: bootstrap.sh, nodeadm or the action nodebootstrap.eks.apply writes that file"
DESCRIBE_CLUSTER = "aws eks describe-cluster --query cluster."

_MAX_EVIDENCE_LENGTH = 600
# Words longer than this are cut: they tell a reader nothing more, and searching them for secrets takes long.
_LONG_WORD = re.compile(r"[^\s\"'{}\[\],:]{400,}")


class Finding(NamedTuple):
    """One reason why a node does not join.

    `message` and `fix` are single lines without a final full stop. `evidence`: lines that show the cause, each with its source.
    `final`: the cause does not go away by itself, so waiting does not help.
    """

    cause: str
    message: str
    fix: str
    evidence: tuple[str, ...] = ()
    final: bool = False


class SettingsFile(NamedTuple):
    """A text that sets flags of kubelet or fields of its configuration.

    `flags`, `fields`: the names that it sets. `writer`: the program that writes it, empty if that is not known. `value`: a configuration
    without secrets, None for other texts.
    """

    path: str
    flags: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    writer: str = ""
    value: Any = None


class Settings(NamedTuple):
    """What a kubelet that exits was started with.

    `files`: in the order in which they take effect. `origins`: the NodeConfigs from which nodeadm writes files. `flags`: without secrets.
    `cpus`: of this machine.
    """

    files: tuple[SettingsFile, ...] = ()
    origins: tuple[SettingsFile, ...] = ()
    flags: Mapping[str, Any] = {}
    version: str | None = None
    cpus: int | None = None


class RejectedSettings(NamedTuple):
    """What a kubelet that rejects its settings was started with.

    `places`: field, or flag with its dashes, → where it is set, and how a correction takes effect.
    """

    version: str | None
    configs: tuple[Mapping[str, Any], ...]
    flags: Mapping[str, Any]
    cpus: int | None
    places: Mapping[str, tuple[str, str]]

    def plain(self) -> dict[str, Any]:
        """The settings as a module returns them."""
        places = {name: list(place) for name, place in self.places.items()}
        return {**self._asdict(), "configs": list(self.configs), "flags": dict(self.flags), "places": places}


class KubeletExit(NamedTuple):
    """The log of a kubelet start that failed.

    `is_complete`: the log goes back to the first line of that start. `kernel_lines`: of the kernel, about processes that it killed.
    `memory_limit`: of the unit, in bytes, if kubelet was killed. `port_owners`: who listens on the port that kubelet needs. `full_disks`:
    file systems without free space.
    """

    lines: tuple[str, ...] = ()
    systemd_lines: tuple[str, ...] = ()
    is_complete: bool = True
    kernel_lines: tuple[str, ...] = ()
    memory_limit: int | None = None
    port_owners: tuple[str, ...] = ()
    full_disks: tuple[str, ...] = ()
    settings: Settings = Settings()


class KubeletProcess(NamedTuple):
    """Settings of the running kubelet process.

    `started`: seconds since 1970. `is_bootstrapping`: it uses its bootstrap kubeconfig, because it has no certificate yet. `cgroup_driver`:
    None if it is not known. `serving_port`: where it serves with a certificate that the cluster signs, None with a self-signed one.
    `missing_addresses`: those of --node-ip that no interface of this machine has; `address_place`: where they are set, and how a correction
    takes effect. `eviction`: its thresholds, as text.
    """

    started: float | None = None
    registers_node: bool = True
    is_bootstrapping: bool = False
    cgroup_driver: str | None = None
    config_files: tuple[str, ...] = ()
    serving_port: int | None = None
    missing_addresses: tuple[str, ...] = ()
    address_place: tuple[str, str] | None = None
    eviction: tuple[str, ...] = ()


class Kubelet(NamedTuple):
    """The kubelet unit and its log.

    `exit`: the last start, if it failed. `lines`: log of the running process. `has_first_lines`: they go back to its start.
    """

    unit: str
    is_running: bool = False
    exit: KubeletExit | None = None
    lines: tuple[str, ...] = ()
    has_first_lines: bool = False
    process: KubeletProcess = KubeletProcess()


class FailedUnit(NamedTuple):
    """A unit that failed, and the last lines of its log."""

    unit: str
    lines: tuple[str, ...] = ()


class Containerd(NamedTuple):
    """`lines`: log of a containerd that is not running. `uses_systemd_cgroup`: setting of its default runtime, None if it is not known.

    `full_disks`: file systems without free space, collected if that log mentions them.
    """

    lines: tuple[str, ...] = ()
    uses_systemd_cgroup: bool | None = None
    full_disks: tuple[str, ...] = ()


class NetworkConfig(NamedTuple):
    """The CNI configuration. `directory`: where containerd looks for it. `file`: the first file there; `problem`: why it cannot be loaded.

    `lines`: what containerd logged about it.
    """

    directory: str
    file: str | None = None
    problem: str | None = None
    lines: tuple[str, ...] = ()


class NodeObject(NamedTuple):
    """The condition Ready of the Node object. `ready`: its status, None without such a condition. `heartbeat`: seconds since 1970.

    `pressures`: other conditions that are true and keep pods away, each with its message. `taints`: the taints, as KEY:EFFECT.
    """

    ready: str | None = None
    reason: str = ""
    message: str = ""
    heartbeat: float | None = None
    pressures: tuple[tuple[str, str], ...] = ()
    taints: tuple[str, ...] = ()

    @property
    def lacks_network(self) -> bool:
        """Whether the Node is not Ready because of its network plugin."""
        return self.ready == "False" and ("NetworkPluginNotReady" in self.message or "cni" in self.message.lower())


class ApiResult(NamedTuple):
    """How far the request for the Node object got. Fields of later steps keep their defaults.

    `outcome`: `answer`, or the step that failed (`api_diagnosis` lists them). `message`: the error of that step or of the API server.
    `is_kubelet`: False while another program runs in place of kubelet. `uses_program`: a program gets the credentials; `cluster_name`: the
    cluster for which it gets them. `credentials`: a description. `expires`: seconds since 1970. `authority`: where the trusted certificates
    are. `certificate_names`, `date_problem`: why a certificate was refused. `clock_skew`: seconds by which the clock of this node is ahead.
    `is_kubernetes`: the answer has the form of an answer of an API server.
    """

    outcome: str
    message: str = ""
    is_kubelet: bool = True
    kubeconfig: str = ""
    server: str = ""
    host: str = ""
    proxy: str | None = None
    uses_program: bool = False
    cluster_name: str | None = None
    program: str = ""
    credentials: str = ""
    expires: float | None = None
    authority: str | None = None
    certificate_names: tuple[str, ...] = ()
    date_problem: str | None = None
    clock_skew: float | None = None
    status: int | None = None
    is_kubernetes: bool = False
    node: NodeObject | None = None


class Instance(NamedTuple):
    """What the instance metadata service says. `clusters`: tag → cluster name. Collected only after an answer 401."""

    clusters: Mapping[str, str] = {}
    role: str | None = None
    account: str | None = None
    region: str | None = None


class Evidence(NamedTuple):
    """Everything that was collected at one moment.

    `time`: seconds since 1970. `node_name`: as the running kubelet calls its node; a guess without `is_node_name_certain`. `units`: None if
    systemd does not answer. `nodeadm`: the unit of nodeadm that failed. `has_serving_certificate`: collected only on a Ready node, and not
    in the first minute of kubelet. `network`: collected only if the network of a node is not ready.
    """

    time: float = 0.0
    node_name: str | None = None
    units: Mapping[str, Unit] | None = None
    kubelet: Kubelet | None = None
    nodeadm: FailedUnit | None = None
    containerd: Containerd | None = None
    api: ApiResult | None = None
    instance: Instance | None = None
    has_serving_certificate: bool | None = None
    network: NetworkConfig | None = None
    is_node_name_certain: bool = True

    @property
    def node(self) -> NodeObject | None:
        """The Node object, if the API server returned it."""
        return None if self.api is None else self.api.node

    def unit(self, name: str) -> Unit | None:
        """The unit of this name, if systemd knows it."""
        return (self.units or {}).get(name)


class Identity(NamedTuple):
    """The identity of a node that its cluster does not accept: `role` and `account` of the instance; `cluster` and `server` of kubelet."""

    role: str
    account: str | None = None
    region: str | None = None
    cluster: str | None = None
    server: str = ""


class JoinResult(NamedTuple):
    """What is known at the end of a wait. `node`: its name. `waited`: seconds.

    `finding`: None if the node is in the wanted state and has no final problem; then `warnings` may say what is not right. `identity`: if
    the cluster does not accept the role of the node.
    """

    node: str | None = None
    is_registered: bool = False
    is_ready: bool = False
    finding: Finding | None = None
    warnings: tuple[str, ...] = ()
    waited: float = 0.0
    rejected: RejectedSettings | None = None
    identity: Identity | None = None

    def plain(self) -> dict[str, Any]:
        """The result as a module returns it.

        The controller compares `kubelet_settings` with the rules of kubelet and `identity` with the cluster, and removes both.
        """
        finding = self.finding
        identity = {} if self.identity is None else {"identity": dict(self.identity._asdict())}
        return {
            "node": self.node,
            "registered": self.is_registered,
            "ready": self.is_ready,
            "cause": finding and finding.cause,
            "message": finding and finding.message,
            "fix": finding and finding.fix,
            "evidence": list(self.warnings if finding is None else finding.evidence),
            "final": finding is not None and finding.final,
            "waited": self.waited,
            "kubelet_settings": self.rejected and self.rejected.plain(),
            **identity,
        }


def runs(unit: Unit) -> bool:
    """Whether the main process of a unit runs."""
    return unit.pid > 0 and unit.is_up


def format_failure(result: Mapping[str, Any]) -> str:
    """Lines with the cause, the fix and the evidence, for the user. `result`: `JoinResult.plain()` with a cause."""
    joined = "the node has joined, but" if result["ready"] else "the node did not join:"
    lines = [f"{joined} {result['message']}", f"Fix: {result['fix']}"]
    if result["evidence"]:
        lines += ["Evidence:", *(f"  - {line}" for line in result["evidence"])]
    return "\n".join(lines)


def to_plain_text(text: str, limit: int = 2000, is_document: bool = False) -> str:
    """A text from an unknown source, made safe to show: one line, printable, at most `limit` characters, without secrets.

    `is_document`: the text may be YAML or the like, where the name of a secret comes before its value.
    """
    text = _LONG_WORD.sub(lambda match: match.group(0)[:200] + "…", text[: 2 * limit])
    text = redact_document(text) if is_document else redact_string(text)
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:limit]


def quote_log(unit: str, *lines: str) -> tuple[str, ...]:
    """Lines of the journal of a unit as evidence."""
    return shorten(f"journal of {unit}: {line}" for line in lines)


def shorten(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines that fit on a screen, cut in the middle: kubelet wraps one error into the next, so the end of a line has its reason."""
    return tuple(cut_middle(line, _MAX_EVIDENCE_LENGTH) for line in lines)


def cut_middle(text: str, limit: int) -> str:
    """A text of at most `limit` characters with the beginning and the end of a longer one."""
    begin = limit // 3
    return text if len(text) <= limit else f"{text[:begin]} … {text[len(text) - (limit - begin - 3) :]}"
