# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet that runs: its words, its files, merged as it merges them. Standard library, Python 3.7 and newer.

How kubelet merges: cmd/kubelet/app/server.go of Kubernetes 1.28 to 1.36 (a JSON merge patch, RFC 7396, for each file C(*.conf) of the
folder and of the folders in it, in lexical order; flags come last).
"""

from __future__ import annotations

import json
import os

from . import kubelet_flags as flags_of
from . import redaction as secrets
from .host import shown_moment

UNITS = ("snap.kubelet-eks.daemon.service", "kubelet.service")
_MOST_FILES = 200
# Where the images keep it: what a kubelet that does not run would read is a guess.
_USUAL = ("/etc/kubernetes/kubelet/config.json", "/etc/kubernetes/kubelet/kubelet-config.json", "/var/lib/kubelet/config.yaml")


class Process:
    """A running process: C(pid), its words, and its environment. All empty when there is none."""

    def __init__(self, machine, pid, started=None):
        self.pid = pid
        self.started = started
        self.words = _nul_separated(machine, pid, "cmdline")
        self.environment = dict(line.partition("=")[::2] for line in _nul_separated(machine, pid, "environ"))

    def proxies(self):
        """The proxies that this process uses, without their passwords."""
        return {name: secrets.in_word(value) for name, value in sorted(self.environment.items()) if secrets.is_proxy_name(name)}


def _nul_separated(machine, pid, name):
    content = machine.read(f"/proc/{pid}/{name}") if pid else None
    return [word.decode("utf-8", "replace") for word in (content or b"").split(b"\0")[:-1]]


def unit_of(units):
    """Which unit runs kubelet here: that of the snap where it exists; None when there is none."""
    return next((name for name in UNITS if name in units), None)


def describe(unit, process, flags):
    """The process as it is shown."""
    return {
        "unit": unit,
        "pid": process.pid,
        "started": shown_moment(process.started),
        "argv": secrets.in_command_line(process.words) or None,
        "environment": sorted(process.environment),
        "flags": {
            name: [secrets.in_flag(name, one) for one in value] if isinstance(value, list) else secrets.in_flag(name, value)
            for name, value in flags.items()
        },
    }


def configuration(machine, process, flags):
    """(what is shown of kubelet's configuration, the merged configuration or an empty mapping)."""
    path, folder = flags_of.last(flags, "config"), flags_of.last(flags, "config-dir")
    if not process.words:
        path = next((usual for usual in _USUAL if machine.exists(usual)), None)
    files = [_File(machine, one) for one in filter(None, [path])] + [_File(machine, one) for one in _drop_ins(machine, folder)]
    merged = {}
    for file in files:
        merged = None if merged is None or file.value is None else _merge_patch(merged, file.value)
    shown = {
        "path": path,
        "folder": folder,
        "files": [file.shown(process.started) for file in files],
        "effective": None if merged is None or not files else secrets.in_value(merged),
        "set_by_flags": _set_by_flags(flags, merged or {}),
    }
    return shown, merged or {}


def _drop_ins(machine, folder):
    """Every *.conf of a folder and of those in it, in the order of a walk; links to folders are not followed."""
    if not folder or os.path.islink(machine.path(folder)):
        return []
    found = []
    for name in machine.names(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(machine.path(path)):
            found += _drop_ins(machine, path)
        elif os.path.splitext(name)[1] == ".conf" or name == ".conf":
            found.append(path)
    return found[:_MOST_FILES]


class _File:
    """One file of kubelet's configuration. C(value) is None when it could not be read here."""

    def __init__(self, machine, path):
        self.path = path
        self.text = machine.text(path)
        self.changed_at = machine.changed_at(path)
        self.format = None
        self.problem = "it does not exist or cannot be read" if self.text is None else None
        self.value = None
        if self.text is not None:
            self._parse()

    def _parse(self):
        self.format = "json" if self.text.lstrip().startswith("{") else "yaml"
        try:
            value = json.loads(self.text) if self.format == "json" else _from_yaml(self.text)
            secrets.in_value(value)  # one that is nested too deep fails here
        except ImportError:
            self.problem = "it is YAML, which Python reads with PyYAML only, and this node has none"
            return
        except Exception as error:  # a YAML reader may raise anything over a broken file
            self.problem = f"it cannot be parsed: {secrets.in_word(str(error))[:300]}"
            return
        if isinstance(value, dict):
            self.value = value
        else:
            self.problem = "it holds no mapping"

    def shown(self, started):
        """What is told of the file; its text only where its value is not part of the merged configuration."""
        late = None if started is None or self.changed_at is None else self.changed_at > started
        text = None if self.text is None or self.value is not None else secrets.in_text(self.text)
        return {"path": self.path, "format": self.format, "changed_since_start": late, "text": text, "problem": self.problem}


def _from_yaml(text):
    # Not in the standard library; where the node has it, it serves.
    import yaml

    return json.loads(json.dumps(yaml.safe_load(text), default=str))


def _merge_patch(base, patch):
    """RFC 7396: mappings are merged, null takes a field away, everything else is replaced."""
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge_patch(result.get(key), value)
    return result


def _set_by_flags(flags, merged):
    """Field → the flag that sets it, and what the files say, which kubelet then ignores (of featureGates only the same names)."""
    found = {}
    for name, value in sorted(flags.items()):
        field = flags_of.FIELDS.get(name)
        if field is not None:
            shown = [secrets.in_flag(name, one) for one in value] if isinstance(value, list) else secrets.in_flag(name, value)
            in_files = at(merged, field)
            found[field] = {"flag": name, "value": shown, "in_files": secrets.in_value(in_files, field.rpartition(".")[2])}
    return found


def at(tree, field):
    """The value of a field such as C(authentication.webhook.enabled); None when it is not there."""
    for key in field.split("."):
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def registration(flags, merged):
    """Labels and taints with which kubelet registers its node; the flag for taints overrides the field."""
    text = flags_of.last(flags, "register-with-taints")
    if text is not None:
        taints = [taint for taint in text.split(",") if taint]
    else:
        given = merged.get("registerWithTaints")
        taints = [_taint(taint) for taint in given if isinstance(taint, dict)] if isinstance(given, list) else []
    return {"labels": flags_of.pairs(flags, "node-labels"), "taints": taints}


def _taint(taint):
    return f"{taint.get('key', '')}={taint.get('value') or ''}:{taint.get('effect', '')}"


def node_name(flags, running, hostname):
    """The name under which kubelet registers; None when that cannot be told: no kubelet runs, or it asks the cloud."""
    if not running or flags.get("cloud-provider") == "aws":
        return None
    return (flags.get("hostname-override") or hostname).strip().lower()
