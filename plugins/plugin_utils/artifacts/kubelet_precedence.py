# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubelet section of our NodeConfig, between the user's own NodeConfigs and C(override).

Three layers can set one value: the user data, the fields of the node group, and C(override). C(override) wins over both;
C(user_data_precedence) decides between the other two. Each layer can use a field of KubeletConfiguration or a flag, and kubelet prefers
every flag to every field. We can only write the layer in the middle, so it is written in the form that makes kubelet use the value that
wins: as a field, as a flag, or not at all. If no form does, the input is rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import joined, shown
from ..kubelet import deep_merge
from ..kubelet_settings import NODE_LABELS, TAINTS, Field, field_of, flag_name, is_list, is_map, is_same, is_same_scalar, text_of, value_of
from ..kubernetes import taints_flag
from ..model.spec import NodeSpec, Taint
from . import origins
from .nodeconfig_flags import flag_value_problem, flag_word, kubelet_flags
from .precedence import Precedence

_USER_DATA, _OVERRIDE = "node_group.user_data", "node_group.override"
_CONFIG, _FLAGS = "spec.kubelet.config", "spec.kubelet.flags"
_EXPRESSION = "maxPodsExpression"
_MAX_PODS: Field = ("maxPods",)


def own_section(
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    override: Mapping[str, Any],
    spec: NodeSpec,
    precedence: Precedence,
    *,
    derived: Iterable[str] = (),
) -> dict[str, Any]:
    """Our kubelet section, changed so that kubelet uses the values that win. Problems and warnings are added to C(precedence).

    ours, theirs, override: the kubelet sections of the layers. derived: fields of C(ours) that the user did not write.
    """
    work = _Section(ours, theirs, override, spec, precedence, frozenset(derived))
    work.settings_with_flags()
    work.expression()
    work.labels()
    work.taints()
    work.other_flags()
    return work.result()


class _Layer:
    """The kubelet section of one layer."""

    def __init__(self, section: Mapping[str, Any]) -> None:
        config = section.get("config")
        self.config: dict[str, Any] = dict(config) if isinstance(config, Mapping) else {}
        self.flags = kubelet_flags(section)
        self.expression = section.get(_EXPRESSION)

    def at(self, field: Field) -> Any:
        value: Any = self.config
        for key in field:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def drop(self, field: Field) -> None:
        self.config = _without(self.config, field)

    def value(self, flag: str, field: Field) -> Any:
        """The value that kubelet uses if there are no other layers."""
        return value_of(flag, self.flags[flag]) if flag in self.flags else self.at(field)

    def where(self, flag: str, field: Field) -> str:
        return f"{_FLAGS} --{flag}" if flag in self.flags else ".".join((_CONFIG, *field))


def _without(tree: Mapping[str, Any], field: Field) -> dict[str, Any]:
    head, *rest = field
    if head not in tree:
        return dict(tree)
    child = _without(tree[head], tuple(rest)) if rest and isinstance(tree[head], Mapping) else {}
    return {key: child if key == head else value for key, value in tree.items() if key != head or child}


class _Section:
    def __init__(
        self,
        ours: Mapping[str, Any],
        theirs: Mapping[str, Any],
        override: Mapping[str, Any],
        spec: NodeSpec,
        precedence: Precedence,
        derived: frozenset[str],
    ) -> None:
        self._rest = {key: value for key, value in ours.items() if key not in ("config", "flags", _EXPRESSION)}
        self._ours, self._theirs, self._override = _Layer(ours), _Layer(theirs), _Layer(override)
        self._words = [str(word) for word in ours.get("flags") or []]
        self._spec = spec
        self._precedence = precedence
        self._derived = derived
        self._added: list[str] = []

    def result(self) -> dict[str, Any]:
        """The section, with the fields that no flag sets."""
        config = {name: value for name, value in self._ours.config.items() if not self._loses(name)}
        config = self._precedence.tree(config, self._theirs.config, ("kubelet", "config")) or {}
        self._precedence.overridden(deep_merge(self._theirs.config, config), self._override.config, ("kubelet", "config"), config)
        result = dict(self._rest)
        flags = [*self._words, *self._added]
        found = (("config", config), ("flags", flags), (_EXPRESSION, self._ours.expression))
        return result | {key: value for key, value in found if value}

    def _loses(self, name: str) -> bool:
        """Whether a computed field is left out, because the user wrote it elsewhere."""
        return name in self._derived and (name in self._theirs.config or name in self._override.config)

    # --- settings that both a flag and a field set ---------------------------------------------------------------------------------------

    def settings_with_flags(self) -> None:
        """Settings that at least one layer sets by a flag."""
        names = {*self._ours.flags, *self._theirs.flags, *self._override.flags} - {NODE_LABELS, TAINTS}
        for name in sorted(names):
            field = field_of(name)
            if field is not None:
                (self._map if is_map(name) else self._scalar)(name, field)

    def _origin(self, flag: str, field: Field) -> str:
        return origins.of_flag(self._spec, flag) if flag in self._ours.flags else origins.of_field(self._spec, field)

    def _forget(self, flag: str, field: Field) -> None:
        """Remove a setting from our layer."""
        self._words = [word for word in self._words if flag_name(word) != flag]
        self._ours.drop(field)

    def _add_flag(self, flag: str, field: Field, value: Any, origin: str) -> None:
        text = text_of(flag, value)
        reason = "cannot be written as a flag" if text is None else flag_value_problem(text)
        if text is None or reason:
            self._cannot_win(flag, field, origin, f"the value of {origin} {reason}")
        else:
            self._added.append(flag_word(flag, text))

    def _cannot_win(self, flag: str, field: Field, origin: str, why: str) -> None:
        self._precedence.problems.add(
            "user_data.conflict",
            _USER_DATA,
            f"sets --{flag} to {shown(','.join(self._theirs.flags.get(flag, [])))}, which {origin} cannot replace: {why}",
            fix=f"remove the flag from user_data, or write it there as {_CONFIG}.{'.'.join(field)}",
        )

    def _scalar(self, flag: str, field: Field) -> None:
        own, their, last = (layer.value(flag, field) for layer in (self._ours, self._theirs, self._override))
        origin, by_flag = self._origin(flag, field), flag in self._ours.flags
        wins, source = (own, origin) if own is not None else (their, _USER_DATA)
        if own is not None and their is not None:
            ours_win = False
            if field[0] not in self._derived and not is_same(flag, own, their):
                ours_win = self._precedence.ours(self._theirs.where(flag, field), own, their, origin)
            wins, source = (own, origin) if ours_win else (their, _USER_DATA)
        if last is not None:
            if wins is not None and not is_same(flag, wins, last) and (source != origin or field[0] not in self._derived):
                self._precedence.warn(self._override.where(flag, field), last, wins, source)
            wins, source = last, _OVERRIDE
        self._forget(flag, field)
        if wins is not None and not is_same(flag, self._without_ours(flag, field), wins):
            self._write(flag, field, wins, source, by_flag=by_flag)

    def _without_ours(self, flag: str, field: Field) -> Any:
        """The value that kubelet uses if our layer does not set it."""
        values = [*self._theirs.flags.get(flag, []), *self._override.flags.get(flag, [])]
        if values:
            return value_of(flag, values)
        last = self._override.at(field)
        return self._theirs.at(field) if last is None else last

    def _write(self, flag: str, field: Field, value: Any, source: str, *, by_flag: bool) -> None:
        if flag in self._override.flags or (flag in self._theirs.flags and is_list(flag)):
            self._cannot_win(flag, field, source, "kubelet appends the values of this flag")
        elif flag in self._theirs.flags or by_flag:
            self._add_flag(flag, field, value, source)
        else:
            self._ours.config = deep_merge(self._ours.config, _nested(field, value))

    def _map(self, flag: str, field: Field) -> None:
        """Maps are compared key by key. As a flag replaces the whole field, all keys that are not in the user's flags are written."""
        own, their, last = (_mapping(layer.value(flag, field)) for layer in (self._ours, self._theirs, self._override))
        origin = self._origin(flag, field)
        final = dict(their)
        for key, value in own.items():
            where = f"{key} of {self._theirs.where(flag, field)}"
            if key not in their or (
                not is_same_scalar(value, their[key]) and self._precedence.ours(where, value, their[key], joined(origin, key))
            ):
                final[key] = value
        for key, value in last.items():
            if key in final and not is_same_scalar(value, final[key]):
                source = _USER_DATA if key in their and is_same_scalar(final[key], their[key]) else joined(origin, key)
                self._precedence.warn(f"{key} of {self._override.where(flag, field)}", value, final[key], source)
        final |= last
        self._forget(flag, field)
        before = _mapping(value_of(flag, self._theirs.flags[flag])) if flag in self._theirs.flags else {}
        after = _mapping(value_of(flag, self._override.flags[flag])) if flag in self._override.flags else {}
        missing = {
            key: value
            for key, value in final.items()
            if key not in after and not (key in before and is_same_scalar(before[key], value)) and value is not None
        }
        if missing:
            self._add_flag(flag, field, missing, origin)

    # --- what has rules of its own -------------------------------------------------------------------------------------------------------

    def expression(self) -> None:
        """C(maxPodsExpression), which nodeadm writes as a field that C(kubelet.config.maxPods) replaces."""
        own, their, last = self._ours.expression, self._theirs.expression, self._override.expression
        numbers = [layer.value("max-pods", _MAX_PODS) for layer in (self._ours, self._theirs, self._override)]
        own_number, their_number, last_number = numbers
        where = f"spec.kubelet.{_EXPRESSION}"
        origin = origins.of_field(self._spec, _MAX_PODS)
        own_origin = origins.of_place(self._spec, ("kubelet", _EXPRESSION))
        if last and last_number is None:
            for value, source in ((their_number, _USER_DATA), (own_number, origin), (their, _USER_DATA), (own, own_origin)):
                if value is not None and value != last:
                    self._precedence.warn(where, last, value, source)
                    break
            self._forget("max-pods", _MAX_PODS)
            if their_number is not None:
                self._prefers_number(their_number, f"{_OVERRIDE}.{where}", f"remove it, or set {_CONFIG}.maxPods in override")
        elif their and their_number is None and own_number is not None and last_number is None:
            if not self._precedence.ours(where, own_number, their, origin):
                self._forget("max-pods", _MAX_PODS)
        elif own and their_number is not None and last_number is None:
            ours_wins = self._precedence.ours(self._theirs.where("max-pods", _MAX_PODS), own, their_number, own_origin)
            if ours_wins and self._spec.user_data_precedence == "ours":
                self._prefers_number(their_number, own_origin, "remove it from user_data, or set max_pods")
            self._ours.expression = None
        elif own and last_number is not None:
            self._precedence.warn(self._override.where("max-pods", _MAX_PODS), last_number, own, own_origin)
        if own and their and own != their and self._ours.expression and not self._precedence.ours(where, own, their, own_origin):
            self._ours.expression = None

    def _prefers_number(self, number: Any, expression: str, fix: str) -> None:
        message = f"sets {self._theirs.where('max-pods', _MAX_PODS)} to {shown(number)}, which nodeadm prefers to {expression}"
        self._precedence.problems.add("user_data.conflict", _USER_DATA, message, fix=fix)

    def labels(self) -> None:
        """Labels of several flags are united, and the last one of a key wins. The fields set only keys that are not in the user data."""
        theirs, override = (labels_of(layer.flags.get(NODE_LABELS, ())) for layer in (self._theirs, self._override))
        ours = labels_of(self._ours.flags.get(NODE_LABELS, ()))
        where = f"label {{}} of {_FLAGS} --{NODE_LABELS}"
        kept = {
            key: value
            for key, value in ours.items()
            if key not in theirs or self._precedence.ours(where.format(key), value, theirs[key], origins.of_label(self._spec, key))
        }
        for key, value in override.items():
            base = {**theirs, **kept}.get(key)
            if base is not None and base != value:
                source = origins.of_label(self._spec, key) if key in kept else _USER_DATA
                self._precedence.warn(where.format(key), value, base, source)
        word = f"--{NODE_LABELS}=" + ",".join(f"{key}={item}" for key, item in kept.items())
        self._words = [(word if flag_name(one) == NODE_LABELS else one) for one in self._words if flag_name(one) != NODE_LABELS or kept]

    def taints(self) -> None:
        """Of several flags with taints, the last one counts, and it replaces the field. So the united taints are written."""
        ours = self._spec.taints if TAINTS in self._ours.flags else ()
        theirs, override = (_taints_of_layer(layer) for layer in (self._theirs, self._override))
        united = {(taint.key, taint.effect): taint for taint in theirs}
        for taint in ours:
            other = united.get((taint.key, taint.effect))
            where = f"taint {taint.key}:{taint.effect} of {_FLAGS} --{TAINTS}"
            if other is None or self._precedence.ours(where, taint.value, other.value, origins.of_taints(self._spec)):
                united[taint.key, taint.effect] = taint
        final = list(united.values())
        if override:
            if final and taints_flag(final) != taints_flag(override):
                source = origins.of_taints(self._spec) if ours else _USER_DATA
                self._precedence.warn(
                    self._override.where(TAINTS, ("registerWithTaints",)), taints_flag(override), taints_flag(final), source
                )
            final = override
        needed = bool(final) and bool(ours if not override else TAINTS in self._theirs.flags and TAINTS not in self._override.flags)
        word = f"--{TAINTS}={taints_flag(final)}"
        if needed and TAINTS in self._ours.flags:
            self._words = [word if flag_name(one) == TAINTS else one for one in self._words]
        else:
            self._words = [one for one in self._words if flag_name(one) != TAINTS]
            self._added.extend([word] if needed else [])

    def other_flags(self) -> None:
        """Flags that are not fields of KubeletConfiguration: the last one counts."""
        kept = []
        for word in self._words:
            name = flag_name(word)
            if name in (NODE_LABELS, TAINTS) or field_of(name) is not None or not self._loses_flag(name):
                kept.append(word)
        self._words = kept
        for name, values in self._override.flags.items():
            if name in (NODE_LABELS, TAINTS) or field_of(name) is not None:
                continue
            for layer, source in ((self._ours, origins.of_flag(self._spec, name)), (self._theirs, _USER_DATA)):
                before = layer.flags.get(name)
                if before and before[-1] != values[-1]:
                    self._precedence.warn(f"{_FLAGS} --{name}", values[-1], before[-1], source)
                    break

    def _loses_flag(self, name: str) -> bool:
        own, their = self._ours.flags[name], self._theirs.flags.get(name)
        if their is None:
            return False
        same = own[-1] == their[-1]
        return same or not self._precedence.ours(f"{_FLAGS} --{name}", own[-1], their[-1], origins.of_flag(self._spec, name))


def _nested(field: Field, value: Any) -> dict[str, Any]:
    for key in reversed(field):
        value = {key: value}
    nested: dict[str, Any] = value
    return nested


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def labels_of(values: Sequence[str]) -> dict[str, str]:
    """The labels in the values of C(--node-labels)."""
    return dict(pair.partition("=")[::2] for value in values for pair in value.split(",") if pair)


def taints_of(value: str) -> list[Taint]:
    """The taints in a value of C(--register-with-taints)."""
    found = []
    for word in value.split(","):
        pair, _unused, effect = word.rpartition(":")
        key, _unused, text = pair.partition("=")
        if key:
            found.append(Taint(key, text, effect))
    return found


def _taints_of_layer(layer: _Layer) -> list[Taint]:
    found = taints_of(layer.flags[TAINTS][-1]) if TAINTS in layer.flags else []
    config = layer.config.get("registerWithTaints")
    for item in config if isinstance(config, list) and not found else []:
        if isinstance(item, Mapping) and isinstance(item.get("key"), str):
            found.append(Taint(item["key"], str(item.get("value") or ""), str(item.get("effect"))))
    return found
