# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The snap command for one installed snap, kubelet-eks, as far as bootstrapping uses it; every call is recorded.

    snap set kubelet-eks key=value…   a value that is JSON is stored as what it says, any other as the string it is (as snapd does);
                                      dots make nested maps; "key!" removes
    snap get [-d] kubelet-eks [key…]  one value is printed bare; several, or -d, print JSON
    snap unset, start [--enable], stop [--disable], restart, alias, list, refresh, watch, services

Settings live in /var/lib/nodelab/snap.json. Setting never starts, stops or restarts the daemon here.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, "/opt/nodelab")
from recording import record

STORE = "/var/lib/nodelab/snap.json"
DAEMON = "snap.kubelet-eks.daemon.service"


def load():
    if not os.path.exists(STORE):
        return {}
    with open(STORE, encoding="utf-8") as handle:
        return json.load(handle)


def save(settings):
    os.makedirs(os.path.dirname(STORE), exist_ok=True)
    with open(STORE + ".new", "w", encoding="utf-8") as handle:
        json.dump(settings, handle, indent=1, sort_keys=True)
    os.replace(STORE + ".new", STORE)


def put(settings, key, value):
    *parents, last = key.split(".")
    for parent in parents:
        settings = settings.setdefault(parent, {})
        if not isinstance(settings, dict):
            sys.exit(f'error: cannot perform the following tasks: snap "kubelet-eks" option "{parent}" is not a map')
    if value is None:
        settings.pop(last, None)
    else:
        settings[last] = value


def fetch(settings, key):
    for part in key.split("."):
        if not isinstance(settings, dict) or part not in settings:
            sys.exit(f'error: snap "kubelet-eks" has no "{key}" configuration option')
        settings = settings[part]
    return settings


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def set_options(words):
    settings = load()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals and key.endswith("!"):
            put(settings, key[:-1], None)
        elif not equals or not key:
            sys.exit(f"error: invalid configuration: {json.dumps(word)} (want key=value)")
        else:
            put(settings, key, parsed(value))
    save(settings)


def get_options(words, as_document):
    settings = load()
    values = {word: fetch(settings, word) for word in words} if words else settings
    if len(words) == 1 and not as_document:
        value = values[words[0]]
        print(value if isinstance(value, str) else json.dumps(value))
    else:
        print(json.dumps(values, indent="\t", sort_keys=True))


def main():
    words = sys.argv[1:]
    record("snap", argv=words)
    flags = [word for word in words[1:] if word.startswith("-")] if words[:1] != ["set"] else []
    verb, *rest = [word for word in words if word not in flags] or [""]
    if verb in ("alias", "list", "refresh", "watch", "services", "version"):
        return
    if rest[:1] != ["kubelet-eks"] and rest[:1] != ["kubelet-eks.daemon"]:
        sys.exit(f"error: snap {json.dumps(rest[0] if rest else '')} is not installed")
    if verb == "set":
        set_options(rest[1:])
    elif verb == "unset":
        set_options([key + "!" for key in rest[1:]])
    elif verb == "get":
        get_options(rest[1:], "-d" in flags)
    elif verb in ("start", "stop", "restart"):
        if "--enable" in flags or "--disable" in flags:
            subprocess.run(["systemctl", "--quiet", "enable" if verb == "start" else "disable", DAEMON], check=True)
        sys.exit(subprocess.run(["systemctl", verb, DAEMON], check=False).returncode)
    else:
        sys.exit(f"error: unknown command {json.dumps(verb)}")


main()
