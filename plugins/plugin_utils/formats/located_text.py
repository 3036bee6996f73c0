# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""String values that know their place in a file, for messages that point at it. JSON is read here, YAML in C(.yaml_reader)."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Any

from .json import JsonError

Spot = tuple[int, int]
"""Line and column, from 1."""


class LocatedText(str):
    """A string value of a document.

    spots: the place of each of its lines in the file, if the file contains them verbatim. Otherwise, only the place where the value begins.
    is_verbatim: which of the two.
    """

    spots: tuple[Spot, ...]
    is_verbatim: bool

    def __new__(cls, value: str, spots: tuple[Spot, ...], *, is_verbatim: bool) -> LocatedText:
        text = super().__new__(cls, value)
        text.spots = spots
        text.is_verbatim = is_verbatim
        return text


def load_json(text: str) -> Any:
    """The value of a JSON document, with located strings as values. Of duplicate keys the last one wins. Raises C(JsonError)."""
    starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n")]

    def located(source: str, begin: int, strict: bool = True) -> tuple[LocatedText, int]:
        value, end = json.decoder.scanstring(source, begin, strict)  # type: ignore[attr-defined]
        line = bisect_right(starts, begin)
        is_verbatim = end - begin - 1 == len(value)
        spot = (line, begin - starts[line - 1] + (1 if is_verbatim else 0))
        return LocatedText(value, (spot,), is_verbatim=is_verbatim), end

    decoder: Any = json.JSONDecoder()
    decoder.parse_string = located
    # The scanner in Python calls parse_string; the one in C does not.
    decoder.scan_once = json.scanner.py_make_scanner(decoder)  # type: ignore[attr-defined]
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise JsonError("nested too deeply") from error
    except ValueError as error:
        raise JsonError(f"a number is too long: {error}") from error
