# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps the paths of a problem to the places where the user wrote the values.

The checks read the merged specification and name a value by the usual place of its field. The user can have written it elsewhere: as a
flag, as one item instead of a list, in a file of user data. C(as_written) is applied once, before a problem leaves the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import Problem, joined
from ..kubelet_settings import flag_name
from .merge import DNS_IPS, GROUP, KUBE_RESERVED, KUBELET_CONFIGS, KUBELET_FLAGS, MAX_PODS, SYSTEM_RESERVED, place_path
from .own_fields import FIELD_OF_FLAG

_FLAGS, _WORDS = map(place_path, KUBELET_FLAGS)
_TOML = f"{GROUP}.nodeadm.containerd.config"
_TEXTS, _FILES = f"{GROUP}.user_data", f"{GROUP}.user_data_files"

_SAME_PLACES: tuple[tuple[str, ...], ...] = (
    (f"{GROUP}.max_pods", *map(place_path, MAX_PODS)),
    ("cluster.dns_ips", *map(place_path, DNS_IPS)),
    (f"{GROUP}.reserved.kube", *map(place_path, KUBE_RESERVED)),
    (f"{GROUP}.reserved.system", *map(place_path, SYSTEM_RESERVED)),
    tuple(map(place_path, KUBELET_CONFIGS)),
    (f"{GROUP}.containerd.config", _TOML),
)
"""The places of one value, besides flags."""

_DOCUMENTS = (_TEXTS, _FILES, f"{GROUP}.override", _TOML)
"""Texts in which a path continues."""

_LEADING_INDEX = re.compile(r"\[([0-9]{1,6})\]")
_FIRST_KEY = re.compile(r"""\.?[A-Za-z0-9_-]+|\["(?:[^"\\]|\\.)*"\]""")
_NAME = re.compile(r"\.?([A-Za-z0-9_-]+)(?=[.\[]|\Z)")
_NAMED = re.compile(r"""(?<![\w."\[])(?:node_group|cluster)(?:\.[A-Za-z0-9_-]+|\[(?:[0-9]+|"(?:[^"\\]|\\.)*")\])+""")


def as_written(problem: Problem, given: Mapping[str, Any]) -> Problem:
    """The problem with the paths that exist in C(given), the input. Keys inside of the text of a flag move to the message."""
    path, below = _written(problem.path, given)
    message = _NAMED.sub(lambda found: _named(found[0], given), problem.message)
    message = f"{below}: {message}" if below else message
    return problem if (path, message) == (problem.path, problem.message) else replace(problem, path=path, message=message)


def _named(path: str, given: Mapping[str, Any]) -> str:
    place, below = _written(path, given)
    return f"{place} ({below})" if below else place


def _written(path: str, given: Mapping[str, Any]) -> tuple[str, str]:
    """The path of the user for a path of a check, and the keys below it that only a part of a text has."""
    for candidate in _candidates(path, given):
        place, value, rest = _deepest(candidate, given)
        if not rest or any(_is_within(place, document) for document in _DOCUMENTS):
            return place + rest, ""
        if isinstance(value, (str, int, float)):
            return place, _LEADING_INDEX.sub("", rest).removeprefix(".")
        if _is_list(value) and not _LEADING_INDEX.match(rest) and all(isinstance(item, str) for item in value):
            return _item_with(rest, place, value), rest.removeprefix(".")
    # Nothing is there. The path ends with the first field that is missing.
    place, _value, rest = _deepest(path, given)
    first = _FIRST_KEY.match(rest)
    return (place + first[0], rest[first.end() :].removeprefix(".")) if first else (path, "")


def _item_with(keys: str, place: str, items: Sequence[str]) -> str:
    """The place of the last text that contains the first key of C(keys), or of the whole list if none does."""
    first = _FIRST_KEY.match(keys)
    key = first[0].strip('.[]"') if first else None
    found = [index for index, item in enumerate(items) if key and key in item]
    return joined(place, found[-1]) if found else place


def _deepest(path: str, given: Any) -> tuple[str, Any, str]:
    """The longest part of a path that exists in the input, the value there, and the rest. One item can stand for its list."""
    at, value, rest = "", given, path
    while rest:
        found = _named_child(at, value, rest)
        if found is None:
            found = next(((below, item) for below, item in _children(at, value) if _is_within(at + rest, below)), None)
        if found is not None:
            rest = (at + rest)[len(found[0]) :]
            at, value = found
        elif rest.startswith("[0]") and value is not None and not _is_list(value):
            rest = rest.removeprefix("[0]")
        else:
            break
    return at, value, rest


def _named_child(at: str, value: Any, rest: str) -> tuple[str, Any] | None:
    """The child whose plain name a path begins with. None if there is none, or if its name is written in brackets."""
    name = _NAME.match(rest)
    if name is None or not isinstance(value, Mapping) or name[1] not in value or joined(at, name[1]) != at + name[0]:
        return None
    return at + name[0], value[name[1]]


def _children(at: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((joined(at, key), item) for key, item in value.items() if isinstance(key, str))
    elif _is_list(value):
        yield from ((joined(at, index), item) for index, item in enumerate(value))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def _is_within(path: str, place: str) -> bool:
    return path == place or path.startswith((f"{place}.", f"{place}["))


def _candidates(path: str, given: Mapping[str, Any]) -> Iterator[str]:
    """The places that can have a value, the most probable one first."""
    group = given.get(GROUP)
    if path == _TEXTS:
        yield from _only_text(group)
    yield path
    for places in _SAME_PLACES:
        for prefix in filter(partial(_is_within, path), places):
            yield from (place + path[len(prefix) :] for place in places)
    for prefix, flag in _flags_of(path):
        yield joined(_FLAGS, flag) + path[len(prefix) :]
        yield from _words_of(group, flag, path[len(prefix) :])


def _only_text(group: Any) -> Iterator[str]:
    """The place of the user data, if it is in one place, or the list that has all of it."""
    texts, files = (_items(group.get(name)) if isinstance(group, Mapping) else () for name in ("user_data", "user_data_files"))
    if len(texts) + len(files) == 1:
        yield joined(_TEXTS if texts else _FILES, 0)
    elif files and not texts:
        yield _FILES


def _items(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if _is_list(value) else (value,)


def _flags_of(path: str) -> Iterator[tuple[str, str]]:
    """The flags that set the value of a path, each with the part of the path that means the whole flag."""
    found = re.match(rf"{re.escape(_FLAGS)}\.([a-z0-9-]+)", path)
    if found:
        yield found[0], found[1]
    for flag, field in FIELD_OF_FLAG.items():
        if _is_within(path, f"{GROUP}.{field}"):
            yield f"{GROUP}.{field}", flag


def _words_of(group: Any, flag: str, rest: str) -> Iterator[str]:
    """The places of a flag in C(nodeadm.kubelet.flags). rest: begins with the number of the occurrence, if there are several."""
    words = _deepest(_WORDS, {GROUP: group})
    places = [joined(_WORDS, index) for index, word in enumerate(_items(words[1])) if isinstance(word, str) and flag_name(word) == flag]
    index = _LEADING_INDEX.match(rest)
    chosen = places[int(index[1]) :][:1] if index else places
    yield from (place + rest[index.end() if index else 0 :] for place in chosen if not words[2])
