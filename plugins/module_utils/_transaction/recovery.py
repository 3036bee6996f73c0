# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operation lists of a transaction, the program that works on them, and the unit that runs it at boot.

A list is a file. Each line is an operation, and each field of it ends with US (octal 037), which a shell splits without eval. A line break
inside a field is written as RS (octal 036). The first line names the format, the last one shows that the list is complete.

Program and unit are installed as C(recover) in the state directory and as C(nodebootstrap-recover.service). The program needs a POSIX
shell and coreutils only: at boot there may be no Python.
"""

from __future__ import annotations

import os
from typing import Iterable, NamedTuple, Tuple

US, RS = "\x1f", "\x1e"

FORMAT = "1"
"""A recover program rejects lists of another format."""

Operation = Tuple[str, ...]
"""The name of an operation and its operands."""


class Command(NamedTuple):
    """A program to run without a shell. C(argv): its words; the first is an absolute path, or is found in PATH.

    C(service): a systemctl call that waits. The recovery at boot adds --no-block, because systemd waits for the recovery.
    C(optional): a failure is ignored. C(unless_boot): the recovery at boot skips it.
    C(undo_at_boot): it cannot run during boot (it waits for units or for the network), so the recovery at boot undoes the transaction
    instead of finishing it. It has no meaning for commands that undo.
    """

    argv: Tuple[str, ...]
    service: bool = False
    optional: bool = False
    unless_boot: bool = False
    undo_at_boot: bool = False

    def __str__(self) -> str:
        return " ".join(self.argv)


def flags(command: Command) -> str:
    """The field that says how to run a command."""
    return ("s" if command.service else "") + ("o" if command.optional else "") + ("b" if command.unless_boot else "")


def run(number: int, command: Command) -> Operation:
    """The operation that runs a command. C(number): identifies the command in reports."""
    return ("run", flags(command), str(number), *command.argv)


def check(command: Command) -> None:
    """Raise ValueError for a command that cannot be written. This is a programming error, which users do not see."""
    words = command.argv
    if not words or not all(isinstance(word, str) for word in words) or not words[0]:
        raise ValueError(f"not a command: {words!r}")
    if any(character in word for word in words for character in (US, RS, "\0")):
        raise ValueError(f"a word of the command {words[0]} contains a separator or NUL")


def encode(operations: Iterable[Operation]) -> bytes:
    """The bytes of a list."""
    lines = [("nodebootstrap", FORMAT), *operations, ("end",)]
    return b"".join(os.fsencode("".join(_field(field) for field in line)) + b"\n" for line in lines)


def _field(text: str) -> str:
    return text.replace("\n", RS) + US


UNIT_NAME = "nodebootstrap-recover.service"

BEFORE = ("containerd.service", "nodeadm-config.service", "nodeadm-run.service", "kubelet.service", "snap.kubelet-eks.daemon.service")
"""Units that start only after a successful recovery."""

PROGRAM = r"""#!/bin/sh
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Finishes or undoes an interrupted change of this node's configuration, all of it. By hand: sh THIS_FILE boot
#   boot         takes the lock itself and starts units without waiting for them
#   live [undo]  called by an apply: stdin is the locked state folder, stderr the locked transaction; undo: do not finish
# Status: 0 finished (or, at boot, undone), 3 undone, 4 neither.
# It writes no data, so a full disk cannot stop it. Every operation can be repeated, so it can be killed at any point.
set -uf
mode=${1:-boot}
requested=${2:-}
store=${0%/*}
work=$store/transaction
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin
HOME=/root
LC_ALL=C
export PATH HOME LC_ALL
umask 022

# Prints one line in one write: fields for an apply, words for the journal.
say() {
  if [ "$mode" = live ]; then
    text=$US
    for field; do
      text=$text$field$US
    done
  else
    text="nodebootstrap-recover: $*"
  fi
  printf '%s\n' "$text"
}

# stuck REASON: neither finished nor undone; units that require this one stay down.
stuck() {
  say stuck "$1"
  exit 4
}

# Syncs files and folders to disk. An old sync takes no operands and syncs everything.
sync_paths() {
  for path; do
    shift
    [ ! -e "$path" ] || set -- "$@" "$path"
  done
  [ $# -eq 0 ] || sync -- "$@" || sync
  return 0
}

# Whether two names are one file. Not POSIX, but dash, bash and busybox support it.
same_file() {
  # shellcheck disable=SC3013
  [ "$1" -ef "$2" ]
}

# If NEW is missing, this step was done before, unless the target is still the old file: then another program removed NEW.
put() { # NEW TARGET [OLD]
  if [ -f "$1" ]; then
    [ ! -d "$2" ] && mv -f -- "$1" "$2"
  else
    [ -f "$2" ] && ! same_file "${3:-}" "$2"
  fi
}

away() { # TARGET OLD
  [ ! -f "$1" ] || mv -f -- "$1" "$2"
}

# If NEW still exists, the target was never changed. mv refuses to rename a file to itself.
restore() { # OLD TARGET [NEW]
  if [ -n "${3:-}" ] && [ -f "$3" ]; then
    rm -f -- "$1" && rm -f -- "$3"
  elif same_file "$1" "$2"; then
    rm -f -- "$1"
  elif [ -f "$1" ]; then
    [ ! -d "$2" ] && mv -f -- "$1" "$2"
  fi
}

erase() { # TARGET [NEW]
  if [ -n "${2:-}" ] && [ -f "$2" ]; then
    rm -f -- "$2"
  else
    rm -f -- "$1"
  fi
}

# Removes the folder if it is empty.
leave() { # FOLDER
  [ ! -d "$1" ] || rmdir -- "$1" 2>/dev/null || :
}

run() { # FLAGS NUMBER WORD...
  flags=$1
  number=$2
  shift 2
  left=$#
  while [ "$left" -gt 0 ]; do
    word=
    rest=$1
    shift
    while :; do
      case $rest in
        *"$RS"*)
          word=$word${rest%%"$RS"*}$NL
          rest=${rest#*"$RS"}
          ;;
        *) break ;;
      esac
    done
    set -- "$@" "$word$rest"
    left=$((left - 1))
  done
  if [ "$mode" = boot ]; then
    case $flags in
      *b*) return 0 ;;
      *s*)
        word=$1
        shift
        set -- "$word" --no-block "$@"
        ;;
      # A command that waits for a unit that waits for this one would never end.
      *) set -- timeout 120 "$@" ;;
    esac
    say running "$*"
  else
    say run "$number"
  fi
  # Close our descriptors: a program that keeps running would keep the lock.
  "$@" </dev/null 8<&- 9<&-
  status=$?
  [ "$status" -ne 0 ] || return 0
  say failed "$number" "$status"
  case $flags in *o*) return 0 ;; esac
  return 1
}

operate() { # OPERATION FIELD...
  IFS=' '
  operation=$1
  shift
  case $operation in
    put) put "$@" ;;
    away) away "$@" ;;
    restore) restore "$@" ;;
    erase) erase "$@" ;;
    leave) leave "$1" ;;
    run) run "$@" ;;
    drop) rm -f -- "$@" ;;
    sync) sync_paths "$@" ;;
    # All files are complete: units that wait for this can start.
    switched) exec 8<&- ;;
    *) stuck "unknown operation $operation in $work" ;;
  esac
}

# run_list LIST: if the list is complete, and in the format of this program, runs its operations in order, until one fails.
run_list() {
  list=$work/$1
  [ -f "$list" ] || return 1
  # Some shells read a file byte by byte, so it is read only once.
  lines=
  while IFS= read -r line; do
    lines=$lines$line$NL
  done <"$list"
  case $lines in
    "nodebootstrap${US}1$US$NL"*) ;;
    "nodebootstrap$US"*) stuck "$list was written by another version of nodebootstrap.eks: run that one to finish" ;;
    *) lines= ;;
  esac
  case $lines in
    *"${NL}end$US$NL") ;;
    *)
      say broken list "$list"
      return 1
      ;;
  esac
  IFS=$NL
  # shellcheck disable=SC2086 # the split into lines; set -f keeps globs out
  set -- $lines
  shift
  for line; do
    [ "$line" != "end$US" ] || break
    IFS=$US
    # shellcheck disable=SC2086 # the split into fields
    operate $line && continue
    IFS=$US
    # shellcheck disable=SC2086
    set -- $line
    IFS=' '
    [ "$1" = run ] || say broken "$@"
    return 1
  done
}

begin_undo() {
  # As before the switch: units that start now wait until the files are complete.
  exec 8<"$work"
  flock -w 10 8 || :
  mv -f -- "$work/back.ready" "$work/back" || stuck "$work/back.ready cannot be renamed"
  sync_paths "$work"
}

# Renaming removes the folder in one step; an incomplete removal after that does no harm.
end_as() { # OUTCOME
  mv -f -- "$work" "$work.done" || stuck "$work cannot be renamed"
  sync_paths "$store"
  rm -rf -- "$work.done"
  say "$1"
  [ "$1" = finished ] || [ "$mode" = boot ] || exit 3
  exit 0
}

if [ "$mode" = live ]; then
  exec 9<&0 8<&2 </dev/null 2>&1
  # The work continues if the connection drops. Signals are caught, not ignored, so that started programs get the default.
  trap : HUP INT TERM PIPE
else
  [ -d "$work" ] || [ -d "$work.done" ] || exit 0
  exec 9<"$store"
  if ! flock -n 9; then
    # An apply is running. It probably starts the unit that waits for this one, so succeed as soon as the files are complete.
    (exec 8<"$work" && flock -w 60 8) || [ ! -d "$work" ]
    exit
  fi
fi

US=$(printf '\037')
RS=$(printf '\036')
NL='
'
[ ! -e "$work.done" ] || rm -rf -- "$work.done"
[ -d "$work" ] || exit 0
if [ -f "$work/forward" ] && [ ! -f "$work/back" ]; then
  if [ "$requested" = undo ] || { [ "$mode" = boot ] && [ -f "$work/undo-at-boot" ]; }; then
    begin_undo
  elif ! run_list forward; then
    begin_undo
  else
    # From here on the change cannot be undone, because the old files are removed.
    mv -f -- "$work/forward" "$work/done" || stuck "$work/forward cannot be renamed"
    sync_paths "$work"
  fi
fi
if [ -f "$work/back" ]; then
  run_list back || stuck "the old state could not be restored"
  end_as undone
elif [ -f "$work/done" ]; then
  run_list finish || stuck "the new state is in place, but the remains of the old one could not be removed"
  end_as finished
elif [ -f "$work/abort" ] && ! run_list abort; then
  # Nothing was switched yet: the node is unchanged and can start.
  [ "$mode" = live ] || exit 0
  stuck "the prepared files could not be removed"
fi
end_as undone
"""

UNIT = """# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

[Unit]
Description=Finish or undo an interrupted change of the node's configuration
ConditionPathExistsGlob={store}/transaction*
DefaultDependencies=no
RequiresMountsFor={store} /etc
After=local-fs.target snapd.service
Before={before}
Conflicts=shutdown.target
Before=shutdown.target
# Units that require this one would stop with it.
RefuseManualStop=yes
# Every start of such a unit counts as a start of this one. If kubelet crashes often, that must not exhaust a limit.
StartLimitIntervalSec=0

[Service]
Type=oneshot
# The same for systemd before 230.
StartLimitInterval=0
ExecStart=/bin/sh {store}/recover boot
TimeoutStartSec=15min
# Every start of a unit that requires this one runs it, which can be often while an apply is running. Old systemd has only this name.
StartLimitInterval=0

[Install]
RequiredBy={before}
"""


def unit(store: str) -> str:
    """The text of the unit for a state directory."""
    return UNIT.format(store=store, before=" ".join(BEFORE))
