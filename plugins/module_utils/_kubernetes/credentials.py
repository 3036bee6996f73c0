# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials for the Kubernetes API: those of a kubeconfig, or a token for EKS that is made from AWS credentials."""

from __future__ import annotations

import base64
import difflib
import logging
import os
import ssl
import tempfile
import time
import traceback
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ansible.module_utils.basic import missing_required_lib

from .._aws import client as aws
from .._node.redaction import redact_document
from .errors import KubernetesError

KUBERNETES_ERROR = ""
try:
    from kubernetes import client as kubernetes_client
    from kubernetes.config import ConfigException, kube_config
except ImportError:
    KUBERNETES_ERROR = traceback.format_exc()
try:
    from botocore.signers import RequestSigner
except ImportError:
    # The layer _aws reports it.
    RequestSigner = None

_TOKEN_PREFIX = "k8s-aws-v1."
_URL_SECONDS = 60
"""How long STS accepts the signed URL. EKS accepts the token for 15 minutes, as long as the URL was valid when it was made."""

_TOKEN_SECONDS = 10 * 60
"""How long a token is used: less than the 15 minutes for which EKS accepts it."""


class Credentials(NamedTuple):
    """A server and how to authenticate. source: for messages. expires: seconds since the epoch, None for never."""

    server: str
    headers: Mapping[str, str]
    context: Optional[ssl.SSLContext]
    server_name: Optional[str]
    proxy: Optional[str]
    source: str
    expires: Optional[float] = None


def load(options: Mapping[str, Any], cluster: Optional[Mapping[str, Any]] = None) -> Credentials:
    """The credentials that the options select. Raises C(KubernetesError).

    A kubeconfig of C(kubeconfig), E(KUBECONFIG) or C(~/.kube/config) comes first. Without one, and without C(context), a token is made from
    AWS credentials for C(cluster), which then needs C(name), C(endpoint) and C(certificate_authority). If C(cluster) has an endpoint, the
    kubeconfig must lead to the same API.
    """
    paths = _kubeconfig_paths(options)
    if paths or options.get("context"):
        return _from_kubeconfig(paths, options.get("context"), cluster or {})
    return _from_aws(options, cluster or {})


def _kubeconfig_paths(options: Mapping[str, Any]) -> List[str]:
    """The existing files. An error if the user names files and none of them exists."""
    named = options.get("kubeconfig") or os.environ.get("KUBECONFIG") or ""
    candidates = [os.path.expanduser(path) for path in (named or "~/.kube/config").split(os.pathsep) if path]
    existing = [path for path in candidates if os.path.isfile(path)]
    if named and not existing:
        place = "kubeconfig" if options.get("kubeconfig") else "KUBECONFIG"
        raise KubernetesError(f"the file {named} of {place} does not exist; fix: check the path", reason="Credentials")
    return existing


# --- kubeconfig ---------------------------------------------------------------------------------------------------------------------


def _from_kubeconfig(paths: Sequence[str], context_name: Optional[str], cluster: Mapping[str, Any]) -> Credentials:
    if KUBERNETES_ERROR:
        raise KubernetesError(missing_required_lib("kubernetes"), reason="Credentials")
    if not paths:
        raise KubernetesError("context is set, but there is no kubeconfig; fix: set kubeconfig", reason="Credentials")
    shown = os.pathsep.join(paths)
    with _explained_kubeconfig(shown):
        merged = kube_config.KubeConfigMerger(shown)
        name, user_name, entry = _select(merged.config.value, context_name, shown)
    source = f"context {name} in {shown}"
    _check_endpoint(entry, cluster, merged.config.value, source)
    # The loader writes certificates and keys to files, which are needed only until the TLS context is made.
    with tempfile.TemporaryDirectory() as folder, _explained_kubeconfig(shown):
        configuration = kubernetes_client.Configuration()
        configuration.api_key.clear()
        loader = kube_config.KubeConfigLoader(merged.config, active_context=name, config_base_path=None, temp_file_path=folder)
        try:
            with _captured_log() as failures:
                loader.load_and_set(configuration)
            context = _tls(configuration, entry) if str(entry["server"]).startswith("https") else None
        finally:
            getattr(kube_config, "_cleanup_temp_files", lambda: None)()
    authorization = configuration.api_key.get("authorization")
    if failures:
        raise KubernetesError(
            f"the credential program of user {user_name} ({source}) failed: {redact_document(failures[0])[:300]}; "
            "fix: run it in a shell with the same environment, and log in again if it asks for that",
            reason="Credentials",
        )
    expiry = getattr(loader, "expiry", None)
    return Credentials(
        str(entry["server"]).rstrip("/"),
        {"Authorization": authorization} if authorization else {},
        context,
        entry.get("tls-server-name") or None,
        entry.get("proxy-url") or _proxy(str(entry["server"])),
        source,
        expiry.timestamp() - 30 if expiry is not None else None,
    )


def _select(config: Mapping[str, Any], context_name: Optional[str], shown: str) -> Tuple[str, str, Dict[str, Any]]:
    """The names of the context and its user, and the entry of its cluster."""
    contexts = _named(config, "contexts", "context")
    name = context_name or config.get("current-context") or ""
    if name not in contexts:
        listed = f"; contexts in {shown}: {', '.join(sorted(contexts)) or 'none'}"
        wrong = f"there is no context {name}{listed}{_nearest(name, contexts)}" if name else f"no context is selected{listed}"
        raise KubernetesError(f"{wrong}; fix: set context", reason="Credentials")
    cluster_name, user_name = str(contexts[name].get("cluster")), str(contexts[name].get("user"))
    clusters, users = _named(config, "clusters", "cluster"), _named(config, "users", "user")
    if not clusters.get(cluster_name, {}).get("server"):
        raise KubernetesError(f"the cluster {cluster_name} of context {name} has no server in {shown}; fix: add it", reason="Credentials")
    if user_name not in users:
        raise KubernetesError(f"the user {user_name} of context {name} does not exist in {shown}; fix: add it", reason="Credentials")
    return name, user_name, clusters[cluster_name]


def _named(config: Mapping[str, Any], kind: str, field: str) -> Dict[str, Dict[str, Any]]:
    """The entries of a list in a kubeconfig by name."""
    found = {}
    for item in config.get(kind) or []:
        entry = getattr(item, "value", item)
        found[str(entry["name"])] = dict(entry.get(field) or {})
    return found


def _check_endpoint(entry: Mapping[str, Any], cluster: Mapping[str, Any], config: Mapping[str, Any], source: str) -> None:
    """Refuse a kubeconfig of another API than that of C(cluster)."""
    endpoint = cluster.get("endpoint")
    if not endpoint or _is_same_api(entry, str(endpoint)):
        return
    clusters = _named(config, "clusters", "cluster")
    others = [
        name for name, one in _named(config, "contexts", "context").items()
        if _is_same_api(clusters.get(str(one.get("cluster")), {}), str(endpoint))
    ]  # fmt: skip
    name = cluster.get("name") or "NAME"
    fix = f"set context to {others[0]}" if others else f"run aws eks update-kubeconfig --name {name}, and set context to the new context"
    raise KubernetesError(
        f"{source} leads to {_address(str(entry['server']))}, but cluster.endpoint is {_address(str(endpoint))}: nothing was read or "
        f"changed; fix: {fix}",
        reason="Refused",
    )


def _is_same_api(entry: Mapping[str, Any], endpoint: str) -> bool:
    """Whether the server is the endpoint, or a tunnel to it: then TLS checks the name of the endpoint."""
    server = str(entry.get("server") or "")
    if _address(server) == _address(endpoint):
        return True
    is_verified = server.startswith("https") and not entry.get("insecure-skip-tls-verify")
    return is_verified and entry.get("tls-server-name") == urlsplit(endpoint).hostname


def _address(url: str) -> str:
    """A URL without user information, with its port."""
    parts = urlsplit(url)
    port = parts.port or (80 if parts.scheme == "http" else 443)
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}{parts.path.rstrip('/')}"


def _nearest(word: str, words: Mapping[str, Any]) -> str:
    matches = difflib.get_close_matches(word, list(words), n=1)
    return f'; did you mean "{matches[0]}"?' if matches else ""


@contextmanager
def _explained_kubeconfig(shown: str) -> Iterator[None]:
    """Turn the errors of the loader into KubernetesError. Their texts can contain tokens, so they are not shown."""
    try:
        yield
    except KubernetesError:
        raise
    except kube_config.yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise KubernetesError(f"{shown} is not YAML{place}; fix: correct the file", reason="Credentials") from None
    except OSError as error:
        raise KubernetesError(f"{shown} cannot be used: {error.strerror} {error.filename or ''}".rstrip(), reason="Credentials") from None
    except (ConfigException, ValueError, TypeError, KeyError, AttributeError) as error:
        raise KubernetesError(
            f"{shown} is not a kubeconfig that can be used ({type(error).__name__}); fix: check it with kubectl config view",
            reason="Credentials",
        ) from None


@contextmanager
def _captured_log() -> Iterator[List[str]]:
    """The errors that the loader logs instead of raising them."""
    lines: List[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    root = logging.getLogger()
    handlers, root.handlers = root.handlers, [Collector(logging.ERROR)]
    try:
        yield lines
    finally:
        root.handlers = handlers


def _tls(configuration: Any, entry: Mapping[str, Any]) -> ssl.SSLContext:
    context = _new_context(cafile=configuration.ssl_ca_cert)
    if entry.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


def _new_context(cafile: Optional[str] = None, cadata: Optional[str] = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=cafile, cadata=cadata)
    # Python 3.13 rejects authorities without a key identifier, which those of EKS and kubeadm may lack.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    return context


def _proxy(server: str) -> Optional[str]:
    """The proxy of the environment for this server."""
    parts = urlsplit(server)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


# --- AWS ----------------------------------------------------------------------------------------------------------------------------


def _from_aws(options: Mapping[str, Any], cluster: Mapping[str, Any]) -> Credentials:
    missing = [f"cluster.{name}" for name in ("name", "endpoint", "certificate_authority") if not cluster.get(name)]
    if missing:
        raise KubernetesError(
            f"there is no kubeconfig, and for credentials of AWS {', '.join(missing)} must be set; fix: set kubeconfig, or set these",
            reason="Credentials",
        )
    if aws.BOTO3_ERROR:
        raise KubernetesError(missing_required_lib("boto3"), reason="Credentials")
    try:
        context = _new_context(cadata=base64.b64decode(str(cluster["certificate_authority"])).decode("ascii"))
    except (ValueError, ssl.SSLError):
        raise KubernetesError(
            "cluster.certificate_authority is not a PEM certificate in base64; fix: copy it from the cluster", reason="Credentials"
        ) from None
    aws_options = {name: options.get(name) for name in aws.OPTIONS}
    aws_options["region"] = aws_options["region"] or cluster.get("region")
    with aws.explained_errors(aws_options, "STS"):
        session = aws.new_session(aws_options)
        # The token of a cluster on an Outpost names its ID.
        token = eks_token(session, str(cluster.get("id") or cluster["name"]))
    server = str(cluster["endpoint"]).rstrip("/")
    headers = {"Authorization": f"Bearer {token}"}
    source = f"the AWS credentials for cluster {cluster['name']}"
    return Credentials(server, headers, context, None, _proxy(server), source, time.time() + _TOKEN_SECONDS)


def eks_token(session: Any, cluster: str) -> str:
    """The token that proves the identity of a boto3 session to an EKS cluster: a signed URL of GetCallerIdentity, as the AWS CLI makes it.

    No request is sent. The URL names the cluster in a signed header, so that the token is useless for others.
    """
    sts = session.client("sts", region_name=session.region_name)
    request = {
        "method": "GET",
        "url": f"{sts.meta.endpoint_url}/?Action=GetCallerIdentity&Version=2011-06-15",
        "body": {},
        "headers": {"x-k8s-aws-id": cluster},
        "context": {},
    }
    signer = RequestSigner(sts.meta.service_model.service_id, session.region_name, "sts", "v4", session.get_credentials(), sts.meta.events)
    url = signer.generate_presigned_url(request, "GetCallerIdentity", expires_in=_URL_SECONDS)
    return _TOKEN_PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
