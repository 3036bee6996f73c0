# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates that nodes trust, and mirrors of container registries: their fields, and what containerd makes of a mirror's URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..errors import Problem, Problems, joined
from ..formats import pem
from .plain import INVALID
from .schema import Kind, boolean, choice, field, list_of, record, text, wrong_type
from .spec import Mirror, NodeSpec

CAPABILITIES = ("pull", "resolve")
"""What a mirror does by default. containerd also knows push, which no node needs from a mirror."""

_URL = text(pattern=r"https?://[^\s/]+\S*", what="a URL", allowed="a URL such as https://mirror.example.com", scheme="https")
_DURATION = text(pattern=r"([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+", what="a duration of Go", allowed="a duration such as 500ms, 3s or 1m30s")
_NODE_PATH = re.compile(r"(/[0-9A-Za-z._+@-]+)+")


def _certificates(value: Any, path: str, problems: Problems, *, is_file_allowed: bool) -> Any:
    items = value if isinstance(value, list) else [value]
    found: list[str] = []
    for index, item in enumerate(items):
        below = joined(path, index) if isinstance(value, list) else path
        if not isinstance(item, str):
            wrong_type(item, pem.ALLOWED if isinstance(value, list) else f"{pem.ALLOWED}, or a list of them", below, problems)
        elif is_file_allowed and _NODE_PATH.fullmatch(item):
            found.append(item)
        else:
            found += pem.certificates(item, below, problems)
    return list(dict.fromkeys(found)) if found or not items else INVALID


def _trust(value: Any, path: str, problems: Problems) -> Any:
    return _certificates(value, path, problems, is_file_allowed=False)


def _mirror_ca(value: Any, path: str, problems: Problems) -> Any:
    return _certificates(value, path, problems, is_file_allowed=True)


_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "single": True}

trust = Kind(_trust, _TEXTS)
"""PEM text, or a list of it."""

_MIRROR = record(
    {
        "url": field(_URL, "URL of the mirror."),
        "override_path": field(
            boolean,
            "Whether the path of the URL is the root of the registry's API. Otherwise containerd appends `/v2`, unless the path ends with "
            "it. The default is true if `v2` is in the path before its last segment, for example `/v2/docker-hub`.",
        ),
        "ca": field(
            Kind(_mirror_ca, _TEXTS),
            "Certificate authorities of this mirror: PEM, an absolute path on the node, or a list of them. To trust a certificate "
            "authority everywhere, use `trust`.",
        ),
        "skip_verify": field(boolean, "Whether the certificate of the mirror is not checked.", default=False),
        "capabilities": field(
            list_of(choice("pull", "resolve", "push"), single=True, filled=True),
            "What containerd uses the mirror for: `resolve` finds the digest of a tag, `pull` downloads. The default is both.",
        ),
        "dial_timeout": field(
            _DURATION,
            "How long containerd waits for a connection, for example `3s`. Before 2.1, containerd ignores it and waits 30 s.",
        ),
    },
    required={"url": "a URL such as https://mirror.example.com"},
)


def _mirror(value: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, (dict, str)):
        return wrong_type(value, "a URL, or a mapping with url", path, problems)
    if not isinstance(value, dict):
        checked = _URL(value, path, problems)
        return INVALID if checked is INVALID or not _is_usable(checked, path, problems) else checked
    checked = _MIRROR(value, path, problems)
    if checked is INVALID or "url" not in checked:
        return INVALID
    below = joined(path, "url")
    if not _is_usable(checked["url"], below, problems):
        return INVALID
    for name in ("ca", "skip_verify"):
        if checked["url"].startswith("http://") and checked.get(name):
            message = "has no meaning for a mirror without TLS"
            problems.add("containerd.tls_of_http_mirror", joined(path, name), message, fix="write the URL with https, or remove it")
    return checked


def _is_usable(url: str, path: str, problems: Problems) -> bool:
    """Report parts of a URL that containerd drops, and a URL that it cannot read."""
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        port_is_valid = False
    if not port_is_valid:
        problems.add("containerd.invalid_mirror_url", path, "has an invalid host or port", fix="write https://HOST[:PORT][/PATH]")
        return False
    dropped = [
        name
        for name, is_present in (("a user name", "@" in parts.netloc), ("a query", bool(parts.query)), ("a fragment", bool(parts.fragment)))
        if is_present
    ]
    if dropped:
        message = f"contains {' and '.join(dropped)}, which containerd drops"
        problems.add(
            "containerd.invalid_mirror_url",
            path,
            message,
            fix="write the URL without it; credentials belong in a kubelet credential provider",
        )
    return not dropped


def _mirrors(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, dict):
        only = _mirror(value, path, problems)
        return INVALID if only is INVALID else [only]
    checked = _MIRROR_LIST(value, path, problems)
    if checked is INVALID:
        return INVALID
    urls: list[str] = []
    for item in checked:
        url = item if isinstance(item, str) else item["url"]
        if url in urls:
            message = f"contains the URL {url} twice"
            problems.add("containerd.duplicate_mirror", path, message, fix="keep one: containerd rejects a hosts.toml with a table twice")
        urls.append(url)
    return checked


_MIRROR_ITEM = field(_mirror, "A URL, or a mapping.", **{**_MIRROR.schema, "type": ["string", "object"]})
_MIRROR_LIST = list_of(_MIRROR_ITEM, single=True, filled=True)

mirrors = Kind(_mirrors, _MIRROR_LIST.schema)
"""The mirrors of one registry, in order: URLs or mappings. A single one needs no list."""


def mirror_of(value: str | Mapping[str, Any]) -> Mirror:
    """The mirror that a checked item of the input describes."""
    given: Mapping[str, Any] = {"url": value} if isinstance(value, str) else value
    override = given.get("override_path")
    return Mirror(
        url=given["url"],
        override_path=_is_api_root(given["url"]) if override is None else override,
        ca=tuple(given.get("ca", ())),
        skip_verify=given.get("skip_verify", False),
        capabilities=tuple(dict.fromkeys(given.get("capabilities", CAPABILITIES))),
        dial_timeout=given.get("dial_timeout"),
    )


def plain_mirror(mirror: Mirror) -> str | dict[str, Any]:
    """The input that describes C(mirror), with the computed C(override_path): a URL if that is enough."""
    fields: dict[str, Any] = {
        "override_path": mirror.override_path or (False if _is_api_root(mirror.url) else None),
        "ca": list(mirror.ca) or None,
        "skip_verify": mirror.skip_verify or None,
        "capabilities": list(mirror.capabilities) if mirror.capabilities != CAPABILITIES else None,
        "dial_timeout": mirror.dial_timeout,
    }
    given = {name: value for name, value in fields.items() if value is not None}
    return {"url": mirror.url, **given} if given else mirror.url


def _segments(url: str) -> list[str]:
    return [part for part in urlsplit(url).path.split("/") if part]


def _is_api_root(url: str) -> bool:
    """Whether a URL already contains the root of the API: pull-through caches of ECR (/v2/docker-hub), proxy projects of Harbor."""
    return "v2" in _segments(url)[:-1]


def warnings(spec: NodeSpec) -> tuple[Problem, ...]:
    """What is probably not intended: certificates that no program can read, and a timeout that containerd ignores."""
    found = []
    texts = [("node_group.trust", certificate) for certificate in spec.trust]
    for host, listed in spec.containerd.registry_mirrors.items():
        for index, mirror in enumerate(listed):
            path = joined(joined("node_group.containerd.registry_mirrors", host), index)
            texts += [(f"{path}.ca", certificate) for certificate in mirror.ca if not certificate.startswith("/")]
            if mirror.ca and mirror.skip_verify:
                message, fix = "turns off the check that ca is for", "remove one of the two"
                found.append(Problem("containerd.unverified_mirror", f"{path}.skip_verify", message, fix=fix))
            if mirror.dial_timeout and spec.family == "al2":
                message = "has no effect: the images of Amazon Linux 2 run containerd 1.x, which waits 30 seconds"
                fix = "remove it, or set family: al2023"
                found.append(Problem("containerd.ignored_dial_timeout", f"{path}.dial_timeout", message, fix=fix))
    for path, certificate in texts:
        if not pem.is_plausible(certificate):
            start = certificate.splitlines()[1][:16]
            message = f"contains PEM that is not a complete certificate (it begins with {start})"
            found.append(Problem("certificates.unreadable", path, message, fix="copy it again, and check it with openssl x509"))
    return tuple(found)
