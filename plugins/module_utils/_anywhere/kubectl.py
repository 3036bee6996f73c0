# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls kubectl for one cluster. Manifests go through standard input, and answers are read as JSON."""

from __future__ import annotations

import copy
import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from .._node.programs import Result
from .programs import AdminPrograms, StepFailed, failure

MANAGER = "nodebootstrap-eks"
"""The field manager of applied objects."""

ETCD_PLACEHOLDER = "https://placeholder:2379"
_REQUEST_TIMEOUT = "--request-timeout=20s"
_VOLATILE = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid")
_HIDDEN = "********"


class Comparison(NamedTuple):
    """One object before and after an apply, without what changes always. before: None if it does not exist."""

    name: str
    before: Optional[Dict[str, Any]]
    after: Dict[str, Any]

    @property
    def differs(self) -> bool:
        """Does the apply change the object?"""
        return self.before != self.after


class Kubectl:
    """One cluster, by its kubeconfig."""

    def __init__(self, programs: AdminPrograms, kubeconfig: str, namespace: str = "default") -> None:
        self.programs = programs
        self.kubeconfig = kubeconfig
        self.namespace = namespace

    def try_run(self, *words: str, stdin: str = "", timeout: float = 60.0) -> Result:
        """Run kubectl, and return how it ended."""
        return self.programs.try_run(self._argv(words), timeout, stdin)

    def run(self, *words: str, stdin: str = "", timeout: float = 60.0) -> str:
        """The output of kubectl. Raises C(StepFailed)."""
        return self.programs.run(self._argv(words), timeout, stdin)

    def _argv(self, words: Sequence[str]) -> List[str]:
        return ["kubectl", *words, "--kubeconfig", self.kubeconfig, _REQUEST_TIMEOUT]

    def answers(self) -> bool:
        """Is the API server ready?"""
        try:
            return self.try_run("get", "--raw", "/readyz", timeout=30.0).status == 0
        except StepFailed:
            return False

    def get(self, *words: str, stdin: str = "") -> List[Dict[str, Any]]:
        """The objects that C(kubectl get) returns. A kind that the cluster does not know has none. Raises C(StepFailed)."""
        argv = ("get", *words, "-o", "json", "--ignore-not-found")
        result = self.try_run(*argv, stdin=stdin)
        if result.status:
            if "the server doesn't have a resource type" in result.errors or "no matches for kind" in result.errors:
                return []
            raise StepFailed(failure(self._argv(argv), result))
        return items(result.output)

    def compare(self, objects: Sequence[Mapping[str, Any]]) -> List[Comparison]:
        """What an apply would change, as the API server says. Raises C(StepFailed)."""
        result = []
        for namespace, group in self._by_namespace(self._with_endpoints(objects)).items():
            text = _list(group)
            live = {name_of(one): stable(one) for one in self.get("-f", "-", "-n", namespace, stdin=text)}
            output = self.run(*_APPLY, "--dry-run=server", "-o", "json", "-n", namespace, "-f", "-", stdin=text)
            result += [Comparison(name_of(one), live.get(name_of(one)), stable(one)) for one in items(output)]
        return result

    def apply(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """Apply objects on the server. Raises C(StepFailed)."""
        for namespace, group in self._by_namespace(self._with_endpoints(objects)).items():
            self.run(*_APPLY, "-n", namespace, "-f", "-", stdin=_list(group), timeout=120.0)

    def _by_namespace(self, objects: Sequence[Mapping[str, Any]]) -> Dict[str, List[Mapping[str, Any]]]:
        """Objects by their namespace, those without one first: kubectl refuses objects of another namespace than that of its option."""
        groups: Dict[str, List[Mapping[str, Any]]] = {self.namespace: []}
        for one in objects:
            groups.setdefault(one["metadata"].get("namespace") or self.namespace, []).append(one)
        return {namespace: group for namespace, group in groups.items() if group}

    def _with_endpoints(self, objects: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """The objects with the endpoints of external etcd that the controllers wrote, which a placeholder must not replace."""
        if not any(_endpoints(one) == [ETCD_PLACEHOLDER] for one in objects):
            return objects
        live = {name_of(one): _endpoints(one) for one in self.get("-f", "-", "-n", self.namespace, stdin=_list(objects))}
        result = [copy.deepcopy(dict(one)) for one in objects]
        for one in result:
            found = live.get(name_of(one))
            if found and _endpoints(one) == [ETCD_PLACEHOLDER]:
                _external_etcd(one)["endpoints"] = found
        return result

    def patch(self, kind: str, name: str, patch: Mapping[str, Any]) -> None:
        """Merge a patch into an object. Raises C(StepFailed)."""
        self.run("patch", kind, name, "-n", self.namespace, "--type=merge", "-p", json.dumps(patch, sort_keys=True))


_APPLY = ("apply", "--server-side", "--force-conflicts", "--field-manager=" + MANAGER)


def _external_etcd(one: Mapping[str, Any]) -> Dict[str, Any]:
    """The configuration of external etcd of a KubeadmControlPlane, empty for all other objects."""
    value: Any = one if one.get("kind") == "KubeadmControlPlane" else {}
    for key in ("spec", "kubeadmConfigSpec", "clusterConfiguration", "etcd", "external"):
        value = value.get(key) or {}
    found: Dict[str, Any] = value
    return found


def _endpoints(one: Mapping[str, Any]) -> Optional[List[str]]:
    return _external_etcd(one).get("endpoints")


def items(output: str) -> List[Dict[str, Any]]:
    """The objects of an answer, which is a list, one object, or empty."""
    if not output.strip():
        return []
    try:
        answer = json.loads(output)
    except ValueError:
        raise StepFailed("kubectl printed something that is not JSON") from None
    return list(answer["items"]) if answer.get("kind", "").endswith("List") and "items" in answer else [answer]


def name_of(one: Mapping[str, Any]) -> str:
    """An object for messages and comparisons: C(KIND/NAMESPACE/NAME), or C(KIND/NAME) without a namespace."""
    metadata = one["metadata"]
    return "/".join(part for part in (one["kind"], metadata.get("namespace"), metadata["name"]) if part)


def resource_of(one: Mapping[str, Any]) -> str:
    """The kind of an object as kubectl takes it without doubt: C(KIND.VERSION.GROUP), or C(KIND) of the core."""
    group, slash, version = one["apiVersion"].partition("/")
    return "{0}.{1}.{2}".format(one["kind"], version, group) if slash else one["kind"]


def stable(one: Mapping[str, Any]) -> Dict[str, Any]:
    """An object without its status, and without metadata that change on their own."""
    result = copy.deepcopy({key: value for key, value in one.items() if key != "status"})
    for key in _VOLATILE:
        result["metadata"].pop(key, None)
    return result


def without_secrets(one: Mapping[str, Any]) -> Dict[str, Any]:
    """An object for a diff: the values of a Secret are hidden."""
    result = copy.deepcopy(dict(one))
    if result.get("kind") == "Secret":
        for field in ("data", "stringData"):
            if isinstance(result.get(field), dict):
                result[field] = {key: _HIDDEN for key in result[field]}
    return result


def _list(objects: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}, sort_keys=True)
