# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes possible secrets from texts and values that are shown. Standard library, Python 3.7 and newer.

When in doubt, a value is removed: whatever has the form of a secret, or the name of one, becomes C(HIDDEN).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, List, Match, Sequence

HIDDEN = "********"

# The text may be long and comes from anywhere, so the time must not grow with the square of its length. A pattern begins only at the
# start of a word, not at each letter; and (?=(?P<x>...))(?P=x) takes its first match and does not backtrack.
_URL = re.compile(r"(?<![^\s\"'<>])[^\s\"'<>]*?://[^\s\"'<>]*")
_URL_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?:[^/?#]*@)?"
    r"(?P<rest>(?:\[[0-9A-Fa-f:.]*\]|[^/?#@:\[\]]*)(?::[0-9]*)?(?:/[^?#]*)?)(?:[?#]|\Z)"
)
_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://")
_KEY_FILE = re.compile(
    r"-----BEGIN (?=(?P<begin>[A-Z0-9 ]*PRIVATE KEY))(?P=begin)[A-Z ]*-----.*?"
    r"(?:-----END (?=(?P<end>[A-Z0-9 ]*PRIVATE KEY))(?P=end)[A-Z ]*-----|\Z)",
    re.DOTALL,
)
# The beginning of a JSON web token, a token of EKS, an AWS access key ID, a Kubernetes bootstrap token.
_TOKEN = re.compile(r"\b(?P<web>eyJ)|\bk8s-aws-v1\.[\w-]+|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|(?<![\w./-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w./-])")
# A token of any form behind the word that announces it. A word of a sentence, as in "bearer token", has no digit and is shorter.
_BEARER = re.compile(r"\b(?P<lead>Bearer[ \t]+)(?:(?=[A-Za-z._~+/-]*[0-9])|(?=[\w.~+/-]{20}))[\w.~+/-]+=*", re.IGNORECASE)
_WEB_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*")
_WORD = re.compile(r"[\w-]*")
# Long base64 can contain anything, and it may continue on the next lines.
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{64,}={0,2}(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/]+={0,2}(?=[ \t]*(?:\r?\n|\Z)))*")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"

_NAME = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential|(?:api|private|access|secret|fastopen)[_-]?key(?:[_-]?id)?|activation[_-]?code|"
    r"auth|authorization|header)s?"
)
_SECRET_NAME = re.compile(_NAME + r"\Z", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?<![\w.-])(?P<name>[\"']?{_NAME}[\"']?\s*)(?P<sign>[:=])(?P<blank>\s*)"
    r"(?P<value>(?:true|false|null|~)(?=\s*(?:[,}\])#]|\Z))|\"\"\".*|'''.*|\"(?:[^\"\\]|\\.)*\"(?=\s*(?:[,}\])#]|\Z))|'[^']*'(?=\s*(?:[,}\])#]|\Z))|.*)",
    re.IGNORECASE,
)
_SPACED = re.compile(rf"(?<![\w.-])(?=(?P<lead>[\w.-]*?--))(?P<flag>(?P=lead){_NAME})(?P<blank>[ \t]+)(?P<value>[^\s-]\S*)", re.IGNORECASE)
# They say whether and how a request is authenticated, and are not secrets.
_HARMLESS_VALUES = frozenset({"", "true", "false", "null", "~"})
_HARMLESS_MAPPING = "authorization"
_PROXY = re.compile(r"(?:https?|no|all|ftp)_proxy\Z", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"(?P<lead>[ \t]*(?:-[ \t]+)?)(?P<name>[\"']?environment[\"']?[ \t]*:)(?P<value>.*)\Z")
_VARIABLE = re.compile(r"(?P<lead>[ \t]*(?:-[ \t]+)?)(?P<quote>[\"']?)(?P<name>[\w.-]+)(?P=quote)(?P<sign>[ \t]*:[ \t]+)(?P<value>\S.*)\Z")


def is_proxy_name(name: str) -> bool:
    """Whether an environment variable of this name selects a proxy."""
    return _PROXY.match(name) is not None


def redact_string(word: str) -> str:
    """Remove everything that has the form of a secret from one string."""
    word = _URL.sub(_hide_user, word)
    word = _KEY_FILE.sub(HIDDEN, word)
    word = _hide_tokens(word)
    word = _BEARER.sub(r"\g<lead>" + HIDDEN, word)
    return _BASE64.sub(_hide_base64, word)


def public_url(url: str) -> str | None:
    """A URL without its user name and password, and without its query and fragment, which may be a signature. None if it is not a URL."""
    parts = _URL_PARTS.match(url)
    return parts.group("scheme") + parts.group("rest") if parts else None


def redact_flag(name: str, value: str) -> str:
    """Remove possible secrets from the value of a flag."""
    return HIDDEN if _SECRET_NAME.match(name) and value.lower() not in _HARMLESS_VALUES else redact_string(value)


def redact_command_line(words: Sequence[str]) -> List[str]:
    """Remove possible secrets from the words of a command line."""
    shown: List[str] = []
    before = ""
    for word in words:
        flag, equals, value = word.partition("=")
        if flag.startswith("-") and equals:
            shown.append(flag + equals + redact_flag(flag, value))
        else:
            shown.append(redact_flag(before, word) if before.startswith("-") and not word.startswith("-") else redact_string(word))
        before = word
    return shown


def redact_value(value: Any, name: str = "") -> Any:
    """Remove possible secrets from a JSON value, at any depth. C(name): the key of the value."""
    if isinstance(value, dict) and name == "environment":
        return {key: _variables(item) for key, item in value.items()}
    if isinstance(value, dict):
        hidden = bool(_SECRET_NAME.match(name)) and name.lower() != _HARMLESS_MAPPING
        return {redact_string(key): redact_value(item, "secret" if hidden else key) for key, item in value.items()}
    if isinstance(value, list):
        return [redact_value(item, name) for item in value]
    return redact_flag(name, value) if isinstance(value, str) else value


def _variables(value: Any) -> Any:
    if not isinstance(value, dict):
        return HIDDEN
    return {name: redact_string(item) if is_proxy_name(name) and isinstance(item, str) else HIDDEN for name, item in value.items()}


def redact_document(text: str) -> str:
    """Remove possible secrets from a text of YAML, JSON or TOML. The result may not be valid YAML or TOML any more."""
    if text.lstrip().startswith("{"):
        try:
            return json.dumps(redact_value(json.loads(text)), indent=1)
        except (ValueError, RecursionError):
            pass
    redactor = _LineRedactor()
    return "\n".join(redactor.line(line) for line in redact_string(text).split("\n"))


def _hide_user(match: Match[str]) -> str:
    """Hide everything between the first scheme and the last @ of a word: a password may contain both."""
    word = match.group(0)
    last = word.rfind("@")
    scheme = _SCHEME.search(word, 0, last + 1)
    return word if scheme is None else word[: scheme.end()] + HIDDEN + word[last:]


def _hide_tokens(word: str) -> str:
    shown: List[str] = []
    end = at = no_token_before = 0
    while True:
        found = _TOKEN.search(word, at)
        if found is None:
            return "".join(shown) + word[end:]
        at = found.end()
        if found.group("web"):
            if at <= no_token_before:
                continue
            found = _WEB_TOKEN.match(word, found.start())
            if found is None:
                # If no token begins here, none begins before the end of the word.
                rest = _WORD.match(word, at)
                no_token_before = rest.end() if rest is not None else at
                continue
        shown += (word[end : found.start()], HIDDEN)
        end = at = found.end()


def _hide_base64(match: Match[str]) -> str:
    word = "".join(match.group(0).split())
    if _DIGEST.match(word):
        return match.group(0)
    try:
        content = base64.b64decode(word[: len(word) - len(word) % 4] or b"")
    except (binascii.Error, ValueError):
        content = b""
    if content.lstrip().startswith(_CERTIFICATE) and b"PRIVATE" not in content:
        return match.group(0)
    return HIDDEN


class _LineRedactor:
    """Hides secrets line by line, and remembers a secret that continues on the next lines."""

    def __init__(self) -> None:
        self._until: str | None = None
        """The quotes that end a text of several lines."""
        self._deeper: int | None = None
        """Lines that begin to the right of this column belong to a secret; with C(_list), list items at this column, too."""
        self._list = False
        self._environment: int | None = None
        """Lines that begin to the right of this column are environment variables."""

    def line(self, line: str) -> str:
        if self._until is not None:
            if self._until in line:
                self._until = None
            return HIDDEN
        column = len(line) - len(line.lstrip())
        if line.strip() and self._deeper is not None:
            if column > self._deeper or (self._list and column == self._deeper and line.lstrip().startswith("-")):
                return line[:column] + HIDDEN
            self._deeper = None
        if line.strip() and self._environment is not None:
            if column > self._environment:
                return self._variable(line)
            self._environment = None
        found = _ENVIRONMENT.match(line)
        if found:
            self._environment = len(found.group("lead"))
            value = found.group("value").strip()
            return found.group("lead") + found.group("name") + (f" {HIDDEN}" if value and not value.startswith("#") else "")
        return _ASSIGNED.sub(self._assigned, _SPACED.sub(r"\g<flag>\g<blank>" + HIDDEN, line))

    def _variable(self, line: str) -> str:
        """A line below C(environment): the names of services and variables are shown, and the values of proxies."""
        found = _VARIABLE.match(line)
        if found is None:
            # The name of a service, or the continuation of the line before.
            return line if line.rstrip().endswith(":") else line[: len(line) - len(line.lstrip())] + HIDDEN
        if is_proxy_name(found.group("name")):
            return line
        return line[: found.start("value")] + HIDDEN

    def _assigned(self, found: Match[str]) -> str:
        value = found.group("value")
        name = found.group("name").strip().strip("\"'").lower()
        bare = value.strip().rstrip(",").lower()
        if bare in _HARMLESS_VALUES - {""} or (name == _HARMLESS_MAPPING and (not bare or bare.startswith("{"))):
            return found.group(0)
        quotes = value[:3]
        if quotes in ('"""', "'''") and quotes not in value[3:]:
            self._until = quotes
        elif found.group("sign") == ":":
            self._deeper = found.start("name")
            self._list = not bare
        return found.group("name") + found.group("sign") + found.group("blank") + (HIDDEN if bare else "")
