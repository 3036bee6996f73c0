# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migrates user data that calls C(/etc/eks/bootstrap.sh) to Amazon Linux 2023 or Bottlerocket.

It reads the original, writes the node group for the new family, renders it, and lints the result. What the original does not tell is
never guessed: it becomes a decision, and there is no new user data until all decisions are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..bootstrap_calls import EXTRA_ARGS, GUESSED_DNS
from ..difference.shown import authority, shown
from ..errors import Problem, SpecError
from ..families.registry import resolve
from ..formats.shell_reader import PackageMissing
from ..kubelet_settings import field_of
from ..kubernetes import parse_version
from ..lint.finding import Finding
from ..lint.kubelet_settings import is_unexpanded
from ..lint.lint import lint
from ..lint.shell_texts import shell_texts
from ..lint.subject import Subject
from ..network import cluster_dns_ips
from ..nodeconfig.merge import merge
from ..nodeconfig.read import parse
from ..readers.document import structure
from ..readers.model import NotUnderstood, Place, ReadPart
from ..readers.shell_options import is_only_options
from .arguments import Target, settle
from .beside_call import BEFORE_CALL, is_left_out, left_out, left_out_before
from .flags import fate
from .lines import Line, cautions, without_repeated
from .model import Argument, Caution, Decision, Kept, Migration, Report
from .original import REMOVED, Given, Original, missing_package, read_original

FAMILIES = ("al2023", "bottlerocket")
_REMOVE = ("remove the text from the original, and migrate it again", "write what it does in the node group of the result, and render it")
_STARTS_KUBELET = ("/var/lib/kubelet/kubeconfig", "/var/lib/kubelet/bootstrap-kubeconfig", "snap start kubelet-eks")
"""Texts of scripts that join the cluster without the image's script."""
_FIELD_OF_FLAG = {"node-labels": "node_group.labels", "register-with-taints": "node_group.taints", "max-pods": "node_group.max_pods"}
_FIELD_OF_OPTION = {
    "": "cluster.name",
    "--apiserver-endpoint": "cluster.endpoint",
    "--b64-cluster-ca": "cluster.certificate_authority",
    "--service-ipv4-cidr": "cluster.service_cidr",
    "--service-ipv6-cidr": "cluster.service_cidr",
    "--dns-cluster-ip": "cluster.dns_ips",
    "--enable-local-outpost": "cluster.outpost",
    "--cluster-id": "cluster.id",
    "--local-disks": "node_group.local_storage",
    "--use-max-pods": "node_group.max_pods",
}
_ASKS_NOTHING = frozenset({"--apiserver-endpoint", "--b64-cluster-ca"})
"""With these options, the image's script does not ask the EKS API for facts of the cluster."""
_ENCODED = re.compile(r"[A-Za-z0-9+/]{64,}=*")
"""A word that can be the base64 of a certificate authority."""
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)=(\S+)")
"""A word that sets a variable, or an option with its value."""
_SETS_DNS = frozenset({"--dns-cluster-ip", "--service-ipv4-cidr", "--service-ipv6-cidr", "--ip-family", "cluster-dns"})
"""Options of the script and the flag of kubelet from which the address of the cluster DNS follows."""


def migrate(data: str | bytes, cluster: Mapping[str, Any] | None = None, family: str = "al2023", path: str = "user_data") -> Migration:
    """The new user data with a report. cluster: facts that the original does not have. path: of C(data) in errors. Raises C(SpecError)."""
    original = read_original(data, path)
    try:
        return _Migrating(original, dict(cluster or {}), family).migration()
    except PackageMissing as error:
        raise missing_package(error, path) from None


class _Migrating:
    """One migration."""

    def __init__(self, original: Original, given_cluster: dict[str, Any], family: str) -> None:
        self._original = original
        self._given_cluster = given_cluster
        self._family = family
        self._decisions: list[Decision] = []
        self._warnings: list[Caution] = []
        self._findings: tuple[Finding, ...] = ()
        self._managed = original.call is None and not original.uncertain
        # A placeholder of another tool is not a fact.
        self._stated = {name: value for name, value in original.meaning.cluster.items() if not _is_placeholder(value)}
        self._version = _version(given_cluster)

    def migration(self) -> Migration:
        """Everything in its order: facts, settings, the node group, the result."""
        original = self._original
        cluster = self._cluster()
        used = {one.key for one in original.given if one.kind == "flag" and one.use == "used"}
        facts = frozenset(self._given_cluster)
        target = Target(original.meaning.family, self._family, self._version, cluster, facts, self._managed, used)
        arguments = []
        for one in original.given:
            argument, decision = settle(one, target)
            arguments.append(argument)
            self._decisions += [decision] if decision else []
        self._not_understood()
        group = self._node_group(cluster)
        text = None if original.uncertain else self._render(cluster, group)
        rendered = _settings(text) if text and self._family == "al2023" else {}
        self._warn_about_dns(cluster)
        self._warn_about_status()
        self._warn_about_lines()
        decided = {one.where: one for one in reversed(self._decisions)}
        return Migration(
            original.user_data,
            None if self._decisions else text,
            {} if self._managed else cluster,
            group,
            Report(
                original.meaning.family,
                self._family,
                tuple(
                    _refused(_placed(one, given, rendered), given, decided) for one, given in zip(arguments, original.given, strict=True)
                ),
                _unique(self._decisions),
                tuple(self._kept()),
                tuple(self._warnings),
                self._findings,
            ),
        )

    def _cluster(self) -> dict[str, Any]:
        """The facts of the text and of the caller, which may not contradict each other."""
        text = self._stated
        given = dict(self._given_cluster)
        for name in sorted(text.keys() & given.keys()):
            if text[name] != given[name]:
                values = [_shown(name, one[name]) for one in (text, given)]
                question = f"differs: the text has {values[0]}, and the argument cluster has {values[1]}"
                choices = (f"correct cluster.{name}", "correct the text", f"remove cluster.{name}")
                self._decide(f"cluster.{name}", question, choices, self._place_of(f"cluster.{name}"))
        found = {**given, **text}
        if found.get("dns_ips") and found["dns_ips"] == _computed_dns(found):
            del found["dns_ips"]
        return found

    def _place_of(self, field: str) -> Place | None:
        """The place of the setting that becomes a field."""
        ends = (len(field), *(index for index, one in enumerate(field) if one in ".["))
        found = [self._fields[field[:end]] for end in ends if field[:end] in self._fields]
        return self._original.given[min(found)].place if found else None

    @cached_property
    def _fields(self) -> dict[str, int]:
        """The fields that the settings become, each with the index of the first one."""
        found: dict[str, int] = {}
        for index, one in enumerate(self._original.given):
            flag = _FIELD_OF_FLAG.get(one.key, f"node_group.kubelet.flags.{one.key}")
            field = flag if one.kind == "flag" else _FIELD_OF_OPTION.get(one.key)
            if field and one.use == "used":
                found.setdefault(field, index)
        return found

    def _decide(self, path: str, question: str, choices: Iterable[str], where: Place | None) -> None:
        self._decisions.append(Decision(path, question, tuple(choices), where))

    def _not_understood(self) -> None:
        items = list(self._without_left_out())
        precise = {item.place.part for item in items if not self._is_whole(item)}
        for item in items:
            if item.effect == "kept":
                self._warnings.append(Caution(item.place, f"{_first_line(item.text)}: {item.reason}", _KEPT_FIX, None))
            elif item.effect == "ignored":
                self._warnings.append(Caution(item.place, f"the text {item.reason}, and is left out", None, None))
            elif item.effect == "unknown" and not (self._is_whole(item) and item.place.part in precise):
                choices: tuple[str, ...] = _CALL_CHOICES if item.place in self._original.uncertain else _REMOVE
                if item.place == self._original.call:
                    choices = _CALL_ALONE
                self._decide(self._path(item.place), f"{_first_line(item.text)}: {item.reason}", choices, item.place)
        if self._managed:
            self._check_managed()

    def _without_left_out(self) -> Iterator[NotUnderstood]:
        """What was not understood, but for what the result does not need beside the call. Warns about that."""
        original = self._original
        is_followed = "post" in original.meaning.node_group.get("commands", {})
        found = list(left_out(original.beside, is_followed=is_followed)) if original.beside else []
        for item in original.meaning.not_understood:
            if item.place != original.call or not is_left_out(item.reason, original.beside):
                yield item
            elif item.reason in BEFORE_CALL:
                found.append(left_out_before(item.reason, is_followed=is_followed))
        self._warnings += [Caution(original.call, text, fix, None) for text, fix in found]

    def _is_whole(self, item: NotUnderstood) -> bool:
        return any(part.index == item.place.part and part.text == item.text for part in self._original.parts)

    def _path(self, place: Place) -> str:
        parts = self._original.user_data.parts
        return (parts[place.part].path if place.part is not None else "") or "user_data"

    def _check_managed(self) -> None:
        """A text without a call is what EKS or Karpenter completes, unless it joins the cluster by other means."""
        for part in self._original.parts:
            for number, line in enumerate(part.text.split("\n"), 1):
                if (word := next((word for word in _STARTS_KUBELET if word in line), None)) and not line.lstrip().startswith("#"):
                    where = Place(part.index, number, line.index(word) + 1, len(word))
                    question = f"joins the cluster without /etc/eks/bootstrap.sh ({word})"
                    self._decide(self._path(where), question, ("render the node group that it came from, with the new family",), where)
                    return
        message = "The text does not call /etc/eks/bootstrap.sh, so it is migrated as an addition to what EKS or Karpenter adds"
        fix = "use it only in a managed node group without an AMI of your own, or in an EC2NodeClass"
        self._warnings.append(Caution(None, message, fix, None))

    def _node_group(self, cluster: Mapping[str, Any]) -> dict[str, Any]:
        original = self._original.meaning.node_group
        rest = {name: value for name, value in original.items() if name not in ("family", "strategy", "mode")}
        group: dict[str, Any] = {"family": self._family} | ({"mode": "managed"} if self._managed else {}) | rest
        containerd = {name: value for name, value in group.get("containerd", {}).items() if name != "pause_image"}
        kubelet = dict(group.get("kubelet", {}))
        config, flags = dict(kubelet.get("config", {})), {}
        for name, value in kubelet.get("flags", {}).items():
            values = [str(one) for one in value] if isinstance(value, list) else [str(value)]
            found = fate(name, values, self._family, self._version)
            if found.field is not None:
                _set(config, found.field, found.value)
            elif found.dropped is None and found.question is None:
                flags[name] = value
        if self._managed and cluster.get("dns_ips"):
            config["clusterDNS"] = list(cluster["dns_ips"])
        group["kubelet"] = {name: value for name, value in (("config", config), ("flags", flags)) if value}
        group["containerd"] = containerd
        # Parts after the script of the call run before nodeadm starts kubelet in any case.
        kept = [part for part in self._after() if part.kind != "shell"]
        group["user_data"] = [*group.get("user_data", []), *(part.text for part in kept)]
        return {name: value for name, value in group.items() if value not in ({}, [], None)}

    def _after(self) -> list[ReadPart]:
        """The parts after the script of the call."""
        caller, parts = self._original.caller, self._original.parts
        at = next((index for index, part in enumerate(parts) if caller and part.index == caller.index), len(parts))
        return [part for part in parts[at + 1 :] if part.kind not in ("empty", "unknown")]

    def _render(self, cluster: dict[str, Any], group: dict[str, Any]) -> str | None:
        """The new user data, or None if the family cannot express the node group."""
        given = self._given_cluster if self._managed else cluster
        try:
            spec, family = resolve(given, group)
            text = family.user_data(spec).text
        except SpecError as error:
            self._raise_own(error.problems)
            decided = {one.path for one in self._decisions}
            for problem in error.problems:
                if problem.rule == "cluster.missing_field" and problem.path in decided:
                    continue
                self._decide(problem.path, problem.message, _choices(problem), self._place_of(problem.path))
            return None
        self._warnings += [Caution(self._place_of(one.path), f"{one.path}: {one.message}", one.advice, None) for one in spec.warnings]
        self._findings = lint(text, self._family, self._version).findings
        for finding in self._findings:
            if finding.rule.severity == "error":
                self._decide("user_data", finding.message, (finding.fix or "change the text of the original",), None)
        return text

    def _raise_own(self, problems: Sequence[Problem]) -> None:
        """Raise the problems of the argument C(cluster)."""
        own = [
            problem
            for problem in problems
            if (problem.path == "cluster" and problem.rule != "cluster.missing_field")
            or any(problem.path == f"cluster.{name}" or problem.path.startswith(f"cluster.{name}") for name in self._own_names())
        ]
        if own:
            raise SpecError(own)

    def _own_names(self) -> list[str]:
        return [str(name) for name in self._given_cluster if name not in self._stated]

    def _warn_about_dns(self, cluster: Mapping[str, Any]) -> None:
        """The image's script does not ask for the address of the cluster DNS if it has the endpoint and the certificate authority."""
        used = {one.key for one in self._original.given if one.use == "used"}
        if self._original.call is None or used & _SETS_DNS or not used >= _ASKS_NOTHING:
            return
        addresses = cluster.get("dns_ips") or _computed_dns(cluster)
        new = f"the new node uses {', '.join(addresses)}" if addresses else "the new node computes it from the service CIDR"
        message = f"without --dns-cluster-ip, bootstrap.sh computes the address of the cluster DNS: {GUESSED_DNS}; {new}"
        fix = "compare it with the address of the Service kube-dns, and correct cluster.service_cidr if it differs"
        self._warnings.append(Caution(self._original.call, message, fix, None))

    def _warn_about_status(self) -> None:
        """Commands after the call that look at its status."""
        original = self._original
        if original.lines is None or original.caller is None:
            return
        lines = original.caller.text.split("\n")
        rest = ((number, line) for number, line in enumerate(lines[original.lines[1] :], original.lines[1]) if not is_only_options(line))
        number, line = next(rest, (0, ""))
        if (column := line.find("$?") + 1) > 0:
            where = original.place(Place(original.caller.index, number + 1, column, 2))
            message = "$? was the status of the call: this command now runs after kubelet is healthy, and never if it is not"
            self._warnings.append(Caution(where, message, "report a failure by other means, such as a timeout", None))

    def _warn_about_lines(self) -> None:
        original = self._original
        if self._family == "al2023":
            texts = shell_texts(Subject(original.user_data, 0, None, self._version))
            found = cautions(texts, self._family, frozenset(self._removed_lines()), frozenset(self._later_lines()))
            about_lines = [one for one in found if one.where not in (original.call, *original.uncertain)]
            self._findings = without_repeated(self._findings, about_lines)
            self._warnings += about_lines
        self._warnings.sort(key=_order)

    def _removed_lines(self) -> Iterator[Line]:
        """The lines of the call, and the lines that only set its variables."""
        original = self._original
        for index, text in original.cleaned.items():
            yield from ((index, number) for number, line in enumerate(text.split("\n"), 1) if line == REMOVED)
        if original.lines and original.caller:
            yield from ((original.caller.index, number + 1) for number in range(*original.lines))
        yield from ((place.part, place.line) for place in original.uncertain if place.part is not None)

    def _later_lines(self) -> Iterator[Line]:
        """The lines after the call."""
        original = self._original
        for part in self._after() if original.caller else ():
            yield from ((part.index, number) for number in range(1, part.text.count("\n") + 2))
        if original.lines and original.caller:
            yield from ((original.caller.index, number) for number in range(original.lines[1], original.caller.text.count("\n") + 2))

    def _kept(self) -> Iterator[Kept]:
        """The texts that are kept, in the order of the original."""
        original = self._original
        if original.uncertain:
            return
        after = {part.index for part in self._after()}
        for part in original.parts:
            place = original.place(Place(part.index, 1, 1, len(part.text.partition("\n")[0])))
            text = "\n".join(line for line in self._text(part).split("\n") if line != REMOVED)
            if original.caller and part.index == original.caller.index:
                yield from self._kept_of_caller(part)
            elif part.kind in ("empty", "unknown") or (part.kind == "shell" and self._is_removed(part)):
                continue
            elif part.kind == "shell" and part.index in after:
                yield Kept(place, "node_group.commands.post", text)
            elif part.kind == "shell" and not _holds(original.meaning.node_group.get("user_data", ()), text):
                yield Kept(place, "node_group.commands.pre", text)
            else:
                yield Kept(place, "node_group.user_data", text)

    def _is_removed(self, part: ReadPart) -> bool:
        text = self._text(part)
        return is_only_options(text.partition("\n")[2]) and REMOVED in text

    def _text(self, part: ReadPart) -> str:
        """The text of a part, without the lines that only set variables."""
        return self._original.cleaned.get(part.index, part.text)

    def _kept_of_caller(self, part: ReadPart) -> Iterator[Kept]:
        original = self._original
        if original.lines is None:
            return
        lines = self._text(part).split("\n")
        commands = original.meaning.node_group.get("commands", {})
        for field, (start, end) in (
            ("pre", (1 if lines[0].startswith("#!") else 0, original.lines[0])),
            ("post", (original.lines[1], len(lines))),
        ):
            numbers = [number for number in range(start, end) if lines[number] != REMOVED]
            text = "\n".join(lines[number] for number in numbers)
            if _holds(commands.get(field, ()), text) and not is_only_options(text):
                first = next((number for number in numbers if not is_only_options(lines[number])), start)
                where = original.place(Place(part.index, first + 1, 1, len(lines[first])))
                yield Kept(where, f"node_group.commands.{field}", text)
        # A rendered script writes these commands to a file.
        for item in commands.get("post", ()):
            if isinstance(item, Mapping):
                begin = item["run"].partition("\n")[0]
                first = next((number for number, line in enumerate(lines) if line == begin), 0)
                yield Kept(Place(part.index, first + 1, 1, len(lines[first])), "node_group.commands.post", item["run"])


_KEPT_FIX = "make sure that it does the same before kubelet starts"
_CALL_CHOICES = (
    "keep only the call that the nodes of this group run, without the condition",
    "migrate the text once for each case, and use a node group for each",
)


def _computed_dns(cluster: Mapping[str, Any]) -> list[str]:
    """The addresses of the cluster DNS that follow from the service CIDR. A wrong one is reported when the node group is rendered."""
    try:
        return cluster_dns_ips(cluster.get("service_cidr") or "")
    except SpecError:
        return []


_CALL_ALONE = ("put the call on a line of its own, with values that the text contains",)


def _shown(name: str, value: Any) -> Any:
    return authority(value) if name == "certificate_authority" and isinstance(value, str) else shown(value)


def _holds(items: Iterable[Any], text: str) -> bool:
    """Whether one of the texts of a field contains a text of the original."""
    return any(isinstance(item, str) and text.strip("\n") in item for item in items)


def _is_placeholder(value: Any) -> bool:
    return any(isinstance(one, str) and is_unexpanded(one) for one in (value if isinstance(value, list) else [value]))


def _version(cluster: Mapping[str, Any]) -> tuple[int, int] | None:
    """The Kubernetes version. A wrong one is reported when the node group is rendered."""
    return parse_version(cluster.get("kubernetes_version"))


def _settings(text: str) -> dict[str, Any]:
    """C(spec) of the NodeConfigs in rendered user data, merged as nodeadm does."""
    found: dict[str, Any] = merge([parse(part.text) for part in structure(text).parts if part.kind == "nodeconfig"]).get("spec", {})
    return found


def _placed(argument: Argument, given: Given, spec: Mapping[str, Any]) -> Argument:
    """The argument with the place of a flag that was rendered as a field of kubelet's configuration."""
    if (
        not spec
        or argument.to != "spec.kubelet.flags"
        or any(word.startswith(f"--{given.key}=") for word in spec.get("kubelet", {}).get("flags", ()))
    ):
        return argument
    field = field_of(given.key)
    return argument if field is None else replace(argument, to=".".join(("spec.kubelet.config", *field)))


def _refused(argument: Argument, given: Given, decisions: Mapping[Place | None, Decision]) -> Argument:
    """An argument whose value the new family refuses needs a decision, too."""
    if argument.outcome != "moved" or given.key == EXTRA_ARGS:
        return argument
    found = decisions.get(given.place)
    return argument if found is None else replace(argument, outcome="needs_decision", to=None, reason=found.question)


def _choices(problem: Problem) -> tuple[str, ...]:
    return tuple(one for one in (problem.advice, f"allowed: {problem.allowed}" if problem.allowed else None) if one)


def _set(config: dict[str, Any], path: str, value: Any) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        config = config.setdefault(parent, {})
    config[name] = value


def _first_line(text: str) -> str:
    """The first line of a command as messages show it: without secrets, and with a short form of a certificate authority."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    line = _ASSIGNED.sub(lambda found: f"{found[1]}={shown(found[2], found[1])}", line)
    return str(shown(_ENCODED.sub(lambda found: authority(found[0]), line)))


def _unique(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    return tuple(sorted(dict.fromkeys(decisions), key=lambda one: (_place_key(one.where), one.path, one.question)))


def _place_key(where: Place | None) -> tuple[int, int, int]:
    return (-1, 0, 0) if where is None else (-1 if where.part is None else where.part, where.line, where.column)


def _order(caution: Caution) -> tuple[tuple[int, int, int], str]:
    return _place_key(caution.where), caution.message
