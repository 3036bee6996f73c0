# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes what may be a secret out of texts and values that are shown: standard library, Python 3.7 and newer.

Rather too much than too little: whatever has the form of a secret, or stands under the name of one, becomes C(HIDDEN).
"""

from __future__ import annotations

import base64
import binascii
import json
import re

HIDDEN = "********"

# What is searched may be long and written by anybody, so the time must not grow with the square of its length. A pattern begins only
# where a word does, and not at each of its letters; and (?=(?P<x>...))(?P=x) takes what it finds first and tries nothing else.
_URL = re.compile(r"(?<![^\s\"'<>])[^\s\"'<>]*?://[^\s\"'<>]*")
_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]+://")
_KEY_FILE = re.compile(
    r"-----BEGIN (?=(?P<begin>[A-Z0-9 ]*PRIVATE KEY))(?P=begin)[A-Z ]*-----.*?"
    r"(?:-----END (?=(?P<end>[A-Z0-9 ]*PRIVATE KEY))(?P=end)[A-Z ]*-----|\Z)",
    re.DOTALL,
)
# What begins like a JSON web token, EKS's token, an AWS access key ID, a Kubernetes bootstrap token.
_TOKEN = re.compile(r"\b(?P<web>eyJ)|\bk8s-aws-v1\.[\w-]+|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|(?<![\w./-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w./-])")
_WEB_TOKEN = re.compile(r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*")
_WORD = re.compile(r"[\w-]*")
# Long base64 may hold anything, and the lines below it belong to it.
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{64,}={0,2}(?:[ \t]*\r?\n[ \t]*[A-Za-z0-9+/]+={0,2}(?=[ \t]*(?:\r?\n|\Z)))*")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"

_NAME = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential|(?:api|private|access|secret)[_-]?key(?:[_-]?id)?|activation[_-]?code|"
    r"auth|authorization|header)s?"
)
_SECRET_NAME = re.compile(_NAME + r"\Z", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?<![\w.-])(?P<name>[\"']?{_NAME}[\"']?\s*)(?P<sign>[:=])(?P<blank>\s*)"
    r"(?P<value>(?:true|false|null|~)(?=\s*(?:[,}\])#]|\Z))|\"\"\".*|'''.*|\"(?:[^\"\\]|\\.)*\"(?=\s*(?:[,}\])#]|\Z))|'[^']*'(?=\s*(?:[,}\])#]|\Z))|.*)",
    re.IGNORECASE,
)
_SPACED = re.compile(rf"(?<![\w.-])(?=(?P<lead>[\w.-]*?--))(?P<flag>(?P=lead){_NAME})(?P<blank>[ \t]+)(?P<value>[^\s-]\S*)", re.IGNORECASE)
# They say whether and how somebody is authenticated, and are no secret themselves.
_HARMLESS_VALUES = {"", "true", "false", "null", "~"}
_HARMLESS_MAPPING = "authorization"
_PROXY = re.compile(r"(?:https?|no|all|ftp)_proxy\Z", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"(?P<lead>[ \t]*(?:-[ \t]+)?)(?P<name>[\"']?environment[\"']?[ \t]*:)(?P<value>.*)\Z")
_VARIABLE = re.compile(r"(?P<lead>[ \t]*(?:-[ \t]+)?)(?P<quote>[\"']?)(?P<name>[\w.-]+)(?P=quote)(?P<sign>[ \t]*:[ \t]+)(?P<value>\S.*)\Z")


def is_proxy_name(name):
    """Whether an environment variable of this name says which proxy to use."""
    return _PROXY.match(name) is not None


def in_word(word):
    """One value without what has the form of a secret."""
    word = _URL.sub(_hide_user, word)
    word = _KEY_FILE.sub(HIDDEN, word)
    word = _hide_tokens(word)
    return _BASE64.sub(_hide_base64, word)


def in_flag(name, value):
    """The value of a flag without what may be a secret."""
    return HIDDEN if _SECRET_NAME.match(name) and value.lower() not in _HARMLESS_VALUES else in_word(value)


def in_command_line(words):
    """The words of a command line without what may be a secret."""
    shown, before = [], ""
    for word in words:
        flag, equals, value = word.partition("=")
        if flag.startswith("-") and equals:
            shown.append(flag + equals + in_flag(flag, value))
        else:
            shown.append(in_flag(before, word) if before.startswith("-") and not word.startswith("-") else in_word(word))
        before = word
    return shown


def in_value(value, name=""):
    """A value as JSON knows them, however deep, without what may be a secret."""
    if isinstance(value, dict) and name == "environment":
        return {key: _variables(item) for key, item in value.items()}
    if isinstance(value, dict):
        hidden = bool(_SECRET_NAME.match(name)) and name.lower() != _HARMLESS_MAPPING
        return {in_word(key): in_value(item, "secret" if hidden else key) for key, item in value.items()}
    if isinstance(value, list):
        return [in_value(item, name) for item in value]
    return in_flag(name, value) if isinstance(value, str) else value


def _variables(value):
    if not isinstance(value, dict):
        return HIDDEN
    return {name: in_word(item) if is_proxy_name(name) and isinstance(item, str) else HIDDEN for name, item in value.items()}


def in_text(text):
    """A text of YAML, JSON or TOML without what may be a secret. It need not be YAML or TOML any more."""
    if text.lstrip().startswith("{"):
        try:
            return json.dumps(in_value(json.loads(text)), indent=1)
        except (ValueError, RecursionError):
            pass
    below = _Below()
    return "\n".join(below.line(line) for line in in_word(text).split("\n"))


def _hide_user(match):
    """All between the first scheme and the last @ of a word, for a password may hold both."""
    word = match.group(0)
    last = word.rfind("@")
    scheme = _SCHEME.search(word, 0, last + 1)
    return word if scheme is None else word[: scheme.end()] + HIDDEN + word[last:]


def _hide_tokens(word):
    shown, end, at, barren = [], 0, 0, 0
    while True:
        found = _TOKEN.search(word, at)
        if found is None:
            return "".join(shown) + word[end:]
        at = found.end()
        if found.group("web"):
            if at <= barren:
                continue
            found = _WEB_TOKEN.match(word, found.start())
            if found is None:
                # Where one does not begin, none begins until the word ends either.
                barren = _WORD.match(word, at).end()
                continue
        shown += (word[end : found.start()], HIDDEN)
        end = at = found.end()


def _hide_base64(match):
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


class _Below:
    """Hides line by line, and remembers what belongs to a secret that began further up."""

    def __init__(self):
        self._until = None
        """The quotes that end a text of several lines."""
        self._deeper = None
        """Lines that begin to the right of this column belong to a secret; C(_list): items at this column, too."""
        self._list = False
        self._environment = None
        """Lines that begin to the right of this column are environment variables."""

    def line(self, line):
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

    def _variable(self, line):
        """A line below C(environment): names of services and of variables are shown, and the values of proxies."""
        found = _VARIABLE.match(line)
        if found is None:
            # The name of a service, or something that goes on from the line before.
            return line if line.rstrip().endswith(":") else line[: len(line) - len(line.lstrip())] + HIDDEN
        if is_proxy_name(found.group("name")):
            return line
        return line[: found.start("value")] + HIDDEN

    def _assigned(self, found):
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
