# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes secrets from what diagnostics collect. Standard library, Python 3.7 and newer.

Three ways, because none finds all. Values that are known to be secret are removed from every text, in each of their encodings.
Fields of objects that can contain anything are emptied. Everything with the form or the name of a secret is removed by C(redaction).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Tuple
from urllib.parse import quote, unquote, urlsplit

from .._node.redaction import HIDDEN, is_proxy_name, redact_command_line, redact_document, redact_string, redact_value

_MIN_SECRET = 6
"""Characters of a value that is removed wherever it occurs. A shorter one would remove parts of words."""

_PUBLIC_KEYS = frozenset({"namespace", "ca.crt", "tls.crt", "service-ca.crt", "username", "type", "format", "release"})
_SECRET_VARIABLE = re.compile(r"passw(?:or)?d|secret|token|credential|private_?key|access_?key|license", re.IGNORECASE)
_KUBECONFIG_SECRET = re.compile(r"^\s*(?:-\s*)?(?:token|password|client-key-data):\s*[\"']?(?P<value>[^\s\"']+)", re.MULTILINE)
_ANYTHING = frozenset({"content", "passwd", "inline", "preKubeadmCommands", "postKubeadmCommands", "diskSetup"})
"""Fields of a KubeadmConfig in which users put whole files, scripts and passwords."""

_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}\Z")

_NOISE = ("managedFields",)
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_WITH_DATA = ("Secret", "ConfigMap")
_COMMANDS = ("args", "command")


class Mask:
    """Removes values that are known to be secret from texts."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in _forms(value) if len(form) >= _MIN_SECRET}
        # A value can contain another one, so the longest goes first.
        self._forms: Tuple[str, ...] = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    def text(self, text: str) -> str:
        """A text without these values, and without what has the form or the name of a secret."""
        return redact_document(self._known(text))

    def document(self, value: Any) -> Any:
        """A JSON value, such as a list of objects, without secrets."""
        return self._strings(redact_value(clean(value)))

    def _known(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text

    def _strings(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._known(key): self._strings(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._strings(item) for item in value]
        return self._known(value) if isinstance(value, str) else value


def _forms(value: str) -> Iterator[str]:
    """A secret as it is, in base64, in a URL, in JSON, and by its lines."""
    value = value.strip()
    yield value
    yield base64.b64encode(value.encode("utf-8", "replace")).decode("ascii").rstrip("=")
    yield quote(value, safe="")
    yield json.dumps(value)[1:-1]
    if "\n" in value:
        # The lines of a key. Lines of a script or a configuration are in many places, and are not secret alone.
        yield from (line.strip() for line in value.splitlines() if _KEY_LINE.match(line.strip()))


def environment_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """The secrets in environment variables: values of variables with such a name, and passwords in the URLs of proxies."""
    for name, value in environment.items():
        if _SECRET_VARIABLE.search(name):
            yield value
        elif is_proxy_name(name):
            yield from url_passwords(value)


def url_passwords(url: str) -> Iterator[str]:
    """The password of a URL, as it is written and decoded."""
    try:
        password = urlsplit(url).password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)


def kubeconfig_secrets(text: str) -> Iterator[str]:
    """The tokens, passwords and keys of a kubeconfig."""
    for found in _KUBECONFIG_SECRET.finditer(text):
        yield found.group("value")
        decoded = _decoded(found.group("value"))
        if decoded:
            yield decoded


def secret_values(secrets: Any) -> Iterator[str]:
    """The values of a list of Secrets, decoded. Certificates and names of namespaces are public."""
    for one in (secrets.get("items") or ()) if isinstance(secrets, dict) else ():
        for key, value in (one.get("data") or {}).items():
            decoded = _decoded(value) if key not in _PUBLIC_KEYS and isinstance(value, str) else None
            if decoded:
                yield decoded


def _decoded(value: str) -> str | None:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def clean(value: Any) -> Any:
    """A JSON value of objects without the fields that can contain anything."""
    if isinstance(value, list):
        return [clean(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("kind")
    found: Dict[str, Any] = {}
    for key, item in value.items():
        if key in _NOISE or key == _LAST_APPLIED:
            continue
        if kind in _WITH_DATA and key in ("data", "stringData", "binaryData"):
            found[key] = {name: HIDDEN for name in item} if isinstance(item, dict) else HIDDEN
        elif key in _ANYTHING and item:
            found[key] = HIDDEN
        elif key == "env" and isinstance(item, list):
            found[key] = [_variable(one) for one in item]
        elif key in _COMMANDS and isinstance(item, list):
            found[key] = _command(item)
        else:
            found[key] = clean(item)
    return found


def _variable(one: Any) -> Any:
    """An environment variable of a container: its value is shown only if it is a proxy, without the password."""
    if not isinstance(one, dict) or "value" not in one:
        return clean(one)
    value = redact_string(str(one["value"])) if is_proxy_name(str(one.get("name") or "")) else HIDDEN
    return {**one, "value": value}


def _command(words: List[Any]) -> List[Any]:
    return redact_command_line([str(word) for word in words])
