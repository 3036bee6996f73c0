# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills the folder of an image's inputs on the controller, and locks its downloads.

The folder's copy of the lock lists the files of the collection: a file of it that the new lock does not contain is removed, and no other
file is.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from ..errors import Problem, Problems, SpecError
from ..image import lock as locks
from ..image.lock import Input, Lock, Package, System
from . import downloads
from .downloads import DownloadFailed, Say, Transfer
from .folder import read

OPTIONS: dict[str, Any] = {
    "lock": {"type": "path", "required": True},
    "folder": {"type": "path", "required": True},
    "plan": {"type": "dict"},
    "builder": {"type": "dict"},
    "download": {"type": "bool", "default": True},
    "timeout": {"type": "int", "default": 60},
}
LOCK_OPTIONS: dict[str, Any] = {
    "plan": {"type": "dict", "required": True},
    "folder": {"type": "path"},
    "timeout": {"type": "int", "default": 600},
}


def fetch_task(options: Mapping[str, Any], *, check_mode: bool, say: Say) -> dict[str, Any]:
    """Fill the folder from the lock, or check that it is complete. Returns the result of the task. Raises C(SpecError)."""
    content = _read(options["lock"], "lock")
    lock = locks.load(content.decode("utf-8", "replace"))
    problems = Problems()
    if options["plan"] is not None:
        locks.check_plan(lock, options["plan"], problems)
    if options["builder"] is not None:
        locks.check_system(lock, options["builder"], problems)
    problems.raise_any()
    folder = os.path.abspath(options["folder"])
    result: dict[str, Any] = {"changed": False, "fetched": [], "removed": [], "foreign": []}
    with _on_disk(folder):
        if not options["download"]:
            _check_complete(lock, folder)
        elif check_mode:
            result = _fill(lock, content, folder, None)
        else:
            with _locked(folder):
                result = _fill(lock, content, folder, Transfer(options["timeout"], say))
    files = [{"place": one.place, "path": f"{folder}/{one.place}"} for one in locks.inputs(lock)]
    return {**result, "files": files, "lock": asdict(lock)}


def _fill(lock: Lock, content: bytes, folder: str, transfer: Transfer | None) -> dict[str, Any]:
    """Fetch what is missing, and remove what an older lock has left. Without C(transfer), nothing changes."""
    owned = _places_of_last_run(folder)
    wanted = list(locks.inputs(lock))
    missing = [one for one in wanted if _fault(folder, one) is not None]
    places = {one.place for one in wanted}
    present = {place for place in _present(folder) if not downloads.is_unfinished(place)}
    removed = sorted((present & owned) - places)
    is_new = read(f"{folder}/{locks.FILE}") != content
    if transfer is not None:
        _remove_unfinished(folder)
        _check_space(folder, missing)
        _fetch(missing, folder, transfer)
        for place in removed:
            os.unlink(f"{folder}/{place}")
        if is_new:
            _replace(f"{folder}/{locks.FILE}", content)
    changed = bool(missing or removed or is_new)
    return {"changed": changed, "fetched": [one.place for one in missing], "removed": removed, "foreign": sorted(present - owned - places)}


def _fetch(missing: Sequence[Input], folder: str, transfer: Transfer) -> None:
    """Fetch files one after the other. Raises C(SpecError) with the problems of all of them."""
    problems = Problems()
    for number, one in enumerate(missing, 1):
        try:
            transfer.store(one.url, f"{folder}/{one.place}", one.sha256, one.size)
        except DownloadFailed as failure:
            problems.add(failure.rule, one.path, f"{one.place} {failure.message}", fix=failure.fix)
            if failure.is_final:
                break
        else:
            transfer.say(f"fetched {one.place} ({downloads.shown_size(one.size)}, {number} of {len(missing)})")
    problems.raise_any()


def lock_task(options: Mapping[str, Any], run: Callable[..., Any], *, check_mode: bool, say: Say) -> dict[str, Any]:
    """Lock the inputs of an image. Returns the result of the task. Raises C(SpecError).

    run: runs a module on the machine. In check mode, no download is stored.
    """
    result: dict[str, Any] = run("nodebootstrap.eks.image_lock", options)
    if result.get("failed"):
        return result
    plan = options["plan"]
    measured = _measure(plan, None if check_mode else options["folder"], options["timeout"], say)
    packages = tuple(Package(**entry) for entry in result["packages"])
    content = locks.dump(Lock(System(**result["system"]), tuple(plan["packages"]), packages, tuple(measured)))
    # The answer of the machine is checked like any other lock.
    return {**result, "content": content, "lock": asdict(locks.load(content))}


def _measure(plan: Mapping[str, Any], folder: str | None, timeout: int, say: Say) -> list[locks.Download]:
    """The downloads and images of a plan with their sizes. Raises C(SpecError) for a file with another digest.

    folder: where they are stored, so that C(fetch_task) does not fetch them again. None to store nothing.
    """
    transfer = Transfer(timeout, say)
    problems = Problems()
    found = []
    for entry in (*plan.get("downloads", ()), *plan.get("images", ())):
        url = entry.get("url") or f"file://{quote(os.path.abspath(entry['path']))}"
        path = folder and f"{os.path.abspath(folder)}/{locks.DOWNLOADS}/{entry['file']}"
        try:
            size = _size_of(path, entry["sha256"])
            if size is None:
                size = transfer.store(url, path, entry["sha256"])
                say(f"read {entry['file']} ({downloads.shown_size(size)})")
            found.append(locks.Download(entry["name"], entry["file"], url, entry["sha256"], size))
        except DownloadFailed as failure:
            problems.add(failure.rule, "image", f"{entry['file']} {failure.message}", fix=failure.fix)
    problems.raise_any()
    return found


# --- the folder ------------------------------------------------------------------------------------------------------------------------


def _fault(folder: str, one: Input) -> str | None:
    """What is wrong with a file of the folder: C(lock.missing_file), C(lock.wrong_content), or None."""
    path = f"{folder}/{one.place}"
    if not os.path.isfile(path):
        return "lock.missing_file"
    has_size = os.path.getsize(path) == one.size
    return None if has_size and downloads.digest_of(path) == one.sha256 else "lock.wrong_content"


def _check_complete(lock: Lock, folder: str) -> None:
    problems = Problems()
    for one in locks.inputs(lock):
        rule = _fault(folder, one)
        if rule is not None:
            message = "is missing from" if rule == "lock.missing_file" else "is not the file of the lock in"
            problems.add(rule, one.path, f"{one.place} {message} {folder}", fix="fetch it (tasks_from: fetch)")
    problems.raise_any()


def _size_of(path: str | None, sha256: str) -> int | None:
    """The size of a file that has this digest."""
    return os.path.getsize(path) if path and os.path.isfile(path) and downloads.digest_of(path) == sha256 else None


def _present(folder: str) -> set[str]:
    """The places of everything in the directories of the folder."""
    found = set()
    for kind in (locks.PACKAGES, locks.DOWNLOADS):
        with suppress(FileNotFoundError):
            found |= {f"{kind}/{name}" for name in os.listdir(f"{folder}/{kind}")}
    return found


def _remove_unfinished(folder: str) -> None:
    """Remove what a killed run has left. The folder is locked, so no other run is fetching."""
    for place in filter(downloads.is_unfinished, _present(folder)):
        os.unlink(f"{folder}/{place}")


def _places_of_last_run(folder: str) -> set[str]:
    """The places of the lock that was fetched last. Raises C(SpecError) if the folder belongs to something else."""
    content = read(f"{folder}/{locks.FILE}")
    if content is None:
        return set()
    try:
        return {one.place for one in locks.inputs(locks.load(content.decode("utf-8", "replace")))}
    except SpecError:
        message, fix = f"contains a file {locks.FILE} that is not a lock", f"use another folder, or remove {folder}/{locks.FILE}"
        raise SpecError([Problem("lock.unreadable", "folder", message, value=folder, fix=fix)]) from None


def _check_space(folder: str, missing: Sequence[Input]) -> None:
    needed = sum(one.size for one in missing)
    space = os.statvfs(folder)
    free = space.f_bavail * space.f_frsize
    if needed > free:
        message = f"needs {downloads.shown_size(needed)}, and {downloads.shown_size(free)} are free"
        fix = "free some space, or use a folder on another disk"
        raise SpecError([Problem("lock.unwritable_folder", "folder", message, value=folder, fix=fix)])


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Make the folder, and wait for other runs that fill it."""
    os.makedirs(folder, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Some network file systems have no locks.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _on_disk(folder: str) -> Iterator[None]:
    """Turn an error of the file system into C(SpecError)."""
    try:
        yield
    except OSError as error:
        failure = downloads.write_failure(error)
        raise SpecError([Problem(failure.rule, "folder", failure.message, value=folder, fix=failure.fix)]) from None


def _replace(path: str, content: bytes) -> None:
    temporary = f"{path}.part"
    with open(temporary, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


def _read(path: str, option: str) -> bytes:
    content = read(path)
    if content is None:
        message = f"cannot be read: there is no readable file {os.path.abspath(path)}"
        fix = "make the lock (tasks_from: lock), or correct the path"
        raise SpecError([Problem("input.unreadable_file", option, message, value=path, fix=fix)])
    return content
