# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged user data: each number gives one input, the same on every machine.

An input is a document of the corpus of valid user data, or one that breaks a rule, with a few changes, in one of the encodings that a
node decodes. One input in sixteen consists of arbitrary bytes, and one in eight only of words that programs on a node react to.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from random import Random

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.tests.known_good import (
    bottlerocket,
    nodeconfigs,
    own,
    script_examples,
    script_tools,
    texts,
    windows,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.rows import ROWS as RULE_ROWS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.sources.test_read import CONFIG, NODEADM, PLAN, node_class

_GOOD = (*script_tools.ROWS, *script_examples.ROWS, *nodeconfigs.ROWS, *bottlerocket.ROWS, *windows.ROWS, *own.ROWS, *texts.ROWS)
_FILES = (json.dumps(PLAN, indent=1), CONFIG, NODEADM, node_class("  userData: |\n    #!/bin/bash\n    ls\n"))


def _data(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


GOOD: tuple[bytes, ...] = tuple(_data(row.text) for row in _GOOD)
SEEDS: tuple[bytes, ...] = (*GOOD, *(_data(row.wrong) for row in RULE_ROWS), *(_data(text) for text in _FILES))
WORDS: tuple[bytes, ...] = (
    b"\n", b"\n\n", b"\r\n", b"\r", b"\0", b"\xef\xbb\xbf", b"\xff", b"\xc3\xa4", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\t", b"    ", b"- ",
    b": ", b":", b"? ", b"'", b'"', b"`", b"\\", b"\\\n", b"$(", b"${", b"$((", b"((", b"[[", b"{", b"}", b"[", b"]", b"(", b")",
    b"&", b"|",
    b";", b"&&", b"||", b">", b"<", b"<<EOF\n", b"<<-'E O'\n", b"<<<", b"EOF\n", b"#", b"#!", b"%", b"@", b"*a", b"&a ", b"!!binary |\n",
    b"!!python/object:a ", b"<<: ", b"|\n", b">-\n", b"---\n", b"...\n", b"=", b",", b"~", b"null", b"true", b"0x1f", b"1e999",
    b".inf", b"-1",
    b"99999999999999999999", b"0o17", b"2001-01-01", b"1:30", b'"""', b"'''", b"<powershell>", b"</powershell>", b"<persist>true</persist>",
    b"@'\n", b"'@\n", b'@"\n', b"param(", b"-EKSClusterName ", b"-KubeletExtraArgs '", b"Start-EKSBootstrap.ps1 ", b"#!/bin/bash\n",
    b"#!/bin/bash -ex\n", b"#cloud-config\n", b"#cloud-boothook\n", b"#include\n", b"## template: jinja\n", b"#cloud-config-archive\n",
    b"#part-handler\n", b"runcmd:\n", b"bootcmd: ", b"write_files:\n- path: /a\n  content: |\n    ", b"  encoding: gz+b64\n",
    b"permissions: 755\n",
    b"/etc/eks/bootstrap.sh ", b"--kubelet-extra-args '", b"--node-labels=", b"--register-with-taints=", b"--max-pods=", b"--use-max-pods ",
    b"--b64-cluster-ca ", b"set -e\n", b"if true; then\n", b"fi\n", b"for a in b; do ", b"done\n", b"case a in a) ", b"esac\n",
    b"f() {\n", b"eval ",
    b"exec ", b"export ", b"local ", b"trap 'a' EXIT\n", b"sed -i s/a/b/ /etc/eks/bootstrap.sh\n", b"MIME-Version: 1.0\n", b"--//\n",
    b"--//--\n",
    b"--BOUNDARY\n", b"--BOUNDARY--\n", b'Content-Type: multipart/mixed; boundary="//"\n', b"Content-Type: multipart/mixed; boundary=//\n",
    b"Content-Type: text/x-shellscript\n", b'Content-Type: text/cloud-config; charset="us-ascii"\n',
    b"Content-Type: application/node.eks.aws\n",
    b"Content-Type: message/rfc822\n", b"Content-Transfer-Encoding: base64\n", b"Content-Transfer-Encoding: quoted-printable\n",
    b"Content-Transfer-Encoding: 8bit\n", b"Content-Encoding: gzip\n", b"apiVersion: node.eks.aws/v1alpha1\n", b"kind: NodeConfig\n",
    b"spec:\n",
    b"  kubelet:\n    config:\n      ", b"    flags:\n    - ", b"  containerd:\n    config: |\n      ",
    b"  instance:\n    localStorage: ", b"maxPods: ",
    b"featureGates: ", b"evictionHard: ", b"clusterDNS: ", b"[settings.kubernetes]\n", b"[[", b"]]\n", b"max-pods = ", b"cluster-name = ",
    b"[settings.host-containers.admin]\n", b"user-data = ", b"node-labels", b"1979-05-27T07:32:00Z", b"{{ v1.local_hostname }}",
    b"\x1f\x8b",
    b"userData: ", b"Resources:\n", b'{"Fn::Sub": "', b'{"resource_changes": [', b"kind: EC2NodeClass\n", b"kind: List\nitems:\n- ",
)  # fmt: skip
PAIRS = ((b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b"$(", b")"), (b'"$(', b')"'), (b"`", b"`"), (b"{a: ", b"}"), (b"- ", b""), (b"'",
b"'"),
         (b"if a; then ", b"\nfi\n"), (b"@(", b")"), (b"${a:-", b"}"), (b'{"a":', b"}"), (b"\\", b""))  # fmt: skip
TYPES = (b"text/x-shellscript", b"text/cloud-config", b"application/node.eks.aws", b"text/plain", b"multipart/mixed; boundary=B", b"a")


def arbitrary(random: Random) -> bytes:
    """Arbitrary bytes."""
    return random.randbytes(random.randrange(600))


def words(random: Random) -> bytes:
    """Words without the text between them."""
    return b"".join(random.choices(WORDS, k=random.randrange(60)))


def _range(random: Random, data: bytes) -> tuple[int, int]:
    """Any range, mostly a short one."""
    begin = random.randrange(len(data) + 1)
    return begin, min(len(data), begin + random.choice((1, 3, 10, 40, 200, 2_000)))


def _flip(random: Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _number in range(random.randrange(1, 9) if found else 0):
        found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    return bytes(found)


def _cut(random: Random, data: bytes) -> bytes:
    begin, end = _range(random, data)
    return data[:begin] + data[end:]


def _truncate(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _repeat(random: Random, data: bytes) -> bytes:
    begin, end = _range(random, data)
    return data[:end] + data[begin:end] * random.choice((1, 1, 2, 30)) + data[end:]


def _splice(random: Random, data: bytes) -> bytes:
    other = random.choice(SEEDS)
    begin, end = _range(random, other)
    at = random.randrange(len(data) + 1)
    return data[:at] + other[begin : random.choice((end, len(other)))] + data[at:]


def _insert(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(WORDS) * random.choice((1, 1, 1, 2, 100)) + data[at:]


def _replace_word(random: Random, data: bytes) -> bytes:
    begin, end = _range(random, data)
    return data[:begin] + random.choice(WORDS) + data[end:]


def _nest(random: Random, data: bytes) -> bytes:
    begin, end = _range(random, data)
    opening, closing = random.choice(PAIRS)
    depth = random.choice((1, 2, 10, 200, 1_000))
    return data[:begin] + opening * depth + data[begin:end] + closing * random.choice((depth, depth, 0)) + data[end:]


def _lines(random: Random, data: bytes) -> bytes:
    """Two lines change places, or one gets another indentation."""
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    if random.random() < 0.5:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines[one] = random.choice((b"", b" ", b"  ", b"\t")) + lines[one].lstrip()
    return b"\n".join(lines)


def _wrap(random: Random, data: bytes) -> bytes:
    """A part of a MIME document, which can be a MIME document itself."""
    boundary = random.choice((b"B", b"//", b"=_a b"))
    encoding = random.choice((b"", b"Content-Transfer-Encoding: base64\n"))
    body = base64.encodebytes(data) if encoding else data
    head = b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="' + boundary + b'"\n\n'
    return (
        head
        + b"--"
        + boundary
        + b"\nContent-Type: "
        + random.choice(TYPES)
        + b"\n"
        + encoding
        + b"\n"
        + body
        + b"\n--"
        + boundary
        + b"--\n"
    )


CHANGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    _flip, _cut, _truncate, _repeat, _splice, _insert, _insert, _replace_word, _replace_word, _nest, _lines, _wrap,
)  # fmt: skip


def _encode(random: Random, data: bytes) -> bytes:
    """Plain text, or one of the encodings, sometimes damaged."""
    kind = random.randrange(12)
    if kind == 0:
        data = base64.b64encode(data)
    elif kind == 1:
        data = gzip_bytes(data)
    elif kind == 2:
        data = base64.b64encode(gzip_bytes(data))
    elif kind == 3:
        data = data.replace(b"\n", b"\r\n")
    elif kind == 4:
        data = data.decode("utf-8", "replace").encode("utf-16")
    else:
        return data
    return random.choice(CHANGES)(random, data) if random.random() < 0.2 else data


def fuzzed(number: int) -> bytes:
    """The input with this number."""
    random = Random(f"user data {number}")
    kind = random.randrange(16)
    if kind == 0:
        return arbitrary(random)
    data = words(random) if kind <= 2 else random.choice(SEEDS)
    for _number in range(random.randrange(5)):
        data = random.choice(CHANGES)(random, data)[:LONGEST]
    return _encode(random, data)


LONGEST = 16_384
"""Bytes before the encoding: what EC2 stores. The bombs are larger."""
