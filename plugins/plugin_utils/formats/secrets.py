# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that must not be in user data: every user who may call DescribeInstanceAttribute, and every pod that reaches
IMDS, reads it. Only what is recognised by its shape together with its context is reported; other text is not guessed at.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Iterator

NOT_SHOWN = "(not shown: it may be a secret)"

# Text between a name and its value: shell, YAML, JSON, TOML, command-line and PowerShell spellings.
_IS = r"[\"']?\s*(?:[:=]|\s)\s*[\"']?"
# A value that only refers to a secret is not a secret: $VAR, ${VAR}, $(command), `command`, {{ template }}, <placeholder>.
_REAL = r"(?![$<{%(\[*`])"

_PATTERNS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("a PEM private key", "private key", re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")),
    (
        "an AWS secret access key",
        "secret",
        re.compile(rf"(?:aws[-_]?)?secret[-_]?(?:access[-_]?)?key{_IS}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])", re.IGNORECASE),
    ),
    (
        "an AWS session token",
        "token",
        re.compile(rf"(?:aws[-_]?)?(?:session|security)[-_]?token{_IS}([A-Za-z0-9/+=]{{64,}})", re.IGNORECASE),
    ),
    (
        "an SSM activation code",
        "activation",
        re.compile(rf"activation[-_]?code{_IS}{_REAL}([A-Za-z0-9/+_-]{{20,250}})(?![A-Za-z0-9/+_-])", re.IGNORECASE),
    ),
    (
        "an SSM activation code",
        "ssm-",
        re.compile(rf"(?:amazon-ssm-agent|ssm-setup-cli)[^\n]{{0,200}}\s-{{1,2}}code(?:\s+|=)[\"']?{_REAL}([A-Za-z0-9/+_-]{{20,250}})"),
    ),
    (
        "a Kubernetes bootstrap token",
        "token",
        re.compile(rf"(?:\btoken|bootstrap[-_]?token){_IS}([a-z0-9]{{6}}\.[a-z0-9]{{16}})(?![a-z0-9.])", re.IGNORECASE),
    ),
    (
        "a registry credential",
        "token",
        re.compile(rf"[\"']?(?<![A-Za-z0-9_.-])(?:identity_?token|registry_?token){_IS}{_REAL}([^\s\"',}}]{{8,}})", re.IGNORECASE),
    ),
    (
        "a credential in a proxy URL",
        "@",
        re.compile(rf"\b(?:https?|ftps?|socks[45]h?)://[^\s/:@\"'<>$]+:{_REAL}([^\s/@\"'<>]+)@", re.IGNORECASE),
    ),
)
"""What it is, a word that each match contains, in lower case, and the pattern. To look for the word is much faster."""

_NAMES = (
    "accesskey",
    "activationcode",
    "auth",
    "chpasswd",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
)
"""How names of settings end whose value may be a secret, whatever its shape. Letters only."""

# "auth" and "password" are common words. They count only as a key with a value that can be a secret.
_AUTH = re.compile(r"(?:^|[\s\"'{,.])auth[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9+/]{8,}={0,2})(?![A-Za-z0-9+/=])")
# One of these groups is the value.
_VALUE = rf"(?:\"{_REAL}([^\"\n]+)\"|'{_REAL}([^'\n]+)'|{_REAL}([^\s\"',;|&}}]+))"
# cloud-init has a key chpasswd with a mapping, and rules of sudo have NOPASSWD:ALL.
_PASSWORD_NAME = r"(?!chpasswd|nopasswd)(?:[a-z0-9_]*(?:password|passwd|passphrase)|mysql_pwd)"
_PASSWORDS = tuple(
    (words, re.compile(pattern, re.IGNORECASE))
    for words, pattern in (
        # An empty variable before a command, as in PASSWORD= mysql, has no value.
        (("passw", "passphrase", "mysql_pwd"), rf"(?:^|[\s\"'{{,.;|&(:$]){_PASSWORD_NAME}[\"']?(?:\s*:\s*|[ \t]+=[ \t]*|=){_VALUE}"),
        (("passw", "passphrase"), rf"(?<![\w-])--?(?:[a-z0-9]+[-_])*(?:password|passwd|passphrase)(?:=|[ \t]+(?!-)){_VALUE}"),
        (("curl",), rf"\bcurl\b[^\n|;&]*[ \t](?:-u|--user)(?:=|[ \t]*)[\"']?[^\s:\"'$]+:{_REAL}([^\s\"':$]+)"),
        (("sshpass",), rf"\bsshpass[ \t]+-p[ \t]*{_VALUE}"),
        (("chpasswd",), rf"\becho[ \t]+[\"']?[\w.-]+:{_REAL}([^\s\"'|]+)[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?(?:/usr/sbin/)?chpasswd\b"),
        (("convertto-securestring",), rf"\bConvertTo-SecureString[ \t]+(?:-String[ \t]+)?[\"']{_REAL}([^\"'\n]+)[\"']"),
    )
)
_RANDOM = r"(?=[a-z/+_.-]*\d)(?=[\d/+_.-]*[a-z])"
_TOKENS = tuple(
    (words, re.compile(pattern, re.IGNORECASE))
    for words, pattern in (
        (("token", "secret"), rf"(?<![\w.-])(?:token|secret)=[\"']?{_REAL}({_RANDOM}[a-z0-9/+_.=-]{{16,}})(?![a-z0-9/+_.=-])"),
        # A name of several words is only that of a secret.
        (
            ("token", "secret", "key", "pass"),
            rf"(?<![\w.-])(?!next_token)(?:[a-z0-9]+_)+(?:token|secret|secret_?key|api_?key|pass)=[\"']?{_REAL}([a-z0-9+_.=-]{{5,}})(?![a-z0-9/+_.=-])",
        ),
        (
            ("apikey", "api_key", "secretkey", "secret_key"),
            rf"(?<![\w.-])(?:api_?key|secret_?key)=[\"']?{_REAL}({_RANDOM}[a-z0-9/+_.=-]{{5,}})(?![a-z0-9/+_.=-])",
        ),
        (
            ("token", "secret", "apikey", "api-key"),
            rf"(?<![\w-])--(?:[a-z0-9]+-)*(?:token|secret|api-?key)(?:=|[ \t]+)[\"']?"
            rf"{_REAL}({_RANDOM}[a-z0-9/+_.=-]{{8,}})(?![a-z0-9/+_.=-])",
        ),
    )
)
"""Variables of a shell, and options. The value has letters and digits, as random text has, if the name is a common word."""
_PLACEHOLDER = re.compile(r"your|example|change|placeholder|dummy|xxxx", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{40,}(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/]{8,})*")
_DECODED = 1 << 20
"""Bytes of decoded base64 and gzip that are searched."""
_NO_PASSWORD = frozenset({"null", "none", "true", "false", "~", "yes", "no"})


RULES = {
    "a PEM private key": "secrets.private_key",
    "an AWS secret access key": "secrets.aws_secret_key",
    "an AWS session token": "secrets.aws_session_token",
    "an SSM activation code": "secrets.activation_code",
    "a Kubernetes bootstrap token": "secrets.bootstrap_token",
    "a registry credential": "secrets.registry_credential",
    "a credential in a proxy URL": "secrets.proxy_credential",
    "a password": "secrets.password",
    "a token": "secrets.token",
}
"""The rule of each kind of secret."""


def find_secrets(text: str) -> list[tuple[str, int]]:
    """The possible secrets in C(text), as C((what, line)), sorted by line. Lines start at 1.

    The secret itself is never returned. Base64 in it, and gzip in base64, are undone once.
    """
    found = set()
    for what, start in _matches(text):
        found.add((text.count("\n", 0, start) + 1, what))
    for start, inner in _decoded(text):
        found.update((text.count("\n", 0, start) + 1, what) for what, _unused in _matches(inner))
    return [(what, line) for line, what in sorted(found)]


def have_secret(texts: Iterable[str]) -> bool:
    """Does C(find_secrets) find something in one of the texts? One search over all of them, which is faster than one search for each."""
    # No pattern matches across a NUL character, and each accepts a line break as the border of its text.
    return bool(find_secrets("\n\0\n".join(texts)))


def without_secret(text: str) -> str:
    """The text, or words instead of it if it may contain a secret."""
    return NOT_SHOWN if find_secrets(text) else text


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name may have a secret as its value."""
    return re.sub(r"[^a-z]", "", name.lower()).endswith(_NAMES)


def _decoded(text: str) -> Iterator[tuple[int, str]]:
    """The decoded base64 words, each with its position: files of a cloud-config, settings of Bottlerocket, C(base64 -d)."""
    for match in _BASE64.finditer(text):
        word = "".join(match[0].split())
        raw = base64.b64decode(word[: len(word) - (len(word) % 4 == 1)] + "==")
        if raw.startswith(b"\x1f\x8b"):
            try:
                raw = zlib.decompressobj(31).decompress(raw, _DECODED)
            except zlib.error:
                continue
        yield match.start(), raw.decode("utf-8", "replace")


def _matches(text: str) -> Iterator[tuple[str, int]]:
    """The kinds of the secrets with the places of their values. A token of another kind is not named twice."""
    found = list(_with_known_form(text))
    starts = {start for _what, start in found}
    folded = text.casefold()
    patterns = [pattern for words, pattern in _TOKENS if any(word in folded for word in words)]
    tokens = (match for pattern in patterns for match in pattern.finditer(text) if not _PLACEHOLDER.search(match[1]))
    return iter([*found, *(("a token", match.start(1)) for match in tokens if match.start(1) not in starts)])


def _with_known_form(text: str) -> Iterator[tuple[str, int]]:
    folded = text.casefold()
    for what, word, pattern in _PATTERNS:
        for match in pattern.finditer(text) if word in folded else ():
            yield what, match.start(match.lastindex or 0)
    for match in _AUTH.finditer(text) if "auth" in text else ():
        if _is_basic_auth(match[1]):
            yield "a registry credential", match.start(1)
    for words, pattern in _PASSWORDS:
        for match in pattern.finditer(text) if any(word in folded for word in words) else ():
            if match[match.lastindex or 0].lower() not in _NO_PASSWORD:
                yield "a password", match.start(match.lastindex or 0)


def _is_basic_auth(word: str) -> bool:
    """Whether C(word) is base64 of C(user:password), as in the C(auth) of a registry."""
    try:
        return b":" in base64.b64decode(word, validate=True)
    except (binascii.Error, ValueError):
        return False
