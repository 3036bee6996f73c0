# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes files of a node on paths that only root can change. Standard library, Python 3.7 and newer.

A path is opened component by component from C(/), never through a symbolic link. Every directory on the way must belong to root (or to
the current user) and must not be writable by others. A directory with the sticky bit, such as C(/tmp), can be part of a path, but cannot
contain the file. Only regular files are read and replaced.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from contextlib import contextmanager, suppress
from typing import Callable, Iterator, NamedTuple, Optional

from .errors import ApplyRefused

# While a change is prepared, its files are next to the target, under names that *.conf, *.toml and *.json do not match.
_NEW = ".{}.nodebootstrap-new"
_OLD = ".{}.nodebootstrap-old"

_LABEL = "security.selinux"
_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_IMMUTABLE, _APPEND_ONLY = 0x10, 0x20
_CHUNK = 1 << 20


class Current(NamedTuple):
    """The current state of a file. C(mode): the permission bits, such as 0o644."""

    content: bytes
    mode: int
    uid: int
    gid: int


Reader = Callable[[str], Optional[Current]]
"""Reads the file at a path, such as C(read)."""


class Change(NamedTuple):
    """The new state of a file. C(content) None removes it. C(label): SELinux context, None to keep the one of the replaced file."""

    path: str
    content: bytes | None
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    label: str | None = None


def staged(path: str) -> str:
    """The path of the new content until the switch."""
    folder, name = os.path.split(path)
    return os.path.join(folder, _NEW.format(name))


def kept(path: str) -> str:
    """The path of the old content until the end of the transaction."""
    folder, name = os.path.split(path)
    return os.path.join(folder, _OLD.format(name))


def check(path: object) -> None:
    """Refuse a path that is not absolute, not in its shortest form, or contains control characters."""
    if not isinstance(path, str) or any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise ApplyRefused(f"{path!a} contains a control character, which no path of a node has")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ApplyRefused(f"{path!a} cannot be written as a file name") from None
    if not path.startswith("/") or path == "/" or os.path.normpath(path) != path or path.startswith("//"):
        raise ApplyRefused(f"{path} is not an absolute path in its shortest form")
    if any(len(os.fsencode(_NEW.format(name))) > 255 for name in path.split("/")):
        raise ApplyRefused(f"{path} has a name that is too long: it must leave room for {_NEW.format('')[1:]!r} behind it")


def read(path: str) -> Current | None:
    """The current state of the file at C(path), None when it or its directory does not exist. Raises ApplyRefused."""
    with _open_file(path) as handle:
        if handle is None:
            return None
        found = os.fstat(handle)
        return Current(_whole(handle), stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)


def exists(path: str) -> bool:
    """Whether there is a regular file at C(path). Raises ApplyRefused for anything else, and for an immutable file."""
    with _open_file(path) as handle:
        if handle is not None:
            _not_immutable(handle, path)
        return handle is not None


@contextmanager
def _open_file(path: str) -> Iterator[int | None]:
    """The descriptor of the regular file at C(path), None when it or its directory does not exist. Raises ApplyRefused."""
    with folder_of(path) as (folder, name):
        handle = None if folder is None else _open_regular(folder, name, path)
        try:
            yield handle
        finally:
            if handle is not None:
                os.close(handle)


@contextmanager
def folder_of(path: str) -> Iterator[tuple[int | None, str]]:
    """The descriptor of the directory of C(path), None when it does not exist, and the last component of C(path).

    An error of the system inside the block (a full disk, a read-only file system) becomes ApplyRefused with the path and the reason.
    """
    check(path)
    folder, name = os.path.split(path)
    handle = open_folder(folder, holds_target=True)
    try:
        yield handle, name
    except FileExistsError:
        raise
    except OSError as error:
        raise ApplyRefused(f"{path}: {error.strerror or error}") from error
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def existing_folder_of(path: str) -> Iterator[tuple[int, str]]:
    """The same for a directory that exists already. Raises ApplyRefused without it."""
    with folder_of(path) as (folder, name):
        if folder is None:
            raise ApplyRefused(f"{os.path.dirname(path)} was removed during the run")
        yield folder, name


def open_folder(path: str, holds_target: bool = False) -> int | None:
    """The descriptor of a directory, None when it does not exist. Raises ApplyRefused for a path that others can change."""
    handle = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walked, is_found = "", False
    try:
        for name in path.strip("/").split("/") if path != "/" else ():
            _trusted(handle, walked or "/", False)
            walked += "/" + name
            below = _open_below(handle, name, walked)
            if below is None:
                return None
            os.close(handle)
            handle = below
        _trusted(handle, walked or "/", holds_target)
        is_found = True
        return handle
    finally:
        if not is_found:
            os.close(handle)


def check_program(path: str) -> None:
    """Refuse a program that users other than root can replace. Links in its directory are followed."""
    handle = open_folder(os.path.realpath(os.path.dirname(path)), holds_target=True)
    if handle is not None:
        os.close(handle)


def missing_folders(path: str) -> list[str]:
    """The directories that must be made so that the directory C(path) exists, topmost first. Raises ApplyRefused."""
    missing: list[str] = []
    while path != "/":
        handle = open_folder(path)
        if handle is not None:
            os.close(handle)
            break
        missing.insert(0, path)
        path = os.path.dirname(path)
    return missing


def make_folder(path: str, mode: int) -> None:
    """Make a directory with C(mode), whatever the umask. Its parent exists; call C(sync_folder) for the parent afterwards."""
    with existing_folder_of(path) as (parent, name):
        # In one step: a crash could come before a chmod.
        umask = os.umask(0)
        try:
            os.mkdir(name, mode, dir_fd=parent)
        finally:
            os.umask(umask)


def sync_folder(path: str) -> None:
    """Make the names in a directory durable."""
    handle = open_folder(path)
    if handle is None:
        raise ApplyRefused(f"{path} was removed during the run")
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_beside(change: Change) -> None:
    """Write the new content of a change to its staged path and sync it. The target does not change."""
    if change.content is None:
        raise ValueError(f"{change.path} is removed, so it has no content to write")
    with existing_folder_of(change.path) as (folder, name):
        label = change.label.encode() if change.label else _label_of(folder, name)
        write_at(folder, _NEW.format(name), change.content, change.mode, change.uid, change.gid, label, change.label is not None)


def keep_beside(path: str) -> None:
    """Give the file at C(path) its kept path, too: a hard link, or a copy if the file system has no hard links."""
    with existing_folder_of(path) as (folder, name):
        old = _OLD.format(name)
        remove(folder, old)
        try:
            os.link(name, old, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV):
                raise
            _copy(folder, name, old, path)


def copy_beside(path: str) -> None:
    """Copy the file at C(path) to its kept path, for files that a program of the image edits in place."""
    with existing_folder_of(path) as (folder, name):
        _copy(folder, name, _OLD.format(name), path)


def remove_beside(path: str) -> None:
    """Remove the kept file of C(path), which an interrupted run may have left."""
    with folder_of(path) as (folder, name):
        if folder is not None:
            remove(folder, _OLD.format(name))


def write_at(
    folder: int, name: str, content: bytes, mode: int, uid: int, gid: int, label: bytes | None = None, insist: bool = False
) -> None:
    """Write a new file in an open directory. It stays private until it has its owner, mode and label. C(insist): the label is required."""
    remove(folder, name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(handle, view) :]
        os.fchown(handle, uid, gid)
        os.fchmod(handle, mode)
        if label is not None:
            _set_label(handle, label, insist)
        os.fsync(handle)
    finally:
        os.close(handle)


def _open_below(folder: int, name: str, walked: str) -> int | None:
    """The directory C(name) inside an open directory, None when it does not exist."""
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise ApplyRefused(f"{walked}: {error.strerror}") from error
    kind = "a symbolic link" if _is_link(folder, name) else "not a directory"
    raise ApplyRefused(f"{walked} is {kind}: every part of the path must be a directory")


def _trusted(handle: int, path: str, holds_target: bool) -> None:
    found = os.fstat(handle)
    if found.st_uid not in (0, os.geteuid()):
        raise ApplyRefused(f"{path} belongs to user {found.st_uid}, not to root: the owner of a directory can replace its files")
    shared = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid not in (0, os.getegid()))
    if shared and (holds_target or not found.st_mode & stat.S_ISVTX):
        raise ApplyRefused(f"{path} is writable by users other than root (mode {stat.S_IMODE(found.st_mode):04o}): chmod go-w {path}")


def _open_regular(folder: int, name: str, path: str) -> int | None:
    """The descriptor of a regular file, None when it does not exist. Raises ApplyRefused for anything else."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for a writer.
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ApplyRefused(
                f"{path} is a symbolic link: it is neither followed nor replaced. Remove it or move its target here"
            ) from None
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise ApplyRefused(f"{path} is not a regular file") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        kind = "a directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "not a regular file"
        os.close(handle)
        raise ApplyRefused(f"{path} is {kind}: only regular files are written and replaced")
    return handle


def _not_immutable(handle: int, path: str) -> None:
    try:
        (flags,) = struct.unpack("l", fcntl.ioctl(handle, _GET_FLAGS, struct.pack("l", 0)))
    except OSError:
        return  # the file system does not have these flags
    if flags & (_IMMUTABLE | _APPEND_ONLY):
        letter = "i" if flags & _IMMUTABLE else "a"
        raise ApplyRefused(f"{path} is protected by a file attribute: chattr -{letter} {path}")


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    except OSError:
        return False


def _whole(handle: int) -> bytes:
    parts: list[bytes] = []
    while True:
        part = os.read(handle, _CHUNK)
        if not part:
            return b"".join(parts)
        parts.append(part)


def remove(folder: int, name: str) -> None:
    """Remove a name from an open directory, if it exists."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _copy(folder: int, name: str, new: str, path: str) -> None:
    """Copy a file in its directory: content, owner, mode, label and times."""
    handle = _open_regular(folder, name, path)
    if handle is None:
        raise ApplyRefused(f"{path} was removed during the run")
    try:
        found = os.fstat(handle)
        label = _label_of(folder, name)
        write_at(folder, new, _whole(handle), stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, label)
        os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(handle)


def _label_of(folder: int, name: str) -> bytes | None:
    """The SELinux context of a file, None without the file or without SELinux."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        return os.getxattr(handle, _LABEL)
    except OSError:
        return None
    finally:
        os.close(handle)


def _set_label(handle: int, label: bytes, insist: bool) -> None:
    try:
        os.setxattr(handle, _LABEL, label)
    except OSError as error:
        # A file system without labels cannot keep one.
        if insist and error.errno not in (errno.EOPNOTSUPP, errno.ENOSYS):
            raise
