# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of /etc/eks/bootstrap.sh in scripts such as tools and people write, in our own words and values."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.bootstrap_calls import SCRIPT, FoundCall, read_calls

SEED = """#!/bin/bash
set -o xtrace
/etc/eks/bootstrap.sh orders \\
  --b64-cluster-ca 'Q0E=' \\
  --apiserver-endpoint 'https://0123.gr7.eu-west-1.eks.amazonaws.com' \\
  --kubelet-extra-args '--node-labels=team=a,tier=b --max-pods=30' \\
  --use-max-pods false
"""
INJECTED = """#!/bin/bash
set -ex
B64_CLUSTER_CA=Q0E=
API_SERVER_URL=https://0123.gr7.eu-west-1.eks.amazonaws.com
K8S_CLUSTER_DNS_IP=10.100.0.10
/etc/eks/bootstrap.sh orders --kubelet-extra-args '--node-labels=eks.amazonaws.com/nodegroup=a' \\
  --b64-cluster-ca $B64_CLUSTER_CA --apiserver-endpoint $API_SERVER_URL --dns-cluster-ip $K8S_CLUSTER_DNS_IP --use-max-pods false
"""
MODULE = """#!/bin/bash -e
cat <<'EOF' > /etc/profile.d/note.sh
echo "run /etc/eks/bootstrap.sh yourself" # $HOME
EOF
NAME="orders"
cat <<EOF | tee /etc/note
cluster $NAME
EOF
if [[ "$(uname -m)" =~ ^(aarch64|arm64)$ ]]; then
  echo arm
fi
/etc/eks/bootstrap.sh --apiserver-endpoint "https://0123.example" --b64-cluster-ca "Q0E=" \\
  --kubelet-extra-args "--node-labels=say=\\"hi\\",a=b" "${NAME}" || shutdown -h now
"""
FUNCTIONS = """#!/usr/bin/env bash
exec > >(tee /var/log/user-data.log | logger -t user-data) 2>&1
ARGS=()
LABELS="team=a"
LABELS+=",tier=b"
add() { ARGS+=("$@"); }
case "$(uname -m)" in
  x86_64) ARCH=amd64 ;;
  *) ARCH=arm64 ;;
esac
zone() { echo "$1"; }
main() {
  local name=${1:-orders}
  add --use-max-pods false
  add --kubelet-extra-args "--node-labels=${LABELS},arch=${ARCH},zone=$(zone a)"
  sudo -E /etc/eks/bootstrap.sh "$name" "${ARGS[@]}"
}
main
"""
TRICK = """#!/bin/bash
sed -i '/^set -o errexit/a\\source /etc/profile.d/bootstrap.sh' /etc/eks/bootstrap.sh
TABBED=$'a\\tb'
cat > /etc/profile.d/bootstrap.sh <<"X"
export USE_MAX_PODS=false
X
export KUBELET_EXTRA_ARGS="--max-pods=30 $TABBED"
echo "$TABBED" | tee -a /etc/eks/bootstrap.sh
"""
EVIL = """#!/bin/bash
read -r NAME <<'Q'
orders
Q
if false; then /etc/eks/bootstrap.sh dead; fi
V=orders
/etc/eks/bootstrap.sh "${V^^}" --use-max-pods "$NAME"
eval "/etc/eks/bootstrap.sh evaluated"
"""
CA, URL = {"--b64-cluster-ca": "Q0E="}, {"--apiserver-endpoint": "https://0123.gr7.eu-west-1.eks.amazonaws.com"}
Found = tuple[str, dict[str, str | None], dict[str, str | None]]
CASES: dict[str, tuple[str, list[Found]]] = {
    "continuations": (
        SEED,
        [
            (
                "",
                {"": "orders", **CA, **URL, "--kubelet-extra-args": "--node-labels=team=a,tier=b --max-pods=30", "--use-max-pods": "false"},
                {"node-labels": "team=a,tier=b", "max-pods": "30"},
            )
        ],
    ),
    "variables above the call": (
        INJECTED,
        [
            (
                "",
                {
                    "": "orders",
                    **CA,
                    **URL,
                    "--kubelet-extra-args": "--node-labels=eks.amazonaws.com/nodegroup=a",
                    "--dns-cluster-ip": "10.100.0.10",
                    "--use-max-pods": "false",
                },
                {"node-labels": "eks.amazonaws.com/nodegroup=a"},
            )
        ],
    ),
    "here-documents, and the name as the last argument": (
        MODULE,
        [
            (
                "",
                {
                    "--apiserver-endpoint": "https://0123.example",
                    **CA,
                    "--kubelet-extra-args": '--node-labels=say="hi",a=b',
                    "": "orders",
                },
                {"node-labels": 'say="hi",a=b'},
            )
        ],
    ),
    "functions, arrays, case": (
        FUNCTIONS,
        [("", {"": "orders", "--use-max-pods": "false", "--kubelet-extra-args": None}, {"node-labels": None})],
    ),
    "the file is edited": (TRICK, []),
    "read, a dead branch, eval": (
        EVIL,
        [
            ("if", {"": "dead"}, {}),
            ("", {"": "ORDERS", "--use-max-pods": None}, {}),
            ("eval", {"": "evaluated"}, {}),
        ],
    ),
}


def shown(call: FoundCall) -> Found:
    return (
        call.command.condition,
        {one.name: one.value for one in call.arguments},
        {one.name: one.value for one in call.flags},
    )


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_calls_and_their_arguments(text: str, expected: list[Found]) -> None:
    reading = read_calls(text, starts_empty=True)
    assert [shown(call) for call in reading.found] == expected
    assert all(call.is_whole for call in reading.found)


def test_the_known_part_of_an_argument_and_its_place() -> None:
    [call] = read_calls(FUNCTIONS, starts_empty=True).found
    [labels] = call.flags
    assert labels.pieces == ("team=a,tier=b,arch=", None, ",zone=", None)
    lines = FUNCTIONS.splitlines()
    place = labels.place
    assert lines[place.line - 1][place.column - 1 :][: place.length] == '"${ARGS[@]}"'


def test_the_trick_without_a_call() -> None:
    reading = read_calls(TRICK, starts_empty=True)
    assert [(command.values[0], command.line) for command in reading.edits] == [("sed", 2), ("tee", 8)]
    assert [(one.name, one.value, one.place.line) for one in reading.exports] == [("KUBELET_EXTRA_ARGS", "--max-pods=30 a\tb", 7)]
    assert not reading.is_complete


@pytest.mark.parametrize(
    ("line", "is_edit"),
    [
        ("sed -i s/a/b/ /etc/eks/bootstrap.sh", True),
        ("sudo sed --in-place s/a/b/ /etc/eks/bootstrap.sh", True),
        ("sed s/a/b/ /etc/eks/bootstrap.sh", False),
        ("sed -i s/a/b/ /etc/eks/other.sh", False),
        ("echo x >> /etc/eks/bootstrap.sh", True),
        ("cat /etc/eks/bootstrap.sh", False),
        ("cp /tmp/x /etc/eks/bootstrap.sh", True),
        ("F=/etc/eks/bootstrap.sh; sed -i s/a/b/ $F", True),
    ],
)
def test_what_edits_the_script(line: str, is_edit: bool) -> None:
    assert bool(read_calls(f"{line}\n").edits) == is_edit


@pytest.mark.parametrize(
    ("before", "count"),
    [("", 1), ("a && ", 0), ("exit; ", 0), ("USE_MAX_PODS=false ", 0), ("A=1 ", 1), ("env A=1 ", 1), ("A=1 && ", 1)],
)
def test_only_certain_calls_are_facts(before: str, count: int) -> None:
    reading = read_calls(f"{before}/etc/eks/bootstrap.sh demo\n")
    assert (len(reading.calls), reading.is_complete, len(reading.found)) == (count, bool(count), 1)


def test_an_exported_variable_of_the_script_is_not_ignored() -> None:
    reading: Any = read_calls("export USE_MAX_PODS=false\n/etc/eks/bootstrap.sh demo\n")
    assert not reading.is_complete and len(reading.exports) == 1


WRAPPED = (
    "{}",
    "nohup {}",
    "setsid {}",
    "command {}",
    "exec {}",
    "exec -a other {}",
    "bash {}",
    "bash -x -o pipefail {}",
    "/bin/bash +o posix {}",
    "/usr/bin/env bash {}",
    "env A=1 {}",
    "env -u HOME -- {}",
    "nice {}",
    "nice -n 5 {}",
    "nice --adjustment=5 {}",
    "ionice -c 3 {}",
    "stdbuf -oL {}",
    "stdbuf -o L -e L {}",
    "timeout 300 {}",
    "timeout -k 5 --signal=INT 300s {}",
    "timeout --kill-after 5 300s nice -n 5 bash {}",
    "! {}",
)


@pytest.mark.parametrize("form", WRAPPED)
def test_a_program_in_front_of_the_call_as_in_real_bash(form: str, tmp_path: Path) -> None:
    program = tmp_path / "bootstrap.sh"
    program.write_text("#!/bin/bash\nprintf '%s\\n' \"$@\"\n", encoding="utf-8")
    program.chmod(0o755)
    arguments = "demo --kubelet-extra-args '--max-pods=9 --node-labels=a=b'"
    done = subprocess.run(["bash", "-c", form.format(f"{program} {arguments}")], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["demo", "--kubelet-extra-args", "--max-pods=9 --node-labels=a=b"]
    (call,) = read_calls(f"#!/bin/bash\n{form.format(f'{SCRIPT} {arguments}')}\n").calls
    assert (call.cluster_name, call.flags, call.others) == ("demo", {"max-pods": ["9"], "node-labels": ["a=b"]}, ())


@pytest.mark.parametrize("form", ["sudo -u root {}", "sudo -E --user root -- {}", "sudo A=1 {}", "/usr/bin/sudo -n {}"])
def test_sudo(form: str) -> None:
    (call,) = read_calls(f"#!/bin/bash\n{form.format(f'{SCRIPT} demo')}\n").calls
    assert call.cluster_name == "demo"


@pytest.mark.parametrize("form", ["bash -c '{}'", "timeout {}", "./timeout 300 {}", "wrapper {}", "sudo -u {}"])
def test_not_a_call(form: str) -> None:
    assert read_calls(f"#!/bin/bash\n{form.format(f'{SCRIPT} demo')}\n").calls == ()


@pytest.mark.parametrize(
    "before", ["USE_MAX_PODS=false ", "env USE_MAX_PODS=false ", "sudo -E USE_MAX_PODS=false ", "sudo env USE_MAX_PODS=false bash -x "]
)
def test_a_variable_of_the_script_in_front_of_the_call_changes_its_meaning(before: str) -> None:
    reading = read_calls(f"#!/bin/bash\n{before}/etc/eks/bootstrap.sh shop\n")
    assert len(reading.found) == 1
    assert reading.calls == () and not reading.is_complete
    assert read_calls(f"#!/bin/bash\n{before.replace('USE_MAX_PODS', 'OTHER')}/etc/eks/bootstrap.sh shop\n").calls
