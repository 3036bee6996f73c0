# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads YAML and JSON of a node as kubelet and nodeadm do (sigs.k8s.io/yaml). Standard library, Python 3.7 and newer.

Programs of the images write JSON, which Python reads itself. C(yaml_parser) reads YAML, and is loaded only for it.
"""

from __future__ import annotations

import json
from typing import Any


class YamlError(ValueError):
    """The text cannot be read. C(lacks_pyyaml): PyYAML may be able to read it, but the Python of this node does not have it."""

    def __init__(self, problem: str, lacks_pyyaml: bool) -> None:
        super().__init__(problem)
        self.lacks_pyyaml = lacks_pyyaml


def parse(text: str) -> Any:
    """The value of a text in JSON or YAML: of its first document. Raises YamlError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    from . import yaml_parser

    try:
        return yaml_parser.parse_plainly(text)
    except (ValueError, RecursionError) as error:
        problem = str(error)
    try:
        return yaml_parser.parse_with_pyyaml(text)
    except ImportError:
        raise YamlError(problem, True) from None
    except Exception:  # PyYAML can raise anything for a broken text, and its message quotes the text
        raise YamlError(problem, False) from None
