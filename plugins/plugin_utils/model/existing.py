# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The number of pods that will be in force, wherever the input sets it: fields, existing user data, C(override).

Reservations follow this number. The family reports the problems of user data, so this module ignores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import capacity
from ..errors import Problems
from ..formats.user_data_kind import classify
from ..kubelet_settings import flag_name
from .compute import Pods, Shape

_NODE_CONFIG = "application/node.eks.aws"
HELPER = "/var/lib/cloud/scripts/eksctl/bootstrap.helper.sh"
"""The file that sets the variables of eksctl's contract. C(override) may C(source) it."""
_USER_DATA, _OVERRIDE = "node_group.user_data", "node_group.override"


def pods_in_force(group: Mapping[str, Any], texts: Mapping[str, str], own: Pods | None, shape: Shape) -> Pods | None:
    """The number of pods that kubelet will use. None if neither the fields nor the user's documents set it.

    group: the node group. texts: its existing user data, decoded, by its paths in the input. own: the result of C(max_pods).
    """
    kubelet = group.get("nodeadm", {}).get("kubelet")
    expression = kubelet.get("maxPodsExpression") if isinstance(kubelet, Mapping) else None
    if own is None and expression is not None:
        own = Pods(_evaluated(expression, shape), "node_group.nodeadm.kubelet.maxPodsExpression")
    theirs = last = None
    if group["family"] == "al2023":
        theirs = _of_node_configs(_documents(texts), shape, _USER_DATA)
        last = _of_node_configs(_override(group.get("override")), shape, _OVERRIDE)
    elif group["family"] == "bottlerocket":
        theirs = _of_settings(texts)
    elif group["family"] in ("al2", "ubuntu"):
        last = _of_call(group.get("override"), own, shape)
    elif group["family"] == "windows":
        last = _of_windows_call(group.get("override"), own)
    if last is not None:
        return last
    return theirs if theirs is not None and (own is None or group.get("user_data_precedence") == "theirs") else own


def _documents(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The valid NodeConfigs in the user data."""
    found = []
    for path, text in texts.items():
        kind = classify(text)
        if kind == "nodeconfig":
            found.append(_checked(text, path))
        elif kind == "mime":
            from ..formats import mime, mime_reader

            ignored = Problems()
            for index, part in enumerate(mime_reader.read(text, path, ignored)):
                if part.media_type == _NODE_CONFIG:
                    place = f"{path}.parts[{index}]"
                    found.append(_checked(mime.decoded(part, place, ignored), place))
    return [document for document in found if document]


def _override(text: str | None) -> list[dict[str, Any]]:
    document = _checked(text, _OVERRIDE) if text is not None else {}
    return [document] if document else []


def _checked(text: str, path: str) -> dict[str, Any]:
    from ..nodeconfig.document import check_document

    return check_document(text, path, Problems())


def _of_node_configs(documents: list[dict[str, Any]], shape: Shape, path: str) -> Pods | None:
    if not documents:
        return None
    from ..nodeconfig.merge import merge
    from ..nodeconfig.read import NodeConfigError

    try:
        kubelet = merge(documents)["spec"].get("kubelet", {})
    except NodeConfigError:
        return None
    flags = [word.partition("=")[2].strip("\"'") for word in kubelet.get("flags", []) if flag_name(word) == "max-pods"]
    number = flags[-1] if flags else kubelet.get("config", {}).get("maxPods")
    if number is not None:
        return Pods(_whole(number), path)
    expression = kubelet.get("maxPodsExpression")
    return Pods(_evaluated(expression, shape), f"{path}.spec.kubelet.maxPodsExpression") if expression else None


def _whole(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 and int(text) else None


def _evaluated(expression: Any, shape: Shape) -> int | None:
    """The result for the smallest instance type; None if it is unknown here."""
    from ..nodeconfig.expression_values import ExpressionError, UnsupportedExpression
    from ..nodeconfig.expressions import pods

    def of_type(one: capacity.InstanceShape) -> int:
        try:
            return pods(expression, one)
        except ExpressionError:
            # nodeadm logs a warning and uses the number of the instance type.
            return capacity.max_pods(one)

    if not isinstance(expression, str) or not shape.known:
        return None
    try:
        return min(map(of_type, shape.known))
    except UnsupportedExpression:
        return None


def _of_call(override: str | None, own: Pods | None, shape: Shape) -> Pods | None:
    """The number of pods that the call in C(override) passes, or that the script computes. None if there is no readable call."""
    if override is None:
        return None
    from ..bootstrap_calls import read_calls
    from ..formats.shell_reader import PackageMissing

    number = "" if own is None or own.number is None else str(own.number)
    flag = f"--max-pods={number}" if number else ""
    known = {"MAX_PODS": number, "KUBELET_EXTRA_ARGS": flag, "CLUSTER_NAME": "x", "API_SERVER_URL": "x", "B64_CLUSTER_CA": "x"}
    try:
        calls = read_calls(override, known | {"CLUSTER_DNS": "x", "NODE_LABELS": "x", "NODE_TAINTS": "x"}, HELPER).calls
    except PackageMissing:
        return None
    if not calls:
        return None
    passed = calls[-1].max_pods()
    if own is not None and passed == own.number:
        return own
    return Pods(shape.image_pods() if passed is None else passed, _OVERRIDE) if passed is not None or shape.known else None


def _of_windows_call(override: str | None, own: Pods | None) -> Pods | None:
    """The number of pods that the call in C(override) passes, or kubelet's own. None if there is no readable call."""
    if override is None:
        return None
    from .. import windows_calls

    number = "" if own is None or own.number is None else str(own.number)
    calls = windows_calls.read_calls(override, {windows_calls.EXTRA_ARGS: f"--max-pods={number}" if number else ""}).calls
    flags = windows_calls.flags_of(calls[-1]) if calls else None
    if flags is None:
        return None
    passed = _whole(flags["max-pods"][-1]) if "max-pods" in flags else windows_calls.KUBELET_MAX_PODS
    return own if own is not None and passed == own.number else Pods(passed, _OVERRIDE)


def _of_settings(texts: Mapping[str, str]) -> Pods | None:
    from ..formats import toml

    found = None
    for path, text in texts.items():
        value: Any = toml.load(text, path, Problems()) if classify(text) in ("toml", "unknown") else None
        for key in ("settings", "kubernetes", "max-pods"):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            found = Pods(_whole(value), f"{path}.settings.kubernetes.max-pods")
    return found
