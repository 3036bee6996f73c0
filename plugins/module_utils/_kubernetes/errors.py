# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of the Kubernetes API, with texts that say what to do. No text contains a credential."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

_LONGEST = 300
"""Characters of a foreign text that a message repeats."""


class KubernetesError(Exception):
    """A request to the API server failed, or could not be sent. The text is the whole message for the user.

    status: the HTTP status, 0 if there was no answer. reason: of the Status object, for example C(NotFound), or C(Unreachable), C(TLS),
    C(Credentials), C(Refused). message: what the API server said. details: those of the Status object. retry_after: seconds.
    was_sent: whether the API server may have received the request.
    """

    def __init__(
        self,
        text: str,
        status: int = 0,
        reason: str = "",
        message: str = "",
        details: Optional[Mapping[str, Any]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason
        self.message = message
        self.details: Mapping[str, Any] = details or {}
        self.retry_after = retry_after
        self.was_sent = True

    @property
    def causes(self) -> List[Mapping[str, Any]]:
        """The causes in the details, for example with the reason C(DisruptionBudget)."""
        found = self.details.get("causes")
        return [cause for cause in found if isinstance(cause, dict)] if isinstance(found, list) else []


class Target(NamedTuple):
    """What a path names. resource: with the subresource, for example C(pods/eviction). group: '' for the core group."""

    resource: str
    group: str
    namespace: str
    name: str


_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def target_of(path: str) -> Target:
    """What a path of the API names: C(/apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE)."""
    parts = path.strip("/").split("/")
    is_core = parts[0] == "api"
    group, rest = ("", parts[2:]) if is_core else (parts[1] if len(parts) > 1 else "", parts[3:])
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    resource = "/".join(rest[:1] + rest[2:])
    return Target(resource or path, group, namespace, rest[1] if len(rest) > 1 else "")


def _described(target: Target) -> str:
    resource = f"{target.resource}.{target.group}" if target.group else target.resource
    return f"{resource} in namespace {target.namespace}" if target.namespace else resource


def refused(method: str, path: str, status: int, body: bytes, headers: Mapping[str, str], source: str) -> KubernetesError:
    """The error for an answer with a status of 300 or more. source: where the credentials come from, for messages."""
    answer = _status_object(body)
    said = _short(str(answer.get("message") or _plain(body)))
    reason, details = str(answer.get("reason") or ""), answer.get("details")
    metadata = answer.get("metadata")
    found = dict(details) if isinstance(details, dict) else {}
    if isinstance(metadata, dict) and metadata.get("continue"):
        found["continue"] = metadata["continue"]
    text = _text(method, path, status, said, source)
    return KubernetesError(text, status, reason, said, found, _retry_after(headers, found))


def _text(method: str, path: str, status: int, said: str, source: str) -> str:
    target = target_of(path)
    resource = _described(target)
    quoted = f" ({said})" if said else ""
    if status == 401:
        return (
            f"the API server does not recognize the credentials of {source}; fix: log in again if they have expired, and give the IAM "
            f"identity access to the cluster by an access entry, or in the ConfigMap aws-auth{quoted}"
        )
    if status == 403:
        verb = _VERBS.get(method, "get" if target.name else "list")
        return (
            f"the identity of {source} does not have the permission to {verb} {resource}; fix: allow the verb {verb} on {target.resource} "
            f"by a role of Kubernetes RBAC, or by an access policy of EKS{quoted}"
        )
    if status == 404:
        return f"{target.resource} {target.name} does not exist{_place(target)}{quoted}" if target.name else _unknown(path, said)
    if 300 <= status < 400:
        return f"the API server redirects {path} elsewhere, so it is not a Kubernetes API; fix: check the server in {source}"
    return f"the API server refused to {_VERBS.get(method, 'read')} {resource} {target.name}".rstrip() + f" with status {status}{quoted}"


def _place(target: Target) -> str:
    return f" in namespace {target.namespace}" if target.namespace else ""


def _unknown(path: str, said: str) -> str:
    return f"the API server does not serve {path}; fix: check that the cluster has this API ({said or 'not found'})"


def _status_object(body: bytes) -> Dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and found.get("kind") == "Status" else {}


def _plain(body: bytes) -> str:
    """A body that is not a Status object, for example the page of a proxy."""
    return " ".join(body[:2000].decode("utf-8", "replace").split())


def _short(text: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _retry_after(headers: Mapping[str, str], details: Mapping[str, Any]) -> Optional[float]:
    for value in (headers.get("Retry-After"), details.get("retryAfterSeconds")):
        try:
            seconds = float(value) if value else 0.0
        except (TypeError, ValueError):
            seconds = 0.0
        if 0 < seconds < 3600:
            return seconds
    return None
