# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server answers, or why it does not, and what that means. Pure. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re

from .._node import kubeconfig as kubeconfigs
from .._node.host import shown_moment
from .model import Finding, quoted, shortened

SKEW = 240
"""Seconds by which a clock may differ: AWS refuses what was signed more than five minutes ago, or ahead."""

_CANNOT_READ = re.compile(r"node '(?P<user>[^']*)' cannot read '(?P<node>[^']*)'")
_CANNOT_MODIFY = re.compile(r"node \\?\"(?P<user>[^\"\\]*)\\?\" is not allowed to modify node \\?\"(?P<node>[^\"\\]*)")
_NO_LABELS = re.compile(r"is not allowed to set the following labels: (?P<labels>[^\"\\]+)")
_USER = re.compile(r"User \\?\"(?P<user>[^\"\\]+)")
_REGISTER = "Unable to register node with API server"
_ASK = "aws eks describe-cluster --query cluster."
_HOW = "look at the API server's endpoint (kubectl cluster-info), the cluster's security group, routes, and public or private access"


def diagnose(seen):
    """The Finding that follows from C(seen["api"]); None when the Node object was found."""
    api = seen["api"]
    if api is None or seen["node"] is not None:
        return None
    finding = _FINDINGS.get(api["kind"], _other)(seen, api)
    return finding._replace(evidence=finding.evidence + _kubelets_word(seen, finding))


def _kubelets_word(seen, finding):
    """What kubelet itself said last about the same."""
    lines = [line for line in seen["kubelet"]["lines"] if _REGISTER in line]
    agrees = finding.cause in ("not_registered", "node_name_mismatch", "label_not_allowed", "not_a_node") or finding.cause in _OF_THE_WAY
    found = quoted(seen["kubelet"]["unit"], lines[-1]) if lines and agrees else None
    return (found,) if found and found not in finding.evidence else ()


_OF_THE_WAY = (
    "endpoint_unknown", "endpoint_refused", "endpoint_unreachable", "endpoint_silent", "wrong_certificate_authority", "wrong_endpoint",
    "certificate_dates", "unauthorized", "wrong_cluster_name", "proxy_failed", "token_expired", "clock_skew",
)  # fmt: skip


# --- before anybody is asked -------------------------------------------------------------------------------------------------------


def _standalone(seen, api):
    unit = seen["kubelet"]["unit"]
    fix = f"bootstrap the node; systemctl cat {unit} shows kubelet's flags"
    if api["final"]:
        return Finding("no_kubeconfig", "kubelet runs without --kubeconfig, so it knows no cluster", fix, (), True)
    return Finding("no_kubeconfig", f"what {unit} runs is not kubelet, or not yet: it has no --kubeconfig", fix)


def _no_kubeconfig(_seen, api):
    return Finding(
        "no_kubeconfig", f"kubelet's kubeconfig {api['kubeconfig']} does not exist",
        "bootstrap the node: bootstrap.sh, nodeadm, or the action nodebootstrap.eks.apply write that file",
    )  # fmt: skip


def _bad_kubeconfig(_seen, api):
    if api["said"].startswith(f"{api['kubeconfig']} {kubeconfigs.UNREADABLE}"):
        # kubelet reads more of YAML than we do, and one that cannot read it exits.
        return Finding(
            "bad_kubeconfig", f"join_check cannot read kubelet's kubeconfig: {api['said']}",
            "bootstrap the node again, which writes it plainly, or install PyYAML for this Python; kubelet itself may be able to read it",
        )  # fmt: skip
    return Finding(
        "bad_kubeconfig", f"kubelet's kubeconfig is of no use: {api['said']}", "bootstrap the node again, which writes it anew", (), True
    )


def _no_program(_seen, api):
    return Finding(
        "no_credentials_program", f"kubelet gets no credentials: {api['said']}",
        f"install {api['program']}, or correct users[].user.exec.command in {api['kubeconfig']}", (), True,
    )  # fmt: skip


def _credentials(_seen, api):
    return Finding(
        "credentials_failed", f"kubelet gets no credentials: {api['said']}",
        "look whether the instance has an instance profile with a role, whether the instance metadata service answers, and whether the "
        "node reaches STS",
        (shortened(f"{api.get('program') or 'credentials'} of {api['kubeconfig']}, run as kubelet runs it: {api['said']}"),),
    )  # fmt: skip


def _bad_certificate(_seen, api):
    return Finding("credentials_failed", api["said"], "bootstrap the node again, so that it asks for a new certificate")


# --- the way -----------------------------------------------------------------------------------------------------------------------


def _place(api):
    return f"{api['server']}" + (f" by the proxy {api['proxy']}" if api.get("proxy") else "")


def _way(cause, message, fix, api, final=False):
    return Finding(cause, message, fix, (shortened(f"{_place(api)}: {api['said']}"),), final)


def _unknown(_seen, api):
    return _way(
        "endpoint_unknown", f"no name server knows the API server {api['host']}",
        f"compare the server in {api['kubeconfig']} with {_ASK}endpoint; for a private endpoint look at "
        "enableDnsHostnames and enableDnsSupport of the VPC", api, True,
    )  # fmt: skip


def _no_name_server(_seen, api):
    return _way(
        "endpoint_unknown", f"no name server answers the question for the API server {api['host']}",
        "look at the node's name servers (/etc/resolv.conf) and at the way to them", api,
    )  # fmt: skip


def _refused(_seen, api):
    return _way("endpoint_refused", f"the API server does not answer: the connection to {_place(api)} is refused", _HOW, api)


def _broken(_seen, api):
    return _way("endpoint_refused", f"the API server does not answer: the connection to {_place(api)} breaks off", _HOW, api)


def _unreachable(_seen, api):
    return _way("endpoint_unreachable", f"the API server cannot be reached: there is no way to {_place(api)}", _HOW, api)


def _silent(_seen, api):
    return _way("endpoint_silent", f"the API server does not answer: nothing comes back from {_place(api)}", _HOW, api)


def _proxy(_seen, api):
    return _way(
        "proxy_failed", f"kubelet's proxy does not lead to the API server: {api['said']}",
        "correct HTTPS_PROXY in kubelet's environment, or put the API server's host into NO_PROXY", api,
    )  # fmt: skip


def _not_tls(_seen, api):
    return _way(
        "wrong_endpoint", f"{_place(api)} is no API server: {api['said']}",
        f"correct the server in {api['kubeconfig']}: {_ASK}endpoint", api, True,
    )  # fmt: skip


def _authority(_seen, api):
    return _way(
        "wrong_certificate_authority",
        f"the certificate of {_place(api)} is not signed by the authority that kubelet trusts, {api['authority']}",
        f"put the cluster's own authority there: {_ASK}certificateAuthority.data; or the endpoint is another cluster's, or a proxy opens "
        "the connection", api, True,
    )  # fmt: skip


def _no_authority(_seen, api):
    return Finding(
        "wrong_certificate_authority", f"kubelet trusts no authority: {api['said']}",
        f"put the cluster's authority into {api['authority']}: {_ASK}certificateAuthority.data", (), True,
    )  # fmt: skip


def _names(_seen, api):
    names = ", ".join(api.get("names") or ()) or "other names"
    return _way(
        "wrong_endpoint", f"the certificate of {_place(api)} is for {names}, and not for {api['host']}",
        f"correct the server in {api['kubeconfig']}: {_ASK}endpoint", api, True,
    )  # fmt: skip


def _dates(seen, api):
    if api.get("skew") is not None and abs(api["skew"]) > SKEW:
        return _clock(seen, api)
    return _way(
        "certificate_dates", f"the certificate of {_place(api)} {api['how']}",
        "renew the API server's certificate; the clocks agree" if api.get("skew") is not None else "renew it, or correct this node's clock",
        api, api["how"] == "has expired",
    )  # fmt: skip


def _clock(_seen, api):
    ahead = f"{abs(api['skew']):.0f} s {'ahead of' if api['skew'] > 0 else 'behind'}"
    said = f"{api['server']} answers {api['status']}: {api['said']}" if api.get("status") else f"{api['server']}: {api['said']}"
    return Finding(
        "clock_skew", f"this node's clock is {ahead} the API server's, and credentials signed by it are refused",
        "set the clock: chronyc tracking shows whether time is kept; Amazon's time server is 169.254.169.123",
        (shortened(said), f"Date of {api['server']} against this node's clock: {api['skew']:+.0f} s"), True,
    )  # fmt: skip


# --- the answer --------------------------------------------------------------------------------------------------------------------


def _answer(seen, api):
    told = shortened(f"{api['server']} answers {api['status']}: {api['said'] or 'nothing more'}")
    if not api["kubernetes"]:
        return Finding(
            "api_error", f"{_place(api)} answers {api['status']}, and not as an API server does",
            f"correct the server in {api['kubeconfig']}, or let a proxy on the way pass it through", (told,),
        )  # fmt: skip
    if api["status"] == 401:
        return _unauthorized(seen, api, told)
    if api["status"] == 403:
        return _forbidden(seen, api, told)
    if api["status"] == 404:
        return _unregistered(seen, told)
    return Finding(
        "api_error", f"the API server answers {api['status']}: {api['said'][:200]}", "look at the cluster; this may pass", (told,)
    )


def _unauthorized(seen, api, told):
    if api["skew"] is not None and abs(api["skew"]) > SKEW:
        return _clock(seen, api)
    if api["expires"] is not None and api["expires"] + 5 < seen["time"] - (api["skew"] or 0):
        return Finding(
            "token_expired", f"{api['credentials']} expired at {shown_moment(api['expires'])}, before it was used",
            "find out what keeps old tokens: a cache of the program in the kubeconfig, or a clock", (told,), True,
        )  # fmt: skip
    who = seen["instance"] or {}
    if api["user"]["kind"] != "exec":
        return Finding(
            "unauthorized", f"the API server does not accept {api['credentials']}: it expired, or another authority signed it",
            "bootstrap the node again, so that it gets new credentials", (told,), True,
        )  # fmt: skip
    name, tags = api["user"]["cluster"], who.get("clusters") or {}
    if name and seen["kubelet"].get("bootstraps"):
        return Finding("unauthorized", *_on_outposts(api, name, who), (told,), True)
    if name and tags and name not in tags.values():
        tag, right = sorted(tags.items())[0]
        return Finding(
            "wrong_cluster_name", f"kubelet's credentials are made for the cluster {name}, and this instance belongs to {right}",
            f"write {right} instead of {name} into {api['kubeconfig']}: give the right cluster name and bootstrap the node again",
            (told, f"tag {tag} of this instance: {right}"), True,
        )  # fmt: skip
    return Finding("unauthorized", *_two_candidates(api, name, who, name in tags.values()), (told,), True)


def _role(who):
    if not who.get("role"):
        return "the node's role"
    return f"the role {who['role']}" + (f" of account {who['account']}" if who.get("account") else "")


def _on_outposts(api, cluster, who):
    """(message, fix) for a kubelet that asks for its first certificate: its program is given the cluster's ID, and no tag has that."""
    role = _role(who)
    return (
        f"the API server does not accept this node's credentials: either {cluster} is not its cluster's ID, or {role} is not mapped in it",
        f"compare {cluster} in {api['kubeconfig']} with {_ASK}id; map {role} to nodes in the cluster",
    )


def _two_candidates(api, name, who, name_is_right):
    """(message, fix) for credentials that are refused while nothing on the node says why."""
    role = _role(who)
    region = f" --region {who['region']}" if who.get("region") else ""
    mapped = f"aws eks list-access-entries --cluster-name {name}{region}, and the ConfigMap aws-auth, must name {role}"
    entry = f"give it an access entry of the type EC2_LINUX (aws eks create-access-entry --cluster-name {name}{region} --type EC2_LINUX …)"
    if not name:
        return f"the API server does not know this node's identity, {role}", f"map {role} to nodes in the cluster"
    if name_is_right:
        return f"the API server does not know this node's identity: {role} is not mapped in the cluster {name}", f"{mapped}; {entry}"
    return (
        f"the API server does not accept this node's credentials: either its cluster is not called {name}, or {role} is not mapped in it",
        f"aws eks describe-cluster --name {name}{region} --query cluster.endpoint tells: when it is not {api['server']}, correct the "
        f"cluster name; when it is, {mapped}; {entry}",
    )


def _forbidden(seen, api, told):
    if seen["kubelet"].get("bootstraps"):
        return Finding(
            "certificate_pending", "kubelet waits for the certificate that it asked the cluster for",
            "look at the requests, and approve this node's: kubectl get certificatesigningrequests", (told,),
        )  # fmt: skip
    match = _CANNOT_READ.search(api["said"]) or _CANNOT_MODIFY.search(api["said"])
    if match:
        return _mismatch(match, told)
    user = _USER.search(api["said"])
    return _not_a_node(user.group("user") if user else "", told)


def _mismatch(match, told):
    user, node = match.group("user"), match.group("node")
    return Finding(
        "node_name_mismatch", f"kubelet calls its node {node}, and the cluster knows this identity as the node {user}",
        f"let kubelet register as {user} (--hostname-override={user}): EKS takes the name from the instance's private DNS name",
        (told,), True,
    )  # fmt: skip


def _not_a_node(user, told):
    if user.startswith("system:node:"):
        message = f"the cluster takes this node for {user}, but not for a member of the group system:nodes"
    elif user == "system:anonymous":
        message = "the API server takes this node for nobody: it does not know its credentials"
    else:
        message = f"the cluster takes this node for {user or 'somebody'}, which is no node"
    return Finding(
        "not_a_node", message,
        "map the node's role to nodes: an access entry of the type EC2_LINUX, or in aws-auth the user name "
        "system:node:{{EC2PrivateDNSName}} and the groups system:bootstrappers and system:nodes", (told,), True,
    )  # fmt: skip


def _unregistered(seen, told):
    """Our request was heard, but there is no Node: kubelet says why it could not make one."""
    kubelet = seen["kubelet"]
    if not kubelet.get("registers", True):
        return Finding(
            "registration_off", "kubelet does not register its node (registerNode: false, or --register-node=false)",
            "take that out of kubelet's configuration, or make the Node object yourself", (told,), True,
        )  # fmt: skip
    line = next((line for line in reversed(kubelet["lines"]) if _REGISTER in line or "Successfully registered node" in line), "")
    evidence = (quoted(kubelet["unit"], line), told) if line else (told,)
    labels = _NO_LABELS.search(line)
    if labels:
        names = labels.group("labels").strip()
        return Finding(
            "label_not_allowed", f"the cluster lets no node give itself the labels {names}",
            f"take {names} out of --node-labels; set them with kubectl label node", evidence, True,
        )  # fmt: skip
    match = _CANNOT_MODIFY.search(line) or _CANNOT_READ.search(line)
    if match:
        return _mismatch(match, told)._replace(evidence=evidence)
    user = _USER.search(line) if "cannot create resource" in line else None
    if user:
        return _not_a_node(user.group("user"), told)._replace(evidence=evidence)
    return Finding(
        "not_registered", f"the API server answers, but has no Node {seen['name']} yet",
        f"read what kubelet says: journalctl -u {kubelet['unit']}", evidence,
    )  # fmt: skip


def _other(_seen, api):
    return Finding("api_error", f"the API server could not be asked: {api.get('said') or api['kind']}", "look at kubelet's journal")


_FINDINGS = {
    "standalone": _standalone,
    "no_kubeconfig": _no_kubeconfig,
    "bad_kubeconfig": _bad_kubeconfig,
    "no_program": _no_program,
    "program": _credentials,
    "output": _credentials,
    "bad_certificate": _bad_certificate,
    "dns": _unknown,
    "dns_silent": _no_name_server,
    "refused": _refused,
    "broken": _broken,
    "unreachable": _unreachable,
    "silent": _silent,
    "proxy": _proxy,
    "no_tls": _not_tls,
    "no_http": _not_tls,
    "authority": _authority,
    "no_authority": _no_authority,
    "names": _names,
    "dates": _dates,
    "answer": _answer,
}
"""How far the question got → what follows."""
