# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts for the control container of a Bottlerocket node, and the parsers of their output.

They need C(sh), C(apiclient) and coreutils; C(curl) only for the health of kubelet. Whatever comes from the user travels as
base64, so nothing of it is code to the shell, or a parameter to Systems Manager. Systems Manager cuts output after 24,000
characters: a script prints one page of it, with the size and digest of the whole.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ..artifacts.settings_tree import LABELS, TAINTS, Place

PAGE = 20_000
"""Characters of output in one page."""

BODY_LIMIT = 40_000
"""Bytes of settings in one transaction. They are sent as one argument of a command and as one parameter of Systems Manager."""

NO_APICLIENT = 97
NOT_READ = 98
REFUSED = 96
NOT_COMMITTED = 95
NOT_READ_AGAIN = 94
"""Exit codes of the scripts. apiclient itself uses 1 and 2."""

_HEALTHZ = "http://127.0.0.1:10248/healthz"
_ALWAYS: tuple[Place, ...] = (("kubernetes", "cluster-name"), ("kubernetes", "hostname-override"))
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_DIGEST = 16
_HEADER = re.compile(rf"nodebootstrap ([0-9]+) ([0-9a-f]{{{_DIGEST}}}|-) (ok|no|unknown)")

_START = f"""\
set -u
if ! command -v apiclient >/dev/null 2>&1; then
  echo 'there is no apiclient' >&2
  exit {NO_APICLIENT}
fi
"""

_HEALTH = f"""\
health=unknown
ask() {{
  if command -v curl >/dev/null 2>&1; then
    health=no
    if [ "$(curl -s -m 2 {_HEALTHZ} 2>/dev/null)" = ok ]; then health=ok; fi
  fi
}}
"""


@dataclass(frozen=True)
class Page:
    """The output of one script: base64 of the output of apiclient, or a part of it. size, digest: of the whole base64."""

    size: int
    digest: str
    healthy: bool | None
    text: str


@dataclass(frozen=True)
class State:
    """The state of a node according to apiclient. settings: the tree below C(settings). healthy: None if kubelet could not be asked."""

    variant: str
    version: str
    settings: Mapping[str, Any]
    healthy: bool | None


def prefixes(places: Iterable[Place]) -> str:
    """Arguments of C(apiclient get) for these places and for the places that are always read. They select as few other settings
    as possible, because these may be secrets. A name that is not a plain word selects its parent."""
    found = set()
    for place in (*_ALWAYS, *places):
        words = list(takewhile(_PLAIN.fullmatch, place[:2] if place[:2] in (LABELS, TAINTS) else place))
        found.add(".".join(["settings", *words]))
    return " ".join(sorted(found))


def read(places: Iterable[Place], first: int = 0) -> str:
    """A script that prints the settings at C(places), from character C(first) of their base64, and whether kubelet is healthy."""
    return f"{_START}{_HEALTH}{_shown(places, first)}ask\nshow\n"


def change(places: Iterable[Place], body: Mapping[str, Any], transaction: str, apply: bool) -> str:
    """A script that puts C(body) into one transaction and commits it, or deletes the transaction. Then it prints like C(read).

    apply: whether Bottlerocket restarts what the settings concern; otherwise they wait for the next boot.
    """
    commit = "commit_and_apply" if apply else "commit"
    return f"""{_START}{_HEALTH}{_shown(places, 0)}{_staged(body, transaction)}
if ! apiclient raw -m POST -u '/tx/{commit}?tx={transaction}' >/dev/null; then
  drop
  exit {NOT_COMMITTED}
fi
trap - HUP INT TERM
(show) || exit {NOT_READ_AGAIN}
"""


def check(body: Mapping[str, Any], transaction: str) -> str:
    """A script that lets Bottlerocket check C(body) as a transaction, which it then deletes."""
    return f"{_START}{_staged(body, transaction)}\ndrop\n"


def wait_healthy(seconds: int, settle: int) -> str:
    """A script that waits up to C(seconds) for kubelet. First it waits C(settle) seconds, in which the old kubelet may still answer."""
    return f"""{_HEALTH}sleep {settle}
end=$(($(date +%s) + {seconds}))
ask
while [ "$health" = no ] && [ "$(date +%s)" -lt "$end" ]; do
  sleep 1
  ask
done
printf 'nodebootstrap 0 - %s\\n' "$health"
"""


def _shown(places: Iterable[Place], first: int) -> str:
    # The user and password of a proxy are removed on the node, because Systems Manager stores the output of commands.
    return f"""show() {{
  text=$(apiclient get os {prefixes(places)}) || exit {NOT_READ}
  text=$(printf '%s' "$text" | sed '/"https-proxy"/s#://[^"]*@#://***@#' | base64 | tr -d '\\n')
  sum=$(printf '%s' "$text" | sha256sum | cut -c 1-{_DIGEST})
  printf 'nodebootstrap %s %s %s\\n' "${{#text}}" "$sum" "$health"
  printf '%s' "$text" | tail -c +{first + 1} | head -c {PAGE}
}}
"""


def encoded(body: Mapping[str, Any]) -> bytes:
    """The body of a request to the API of Bottlerocket."""
    return json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode("ascii")


def _staged(body: Mapping[str, Any], transaction: str) -> str:
    text = base64.b64encode(encoded(body)).decode("ascii")
    return f"""drop() {{
  apiclient raw -m DELETE -u '/tx?tx={transaction}' >/dev/null 2>&1
}}
trap 'drop; exit 1' HUP INT TERM
body=$(printf '%s' '{text}' | base64 -d)
if ! apiclient raw -m PATCH -u '/settings?tx={transaction}' -d "$body" >/dev/null; then
  drop
  exit {REFUSED}
fi"""


def page(output: str) -> Page:
    """Parse the output of a script. Raises C(ValueError) for invalid or truncated output."""
    header, _unused, text = output.strip().partition("\n")
    match = _HEADER.fullmatch(header.strip())
    if match is None:
        raise ValueError("it does not begin as it should")
    text = text.strip()
    size = int(match[1])
    if len(text) < min(size, PAGE) and not text:
        raise ValueError("it has only one line")
    return Page(size, match[2], {"ok": True, "no": False}.get(match[3]), text)


def state(pages: Iterable[Page]) -> State:
    """Parse all pages together. Raises C(ValueError) if they are incomplete, or not output of apiclient."""
    listed = list(pages)
    text = "".join(one.text for one in listed)
    last = listed[-1]
    if len(text) != last.size or not hashlib.sha256(text.encode()).hexdigest().startswith(last.digest):
        raise ValueError(f"{len(text)} of {last.size} characters arrived")
    answer = json.loads(base64.b64decode(text, validate=True))
    system = answer.get("os") if isinstance(answer, dict) else None
    # If a node has none of the requested settings, C(settings) is missing.
    settings = (answer.get("settings") or {}) if isinstance(answer, dict) else None
    if not isinstance(system, dict) or not isinstance(settings, dict):
        raise ValueError("it contains neither os nor settings")
    return State(str(system.get("variant_id", "")), str(system.get("version_id", "")), settings, last.healthy)
