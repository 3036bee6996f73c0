# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodeadm on Amazon Linux 2023: the documents that it merges, and whether its configuration changes.

nodeadm merges the user data with every document in its folder. Each run of it restarts containerd and kubelet.
"""

from __future__ import annotations

import hashlib
import os
from typing import Iterable, Mapping, NamedTuple, Sequence

from .._node import nodeadm_files
from .._node.files import Change, Reader
from .._node.host import Host
from .._node.placeholders import Identity
from .manifest import Manifest, NodeadmSources
from .plan import UNIT_FOLDER, Plan
from .validation import ValidationSandbox


class ForeignSources(NamedTuple):
    """What nodeadm reads besides our documents: C(texts) by path, and their digests. C(user_data): None if it could not be read."""

    texts: Mapping[str, str]
    user_data: str | None

    @property
    def all_texts(self) -> Mapping[str, str]:
        """The texts by source."""
        return {**self.texts, "user_data": self.user_data} if self.user_data else self.texts

    @property
    def digests(self) -> NodeadmSources:
        drop_ins = "\0".join(f"{path}\0{text}" for path, text in sorted(self.texts.items()))
        return NodeadmSources(_digest(drop_ins), None if self.user_data is None else _digest(self.user_data))


def documents(read: Reader, host: Host | None = None) -> dict[str, bytes]:
    """The documents in nodeadm's folder: {file name: content}."""
    found = {os.path.basename(path): read(path) for path in nodeadm_files.document_paths(host or Host())}
    return {name: current.content for name, current in found.items() if current is not None}


def documents_after(plan: Plan, changes: Iterable[Change], before: Mapping[str, bytes]) -> dict[str, bytes]:
    """The documents in nodeadm's folder once the plan is carried out: {file name: content}."""
    prefix = nodeadm_files.DIRECTORY + "/"
    after = dict(before)
    for change in changes:
        if change.path.startswith(prefix):
            after.pop(change.path[len(prefix) :], None)
    after.update((file.path[len(prefix) :], file.content) for file in plan.files if file.path.startswith(prefix))
    return after


def foreign_sources(plan: Plan, manifest: Manifest, read: Reader) -> ForeignSources:
    """Read what nodeadm reads besides our documents. Asks the instance metadata service for the user data."""
    ours = {*plan.paths, *plan.owned, *manifest.files, *manifest.owned}
    found = {f"{nodeadm_files.DIRECTORY}/{name}": content for name, content in documents(read).items()}
    others = {path: content.decode("utf-8", "replace") for path, content in found.items() if path not in ours}
    return ForeignSources(others, Identity.of_user_data())


def is_changed(before: NodeadmSources | None, now: NodeadmSources) -> bool:
    """Whether foreign sources have changed since the last run. User data that could not be read has not."""
    if before is None:
        return False
    has_new_user_data = before.user_data and now.user_data and before.user_data != now.user_data
    return before.drop_ins != now.drop_ins or bool(has_new_user_data)


def is_affected(plan: Plan, changes: Sequence[Change], effects: Sequence[Change], sandbox: ValidationSandbox, read: Reader) -> bool:
    """Whether nodeadm would produce another configuration. C(effects): the changes among C(changes) that it has to follow."""
    if not effects:
        return False
    if any(not change.path.startswith((nodeadm_files.DIRECTORY + "/", UNIT_FOLDER)) for change in effects):
        return True
    before = documents(read)
    merged = sandbox.nodeadm_dump("before", before)
    return merged is None or merged != sandbox.nodeadm_dump("after", documents_after(plan, changes, before))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
