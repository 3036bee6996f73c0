# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports from the archive in which Ansible sends a module to a node. Standard library, Python 3.7 and newer.

Python's zipimport compiles every module twice, once to find its path and once to run it. For a module of this collection, that is
a fifth of its processor time on an unchanged node.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pkgutil import get_importer
from typing import Any, Sequence
from zipimport import zipimporter


class _Loader(SourceFileLoader):
    """Compiles a module once from a source that was already read."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_data(self, path: Any) -> bytes:
        """The source; there is no file that contains compiled code."""
        if path == self.path:
            return self._source
        raise FileNotFoundError(path)

    def path_stats(self, path: Any) -> Any:
        """Compiled code is neither read nor written, because the archive is removed after the run."""
        raise FileNotFoundError(path)


class _Finder:
    """Finds the modules that are files in an archive, but not packages. Python's own finders find everything else."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        for folder in path or ():
            archive = get_importer(folder)
            if isinstance(archive, zipimporter):
                file = os.path.join(folder, name.rpartition(".")[2] + ".py")
                try:
                    source = archive.get_data(file)
                except OSError:
                    continue
                return spec_from_file_location(name, file, loader=_Loader(name, file, source))
        return None


def compile_once() -> None:
    """Compile each further module only once, and end without a last search for garbage. Call it before the other imports."""
    if _Finder not in sys.meta_path:
        atexit.register(gc.freeze)
        # Before the finder that reads folders and archives. Ansible wants its own finders to stay the first.
        at = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
        sys.meta_path.insert(at, _Finder)
