# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a node, reached so that nobody but root can lead us elsewhere: standard library, Python 3.7 and newer.

A path is walked component by component from C(/), each folder opened relative to the one before and never through a symbolic link.
Every folder on the way must belong to root (or to the user who runs this) and must not be writable by others; a folder with the
sticky bit, such as C(/tmp), may be passed through but holds no target. What is read or replaced must be a regular file.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from contextlib import contextmanager, suppress
from typing import Callable, NamedTuple, Optional

from .errors import ApplyRefused

# While a change is prepared, its parts lie beside the target under names that no C(*.conf), C(*.toml) or C(*.json) matches.
_NEW = ".{}.nodebootstrap-new"
_OLD = ".{}.nodebootstrap-old"

_LABEL = "security.selinux"
_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS
_IMMUTABLE, _APPEND_ONLY = 0x10, 0x20
_CHUNK = 1 << 20


class Current(NamedTuple):
    """What a file is now. C(mode) holds the permission bits, such as 0o644."""

    content: bytes
    mode: int
    uid: int
    gid: int


Reader = Callable[[str], Optional[Current]]
"""Reads the file at a path, such as C(read)."""


class Change(NamedTuple):
    """What a file shall be. C(content) None removes it. C(label) is an SELinux context; None keeps the one of the file that is replaced."""

    path: str
    content: bytes | None
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    label: str | None = None


def staged(path):
    """Where the new content of C(path) lies until the switch."""
    folder, name = os.path.split(path)
    return os.path.join(folder, _NEW.format(name))


def kept(path):
    """Where the old content of C(path) lies until the end."""
    folder, name = os.path.split(path)
    return os.path.join(folder, _OLD.format(name))


def check(path):
    """ApplyRefused unless C(path) is absolute, in its shortest spelling, and free of control characters."""
    if not isinstance(path, str) or any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise ApplyRefused(f"{path!a} holds a control character: no path of a node has one")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ApplyRefused(f"{path!a} cannot be written as a file name") from None
    if not path.startswith("/") or path == "/" or os.path.normpath(path) != path or path.startswith("//"):
        raise ApplyRefused(f"{path} is not an absolute path in its shortest spelling")
    if any(len(os.fsencode(_NEW.format(name))) > 255 for name in path.split("/")):
        raise ApplyRefused(f"{path} has a name that is too long: there must be room for {_NEW.format('')[1:]!r} behind it")


def read(path):
    """What lies at C(path): C(Current), or None where there is nothing (nor the folder). Raises ApplyRefused."""
    with folder_of(path) as (folder, name):
        if folder is None:
            return None
        handle = _open_regular(folder, name, path)
        if handle is None:
            return None
        try:
            found = os.fstat(handle)
            return Current(_whole(handle), stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid)
        finally:
            os.close(handle)


def exists(path):
    """Whether a regular file lies at C(path) that may be replaced; ApplyRefused where something else does, or where it is immutable."""
    with folder_of(path) as (folder, name):
        if folder is None:
            return False
        handle = _open_regular(folder, name, path)
        if handle is None:
            return False
        try:
            _not_immutable(handle, path)
        finally:
            os.close(handle)
        return True


@contextmanager
def folder_of(path):
    """(descriptor of the folder that holds C(path), last component); (None, name) where the folder does not exist.

    What the system refuses inside the block (a full disk, a read-only file system) becomes ApplyRefused with the path and the reason.
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


def open_folder(path, holds_target=False):
    """A descriptor of the folder C(path), None where it does not exist. Raises ApplyRefused for a path that others could redirect."""
    handle = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walked = ""
    try:
        for name in path.strip("/").split("/") if path != "/" else ():
            _trusted(handle, walked or "/", False)
            walked += "/" + name
            below = _open_below(handle, name, walked)
            os.close(handle)
            handle = below
            if handle is None:
                return None
        _trusted(handle, walked or "/", holds_target)
        result, handle = handle, None
        return result
    finally:
        if handle is not None:
            os.close(handle)


def check_program(path):
    """ApplyRefused when others than root could exchange the program at the absolute C(path), wherever links lead."""
    handle = open_folder(os.path.realpath(os.path.dirname(path)), holds_target=True)
    if handle is not None:
        os.close(handle)


def missing_folders(path):
    """The folders on the way to the folder C(path), itself included, that do not exist yet, topmost first. Raises ApplyRefused."""
    missing = []
    while path != "/":
        handle = open_folder(path)
        if handle is not None:
            os.close(handle)
            break
        missing.insert(0, path)
        path = os.path.dirname(path)
    return missing


def make_folder(path, mode):
    """Make one folder, its parent exists; owner root and C(mode) whatever the umask. Synced by C(sync_folder) of the parent."""
    with folder_of(path) as (parent, name):
        if parent is None:
            raise ApplyRefused(f"{os.path.dirname(path)} vanished while it was in use")
        # In one step: a chmod afterwards could be the step that never comes.
        umask = os.umask(0)
        try:
            os.mkdir(name, mode, dir_fd=parent)
        finally:
            os.umask(umask)


def sync_folder(path):
    """Make the names in a folder durable."""
    handle = open_folder(path)
    if handle is None:
        raise ApplyRefused(f"{path} vanished while it was in use")
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_beside(change):
    """Write the new content of a change to its staged name, whole and synced, the target untouched."""
    with folder_of(change.path) as (folder, name):
        if folder is None:
            raise ApplyRefused(f"{os.path.dirname(change.path)} vanished while it was in use")
        label = change.label.encode() if change.label else _label_of(folder, name)
        write_at(folder, _NEW.format(name), change.content, change.mode, change.uid, change.gid, label, change.label is not None)


def keep_beside(path):
    """Keep the file at C(path) under its kept name too: the same inode, or a copy where the file system refuses hard links."""
    with folder_of(path) as (folder, name):
        if folder is None:
            raise ApplyRefused(f"{os.path.dirname(path)} vanished while it was in use")
        old = _OLD.format(name)
        remove(folder, old)
        try:
            os.link(name, old, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV):
                raise
            _copy(folder, name, old, path)


def copy_beside(path):
    """Copy the file at C(path) to its kept name: for files that a program of the image edits in place."""
    with folder_of(path) as (folder, name):
        if folder is None:
            raise ApplyRefused(f"{os.path.dirname(path)} vanished while it was in use")
        _copy(folder, name, _OLD.format(name), path)


def remove_beside(path):
    """Remove what an interrupted run without a journal left at the kept name of C(path)."""
    with folder_of(path) as (folder, name):
        if folder is not None:
            remove(folder, _OLD.format(name))


def write_at(folder, name, content, mode, uid, gid, label=None, insist=False):
    """A new file in an open folder: private while it grows, then owner, mode and label, then synced. C(insist): no label is an error."""
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


def _open_below(folder, name, walked):
    """The folder C(name) inside an open folder; None where there is nothing."""
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise ApplyRefused(f"{walked}: {error.strerror}") from error
    kind = "a symbolic link" if _is_link(folder, name) else "not a folder"
    raise ApplyRefused(f"{walked} is {kind}: paths of a node must lead through real folders only")


def _trusted(handle, path, holds_target):
    found = os.fstat(handle)
    if found.st_uid not in (0, os.geteuid()):
        raise ApplyRefused(f"{path} belongs to user {found.st_uid}, not to root: whoever owns a folder can exchange what lies in it")
    shared = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid not in (0, os.getegid()))
    if shared and (holds_target or not found.st_mode & stat.S_ISVTX):
        raise ApplyRefused(f"{path} is writable by others than root (mode {stat.S_IMODE(found.st_mode):04o}): chmod go-w {path}")


def _open_regular(folder, name, path):
    """A descriptor of the regular file C(name), None where there is nothing; ApplyRefused for everything else."""
    try:
        # Without O_NONBLOCK a named pipe would wait for a writer.
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
        kind = "a folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "not a regular file"
        os.close(handle)
        raise ApplyRefused(f"{path} is {kind}: only regular files are written and replaced")
    return handle


def _not_immutable(handle, path):
    try:
        (flags,) = struct.unpack("l", fcntl.ioctl(handle, _GET_FLAGS, struct.pack("l", 0)))
    except OSError:
        return  # the file system has no such flags
    if flags & (_IMMUTABLE | _APPEND_ONLY):
        letter = "i" if flags & _IMMUTABLE else "a"
        raise ApplyRefused(f"{path} is protected by a file attribute: chattr -{letter} {path}")


def _is_link(folder, name):
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    except OSError:
        return False


def _whole(handle):
    parts = []
    while True:
        part = os.read(handle, _CHUNK)
        if not part:
            return b"".join(parts)
        parts.append(part)


def remove(folder, name):
    """Remove a name from an open folder, if it is there."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _copy(folder, name, new, path):
    """A copy beside the file: content, owner, mode, label and times."""
    handle = _open_regular(folder, name, path)
    if handle is None:
        raise ApplyRefused(f"{path} vanished while it was in use")
    try:
        found = os.fstat(handle)
        label = _label_of(folder, name)
        write_at(folder, new, _whole(handle), stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, label)
        os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns), dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(handle)


def _label_of(folder, name):
    """The SELinux context of a file as bytes, None where there is no file or no SELinux."""
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


def _set_label(handle, label, insist):
    try:
        os.setxattr(handle, _LABEL, label)
    except OSError as error:
        # A file system without labels: there is nothing to keep.
        if insist and error.errno not in (errno.EOPNOTSUPP, errno.ENOSYS):
            raise
