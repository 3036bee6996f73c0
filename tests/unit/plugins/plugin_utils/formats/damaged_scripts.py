# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged scripts, what real bash does with them, and what the reader says.

Each text is a file that a bash of its own runs, because bash reads a file in another way than the argument of C(eval). Its environment and
PATH are empty, and so is its directory. C(/etc/eks/bootstrap.sh) is a function that records its arguments.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.bootstrap_calls import SCRIPT
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.shell_reader import Command
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.formats.shell_scripts import BASH, SECONDS, matches

SCRIPTS = {
    "variables": r"""#!/bin/bash
set -ex
CLUSTER=shop
ENDPOINT="https://0123.gr7.eu-west-1.eks.amazonaws.com"
CA='LS0tLS1CRUdJTg=='
export LABELS=team=web,tier=front  # of the group
mkdir -p /opt/shop && systemctl enable --now shop; A=1
/etc/eks/bootstrap.sh "$CLUSTER" --apiserver-endpoint ${ENDPOINT} \
  --b64-cluster-ca "$CA" --use-max-pods false \
  --kubelet-extra-args "--node-labels=$LABELS --max-pods=${PODS:-58}" >join.log 2>&1 || A=2
/etc/eks/bootstrap.sh again $A
""",
    "here-documents": r"""#!/bin/bash
NAME=shop
cat <<EOF >app.conf
name=$NAME it's "open
/etc/eks/bootstrap.sh in-document
EOF
cat <<-'END' | tee b.conf
	{"a": "$NAME"}
	END
/etc/eks/bootstrap.sh $NAME --x 1
read -r -d '' TEXT <<"E F"
a \
b
E F
/etc/eks/bootstrap.sh "$NAME" <<A --y <<B && mkdir c
1
A
2 `mkdir d`
B
/etc/eks/bootstrap.sh end <<<"$NAME"
""",
    "quotes": r"""#!/bin/bash
A='it'\''s "a"'; B="b \"$A\" \$c"
C=$'t\tx\'y' D=`mkdir "e"`
E="$(systemctl show "f g" | tee h)"
/etc/eks/bootstrap.sh "$A" "$B"x'y z' $C
F="${A#it}${G:-"k l"}" H=${#A}
/etc/eks/bootstrap.sh --kubelet-extra-args '--node-labels=a=b
--max-pods=20' "$F" \"m\ n\" "é$H" # it's a 'comment
N=$((1 + 2)) && ((N > 1)) && /etc/eks/bootstrap.sh o
echo {p,q} "`tee "r"`" \
  s
/etc/eks/bootstrap.sh "${B%%\"*}" t
""",
    "arrays": r"""#!/bin/bash
LABELS=(team=web 'tier=front end')
LABELS+=("zone=$ZONE" # of the subnet
  size=l)
ARGS=()
if [ -n "$GPU" ]; then
  ARGS+=(--x "1 2")
fi
for one in "${LABELS[@]}" z; do
  JOINED="$JOINED,$one"; mkdir "$one"
done
LABELS[0]=first
/etc/eks/bootstrap.sh shop "${LABELS[@]}" --y "${LABELS[*]}" ${#LABELS[@]}
while read -r line; do
  ARGS+=("$line")
done < <(systemctl list)
/etc/eks/bootstrap.sh "${ARGS[@]}" "${LABELS[1]}" end
""",
    "functions": r"""#!/bin/bash
set -o errexit
exec > >(tee boot.log) 2>&1
log() { echo "$(mkdir x): $*"; }
function join_node {
  local name=$1; shift
  /etc/eks/bootstrap.sh "$name" "$@" || { log "no"; exit 1; }
}
case "$TYPE" in
  g4*|p3) log gpu ;;
  *) SIZE=small ;;
esac
if [[ $TYPE =~ ^m5 ]]; then
  /etc/eks/bootstrap.sh m5
elif ! systemctl is-active x; then
  SIZE=large
else
  (mkdir a; false) | tee b &
fi
join_node shop --a 1 && log yes
until systemctl ready; do SIZE=z; break; done
trap 'log end' ERR
join_node "$SIZE" b
""",
    "windows lines": "#!/bin/bash\r\nNAME=shop\r\nif true; then\r\n  /etc/eks/bootstrap.sh \"$NAME\" \\\r\n    --a 1\r\nfi\r\n"
    "cat <<E >a\r\nx $NAME\r\nE\r\n/etc/eks/bootstrap.sh 'b\r\nc' $NAME\r\n",
}  # fmt: skip
"""By what they contain. None of them writes outside of the directory in which it runs."""
INPUTS = ("A", "B")
"""Files from which a damaged script may read, because the operator of a here-document lacks a character."""
_OUTSIDE = re.compile(rb">[>|&]?\s*[/~]")

_SIGNALS = 128
_PRELUDE = f"""
{SCRIPT}() {{ builtin printf '%s\\0' "$#" "$@" >&7; }}
mkdir() {{ :; }}
systemctl() {{ :; }}
cat() {{ while IFS= read -r line; do printf '%s\\n' "$line"; done; }}
tee() {{ cat; }}
command_not_found_handle() {{ :; }}
trap 'builtin printf "%s\\0" -1 "$?" "$-" >&7' EXIT
"""
_DRIVER = """
ulimit -t 1 -f 100 -c 0
for ((number = 0; number < $1; number++)); do
  BASH_ENV=$PRELUDE "$TIMEOUT" -s KILL 5 "$BASH" --noprofile --norc "../$number" </dev/null >/dev/null 2>&1
  printf '%s\\0' -2 "$?" >&7
done
"""


@dataclass(frozen=True)
class Run:
    """What bash did. calls: the arguments of each. has_failed: whether C(set -e) or a signal ended the script."""

    calls: tuple[tuple[str, ...], ...]
    has_failed: bool


def damaged(text: str) -> list[bytes]:
    """The text, cut at each byte, and without each byte."""
    whole = text.encode()
    found = [whole, *(whole[:at] for at in range(len(whole))), *(whole[:at] + whole[at + 1 :] for at in range(len(whole)))]
    return list(dict.fromkeys(found))


def run(texts: Sequence[bytes]) -> list[Run]:
    """What bash does with each text, after cloud-init has replaced CRLF."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (empty := folder / "empty").mkdir()
        for file in INPUTS:
            (empty / file).touch()
        (prelude := folder / "prelude").write_text(_PRELUDE)
        (driver := folder / "driver").write_text(_DRIVER)
        for number, text in enumerate(texts):
            assert not _OUTSIDE.search(text), text
            (folder / str(number)).write_bytes(text.replace(b"\r\n", b"\n"))
        done = subprocess.run(
            [*BASH, "-c", f"exec 7>&1 >/dev/null; . {driver} {len(texts)}"],
            stdin=subprocess.DEVNULL, capture_output=True, check=True, cwd=empty, timeout=SECONDS,
            env={"PATH": str(empty), "LC_ALL": "C.UTF-8", "PRELUDE": str(prelude), "TIMEOUT": str(shutil.which("timeout"))},
        )  # fmt: skip
    words = iter(done.stdout.decode(errors="surrogateescape").split("\0")[:-1])
    return [_run(words) for _unused in texts]


def _run(words: Iterator[str]) -> Run:
    calls = []
    has_failed = False
    while (count := int(next(words))) != -2:
        if count == -1:
            status, flags = next(words), next(words)
            has_failed = status != "0" and "e" in flags
        else:
            calls.append(tuple(next(words) for _unused in range(count)))
    is_killed = int(next(words)) > _SIGNALS
    return Run(tuple(calls), has_failed or is_killed)


@dataclass
class Result:
    """wrong: what the reader said otherwise. calls: that bash made. unknown: those whose arguments are not all known."""

    wrong: list[str] = field(default_factory=list)
    calls: int = 0
    unknown: int = 0


def compare(text: bytes, ran: Run, result: Result) -> None:
    """Compare what the reader says with what bash did."""
    script = shell_reader.read(text.decode(errors="surrogateescape"), starts_empty=True)
    found = [one for one in script.commands if one.values[:1] == (SCRIPT,)]
    may_be_others = any(one.values[:1] == (None,) for one in script.commands)
    for call in ran.calls:
        equal = [one for one in found if one.condition != "unreachable" and matches(one, call)]
        result.calls += 1
        result.unknown += all(None in one.values for one in equal)
        if not equal and not may_be_others:
            result.wrong.append(f"bash passed {call}, read {[(one.condition, one.values) for one in found]}")
    certain = [one for one in found if one.is_certain and not one.may_have_ended and not one.is_background]
    if not ran.has_failed and not _are_made(certain, ran.calls):
        result.wrong.append(f"certain {[one.values for one in certain]}, bash made {ran.calls}")


def _are_made(commands: Sequence[Command], calls: Sequence[Sequence[str]]) -> bool:
    """Whether these commands are among the calls, in this order."""
    waiting = iter(calls)
    return all(any(matches(one, call) for call in waiting) for one in commands)
