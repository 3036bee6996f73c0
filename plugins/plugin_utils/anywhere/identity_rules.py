# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the documents of identity providers and of Git."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from ..errors import Problems, joined, nearest
from .documents import Document, Documents

_BACKENDS = ("CRD", "EKSConfigMap")
_GIT_SCHEMES = ("https", "ssh")


_KEY_ALGORITHMS = ("ecdsa", "ed25519", "rsa")
_NOT_IN_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.lock(/|\Z)|(\A|/)\.|(\A|[/.])\Z|\A[/-]")
"""What the name of a branch must not have (git check-ref-format)."""


def check(documents: Documents, problems: Problems) -> None:
    """Report what is wrong with the documents of identity providers and of Git."""
    for document in documents.all:
        if document.kind in _CHECKS:
            _CHECKS[document.kind](document, problems)


def _oidc(document: Document, problems: Problems) -> None:
    path = joined(document.path, "spec")
    issuer = document.spec.get("issuerUrl")
    if issuer and (_scheme(issuer) != "https" or not _host(issuer)):
        problems.add("anywhere.oidc", joined(path, "issuerUrl"), "is not a URL with https", value=issuer, allowed="a URL with https://")
    claims = document.spec.get("requiredClaims") or ()
    if len(claims) > 1:
        problems.add("anywhere.oidc", joined(path, "requiredClaims"), f"has {len(claims)} claims", allowed="one claim")


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _aws_iam(document: Document, problems: Problems) -> None:
    path = f"{document.path}.spec.backendMode"
    modes = document.spec.get("backendMode") or ()
    if not modes and not problems.touches(path):
        problems.add("input.missing_field", path, "is required", allowed=", ".join(_BACKENDS), fix="add backendMode: [EKSConfigMap]")
    for index, mode in enumerate(modes):
        if mode not in _BACKENDS and not problems.touches(joined(path, index)):
            guess = nearest(mode, _BACKENDS)
            message = "is not a backend that EKS Anywhere supports"
            problems.add("input.unknown_value", joined(path, index), message, value=mode, allowed=", ".join(_BACKENDS), nearest=guess)


def _flux(document: Document, problems: Problems) -> None:
    path = joined(document.path, "spec")
    given = [name for name in ("git", "github") if document.spec.get(name) is not None]
    if len(given) != 1 and not problems.touches(path):
        message = "has two hosts of the repository: git and github" if given else "has no host of the repository"
        problems.add("anywhere.flux", path, message, allowed="git, or github")
    branch = document.spec.get("branch")
    if branch and _NOT_IN_BRANCH.search(branch):
        problems.add("anywhere.flux", joined(path, "branch"), "is not the name of a branch", value=branch, allowed="a name such as main")
    algorithm = (document.spec.get("git") or {}).get("sshKeyAlgorithm")
    if algorithm and algorithm not in _KEY_ALGORITHMS:
        place, allowed, guess = f"{path}.git.sshKeyAlgorithm", ", ".join(_KEY_ALGORITHMS), nearest(algorithm, _KEY_ALGORITHMS)
        problems.add("input.unknown_value", place, "is not an algorithm of keys", value=algorithm, allowed=allowed, nearest=guess)
    url = (document.spec.get("git") or {}).get("repositoryUrl")
    if url and (_scheme(url) not in _GIT_SCHEMES or not _host(url)):
        # The value is not repeated, because it may contain a password.
        allowed = "a URL such as ssh://git@example.com/team/clusters.git"
        problems.add("anywhere.flux", f"{path}.git.repositoryUrl", "is not a URL with https or ssh", allowed=allowed)


_CHECKS: Mapping[str, Callable[[Document, Problems], None]] = {"OIDCConfig": _oidc, "AWSIamConfig": _aws_iam, "FluxConfig": _flux}
