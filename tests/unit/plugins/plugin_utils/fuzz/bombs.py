# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data that is built to cost time or memory.

The meaning of a document of more than 128 KiB is not read, so most of these are as large as the readers still take. Shorter ones have
patterns whose cost could grow with the square of the size.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import MAX_UNPACKED, gzip_bytes

LARGEST = (1 << 17) - 1_000
"""Characters: nearly what the readers take."""

Bomb = str | bytes


def filled(begin: str, repeated: str, end: str = "", size: int = LARGEST) -> str:
    """A text with a repeated piece in the middle."""
    return begin + repeated * ((size - len(begin) - len(end)) // len(repeated)) + end


def _nested(begin: str, opening: str, closing: str, end: str = "\n") -> str:
    depth = (LARGEST - len(begin) - len(end)) // len(opening + closing)
    return begin + opening * depth + closing * depth + end


def _gzip_in_gzip() -> bytes:
    data = b"\0" * (8 * MAX_UNPACKED)
    for _number in range(4):
        data = gzip_bytes(data)
    return data


def _nested_mime(depth: int, *, encoded: bool) -> str:
    """Multipart in multipart, each with its own boundary. encoded: whether each is the base64 text of the next."""
    text = "Content-Type: text/x-shellscript\n\n#!/bin/sh\nls\n"
    for number in range(depth):
        header = f'Content-Type: multipart/mixed; boundary="B{number}"\n'
        body = f"--B{number}\n{text}\n--B{number}--\n"
        if encoded:
            header += "Content-Transfer-Encoding: base64\n"
            body = base64.b64encode(body.encode()).decode()
        text = f"{header}\n{body}"
    return f"MIME-Version: 1.0\n{text}"


def _aliases(width: int, levels: int) -> str:
    lines = ["#cloud-config", "a0: &a0 [x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels)]
    return "\n".join([*lines, ""])


_MIME = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n'
_NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n"
_CONFIG = f"{_NODE_CONFIG}  kubelet:\n    config:\n"
_FLAGS = f"{_NODE_CONFIG}  kubelet:\n    flags:\n"
_CALL = "/etc/eks/bootstrap.sh shop"
_SCRIPT = "#!/bin/bash\n"
_PLAN = '{"planned_values": {"root_module": {"resources": ['
_RESOURCE = '{"address": "aws_launch_template.a", "type": "aws_launch_template", "values": {"user_data": "IyEvYmluL3NoCg=="}},'

ENCODINGS: Mapping[str, Callable[[], Bomb]] = {
    "gzip of zeros": lambda: gzip_bytes(b"\0" * (64 * MAX_UNPACKED)),
    "gzip in gzip": _gzip_in_gzip,
    "base64 of gzip of zeros": lambda: base64.b64encode(gzip_bytes(b"\0" * (64 * MAX_UNPACKED))),
    "gzip of a long script": lambda: gzip_bytes(filled(_SCRIPT, "ls\n", size=MAX_UNPACKED - 10).encode()),
    "many gzip members": lambda: gzip_bytes(b"") * 50_000,
    "base64 in base64": lambda: base64.b64encode(base64.b64encode(b"ls\n" * 30_000)),
    "damaged base64": lambda: filled("", "QUJD") + "=A",
    "base64 with many lines": lambda: filled("", "Q\n"),
    "blanks": lambda: " " * LARGEST,
    "empty lines": lambda: "\n" * LARGEST,
    "carriage returns": lambda: "\r" * LARGEST,
    "more than is read": lambda: filled(_SCRIPT, "ls\n", size=3 * MAX_UNPACKED),
}
MIME: Mapping[str, Callable[[], Bomb]] = {
    "10,000 parts": lambda: filled(_MIME, "--B\n\n\n", size=60_000),
    "10,000 parts with types": lambda: filled(_MIME, "--B\nContent-Type: text/cloud-config\n\na\n", size=390_000),
    "parts with scripts": lambda: filled(_MIME, f"--B\nContent-Type: text/x-shellscript\n\n{_SCRIPT}{_CALL}\n", "--B--\n"),
    "parts with NodeConfigs": lambda: filled(
        _MIME, f"--B\nContent-Type: application/node.eks.aws\n\n{_NODE_CONFIG}  kubelet: {{config: {{maxPods: 1}}}}\n", "--B--\n"
    ),
    "parts with cloud-configs": lambda: filled(_MIME, "--B\nContent-Type: text/cloud-config\n\n#cloud-config\na: [b]\n", "--B--\n"),
    "parts with unknown text": lambda: filled(_MIME, "--B\n\nls\n", "--B--\n"),
    "nested MIME": lambda: _nested_mime(900, encoded=False),
    "nested MIME in base64": lambda: _nested_mime(22, encoded=True),
    "headers in headers": lambda: filled("MIME-Version: 1.0\n", 'Content-Type: multipart/mixed; boundary="B"\n\n--B\n'),
    "messages in messages": lambda: filled(_MIME, "--B\nContent-Type: message/rfc822\n\n"),
    "huge boundary": lambda: _MIME.replace("B", "B" * 60_000) + "--" + "B" * 60_000 + "\n",
    "delimiters only": lambda: filled(_MIME, "--B\n"),
    "end delimiters only": lambda: filled(_MIME, "--B--\n"),
    "dashes": lambda: filled(_MIME, "-"),
    "many headers": lambda: filled("MIME-Version: 1.0\n", "a: b\n", "\n"),
    "headers of a part": lambda: filled(f"{_MIME}--B\n", "a: b\n", "\n"),
    "folded header": lambda: filled("MIME-Version: 1.0\nContent-Type: multipart/mixed;\n", " a=b;\n", "\n"),
    "parameters": lambda: filled("MIME-Version: 1.0\nContent-Type: multipart/mixed", "; a=b", "\n\n"),
    "quotes in parameters": lambda: filled("MIME-Version: 1.0\nContent-Type: multipart/mixed", ';"', "\n\nx\n"),
    "backslashes in a parameter": lambda: filled('MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="', "\\", "\n\nx\n"),
    "blanks in a header": lambda: filled("MIME-Version: 1.0\nContent-Type:", " ", "x\n\nx\n"),
    "encoded words": lambda: filled("MIME-Version: 1.0\nContent-Type: a\nSubject: ", "=?utf-8?q?a?=", "\n\n"),
    "quoted-printable": lambda: filled(f"{_MIME}--B\nContent-Transfer-Encoding: quoted-printable\n\n", "="),
}
YAML: Mapping[str, Callable[[], Bomb]] = {
    "nested lists": lambda: filled("#cloud-config\n", "["),
    "nested lists that end": lambda: _nested("#cloud-config\na: ", "[", "]"),
    "nested maps": lambda: _nested("#cloud-config\na: ", "{a: ", "}"),
    "nested blocks": lambda: filled("#cloud-config\n", "- "),
    "indented blocks": lambda: "#cloud-config\n" + "".join(" " * depth + "a:\n" for depth in range(480)),
    "nested NodeConfig": lambda: _nested(f"{_NODE_CONFIG}  kubelet: ", '{"a":', "}"),
    "nested configuration of kubelet": lambda: _nested(f"{_CONFIG}      a: ", "[", "]"),
    "many aliases": lambda: _aliases(9, 12),
    "aliases of an alias": lambda: filled("#cloud-config\na: &a [b]\nc: [", "*a, ", "]\n"),
    "aliases in a NodeConfig": lambda: _aliases(9, 12).replace("#cloud-config\n", f"{_NODE_CONFIG}  kubelet: {{}}\n"),
    "merge keys": lambda: (
        "#cloud-config\na0: &a0 {b: c}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 200))
    ),
    "an alias of itself": lambda: "#cloud-config\na: &a [*a, *a]\nruncmd: *a\n",
    "keys of lists": lambda: filled("#cloud-config\n", "? [a]\n: b\n"),
    "question marks": lambda: filled("#cloud-config\n", "? "),
    "anchors": lambda: filled("#cloud-config\n", "&a "),
    "tags": lambda: filled("#cloud-config\na: ", "!!str "),
    "quotes without end": lambda: filled("#cloud-config\na: '", "a''b\n\n"),
    "double quotes without end": lambda: filled('#cloud-config\na: "', "\\u00e4\\\n"),
    "comments": lambda: filled("#cloud-config\n", "#\n"),
    "documents": lambda: filled("#cloud-config\n", "---\na: b\n"),
    "many keys": lambda: "#cloud-config\n" + "".join(f"k{number}: v\n" for number in range(9_000)),
    "the same key": lambda: filled("#cloud-config\n", "runcmd: [ls]\n"),
    "many commands": lambda: filled("#cloud-config\nruncmd:\n", "- ls -l\n"),
    "many files": lambda: filled("#cloud-config\nwrite_files:\n", "- {path: /a, content: b}\n"),
    "many scripts in files": lambda: filled("#cloud-config\nwrite_files:\n", f"- path: /a.sh\n  content: |\n    {_SCRIPT}    ls\n"),
    "a long line": lambda: filled("#cloud-config\na: ", "b"),
    "a long folded text": lambda: filled("#cloud-config\na: >\n", "  b\n"),
    "a long integer": lambda: filled("#cloud-config\na: ", "9", "\n"),
    "a long hexadecimal integer": lambda: filled("#cloud-config\na: 0x", "f", "\n"),
    "a sexagesimal integer": lambda: filled("#cloud-config\na: 1", ":59", "\n"),
    "underscores": lambda: filled("#cloud-config\na: 1", "_", "\n"),
    "many unknown flags": lambda: filled(_FLAGS, "    - --no-such-flag=1\n"),
    "one flag with many labels": lambda: filled(f"{_FLAGS}    - --node-labels=", "a=b,", "\n"),
    "many labels": lambda: f"{_FLAGS}    - --node-labels=" + ",".join(f"example.com/l{n}=x" for n in range(6_000)) + "\n",
    "many taints": lambda: f"{_FLAGS}    - --register-with-taints=" + ",".join(f"t{n}=x:NoSchedule" for n in range(6_000)) + "\n",
    "many unknown fields": lambda: _CONFIG + "".join(f"      noSuchField{number}: 1\n" for number in range(4_000)),
    "many feature gates": lambda: f"{_CONFIG}      featureGates:\n" + "".join(f"        Gate{number}: true\n" for number in range(5_000)),
    "a long field name": lambda: filled(f"{_CONFIG}      ", "maxPods", ": 1\n"),
    "a long label": lambda: filled(f"{_FLAGS}    - --node-labels=", "a.b-", "=c\n"),
    "a long quantity": lambda: filled(f"{_CONFIG}      systemReserved: {{memory: ", "9", "Gi}\n"),
    "a long exponent": lambda: f"{_CONFIG}      systemReserved: {{memory: 1e999999999}}\n      containerLogMaxSize: 1e-999999999\n",
    "a long duration": lambda: filled(f"{_CONFIG}      syncFrequency: ", "1h", "\n"),
    "a large network": lambda: f"{_NODE_CONFIG}  cluster: {{name: shop, cidr: '::/0'}}\n",
}
OTHER_FORMATS: Mapping[str, Callable[[], Bomb]] = {
    "nested JSON": lambda: _nested('{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": ', '{"a":', "}", "}"),
    "nested JSON lists": lambda: _nested("", "[", "]"),
    "nested values in a plan": lambda: _nested(f'{_PLAN}{{"values": ', '{"a":', "}", "}]}}}"),
    "many resources": lambda: filled(_PLAN, _RESOURCE, '{"address": "a"}]}}}'),
    "CloudFormation, nested functions": lambda: _nested('{"Resources": {"A": {"Properties": {"UserData": ', '{"Fn::Base64": ', "}", "}}}}"),
    "CloudFormation, a long join": lambda: filled(
        '{"Resources": {"A": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"UserData": {"Fn::Base64": {"Fn::Join": ["", [',
        '"a",',
        '""]]}}}}}}',
    ),
    "many manifests": lambda: filled("", "---\nkind: EC2NodeClass\nspec: {userData: ls}\n"),
    "an archive of many parts": lambda: filled("#cloud-config-archive\n", "- a\n", size=1 << 17),
    "a template with many variables": lambda: filled("## template: jinja\n#!/bin/sh\n", "{{ a }}", size=1 << 17),
    "templates in a template": lambda: filled("", "## template: jinja\n", size=1 << 17),
    "many tasks for EC2Launch": lambda: filled(
        "version: 1.0\ntasks:\n- task: executeScript\n  inputs:\n", "  - {type: powershell, content: '{'}\n", size=1 << 17
    ),
    "nested TOML": lambda: filled("[settings]\na = ", "["),
    "nested TOML that ends": lambda: _nested("[settings]\na = ", "[", "]"),
    "nested inline tables": lambda: _nested("[settings]\na = ", "{a = ", "}"),
    "a long dotted key": lambda: filled("[settings]\n", "a.", "b = 1\n"),
    "a long header": lambda: filled("[settings", ".a", "]\n"),
    "growing headers": lambda: "".join(f"[settings{'.a' * number}]\n" for number in range(1, 350)),
    "many tables": lambda: "".join(f"[settings.t{number}]\na = 1\n" for number in range(5_000)),
    "array of tables": lambda: filled("[settings]\n", "[[settings.a]]\n"),
    "many settings": lambda: "[settings.kubernetes]\n" + "".join(f"no-such-{number} = 1\n" for number in range(6_000)),
    "the same setting": lambda: filled("[settings.kubernetes]\n", "max-pods = 1\n"),
    "TOML text without end": lambda: filled('[settings]\na = """', 'b""\n'),
    "backslashes in TOML": lambda: filled('[settings]\na = "', "\\\\"),
    "a long integer in TOML": lambda: filled("[settings]\na = ", "9", "\n"),
    "underscores in TOML": lambda: filled("[settings]\na = 1", "_1", "\n"),
    "user data of a host container": lambda: filled("[settings.host-containers.admin]\nuser-data = '", "QUJD", "'\n"),
    "containerd, nested": lambda: _nested(f"{_NODE_CONFIG}  containerd:\n    config: 'a = ", "[", "]", "'\n"),
    "containerd, many tables": lambda: (
        f"{_NODE_CONFIG}  containerd:\n    config: |\n" + "".join(f"      [t{number}]\n      a = 1\n" for number in range(3_000))
    ),
}
SCRIPTS: Mapping[str, Callable[[], Bomb]] = {
    "nested subshells": lambda: _nested(f"{_SCRIPT}{_CALL}\n", "(", ")"),
    "nested substitutions": lambda: _nested(f"{_SCRIPT}{_CALL} ", "$(", ")"),
    "nested quoted substitutions": lambda: _nested(f"{_SCRIPT}{_CALL} ", '"$(', ')"'),
    "nested backquotes": lambda: filled(f"{_SCRIPT}{_CALL} ", "`"),
    "nested expansions": lambda: _nested(f"{_SCRIPT}{_CALL} ", "${a:-", "}"),
    "nested braces": lambda: _nested(f"{_SCRIPT}{_CALL} ", "{a,", "}"),
    "brace expansion": lambda: f"{_SCRIPT}{_CALL} " + "{a,b}" * 200 + " {1..1000000000}\n",
    "nested conditions": lambda: _nested(f"{_SCRIPT}{_CALL}\n", "if a; then\n", "fi\n"),
    "nested functions": lambda: _nested(f"{_SCRIPT}{_CALL}\n", "f() {\n", "}\n"),
    "nested arithmetic": lambda: _nested(f"{_SCRIPT}a=$((", "(", ")", f"))\n{_CALL}\n"),
    "nested tests": lambda: _nested(f"{_SCRIPT}[[ ", "( ", ") ", f"]]\n{_CALL}\n"),
    "nested patterns": lambda: _nested(f"{_SCRIPT}{_CALL} ", "@(", ")"),
    "functions that call themselves": lambda: f"{_SCRIPT}f() {{ f; f; }}\nf\n{_CALL}\n",
    "functions that call others": lambda: (
        f"{_SCRIPT}f0() {{ {_CALL}; }}\n" + "".join(f"f{n}() {{ f{n - 1}; f{n - 1}; }}\n" for n in range(1, 60)) + "f59\n"
    ),
    "a variable that doubles": lambda: f"{_SCRIPT}a=aaaaaaaaaa\n" + "a=$a$a\n" * 60 + f"{_CALL} $a\n",
    "a variable that grows": lambda: filled(f"{_SCRIPT}a=b\n", "a=$a,b\n", f"{_CALL} $a\n"),
    "an array that grows": lambda: filled(f"{_SCRIPT}a=(b)\n", 'a=("${a[@]}" c)\n', f'{_CALL} "${{a[@]}}"\n'),
    "an argument that doubles": lambda: f"{_SCRIPT}set -- a\n" + 'set -- "$@" "$@"\n' * 40 + f'{_CALL} "$@"\n',
    "replacements in a variable": lambda: f"{_SCRIPT}a=aaaaaaaaaa\n" + "a=${a//a/aaaaaaaaaa}\n" * 40 + f"{_CALL} $a\n",
    "printf with a width": lambda: f"{_SCRIPT}a=$(printf '%999999999s' b)\nprintf -v c '%0999999999d' 1\n{_CALL} $a $c\n",
    "a large power": lambda: f"{_SCRIPT}a=$((9**9**9**9))\nb=$((1<<999999999))\n{_CALL} $a $b\n",
    "an endless loop": lambda: f"{_SCRIPT}while true; do a=$a$a; done\nfor ((;;)); do :; done\n{_CALL} $a\n",
    "here-documents": lambda: filled(_SCRIPT, "cat <<E\nls $(ls)\nE\n", f"{_CALL}\n"),
    "here-documents without end": lambda: filled(f"{_SCRIPT}{_CALL}\n", "cat <<E\n"),
    "here-documents on one line": lambda: filled(f"{_SCRIPT}{_CALL}\ncat ", "<<E ", "\n"),
    "a long here-document": lambda: filled(f"{_SCRIPT}cat <<E\n", "$a `b` \\\n", f"E\n{_CALL}\n"),
    "here-strings": lambda: filled(f"{_SCRIPT}{_CALL}\n", "cat <<<a\n"),
    "quotes without end": lambda: filled(f"{_SCRIPT}{_CALL} '", 'a "b\n'),
    "many quotes": lambda: filled(f"{_SCRIPT}{_CALL} ", "'"),
    "many double quotes": lambda: filled(f"{_SCRIPT}{_CALL} ", '"'),
    "many backslashes": lambda: filled(f"{_SCRIPT}{_CALL} ", "\\"),
    "continued lines": lambda: filled(f"{_SCRIPT}{_CALL} ", "\\\n"),
    "a long line": lambda: filled(f"{_SCRIPT}{_CALL} ", "a", "\n"),
    "many words": lambda: filled(f"{_SCRIPT}{_CALL} ", "a ", "\n"),
    "many commands in a line": lambda: filled(_SCRIPT, "ls; ", f"{_CALL}\n"),
    "many pipes": lambda: filled(f"{_SCRIPT}{_CALL} ", "| a ", "\n"),
    "many conditions": lambda: filled(f"{_SCRIPT}{_CALL} ", "&& a ", "\n"),
    "many redirections": lambda: filled(f"{_SCRIPT}{_CALL} ", ">a ", "\n"),
    "many assignments": lambda: filled(_SCRIPT, "a=1 ", f"{_CALL}\n"),
    "many variables": lambda: _SCRIPT + "".join(f"v{number}=a\n" for number in range(9_000)) + f"{_CALL} $v1\n",
    "many exports": lambda: filled(_SCRIPT, "export KUBELET_EXTRA_ARGS=--v=2\n", f"{_CALL}\n"),
    "many calls": lambda: filled(_SCRIPT, f"{_CALL}\n"),
    "many conditional calls": lambda: filled(_SCRIPT, f"if a; then {_CALL}; fi\n"),
    "calls in functions": lambda: filled(_SCRIPT, f"f() {{ {_CALL}; }}\nf\n"),
    "many options": lambda: filled(f"{_SCRIPT}{_CALL}", " --use-max-pods false", "\n"),
    "many flags of kubelet": lambda: filled(f"{_SCRIPT}{_CALL} --kubelet-extra-args '", "--v=2 ", "'\n"),
    "many unknown flags of kubelet": lambda: (
        f"{_SCRIPT}{_CALL} --kubelet-extra-args '" + " ".join(f"--no-{number}=1" for number in range(9_000)) + "'\n"
    ),
    "many cases": lambda: filled(f"{_SCRIPT}{_CALL}\ncase a in\n", "a) b ;;\n", "esac\n"),
    "edits of the image's script": lambda: filled(_SCRIPT, "sed -i s/a/b/ /etc/eks/bootstrap.sh\n", f"{_CALL}\n"),
    "starts of services": lambda: filled(f"{_SCRIPT}{_CALL}\n", "systemctl start ", "\n"),
    "installations of Docker": lambda: f"{_SCRIPT}{_CALL}\n" + "docker ps\n" * 500 + "install " * 10_000 + "\n",
    "requests without a token": lambda: filled(_SCRIPT, "curl http://169.254.169.254/latest/meta-data/\n", f"{_CALL}\n"),
    "secrets": lambda: filled(_SCRIPT, "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYa1\n", f"{_CALL}\n"),
    "words like secrets": lambda: filled(_SCRIPT, "token=", f"\n{_CALL}\n"),
    "private keys": lambda: filled(_SCRIPT, "-----BEGIN RSA PRIVATE KEY-----\n", f"{_CALL}\n"),
    "colons and slashes": lambda: filled(_SCRIPT, "http://a:", f"\n{_CALL}\n"),
    "tags of PowerShell": lambda: filled("", "<powershell>"),
    "tags that end": lambda: filled("", "<powershell></powershell>"),
    "PowerShell calls": lambda: filled("<powershell>\n", "& 'Start-EKSBootstrap.ps1' -EKSClusterName a\n", "</powershell>"),
    "PowerShell, nested": lambda: _nested("<powershell>\n& Start-EKSBootstrap.ps1 -KubeletExtraArgs ", "$(", ")", "\n</powershell>"),
    "PowerShell, here-strings": lambda: filled(
        "<powershell>\n", "@'\na\n'@\n", "& Start-EKSBootstrap.ps1 -EKSClusterName a\n</powershell>"
    ),
    "PowerShell, quotes": lambda: filled("<powershell>\n& Start-EKSBootstrap.ps1 ", "'", "\n</powershell>"),
    "PowerShell, backquotes": lambda: filled("<powershell>\n& Start-EKSBootstrap.ps1 ", "`\n", "\n</powershell>"),
    "PowerShell, variables": lambda: filled("<powershell>\n", "$a = 'b'\n", "& Start-EKSBootstrap.ps1 $a\n</powershell>"),
    "PowerShell, a variable that doubles": lambda: (
        "<powershell>\n$a = 'aaaaaaaaaa'\n" + '$a = "$a$a"\n' * 60 + "& Start-EKSBootstrap.ps1 -EKSClusterName $a\n</powershell>"
    ),
    "PowerShell, an array that doubles": lambda: (
        "<powershell>\n$a = 'aaaaaaaaaa'\n" + "$a = $a,$a\n" * 60 + "& Start-EKSBootstrap.ps1 -EKSClusterName $a\n</powershell>"
    ),
    "includes": lambda: filled("#include\n", "https://example.com/a\n"),
    "Jinja": lambda: filled("## template: jinja\n#cloud-config\na: ", "{{ "),
}
BOMBS: Mapping[str, Callable[[], Bomb]] = {
    f"{kind}: {name}": make
    for kind, group in (("encoding", ENCODINGS), ("MIME", MIME), ("YAML", YAML), ("format", OTHER_FORMATS), ("script", SCRIPTS))
    for name, make in group.items()
}
