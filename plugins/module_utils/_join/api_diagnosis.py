# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the API server does not return the Node object, from the result of the request. Pure. Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Callable, Match

from .._node import kubeconfig as kubeconfigs
from .._node.host import format_time
from .model import BOOTSTRAP, DESCRIBE_CLUSTER, ApiResult, Evidence, Finding, Instance, Kubelet, quote_log, shorten

MAX_CLOCK_SKEW_SECONDS = 240
"""AWS rejects a request whose signature is more than five minutes old, or that far in the future."""

_EXPIRY_TOLERANCE_SECONDS = 5

_CANNOT_READ = re.compile(r"node '(?P<user>[^']*)' cannot read '(?P<node>[^']*)'")
_CANNOT_MODIFY = re.compile(r"node \\?\"(?P<user>[^\"\\]*)\\?\" is not allowed to modify node \\?\"(?P<node>[^\"\\]*)")
_FORBIDDEN_LABELS = re.compile(r"is not allowed to set the following labels: (?P<labels>[^\"\\]+)")
_USER = re.compile(r"User \\?\"(?P<user>[^\"\\]+)")
_UPDATE_FAILED = re.compile(r"\"Error updating node status, will retry\" err=\".*not found")
_REGISTER = "Unable to register node with API server"
_CHECK_NETWORK = (
    "check the endpoint of the API server (kubectl cluster-info), the security groups of cluster and node, the routes, and whether "
    "the cluster allows public or private access"
)
# Causes to which the error that kubelet logs when it cannot register adds evidence.
_CAUSES_THAT_KUBELET_LOGS = (
    "not_registered", "node_name_mismatch", "label_not_allowed", "not_a_node", "endpoint_unknown", "endpoint_refused",
    "endpoint_unreachable", "endpoint_silent", "wrong_certificate_authority", "wrong_endpoint", "certificate_dates", "unauthorized",
    "wrong_cluster_name", "proxy_failed", "token_expired", "clock_skew",
)  # fmt: skip


def diagnose(evidence: Evidence) -> Finding | None:
    """The Finding that follows from the result of the request; None if there was none, or if it returned the Node object."""
    api, kubelet = evidence.api, evidence.kubelet
    if api is None or kubelet is None or api.node is not None:
        return None
    finding = _OUTCOMES.get(api.outcome, _explain_unknown_outcome)(evidence, kubelet, api)
    lines = [line for line in kubelet.lines if _REGISTER in line]
    shown = quote_log(kubelet.unit, *lines[-1:]) if finding.cause in _CAUSES_THAT_KUBELET_LOGS else ()
    return finding._replace(evidence=finding.evidence + tuple(line for line in shown if line not in finding.evidence))


# --- before the request is sent ----------------------------------------------------------------------------------------------------


def _explain_standalone(_evidence: Evidence, kubelet: Kubelet, api: ApiResult) -> Finding:
    fix = f"bootstrap the node; to see the flags of kubelet: systemctl cat {kubelet.unit}"
    if api.is_kubelet:
        return Finding("no_kubeconfig", "kubelet runs without --kubeconfig, so it belongs to no cluster", fix, final=True)
    return Finding("no_kubeconfig", f"{kubelet.unit} does not run kubelet itself yet: its program has no --kubeconfig", fix)


def _explain_missing_kubeconfig(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return Finding("no_kubeconfig", f"the kubeconfig of kubelet, {api.kubeconfig}, does not exist", BOOTSTRAP)


def _explain_bad_kubeconfig(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    if api.message.startswith(f"{api.kubeconfig} {kubeconfigs.UNREADABLE}"):
        # kubelet reads more of YAML than this code does, and would exit if it could not read the file.
        return Finding(
            "bad_kubeconfig", f"join_check cannot read the kubeconfig of kubelet: {api.message}",
            "bootstrap the node again, which writes simpler YAML, or install PyYAML for the Python of this node; kubelet itself may still "
            "be able to read the file",
        )  # fmt: skip
    message = f"the kubeconfig of kubelet is invalid: {api.message}"
    return Finding("bad_kubeconfig", message, "bootstrap the node again, which writes the kubeconfig anew", final=True)


def _explain_missing_program(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return Finding(
        "no_credentials_program", f"kubelet cannot get credentials: {api.message}",
        f"install {api.program}, or correct users[].user.exec.command in {api.kubeconfig}", final=True,
    )  # fmt: skip


def _explain_credentials(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return Finding(
        "credentials_failed", f"kubelet cannot get credentials: {api.message}",
        "check that the instance has an instance profile with a role, that the instance metadata service answers, and that the node can "
        "reach STS",
        shorten([f"{api.program or 'credentials'} of {api.kubeconfig}, run as kubelet runs it: {api.message}"]),
    )  # fmt: skip


def _explain_client_certificate(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return Finding("credentials_failed", api.message, "bootstrap the node again, so that it requests a new certificate")


# --- the connection ----------------------------------------------------------------------------------------------------------------


def _connection(api: ApiResult) -> str:
    return api.server + (f" through the proxy {api.proxy}" if api.proxy else "")


def _connection_finding(cause: str, message: str, fix: str, api: ApiResult, final: bool = False) -> Finding:
    return Finding(cause, message, fix, shorten([f"{_connection(api)}: {api.message}"]), final)


def _explain_unknown_name(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return _connection_finding(
        "endpoint_unknown", f"the host name of the API server does not exist in DNS: {api.host}",
        f"compare the server in {api.kubeconfig} with the output of {DESCRIBE_CLUSTER}endpoint; for a private endpoint, check "
        "enableDnsHostnames and enableDnsSupport of the VPC", api, True,
    )  # fmt: skip


def _explain_no_dns(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return _connection_finding(
        "endpoint_unknown", f"DNS does not answer for the host name of the API server: {api.host}",
        "check the name servers of the node (/etc/resolv.conf) and the connection to them", api,
    )  # fmt: skip


def _explain_refused(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return _connection_finding("endpoint_refused", f"the API server refuses the connection to {_connection(api)}", _CHECK_NETWORK, api)


def _explain_broken(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return _connection_finding("endpoint_refused", f"the API server closes the connection to {_connection(api)}", _CHECK_NETWORK, api)


def _explain_unreachable(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    message = f"the API server is unreachable: there is no route to {_connection(api)}"
    return _connection_finding("endpoint_unreachable", message, _CHECK_NETWORK, api)


def _explain_silent(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    message = f"the API server does not answer: the request to {_connection(api)} timed out"
    return _connection_finding("endpoint_silent", message, _CHECK_NETWORK, api)


def _explain_proxy(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return _connection_finding(
        "proxy_failed", f"kubelet cannot reach the API server through its proxy: {api.message}",
        "correct HTTPS_PROXY in the environment of kubelet, or add the host of the API server to NO_PROXY", api,
    )  # fmt: skip


def _explain_no_tls(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return _connection_finding(
        "wrong_endpoint", f"{_connection(api)} is not an API server: {api.message}",
        f"correct the server in {api.kubeconfig}: {DESCRIBE_CLUSTER}endpoint", api, True,
    )  # fmt: skip


def _explain_authority(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return _connection_finding(
        "wrong_certificate_authority",
        f"the certificate of {_connection(api)} is not signed by the certificate authority that kubelet trusts, {api.authority}",
        f"replace it by the certificate authority of the cluster: {DESCRIBE_CLUSTER}certificateAuthority.data. If that is the same, "
        "the endpoint belongs to another cluster, or a proxy decrypts the connection", api, True,
    )  # fmt: skip


def _explain_no_authority(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    return Finding(
        "wrong_certificate_authority", f"kubelet has no certificate authority to trust: {api.message}",
        f"write the certificate authority of the cluster to {api.authority}: {DESCRIBE_CLUSTER}certificateAuthority.data", final=True,
    )  # fmt: skip


def _explain_names(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    names = ", ".join(api.certificate_names) or "other names"
    return _connection_finding(
        "wrong_endpoint", f"the certificate of {_connection(api)} is valid for {names}, but not for {api.host}",
        f"correct the server in {api.kubeconfig}: {DESCRIBE_CLUSTER}endpoint", api, True,
    )  # fmt: skip


def _explain_dates(evidence: Evidence, kubelet: Kubelet, api: ApiResult) -> Finding:
    if _is_clock_wrong(api):
        return _explain_clock(evidence, kubelet, api)
    is_clock_known = api.clock_skew is not None
    return _connection_finding(
        "certificate_dates", f"the certificate of {_connection(api)} {api.date_problem}",
        "renew the certificate of the API server" + ("; the clocks agree" if is_clock_known else ", or correct the clock of this node"),
        api, api.date_problem == "has expired",
    )  # fmt: skip


def _is_clock_wrong(api: ApiResult) -> bool:
    return api.clock_skew is not None and abs(api.clock_skew) > MAX_CLOCK_SKEW_SECONDS


def _explain_clock(_evidence: Evidence, _kubelet: Kubelet, api: ApiResult) -> Finding:
    skew = api.clock_skew or 0.0
    difference = f"{abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'}"
    shown = f"{api.server} answers {api.status}: {api.message}" if api.status else f"{api.server}: {api.message}"
    return Finding(
        "clock_skew", f"the clock of this node is {difference} the clock of the API server, which therefore rejects its credentials",
        "set the clock. To see whether it is synchronized: chronyc tracking. The time server of AWS is 169.254.169.123",
        (*shorten([shown]), f"Date of {api.server} compared with the clock of this node: {skew:+.0f} s"), True,
    )  # fmt: skip


# --- the answer --------------------------------------------------------------------------------------------------------------------


def _explain_answer(evidence: Evidence, kubelet: Kubelet, api: ApiResult) -> Finding:
    shown = shorten([f"{api.server} answers {api.status}: {api.message or 'no further details'}"])
    if not api.is_kubernetes:
        return Finding(
            "api_error", f"{_connection(api)} answers {api.status}, but not as an API server does",
            f"correct the server in {api.kubeconfig}, or let the proxy in between pass the request through", shown,
        )  # fmt: skip
    if api.status == 401:
        return _explain_unauthorized(evidence, kubelet, api, shown)
    if api.status == 403:
        return _explain_forbidden(kubelet, api, shown)
    if api.status == 404:
        return _explain_unregistered(evidence, kubelet, shown)
    return Finding(
        "api_error", f"the API server answers {api.status}: {api.message}", "check the cluster; the error may be temporary", shown
    )


def _explain_unauthorized(evidence: Evidence, kubelet: Kubelet, api: ApiResult, shown: tuple[str, ...]) -> Finding:
    if _is_clock_wrong(api):
        return _explain_clock(evidence, kubelet, api)
    if api.expires is not None and api.expires + _EXPIRY_TOLERANCE_SECONDS < evidence.time - (api.clock_skew or 0):
        return Finding(
            "token_expired", f"{api.credentials} expired at {format_time(api.expires)}, before it was used",
            "find what returns old tokens: a cache of the program in the kubeconfig, or a wrong clock", shown, True,
        )  # fmt: skip
    if not api.uses_program:
        return Finding(
            "unauthorized", f"the API server rejects {api.credentials}: it expired, or another certificate authority signed it",
            "bootstrap the node again, so that it gets new credentials", shown, True,
        )  # fmt: skip
    instance = evidence.instance or Instance()
    name, tags = api.cluster_name, instance.clusters
    if name and kubelet.process.is_bootstrapping:
        return Finding("unauthorized", *_explain_cluster_id(api, name, instance), shown, True)
    if name and tags and name not in tags.values():
        tag, expected = sorted(tags.items())[0]
        return Finding(
            "wrong_cluster_name", f"kubelet gets credentials for the cluster {name}, but this instance belongs to the cluster {expected}",
            f"correct the cluster name and bootstrap the node again: {api.kubeconfig} must name {expected} instead of {name}",
            (*shown, f"tag {tag} of this instance: {expected}"), True,
        )  # fmt: skip
    return Finding("unauthorized", *_explain_role(api, name, instance), shown, True)


def _role(instance: Instance) -> str:
    if not instance.role:
        return "the role of the node"
    return f"the role {instance.role}" + (f" of account {instance.account}" if instance.account else "")


def _explain_cluster_id(api: ApiResult, cluster: str, instance: Instance) -> tuple[str, str]:
    """(message, fix) for a kubelet on Outposts that requests its first certificate: its program gets the cluster ID, not the name."""
    role = _role(instance)
    return (
        f"the API server rejects the credentials of this node: either the cluster ID is not {cluster}, or {role} is not mapped there",
        f"compare {cluster} in {api.kubeconfig} with the output of {DESCRIBE_CLUSTER}id; map {role} to nodes in the cluster",
    )


def _explain_role(api: ApiResult, name: str | None, instance: Instance) -> tuple[str, str]:
    """(message, fix) for credentials that are rejected, if the node alone cannot tell why."""
    role = _role(instance)
    region = f" --region {instance.region}" if instance.region else ""
    check = f"check that the ConfigMap aws-auth or the output of aws eks list-access-entries --cluster-name {name}{region} contains {role}"
    add = "if not, run the playbook nodebootstrap.eks.access with role_arn for this node group; with --check it shows what is missing"
    if not name:
        return f"the API server does not know the identity of this node, {role}", f"map {role} to nodes in the cluster"
    if name in instance.clusters.values():
        return f"the API server does not know the identity of this node: {role} is not mapped in the cluster {name}", f"{check}; {add}"
    return (
        f"the API server rejects the credentials of this node: either its cluster is not named {name}, or {role} is not mapped there",
        f"run aws eks describe-cluster --name {name}{region} --query cluster.endpoint. If the result is not {api.server}, correct the "
        f"cluster name. Otherwise {check}; {add}",
    )


def _explain_forbidden(kubelet: Kubelet, api: ApiResult, shown: tuple[str, ...]) -> Finding:
    if kubelet.process.is_bootstrapping:
        return Finding(
            "certificate_pending", "kubelet is waiting for the certificate that it requested from the cluster",
            "list the requests (kubectl get certificatesigningrequests), and approve the one of this node", shown,
        )  # fmt: skip
    match = _CANNOT_READ.search(api.message) or _CANNOT_MODIFY.search(api.message)
    if match:
        return _explain_node_name(match, shown)
    user = _USER.search(api.message)
    return _explain_identity(user.group("user") if user else "", shown)


def _explain_node_name(match: Match[str], shown: tuple[str, ...]) -> Finding:
    user, node = match.group("user"), match.group("node")
    return Finding(
        "node_name_mismatch", f"kubelet names its node {node}, but the cluster knows this identity as the node {user}",
        f"let kubelet register as {user} (--hostname-override={user}): EKS uses the private DNS name of the instance",
        shown, True,
    )  # fmt: skip


def _explain_identity(user: str, shown: tuple[str, ...]) -> Finding:
    if user.startswith("system:node:"):
        message = f"the API server treats this node as {user}, but not as a member of the group system:nodes"
    elif user == "system:anonymous":
        message = "the API server treats this node as anonymous: it does not recognize its credentials"
    else:
        message = f"the API server treats this node as {user or 'an unknown user'}, which is not a node"
    return Finding(
        "not_a_node", message,
        "map the role of the node to nodes: run the playbook nodebootstrap.eks.access with role_arn for this node group, or add an access "
        "entry of the type EC2_LINUX, or in aws-auth use the user name system:node:{{EC2PrivateDNSName}} and the groups "
        "system:bootstrappers and system:nodes", shown, True,
    )  # fmt: skip


def _explain_unregistered(evidence: Evidence, kubelet: Kubelet, shown: tuple[str, ...]) -> Finding:
    """The API server accepts the request, but there is no Node object: the log of kubelet says why it could not create one."""
    if not kubelet.process.registers_node:
        return Finding(
            "registration_off", "kubelet does not register its node (registerNode: false, or --register-node=false)",
            "remove that setting from the kubelet configuration, or create the Node object yourself", shown, True,
        )  # fmt: skip
    line = next((line for line in reversed(kubelet.lines) if _REGISTER in line or "Successfully registered node" in line), "")
    quoted = (*quote_log(kubelet.unit, line), *shown) if line else shown
    lost = next((line for line in reversed(kubelet.lines) if _UPDATE_FAILED.search(line)), "")
    if lost or "Successfully registered node" in line:
        return Finding(
            "node_deleted", f"the Node {evidence.node_name} was deleted while kubelet runs: kubelet registers only once, when it starts",
            f"restart kubelet, which registers the node again: systemctl restart {kubelet.unit}",
            (*quote_log(kubelet.unit, lost or line), *shown), True,
        )  # fmt: skip
    labels = _FORBIDDEN_LABELS.search(line)
    if labels:
        names = labels.group("labels").strip()
        return Finding(
            "label_not_allowed", f"the cluster does not allow a node to set the labels {names} on itself",
            f"remove {names} from --node-labels, and set them with kubectl label node", quoted, True,
        )  # fmt: skip
    match = _CANNOT_MODIFY.search(line) or _CANNOT_READ.search(line)
    if match:
        return _explain_node_name(match, quoted)
    user = _USER.search(line) if "cannot create resource" in line else None
    if user:
        return _explain_identity(user.group("user"), quoted)
    guess = "" if evidence.is_node_name_certain else " (the host name: kubelet gets its name from EC2, and its log does not show it)"
    return Finding(
        "not_registered", f"the API server answers, but has no Node {evidence.node_name} yet{guess}",
        f"check the kubelet log: journalctl -u {kubelet.unit}", quoted,
    )  # fmt: skip


def _explain_unknown_outcome(_evidence: Evidence, kubelet: Kubelet, api: ApiResult) -> Finding:
    message = f"the request to the API server failed: {api.message or api.outcome}"
    return Finding("api_error", message, f"check the kubelet log: journalctl -u {kubelet.unit}")


_OUTCOMES: dict[str, Callable[[Evidence, Kubelet, ApiResult], Finding]] = {
    "standalone": _explain_standalone,
    "no_kubeconfig": _explain_missing_kubeconfig,
    "bad_kubeconfig": _explain_bad_kubeconfig,
    "no_program": _explain_missing_program,
    "program": _explain_credentials,
    "output": _explain_credentials,
    "bad_certificate": _explain_client_certificate,
    "dns": _explain_unknown_name,
    "dns_silent": _explain_no_dns,
    "refused": _explain_refused,
    "broken": _explain_broken,
    "unreachable": _explain_unreachable,
    "silent": _explain_silent,
    "proxy": _explain_proxy,
    "no_tls": _explain_no_tls,
    "no_http": _explain_no_tls,
    "authority": _explain_authority,
    "no_authority": _explain_no_authority,
    "names": _explain_names,
    "dates": _explain_dates,
    "answer": _explain_answer,
}
"""`ApiResult.outcome` → what explains it."""
