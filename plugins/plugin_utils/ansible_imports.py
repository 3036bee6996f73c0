# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets Python cache the compiled modules of the library when Ansible imports them.

Ansible's loader of collections compiles every module again in every process, which takes more than half of the first call of a
filter. Python's own loader reads the compiled module from C(__pycache__), and writes it there where it may.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from typing import Any, ClassVar

PACKAGE = f"{__package__}."
_ANSIBLES_FINDER = "_AnsibleCollectionFinder"


class _Finder:
    """Finds the modules below the package of the library, in the folders that Ansible found for it."""

    _folders: ClassVar[dict[str, FileFinder]] = {}

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith(PACKAGE):
            return None
        for folder in path or ():
            finder = cls._folders.get(folder) or cls._folders.setdefault(folder, FileFinder(folder, (SourceFileLoader, [".py"])))
            spec = finder.find_spec(name)
            if spec is not None and spec.loader is not None:
                return spec
        return None


def cache_compiled_modules() -> None:
    """Import what is still to be imported of the library with Python's own loader.

    Without Ansible's finder of collections, as in the tests of the library, Python's own loader is used anyway.
    """
    names = [type(finder).__name__ for finder in sys.meta_path]
    if _Finder not in sys.meta_path and _ANSIBLES_FINDER in names:
        sys.meta_path.insert(names.index(_ANSIBLES_FINDER), _Finder)
