# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(commands.post) on Linux: a unit that waits for kubelet, or for a Node that is Ready, and runs the commands.

The unit blocks nothing: nothing requires it, and it is started without waiting for it. The programs that wait use bash, curl and coreutils
only, because the minimal images have neither jq nor kubectl nor Python. They are processes of their own, so that options and functions of
the commands, which share one shell, do not change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ..errors import Problems
from ..formats import shell, systemd
from ..model.spec import PostCommand
from .cloud_init import script_line, with_newline
from .model import File

UNIT = "nodebootstrap-post.service"
SCRIPT = "/etc/nodebootstrap/post-commands"
WAIT_UNTIL_HEALTHY = "/etc/nodebootstrap/wait-until-healthy"
WAIT_UNTIL_READY = "/etc/nodebootstrap/wait-until-ready"
UNIT_FILE = f"/etc/systemd/system/{UNIT}"
FILES = (SCRIPT, WAIT_UNTIL_HEALTHY, WAIT_UNTIL_READY, UNIT_FILE)
"""Every file that C(files) may return."""

HEALTHY_PROGRAM = r"""#!/bin/bash
# Waits until kubelet is healthy: wait-until-healthy SECONDS URL
end=$((SECONDS + $1))
while ((SECONDS < end)); do
  reason=$(curl -qsSfg -m 2 --noproxy '*' -o /dev/null "$2" 2>&1) && exit
  sleep 1
done
echo "commands.post: kubelet was not healthy within $1 s: $2: ${reason%%$'\n'*}" >&2
exit 1
"""

READY_PROGRAM = r"""#!/bin/bash
# Waits until the Node of this machine is Ready: wait-until-ready SECONDS UNIT
# It asks the API server with the kubeconfig of the kubelet that the unit runs.

# The value of a flag of kubelet; the last one counts.
flag() {
  local index value=
  for index in "${!words[@]}"; do
    case ${words[index]} in
      "--$1="*) value=${words[index]#*=} ;;
      "--$1") value=${words[index + 1]} ;;
    esac
  done
  printf %s "$value"
}

# The text of a YAML scalar.
scalar() {
  local text=${1#"${1%%[![:space:]]*}"}
  text=${text%"${text##*[![:space:]]}"}
  case $text in \"*\" | \'*\') text=${text:1:${#text}-2} ;; esac
  printf %s "$text"
}

# Reads the fields of a kubeconfig with one cluster and one user.
read_kubeconfig() {
  local line value item items in_args=
  server='' authority='' certificate='' key='' program='' arguments=()
  while IFS= read -r line || [[ $line ]]; do
    if [[ $line =~ $field ]]; then
      in_args='' value=$(scalar "${BASH_REMATCH[4]}")
      case ${BASH_REMATCH[2]} in
        server) server=$value ;;
        certificate-authority) authority=$value ;;
        client-certificate) certificate=$value ;;
        client-key) key=$value ;;
        command) program=$value ;;
        args)
          in_args=1
          IFS=, read -ra items <<<"${value//[][]/}"
          for item in "${items[@]}"; do arguments+=("$(scalar "$item")"); done
          ;;
      esac
    elif [[ $in_args && $line =~ $list_item ]]; then
      arguments+=("$(scalar "${BASH_REMATCH[1]}")")
    fi
  done <"$1"
}

is_ready() {
  local words=() environment=() credentials=() pid file name url item answer header=''
  pid=$(systemctl show -p MainPID "$unit")
  pid=${pid#MainPID=}
  reason="$unit does not run"
  [[ $pid != 0 && -r /proc/$pid/cmdline ]] || return
  while IFS= read -r -d '' item; do words+=("$item"); done <"/proc/$pid/cmdline"
  while IFS= read -r -d '' item; do environment+=("$item"); done <"/proc/$pid/environ"
  file=$(flag kubeconfig)
  reason="the kubeconfig of kubelet (${file:-none}) does not exist"
  [[ -r $file ]] || return
  read_kubeconfig "$file"
  reason="$file contains neither a client certificate nor a program"
  if [[ $certificate ]]; then
    credentials=(--cert "$certificate" --key "${key:-$certificate}")
  elif [[ $program ]]; then
    answer=$(env -i "${environment[@]}" timeout 15 "$program" "${arguments[@]}" </dev/null 2>&1)
    if [[ ! $answer =~ $token ]]; then
      reason="$program prints no token: ${answer##*$'\n'}"
      return 1
    fi
    header="header = \"Authorization: Bearer ${BASH_REMATCH[1]}\""
  else
    return 1
  fi
  name=$(flag hostname-override)
  name=${name:-$(uname -n)}
  url=${server%/}/api/v1/nodes/${name,,}
  # curl reads the token from its input, because other users can see its arguments. For curl, the API server indents its answer by default.
  if ! answer=$(printf '%s\n' "$header" | curl -qsSfg -m 10 --noproxy '*' -K - --cacert "$authority" "${credentials[@]}" \
    "$url?resourceVersion=0&pretty=false" 2>&1); then
    reason="$url: ${answer%%$'\n'*}"
    return 1
  fi
  # An instance can have the name of an earlier one, whose Node may still be Ready.
  reason="$url: kubelet has not reported since this machine booted"
  [[ $answer == *"\"bootID\":\"$(</proc/sys/kernel/random/boot_id)\""* ]] || return
  [[ $answer == *'"type":"Ready","status":"True"'* ]] && return
  answer=${answer#*'"type":"Ready",'}
  reason="$url: ${answer%%\}*}"
  return 1
}

field='^[[:space:]]*(-[[:space:]]+)?([a-z-]+):([[:space:]]+(.*))?$'
list_item='^[[:space:]]*-[[:space:]]+(.*)$'
token='"token":[[:space:]]*"([^"\]+)"'
unit=$2 end=$((SECONDS + $1))
while ((SECONDS < end)); do
  is_ready && exit
  sleep 1
done
echo "commands.post: the Node was not Ready within $1 s: $reason" >&2
exit 1
"""


def check(commands: Sequence[PostCommand], health: str | None, problems: Problems) -> None:
    """Report commands that wait for the health check of a kubelet that has none."""
    if health is None and any(command.when == "healthy" for command in commands):
        problems.add(
            "commands.no_health_check",
            "node_group.commands.post",
            "waits for kubelet's health, and kubelet's healthz port is 0",
            fix="set another port, write the commands with when: ready, or remove commands.post",
        )


def files(commands: Sequence[PostCommand], after: Iterable[str], kubelet_unit: str, health: str | None) -> tuple[File, ...]:
    """A oneshot unit, ordered after the units of C(after), its script, and the programs that wait; nothing without commands.

    kubelet_unit: the unit that runs kubelet. health: the URL of the health check of kubelet, None without one.
    """
    if not commands or (any(command.when == "healthy" for command in commands) and health is None):
        return ()
    states = {command.when for command in commands}
    unit = systemd.unit(
        {
            "Unit": [("Description", "Commands after kubelet is up (nodebootstrap.eks)"), ("After", " ".join(after))],
            "Service": [("Type", "oneshot"), ("RemainAfterExit", "yes"), ("ExecStart", SCRIPT)],
        }
    )
    programs = (File(WAIT_UNTIL_HEALTHY, HEALTHY_PROGRAM, "0755"), File(WAIT_UNTIL_READY, READY_PROGRAM, "0755"))
    return (
        File(SCRIPT, "#!/bin/bash\nset -e\n" + "".join(_lines(commands, kubelet_unit, str(health))), mode="0755"),
        *(program for state, program in zip(("healthy", "ready"), programs, strict=True) if state in states),
        File(UNIT_FILE, unit),
    )


def _lines(commands: Sequence[PostCommand], kubelet_unit: str, health: str) -> Iterator[str]:
    """Commands that follow each other and wait for the same thing wait once."""
    numbered = enumerate(commands, 1)
    for (when, timeout), group in groupby(numbered, key=lambda pair: (pair[1].when, pair[1].timeout)):
        words = (WAIT_UNTIL_HEALTHY, timeout, health) if when == "healthy" else (WAIT_UNTIL_READY, timeout, kubelet_unit)
        # A command may have turned set -e off.
        yield f"{shell.command([str(word) for word in words])} || exit\n"
        for number, command in group:
            yield script_line(f"post-{number}", command.run) if command.run.startswith("#!") else with_newline(command.run)
