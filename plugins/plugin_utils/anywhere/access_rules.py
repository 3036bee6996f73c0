# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on what a cluster uses outside of itself: a proxy, a registry mirror, identity providers and Git."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..errors import Problems, joined, nearest
from ..formats.pem import certificates
from .model import Cluster, Mirror, Proxy
from .network_rules import is_host, is_port

IDENTITY_PROVIDERS = ("AWSIamConfig", "OIDCConfig")
GIT_OPS = ("FluxConfig", "GitOpsConfig")
_CURATED_PACKAGES = re.compile(r"783794618700\.dkr\.ecr\..*\.amazonaws\.com")
"""The registries of the curated packages."""


def check(cluster: Cluster, problems: Problems) -> None:
    """Report what is wrong with the proxy, the mirror, and the references to identity providers and Git."""
    if cluster.proxy is not None:
        _check_proxy(cluster.proxy, problems)
    if cluster.mirror is not None:
        _check_mirror(cluster.mirror, problems)
    _check_identity_providers(cluster, problems)
    _check_git_ops(cluster, problems)


def _check_proxy(proxy: Proxy, problems: Problems) -> None:
    for name, url in (("httpProxy", proxy.http), ("httpsProxy", proxy.https)):
        path = joined(proxy.path, name)
        if problems.touches(path):
            continue
        if not url:
            problems.add("anywhere.proxy", path, "is missing", allowed="the proxy as HOST:PORT or http://HOST:PORT", fix=f"add {name}")
            continue
        reason = _proxy_problem(url)
        if reason is not None:
            # The value is not repeated, because it may contain a password.
            problems.add("anywhere.proxy", path, reason, allowed="HOST:PORT or http://HOST:PORT")
        elif "@" in url:
            problems.add("anywhere.proxy_password", path, "contains a user name or a password, which every node can read")


def _proxy_problem(url: str) -> str | None:
    """Why a text is not a proxy, or None if it is one."""
    if url.startswith("http"):
        if not url.startswith(("http://", "https://")):
            return "is not a URL"
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return "is not a URL with a valid port"
        if port is None:
            return "has no port"
    else:
        # EKS Anywhere takes the whole text for HOST:PORT, so a user name is possible in a URL only.
        host, colon, text = url.rpartition(":")
        if not colon:
            return "has no port"
        if not is_port(text):
            return "has no valid port"
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            return "has an IPv6 address without brackets, or more than one port"
        port = int(text)
    if port == 0:
        return "has no valid port"
    return None if is_host(host.lower()) else "has no valid host"


def _check_mirror(mirror: Mirror, problems: Problems) -> None:
    path = joined(mirror.path, "endpoint")
    if not problems.touches(path):
        _check_mirror_endpoint(mirror, path, problems)
    if not is_port(mirror.port) and not problems.touches(joined(mirror.path, "port")):
        problems.add("anywhere.mirror", joined(mirror.path, "port"), "is not a port", value=mirror.port, allowed='text such as "443"')
    _check_namespaces(mirror, problems)
    if mirror.ca:
        certificates(mirror.ca, joined(mirror.path, "caCertContent"), problems)
    if mirror.skip_verify:
        place = joined(mirror.path, "insecureSkipVerify")
        fix = "remove it" if mirror.ca else "add the certificate authority of the registry as caCertContent, and remove it"
        problems.add("anywhere.unverified_mirror", place, "is true, so nodes accept images from any server", fix=fix)


def _check_mirror_endpoint(mirror: Mirror, path: str, problems: Problems) -> None:
    endpoint = mirror.endpoint
    if not endpoint:
        problems.add("anywhere.mirror", path, "is missing", allowed="the host of the registry", fix="add endpoint")
        return
    host = endpoint[1:-1] if endpoint.startswith("[") and endpoint.endswith("]") else endpoint
    if is_host(host.lower()):
        return
    rest = endpoint.partition("://")[2] or endpoint
    host, colon, port = rest.partition("/")[0].partition(":")
    cure = None
    if is_host(host.lower()):
        cure = f"write {host}" + (f', and port: "{port}"' if colon and is_port(port) else "")
    allowed = "an IP address or a DNS name, without scheme, port and path"
    problems.add("anywhere.mirror", path, "is not a host", value=endpoint, allowed=allowed, fix=cure)


def _check_namespaces(mirror: Mirror, problems: Problems) -> None:
    path = joined(mirror.path, "ociNamespaces")
    curated = []
    seen: set[str] = set()
    for index, (registry, namespace) in enumerate(mirror.namespaces):
        below = joined(joined(path, index), "registry")
        place = joined(joined(path, index), "namespace")
        if namespace is None and not problems.touches(place):
            problems.add("input.missing_field", place, "is required", fix='add namespace, "" for the root of the mirror')
        if problems.touches(below):
            continue
        if not registry:
            problems.add("anywhere.mirror", below, "is missing", allowed="a registry such as public.ecr.aws", fix="add the registry")
        elif registry in seen:
            problems.add("anywhere.mirror", below, "is there twice", value=registry, fix="remove one of the two entries")
        elif _CURATED_PACKAGES.search(registry):
            curated.append(below)
        seen.add(registry)
    if len(curated) > 1:
        message = "is a second registry of the curated packages"
        problems.add("anywhere.mirror", curated[1], message, fix="keep the registry of one region")


def _check_identity_providers(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec.identityProviderRefs"
    seen: set[str] = set()
    for index, reference in enumerate(cluster.identity_providers):
        below = joined(path, index)
        if problems.touches(below):
            continue
        if reference.kind not in IDENTITY_PROVIDERS:
            guess = nearest(reference.kind, IDENTITY_PROVIDERS)
            message = "is not an identity provider" if reference.kind else "is missing"
            allowed = ", ".join(IDENTITY_PROVIDERS)
            problems.add("anywhere.identity_provider", joined(below, "kind"), message, value=reference.kind, allowed=allowed, nearest=guess)
        elif reference.kind in seen:
            message = "is there twice"
            problems.add("anywhere.identity_provider", joined(below, "kind"), message, value=reference.kind, fix="keep one of the two")
        if not reference.name:
            problems.add("input.missing_field", joined(below, "name"), "is required", fix="add the name of the identity provider")
        seen.add(reference.kind)


def _check_git_ops(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec.gitOpsRef"
    reference = cluster.git_ops
    if reference is None or problems.touches(path):
        return
    if reference.kind not in GIT_OPS:
        guess = nearest(reference.kind, GIT_OPS)
        message = "is not a kind of GitOps" if reference.kind else "is missing"
        problems.add("anywhere.git_ops", joined(path, "kind"), message, value=reference.kind, allowed=", ".join(GIT_OPS), nearest=guess)
    elif reference.kind == "GitOpsConfig":
        problems.add("anywhere.deprecated_field", joined(path, "kind"), "GitOpsConfig is deprecated", fix="use a FluxConfig")
    if not reference.name:
        problems.add("input.missing_field", joined(path, "name"), "is required", fix="add the name of the document")
