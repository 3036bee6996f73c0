# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the user data of many node groups: files, a table for the user, and diffs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..artifacts.model import Fragment
from ..errors import Problem, Problems, SpecError, group_name
from ..formats.compression import LIMIT
from ..formats.secrets import find_secrets
from ..importers.eksctl import from_eksctl
from .existing import fragments_of
from .node_spec import left_to_eks, left_to_karpenter
from .user_data import RAW_ENCODINGS, Rendered, render

ENCODINGS = RAW_ENCODINGS
NOTHING = "0 bytes, EKS supplies it"
SUFFIX = ".userdata"
"""Of every file: its name does not depend on the content or the encoding."""

_CERTIFICATE = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]+")
"""A certificate authority as EKS describes it: base64 of PEM."""


@dataclass(frozen=True)
class Output:
    """The rendered user data of one node group."""

    group: str
    rendered: Rendered
    place: str
    """The path of the file below the output directory. It depends only on the names of the cluster and the group."""
    content: bytes

    @property
    def file_name(self) -> str | None:
        """The path of the file below the output directory, or None if there is nothing to write."""
        return self.place if self.rendered.document.text else None

    @property
    def nothing(self) -> str:
        """Why there is no file."""
        return NOTHING.replace("EKS", "Karpenter") if self.rendered.spec.mode == "karpenter" else NOTHING

    @property
    def digest(self) -> str:
        """SHA-256 of the content, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of the document before encoding."""
        return len(self.rendered.document.text.encode("utf-8"))

    @property
    def percent(self) -> float:
        """The stored size in percent of the limit of EC2, with one decimal."""
        return round(100 * len(self.rendered.stored) / LIMIT, 1)

    def row(self) -> dict[str, Any]:
        """The row of the table, as plain data."""
        spec = self.rendered.spec
        return {
            "cluster": spec.cluster.name or "",
            "group": self.group,
            "family": spec.family,
            "mode": spec.mode,
            "bytes": self.size,
            "percent": self.percent,
            "sha256": self.digest if self.file_name else "",
            "file": self.file_name or "",
            "note": "" if self.file_name else self.nothing,
            "left_to_eks": left_to_eks(spec),
            "left_to_karpenter": left_to_karpenter(spec),
            "warnings": [problem.plain() for problem in spec.warnings],
        }


@dataclass(frozen=True)
class Source:
    """One cluster with its node groups, or with the text of an eksctl ClusterConfig that contains them."""

    cluster: Any
    node_groups: Any = None
    eksctl_config: str | None = None
    cluster_path: str = ""
    """The place of the cluster in the user's input, if it is not C(cluster)."""
    group_paths: tuple[str, ...] = ()
    """The places of the node groups, if they are not C(node_groups[N])."""


def render_sources(sources: Sequence[Source], encoding: str = "plain") -> tuple[list[Output], list[dict[str, str]]]:
    """Render all groups of all sources. Returns the outputs, and the fields of eksctl files that are not part of node bootstrap.

    Raises C(SpecError) with the problems of all of them; with several sources each path begins with C(sources[N]).
    """
    problems = Problems()
    outputs: list[Output] = []
    not_ours: list[dict[str, str]] = []
    for index, source in enumerate(sources):
        prefix = f"sources[{index}]." if len(sources) > 1 else ""
        try:
            cluster, groups = source.cluster, source.node_groups
            if source.eksctl_config is not None:
                imported = from_eksctl(source.eksctl_config, cluster or {})
                cluster, groups = imported["cluster"], imported["node_groups"]
                not_ours += imported["not_ours"]
            outputs += render_groups(cluster, groups, encoding)
        except SpecError as error:
            problems.extend(
                _with_paths(replace(problem, path=_place_of(problem.path, source, prefix)), _LISTED, partial(_place_in, source, prefix))
                for problem in error.problems
            )
    _unique_files(outputs, problems)
    problems.raise_any()
    return outputs, not_ours


def _place_of(path: str, source: Source, prefix: str) -> str:
    """The path of a problem of one source in the whole input."""
    if source.cluster_path and re.match(r"cluster\b", path):
        return source.cluster_path + path[len("cluster") :]
    found = _LISTED.match(path)
    return _place_in(source, prefix, found) + path[found.end() :] if found else prefix + path


_LISTED = re.compile(r"\bnode_groups\[(\d+)\]")
_ALONE = re.compile(r"(?<![\w.])node_group(?=[.\[])")


def _place_in(source: Source, prefix: str, group: re.Match[str]) -> str:
    """The place of a node group in the whole input."""
    return source.group_paths[int(group[1])] if source.group_paths else prefix + group[0]


def _with_paths(problem: Problem, group: re.Pattern[str], place: str | Callable[[re.Match[str]], str]) -> Problem:
    """C(problem), whose texts name other fields of its node group by their place in the input, as its path does."""
    given = {"message": problem.message, "allowed": problem.allowed, "fix": problem.fix}
    return replace(problem, **{name: group.sub(place, text) for name, text in given.items() if text is not None})


def render_groups(cluster: Any, node_groups: Any, encoding: str = "plain") -> list[Output]:
    """Render every group of one cluster. Raises C(SpecError) with the problems of all groups, each under C(node_groups[N])."""
    problems = Problems()
    if not isinstance(node_groups, Sequence) or isinstance(node_groups, (str, bytes)):
        fix = "begin each node group with a dash and its name" if isinstance(node_groups, Mapping) else None
        problems.add("input.wrong_type", "node_groups", "must be a list of node groups", value=node_groups, fix=fix)
        raise SpecError(problems)
    outputs = []
    for index, group in enumerate(node_groups):
        if isinstance(group, Mapping) and group.get("name") in (None, ""):
            problems.add(
                "input.missing_field", f"node_groups[{index}].name", "is required, because the file is named after it", fix="add name"
            )
        try:
            outputs.append(_output(index, render(cluster, group, encoding)))
        except SpecError as error:
            problems.extend(_in_list(error.problems, index, group_name(group)))
    problems.raise_any()
    return outputs


def _output(index: int, rendered: Rendered) -> Output:
    spec = rendered.spec
    name = spec.name or f"group-{index}"
    content = rendered.stored if rendered.encoding in ("plain", "gzip") else rendered.text.encode("ascii")
    return Output(name, rendered, file_place(spec.cluster.name, name), content)


def file_place(cluster: str | None, group: str) -> str:
    """The path of the file of a group below the output directory. A cluster without a name has no directory."""
    return f"{cluster}/{group}{SUFFIX}" if cluster else f"{group}{SUFFIX}"


def _in_list(problems: Iterable[Problem], index: int, group: str | None) -> Iterable[Problem]:
    """Problems of one group with its index and name; problems of the cluster do not change."""
    here = f"node_groups[{index}]"
    for problem in problems:
        if problem.path.startswith("node_group"):
            moved = replace(problem, path=f"{here}{problem.path[len('node_group') :]}", group=group)
            yield _with_paths(moved, _ALONE, here)
        elif problem.path == "user_data":
            yield replace(problem, path=f"node_groups[{index}].user_data", group=group)
        else:
            yield problem


def _unique_files(outputs: Iterable[Output], problems: Problems) -> None:
    """Report groups of one file, also on file systems that ignore case, as those of macOS and Windows do."""
    places: dict[str, Output] = {}
    for output in outputs:
        key = output.place.casefold()
        other = places.setdefault(key, output)
        if other is output:
            continue
        if other.place == output.place:
            message, rule = "two groups of one cluster have the same name", "output.duplicate_group"
            problems.add(rule, "node_groups", message, value=output.group, fix="rename one of the groups")
        else:
            both = f"{other.place} and {output.place}"
            message = f"{both} are the same file where a file system ignores case (macOS, Windows)"
            problems.add("output.same_file", "node_groups", message, fix="rename one of them")


def unchecked(outputs: Iterable[Output]) -> list[Problem]:
    """The checks that were skipped, each only once, even if it was skipped for several groups."""
    return list({str(problem): problem for output in outputs for problem in output.rendered.spec.unchecked}.values())


def rows(outputs: Sequence[Output]) -> dict[str, Any]:
    """C(groups), the rows of the table, and C(unchecked), the skipped checks, as plain data."""
    return {"groups": [output.row() for output in outputs], "unchecked": [problem.plain() for problem in unchecked(outputs)]}


_COLUMNS = ("group", "family", "mode", "bytes", "of 16,384", "sha256", "file")


def table(outputs: Iterable[Output], folder: str = "", not_ours: Sequence[Mapping[str, str]] = ()) -> list[str]:
    """The table as lines of text, followed by warnings, skipped checks, and the settings that EKS or others provide."""
    outputs = list(outputs)
    rows = [_COLUMNS]
    skipped = unchecked(outputs)
    notes = [f"not checked: {problem}" for problem in skipped]
    for output in outputs:
        spec = output.rendered.spec
        file = f"{folder}/{output.file_name}" if folder and output.file_name else output.file_name or output.nothing
        digest = output.digest[:12] if output.file_name else ""
        rows.append((output.group, spec.family, spec.mode, f"{output.size:,}", f"{output.percent}%", digest, file))
        notes.extend(f"warning: {output.group}: {warning}" for warning in spec.warnings if warning not in skipped)
        notes.extend(f"left to EKS: {output.group}: {what}" for what in sorted(left_to_eks(spec)))
        if asked := sorted(left_to_karpenter(spec)):
            notes.append(f"left to Karpenter: {output.group}: {', '.join(asked)} (filter karpenter_manifests)")
    if not_ours:
        names = sorted({row["path"].rpartition("].")[2] for row in not_ours})
        notes.append(
            f"not part of node bootstrap: {', '.join(names)} (each path with its reason: not_ours of the result, ansible-playbook -v)"
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    right = {3, 4}
    lines = ["  ".join(_cell(cell, widths[column], column in right) for column, cell in enumerate(row)).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:], *notes]


def _cell(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def readable(fragments: Iterable[Fragment], certificate_authority: str | None) -> str:
    """Fragments as text for a diff: each with a heading, and with a shortened certificate of the cluster."""
    text = "".join(f"# --- {piece.name}\n{piece.text}{'' if piece.text.endswith(chr(10)) else chr(10)}" for piece in fragments)
    if certificate_authority and len(certificate_authority) > 40:
        text = text.replace(certificate_authority, f"{certificate_authority[:12]}…{certificate_authority[-12:]}")
    return text


def diff(output: Output, path: str, before: bytes | None) -> dict[str, str]:
    """The text of C(--diff) for one file: the decoded parts, or only their sizes if the text may contain secrets."""
    contents = (before or b"", output.content)
    texts = [readable(fragments_of(content), output.rendered.spec.cluster.certificate_authority) for content in contents]
    if may_hold_secrets(output, before):
        texts = [_size(content) for content in contents]
    return {"before_header": path if before is not None else "(no file)", "after_header": path, "before": texts[0], "after": texts[1]}


def may_hold_secrets(output: Output, before: bytes | None) -> bool:
    """Whether diffs show no values: the file of an earlier run may contain a secret even if the new one does not."""
    return output.rendered.spec.allow_secrets or any(find_secrets(piece.text) for piece in fragments_of(before or b""))


def removed_text(content: bytes, *, private: bool) -> str:
    """The text of C(--diff) for a file that is removed. private: whether only its owner can read it."""
    text = readable(fragments_of(content), None)
    if private or find_secrets(text):
        return _size(content)
    return existing_text(content)


def existing_text(content: bytes) -> str:
    """Existing user data as text for a diff, with a shortened certificate, whichever cluster it is for."""
    text = readable(fragments_of(content), None)
    certificate = _CERTIFICATE.search(text)
    return readable(fragments_of(content), certificate[0] if certificate else None)


def _size(content: bytes) -> str:
    return f"{len(content)} bytes, not shown: they may hold secrets (allow_secrets_in_user_data)\n"
