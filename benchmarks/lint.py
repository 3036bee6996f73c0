# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long lint takes beside parsing and evaluating the same user data alone, and whether memory grows with the number of documents.

The reference reads the document once with the readers of the formats: MIME, YAML, TOML and shell. Both get the same texts in the same
run, in turns. Every text is new, so no cache has it.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from gc import collect
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import cloud_config, mime_reader, shell_reader, yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings import lint_task

from .inputs import cluster

ROUNDS = 25
LIMIT = 1.5
"""Times of the reference."""
SIZE = 10_000
"""Bytes of a document."""
FEW, MANY = 100, 1_000
"""Documents in one call, for the memory."""
GROWTH = 4 << 20
"""Bytes that the peak may grow from few documents to many: a few hundred for each report line and place."""

_CERTIFICATE = str(cluster()["certificate_authority"])
_CLUSTER = """\
    name: shop
    apiServerEndpoint: https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
    certificateAuthority: {CA}
    cidr: 10.100.0.0/16
""".replace("{CA}", _CERTIFICATE)
_CALL = """\
/etc/eks/bootstrap.sh "$CLUSTER" --apiserver-endpoint "$ENDPOINT" --b64-cluster-ca "$CA" --dns-cluster-ip 10.100.0.10 \\
  --use-max-pods false --kubelet-extra-args "--node-labels=team=web,tier=$TIER --max-pods=58 --register-with-taints=only=web:NoSchedule"
"""
_VARIABLES = """\
CLUSTER=shop
ENDPOINT=https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
CA={CA}
TIER=front
""".replace("{CA}", _CERTIFICATE)


def _commands(number: int, size: int) -> str:
    """Lines as people write them into user data."""
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < size:
        count = len(lines)
        lines += [
            f"# Settings of the application {number}.{count}",
            f'APP_{count}="shop-{number}-{count}"',
            f'mkdir -p "/opt/$APP_{count}/conf" && chown root:root "/opt/$APP_{count}"',
            f"cat >/opt/shop/{count}.conf <<EOF",
            f"name=$APP_{count}",
            "level=${LEVEL:-info}",
            "EOF",
            f"if [ -f /etc/sysctl.d/{count}.conf ]; then",
            f"  sysctl -p /etc/sysctl.d/{count}.conf || echo 'no settings'",
            "fi",
            "systemctl daemon-reload",
            f"systemctl enable --now shop-{count}.service",
        ]
    return "\n".join(lines) + "\n"


def script(number: int, size: int = SIZE) -> str:
    """A script of Amazon Linux 2 with commands before and after the call."""
    rest = size - len(_VARIABLES) - len(_CALL)
    return f"#!/bin/bash\nset -ex\n{_VARIABLES}{_commands(number, rest // 2)}{_CALL}{_commands(number, rest // 2)}"


def mime(number: int, size: int = SIZE) -> str:
    """A NodeConfig and a script of Amazon Linux 2023."""
    config = (
        f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n{_CLUSTER}"
        f"  kubelet:\n    config:\n      maxPods: 58\n      clusterDNS: [10.100.0.10]\n"
        f"    flags:\n    - --node-labels=team=web,number=n{number}\n"
    )
    parts = (("application/node.eks.aws", config), ("text/x-shellscript", f"#!/bin/bash\nset -ex\n{_commands(number, size - 1_000)}"))
    written = "".join(f"--//\nContent-Type: {kind}\n\n{text}\n" for kind, text in parts)
    return f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n{written}--//--\n'


def cloud(number: int, size: int = SIZE) -> str:
    """A cloud-config with files, a script among them, and commands."""
    lines = ["#cloud-config", "packages: [jq, nfs-utils]", "write_files:"]
    lines += ["- path: /opt/setup.sh", "  permissions: '0755'", "  content: |", "    #!/bin/bash"]
    lines += [f"    {line}" for line in _commands(number, size * 3 // 5).splitlines()]
    for count in range((size - sum(map(len, lines))) // 90):
        lines += [f"- path: /etc/shop/{number}-{count}.conf", "  content: level=info", "  owner: root:root"]
    lines += ["runcmd:", "- [bash, /opt/setup.sh]", "- systemctl enable --now shop.service"]
    return "\n".join(lines) + "\n"


def _parse_script(text: str) -> None:
    shell_reader.read(text)


def _parse_mime(text: str) -> None:
    examined = mime_reader.examine(text, "")
    for found in examined.parts:
        if found.part.media_type == "text/x-shellscript":
            shell_reader.read(found.part.body)
        else:
            yaml.load(found.part.body)


def _parse_cloud(text: str) -> None:
    document = cloud_config.load(text, "", Problems())
    for command in document["runcmd"]:
        if isinstance(command, str):
            shell_reader.read(command)
    for file in cloud_config.written_files(document):
        if (file.content or "").startswith("#!"):
            shell_reader.read(file.content or "")


DOCUMENTS: dict[str, tuple[Callable[[int], str], Callable[[str], None], str]] = {
    "script": (script, _parse_script, "al2"),
    "mime": (mime, _parse_mime, "al2023"),
    "cloud-config": (cloud, _parse_cloud, "al2"),
}


def main() -> int:
    print(f"Lint of {SIZE:,} bytes of user data, {ROUNDS} times in turns with the reference; medians, ms a document")
    print(f"{'document':<14}{'lint':>8}{'read and evaluate':>19}{'ratio':>7}")
    worst = 0.0
    for name, (make, parse, family) in DOCUMENTS.items():
        ours, reference, ratio = _side_by_side(make, parse, family)
        worst = max(worst, ratio)
        print(f"{name:<14}{ours:>8.1f}{reference:>19.1f}{ratio:>7.2f}")
    print(f"Highest ratio {worst:.2f}: {'at most' if worst <= LIMIT else 'OVER'} {LIMIT:g}")
    few, many = _peak(FEW), _peak(MANY)
    grown = many - few
    print(
        f"Peak memory of one call, beside the files: {few / 2**20:.1f} MiB for {FEW} documents, {many / 2**20:.1f} MiB for {MANY:,}; "
        f"{'at most' if grown <= GROWTH else 'OVER'} {GROWTH >> 20} MiB more"
    )
    return int(worst > LIMIT or grown > GROWTH)


def _side_by_side(make: Callable[[int], str], parse: Callable[[str], None], family: str) -> tuple[float, float, float]:
    """Median ms of lint and of the reference, and the median ratio. The texts of a turn differ, and are of the same size."""
    contenders: list[Callable[[str], object]] = [lambda text: lint(text, family), parse]
    for which, contender in enumerate(contenders):
        contender(make(which))
    times: list[list[float]] = [[], []]
    for turn in range(1, ROUNDS + 1):
        # Who begins changes from turn to turn.
        for which in (0, 1) if turn % 2 else (1, 0):
            text = make(2 * turn + which)
            begin = process_time()
            contenders[which](text)
            times[which].append((process_time() - begin) * 1e3)
    ratio = median(ours / reference for ours, reference in zip(*times, strict=True))
    return median(times[0]), median(times[1]), ratio


def _peak(count: int) -> int:
    """Bytes at the peak of one call of the task for so many files, beside the content of the files."""
    makers = [make for make, _parse, _family in DOCUMENTS.values()]
    with TemporaryDirectory() as folder:
        size = 0
        for number in range(count):
            text = makers[number % len(makers)](number + 1_000)
            size += Path(folder, f"{number}.userdata").write_bytes(text.encode())
        given = {"sources": [folder], "nodes": [], "fix": False, "format": "json", "report": f"{folder}/.report"}
        options = dict.fromkeys(lint_task.OPTIONS) | given
        collect()
        tracemalloc.start()
        lint_task.lint_task(options, check_mode=False, say=lambda _report: None, fetch=lambda _entry: [])
        _now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak - size
