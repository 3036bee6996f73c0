# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_diagnostics without Ansible: its options, the summary, and what one task does."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from . import names
from .cause import Cause, find

MODULE = "nodebootstrap.eks.anywhere_diagnostics"
OPTIONS: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "work_dir": {"type": "str", "required": True},
    "kubeconfigs": {"type": "dict", "default": {}},
    "folder": {"type": "path", "required": True},
    "secrets": {"type": "list", "elements": "str", "default": [], "no_log": True},
    "timeout": {"type": "float", "default": 30.0},
}

Run = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Runs a module on the admin machine, by its name and options."""

Write = Callable[[str, bytes], bool]
"""Writes a file that only its owner can read: path, content. Returns whether it changed. Raises C(SpecError)."""


def diagnostics_task(options: Mapping[str, Any], run: Run, *, write: Write, say: Callable[[str], None], check_mode: bool) -> dict[str, Any]:
    """Collect, write the archive and the summary, and print the summary. Raises C(SpecError) if they cannot be written."""
    name = options["name"]
    paths = {"archive": f"{options['folder']}/{name}-diagnostics.tar.gz", "summary": f"{options['folder']}/{name}-diagnostics.txt"}
    if check_mode:
        return {"changed": True, **paths}
    answer = run(MODULE, options)
    if "archive_base64" not in answer:
        return dict(answer)
    try:
        archive = base64.b64decode(answer["archive_base64"], validate=True)
    except (binascii.Error, TypeError, ValueError):
        return {"failed": True, "msg": "the admin machine returned an archive that is not base64"}
    causes = {cluster: find(objects, answer["logs"].get(cluster, ())) for cluster, objects in answer["objects"].items()}
    text = summary(name, causes, answer["unreachable"], answer["entries"])
    changed = [write(paths["archive"], archive), write(paths["summary"], f"{text}\n".encode())]
    say(text)
    # The objects are not returned: a registered variable would keep them in memory and show them with -v.
    plain = {cluster: None if one is None else one.plain() for cluster, one in causes.items()}
    return {"changed": any(changed), **paths, "bytes": len(archive), "entries": answer["entries"], "causes": plain}


def summary(name: str, causes: Mapping[str, Cause | None], unreachable: Mapping[str, str], entries: int) -> str:
    """One page: for each cluster the first failing object with its events and the cause, the bootstrap cluster first."""
    bootstrap = names.bootstrap_cluster(name)
    lines = [f"Diagnostics of the cluster {name}: {entries} files"]
    for cluster in sorted({*causes, *unreachable}, key=lambda one: (one != bootstrap, one)):
        title = "bootstrap cluster" if cluster == bootstrap else "cluster"
        lines += ["", f"{title} {cluster}"]
        if cluster in unreachable:
            lines.append(f"  does not answer: {unreachable[cluster]}")
            continue
        cause = causes[cluster]
        found = ["no object of Cluster API fails"] if cause is None else cause.lines()
        lines += [f"  {line}" for line in found]
    if not causes and not unreachable:
        lines += ["", "There is neither a bootstrap cluster nor a kubeconfig of the cluster."]
    return "\n".join(lines)
