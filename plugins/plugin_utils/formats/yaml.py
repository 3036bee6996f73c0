# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes YAML that all readers on a node read the same way: nodeadm and kubelet (YAML 1.1, Go), cloud-init (PyYAML), YAML 1.2.

Common dumpers write C(y), C(08) or C(1e3) without quotes, and the Go reader reads them as a boolean or a number. This writer quotes
every string that is not clearly a word. It writes only ASCII, so that a document fits into a 7bit MIME part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .json import MAX_DEPTH
from .yaml_error import YamlError

__all__ = ["MAX_DEPTH", "Unsafe", "YamlError", "dump", "load", "load_all"]

# Words, paths, URLs, base64, command-line flags, CIDRs: what neither YAML 1.1 nor 1.2 can take for anything else.
# A colon inside a word does not start a mapping.
_WORD = re.compile(
    r"(?:[A-Za-z/_]|--[A-Za-z])(?:[A-Za-z0-9_./=,+@%:-]*[A-Za-z0-9_./=,+@%-])?"
    r"|[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?:/[0-9]{1,2})?"
)
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_LONGEST_RESERVED = 5

_PLAIN_LINE = re.compile(r"[\x20-\x7e]*")
# Text that a literal block gives back exactly: it starts with something visible (or the indentation would be
# guessed wrong), holds no carriage return or control character, and its last line does not end in blanks.
_LITERAL = re.compile(r"[\x21-\x7e](?:[\t\n\x20-\x7e]*[\x21-\x7e])?\n*")

_ESCAPED = re.compile(r'[^\x20-\x7e]|["\\]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}

# Readers look at most 1024 characters ahead for the colon of a key; longer keys are written with a question mark.
_LONGEST_SIMPLE_KEY = 1000


class Unsafe(str):
    """Text in which Ansible does not look for templates. Only Ansible reads its tag."""


def load(text: str, *, strict: bool = True) -> Any:
    """The first document of C(text) as plain data: dict with string keys, list, str, int, float, bool, None.

    strict: refuse keys that stand twice, and keys before a merge key that replaces them; otherwise the later wins, as
    in nodeadm. An empty text is None. Raises C(YamlError).
    """
    # The reader loads PyYAML, which a render without existing user data does not need.
    from . import yaml_reader

    return yaml_reader.load(text, strict=strict)


def load_all(text: str, *, strict: bool = True) -> list[Any]:
    """Every document of C(text), each as C(load) reads it. Raises C(YamlError)."""
    from . import yaml_reader

    return yaml_reader.load_all(text, strict=strict)


def dump(value: Any) -> str:
    """One YAML document in block style: sorted keys, LF, a final newline, no width limit, ASCII only.

    value: mappings with string keys, lists, tuples, strings, integers, finite floats, booleans and None.
    Raises C(YamlError) for anything else: other keys, NaN and infinity, lone surrogates, more than C(MAX_DEPTH) levels.
    """
    out: list[str] = []
    _value(value, "", "", "", 0, out)
    return "".join(out)


def _value(value: Any, head: str, pad: str, child_pad: str, depth: int, out: list[str]) -> None:
    """Write C(value) after C(head) (a key with its colon, a dash, nothing) and end the line.

    pad: what indents continuation lines of the surrounding block; child_pad: what indents a nested mapping.
    """
    kind = type(value)
    if kind is str:
        out.append(f"{head}{_text(value, pad)}\n")
    elif kind is dict and value:
        if head:
            out.append(head[:-1] + "\n")
        _mapping(value, child_pad, child_pad, depth, out)
    elif kind is list and value:
        if head:
            out.append(head[:-1] + "\n")
        _sequence(value, pad, pad, depth, out)
    elif kind is bool:
        out.append(f"{head}{'true' if value else 'false'}\n")
    elif kind is int:
        out.append(f"{head}{_int(value)}\n")
    else:
        _unusual(value, head, pad, child_pad, depth, out)


def _unusual(value: Any, head: str, pad: str, child_pad: str, depth: int, out: list[str]) -> None:
    """What is rarer than plain strings, dicts, lists, booleans and integers; subclasses become their plain type."""
    if value is None:
        out.append(f"{head}null\n")
    elif isinstance(value, float):
        out.append(f"{head}{_float(value)}\n")
    elif isinstance(value, Unsafe):
        out.append(f"{head}!unsafe {_text(str.__str__(value), pad)}\n")
    elif isinstance(value, str):
        _value(str.__str__(value), head, pad, child_pad, depth, out)
    elif isinstance(value, int):
        _value(int(value), head, pad, child_pad, depth, out)
    elif isinstance(value, Mapping):
        if value:
            _value(dict(value), head, pad, child_pad, depth, out)
        else:
            out.append(f"{head}{{}}\n")
    elif isinstance(value, (list, tuple)):
        if value:
            _value(list(value), head, pad, child_pad, depth, out)
        else:
            out.append(f"{head}[]\n")
    else:
        raise YamlError(f"a {type(value).__name__} cannot be written as YAML")


def _mapping(mapping: dict[Any, Any], lead: str, pad: str, depth: int, out: list[str]) -> None:
    """C(lead) begins the first line, C(pad) the others."""
    if depth >= MAX_DEPTH:
        raise YamlError(f"nested more than {MAX_DEPTH} levels deep")
    try:
        keys = sorted(mapping)
    except TypeError:
        keys = list(mapping)  # the loop finds the key that is not a string
    child_pad = pad + "  "
    for key in keys:
        text = _key(key) if isinstance(key, str) else _odd_key(key)
        head = f"{lead}{text}: " if len(text) < _LONGEST_SIMPLE_KEY else f"{lead}? {text}\n{pad}: "
        _value(mapping[key], head, pad, child_pad, depth + 1, out)
        lead = pad


def _sequence(items: list[Any], lead: str, pad: str, depth: int, out: list[str]) -> None:
    """As C(_mapping); a nested mapping or list begins on the line of its dash."""
    if depth >= MAX_DEPTH:
        raise YamlError(f"nested more than {MAX_DEPTH} levels deep")
    child_pad = pad + "  "
    for item in items:
        plain = _plain(item)
        kind = type(plain)
        if kind is dict and plain:
            _mapping(plain, f"{lead}- ", child_pad, depth + 1, out)
        elif kind is list and plain:
            _sequence(plain, f"{lead}- ", child_pad, depth + 1, out)
        else:
            _value(plain, f"{lead}- ", pad, child_pad, depth + 1, out)
        lead = pad


def _plain(item: Any) -> Any:
    kind = type(item)
    if kind is dict or kind is list or kind is str:
        return item
    if isinstance(item, Mapping):
        return dict(item)
    return list(item) if isinstance(item, (list, tuple)) else item


@lru_cache(maxsize=2048)
def _key(text: str) -> str:
    return _scalar(text)


def _odd_key(key: Any) -> str:
    if isinstance(key, str):
        return _scalar(str.__str__(key))
    raise YamlError(f"the key {key!r:.80} is not text: quote it")


def _text(text: str, pad: str) -> str:
    """A string as a value: several lines as a literal block where it comes back exactly, else one scalar."""
    if "\n" in text and _LITERAL.fullmatch(text):
        body = text.rstrip("\n")
        newlines = len(text) - len(body)
        mark = "|-" if newlines == 0 else "|" if newlines == 1 else "|+"
        indent = pad + "  "
        lines = body.split("\n")
        # An empty line carries no indentation: editors and linters dislike trailing blanks.
        block = "\n".join([f"{indent}{line}" if line else "" for line in lines])
        return f"{mark}\n{block}" + "\n" * max(newlines - 1, 0)
    return _scalar(text)


def _scalar(text: str) -> str:
    """A string on one line: bare when plainly a word, else in the quotes that need the fewest escapes."""
    if _WORD.fullmatch(text) and not (len(text) <= _LONGEST_RESERVED and text.lower() in _RESERVED):
        return text
    if "'" not in text and _PLAIN_LINE.fullmatch(text):
        return f"'{text}'"
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise YamlError(f"the text contains a lone surrogate (U+{code:04X}), which UTF-8 cannot represent")
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _int(value: int) -> str:
    try:
        return str(value)
    except ValueError as error:  # Python's own limit on the digits it prints
        raise YamlError("an integer of more than 4300 digits cannot be written") from error


def _float(value: float) -> str:
    text = float.__repr__(value)
    if text in ("nan", "inf", "-inf"):
        raise YamlError(f"{text} cannot be written: nodeadm and kubelet convert YAML to JSON, which does not have this number")
    # YAML 1.1 knows an exponent only after a point: 1e+16 would be a string for PyYAML.
    mantissa, mark, exponent = text.partition("e")
    if mark and "." not in mantissa:
        mantissa += ".0"
    return mantissa + mark + exponent
