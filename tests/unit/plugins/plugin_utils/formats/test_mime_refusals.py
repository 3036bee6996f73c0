# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MIME documents that cloud-init or nodeadm refuses, loses or garbles: each is a problem, as the recorded answers of nodeadm say."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import mime

NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"
SCRIPT = "#!/bin/bash\necho hi\n"
ROWS = Path(__file__).resolve().parents[4] / "oracle" / "data" / "nodeadm.json"


def document(*parts: str, head: str = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n', end: str = "--B--\n") -> str:
    return f"{head}\n" + "".join(f"--B\n{part}\n" for part in parts) + end


SHELL_PART = f"Content-Type: text/x-shellscript\n\n{SCRIPT}"
NODE_PART = f"Content-Type: application/node.eks.aws\n\n{NODE_CONFIG}"
GOOD = document(SHELL_PART, NODE_PART)

REFUSED = [
    pytest.param("\n" + GOOD, "begins with a blank", id="leading blank line"),
    pytest.param(re.sub("^", "  ", GOOD, flags=re.MULTILINE), "begins with a blank", id="indented"),
    pytest.param(
        document(f"Content-Type: application/node.eks.aws\n{NODE_CONFIG}"), "stands among the headers", id="no blank line, NodeConfig"
    ),
    pytest.param(document(f"Content-Type: text/x-shellscript\n{SCRIPT}"), "stands among the headers", id="no blank line, shell"),
    pytest.param(document("Content-Type: text/x-shellscript"), "no blank line behind", id="headers only"),
    pytest.param(GOOD.replace('boundary="B"', "boundary=//").replace("--B", "--//"), "into double quotes", id="unquoted boundary"),
    pytest.param(
        GOOD.replace('boundary="B"', "boundary===B==").replace("--B", "--==B=="), "into double quotes", id="unquoted boundary, equals"
    ),
    pytest.param(GOOD.replace('boundary="B"', 'boundary="B"; boundary="C"'), "cannot parse", id="two boundaries"),
    pytest.param(GOOD.replace('; boundary="B"', ""), "no boundary", id="no boundary"),
    pytest.param(GOOD.replace('"B"', '"é"').replace("--B", "--é"), "stands among the headers", id="boundary beyond ASCII"),
    pytest.param(
        document(SHELL_PART).replace("--B--", "--B--\n--B") + NODE_PART + "\n--B--\n",
        "continues after the closing delimiter",
        id="close in the middle",
    ),
    pytest.param(document(f'Content-Type: multipart/mixed; boundary="I"\n\n--I\n{NODE_PART}\n--I--'), "document inside", id="nested"),
    pytest.param(document(SHELL_PART, end=""), "does not end with the closing", id="no close"),
    pytest.param(document("Content-Type: text/x-shellscript\n\necho hi\n"), "does not begin with #!", id="no shebang"),
    pytest.param(document("Content-Type: text/x-shellscript\n\n\n#!/bin/sh\n"), "does not begin with #!", id="blank line before shebang"),
    pytest.param(
        document("Content-Type: text/x-shellscript\n\n#!/bin/sh\n--B x\n"), "begins with the boundary", id="line like the boundary"
    ),
    pytest.param(document("Content-Type: text/yaml\n\na: b\n"), "nobody on the node reads", id="unknown type"),
    pytest.param(document("Content-Type: ;;\n\nx\n"), "refuses the whole document", id="bad type"),
    pytest.param(
        document("Content-Type: application/node.eks.aws\n\nkind: ConfigMap\napiVersion: v1\n"), "is not a NodeConfig", id="another kind"
    ),
    pytest.param(document("Content-Type: application/node.eks.aws\n\n"), "is not a NodeConfig", id="empty NodeConfig"),
    pytest.param(document(f"X-Header: 1\n\n{NODE_CONFIG}"), "does not begin with #!", id="NodeConfig without its type"),
    pytest.param(document("Content-Type: text/x-shellscript\n\n#!/bin/sh\n# é\n"), "which cloud-init garbles", id="8bit"),
    pytest.param(
        document("Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n###\n"), "does not decode", id="bad base64"
    ),
    pytest.param(
        document("Content-Type: text/x-shellscript\nContent-Transfer-Encoding: quoted-printable\n\n#!/bin/sh\na=b\n"),
        "=3D",
        id="bad quoted-printable",
    ),
    pytest.param(
        document("Content-Type: text/x-shellscript\nContent-Transfer-Encoding: x-uuencode\n\n#!/bin/sh\n"), "cannot undo", id="uuencode"
    ),
    pytest.param(document("Content-Type: text/plain\nContent-Type: text/plain\n\n#!/bin/sh\n"), "has a header twice", id="type twice"),
    pytest.param(GOOD.replace("MIME-Version: 1.0\n", ""), "no MIME-Version", id="no version"),
    pytest.param(GOOD.replace("MIME-Version", "X: " + "x" * 5000 + "\nMIME-Version"), "too far down", id="late version"),
    pytest.param(GOOD.replace("Content-Type: m", "Content-Type : m"), "stands among the headers", id="blank before colon"),
    pytest.param(GOOD.replace("multipart/mixed", "text/plain"), "is not a multipart", id="no multipart"),
    pytest.param(document(), "without a part", id="no part"),
    pytest.param(GOOD.replace("\n\n--B", "\n\n#!/bin/sh\necho lost\n--B", 1), "before its first part", id="script as preamble"),
    pytest.param(GOOD.replace("\n", "\r\n", 2), "stands among the headers", id="mixed line ends"),
    pytest.param(
        document(SHELL_PART, head='MIME-Version: 1.0\nContent-Transfer-Encoding: base64\nContent-Type: multipart/mixed; boundary="B"\n'),
        "nobody undoes",
        id="outer encoding",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_one_of_the_readers_refuses_or_loses_is_a_problem_with_a_cure(text, message):
    problems = Problems()
    mime.read(text, "user_data", problems)
    matching = [problem for problem in problems if message in str(problem)]
    assert matching, [str(problem) for problem in problems]
    assert str(matching[0]).startswith("user_data")


# What nodeadm accepts and we do not, on purpose.
STRICTER = {
    "mime_no_version_header": "cloud-init sees no MIME without MIME-Version",
    "mime_close_in_middle": "the rest is silently lost",
    "mime_epilogue": "text behind the end is silently lost",
}
# nodeadm is content or not with what stands *in* these documents; the envelope itself is sound.
ENVELOPE_IS_SOUND = {"mime_no_nodeconfig"}


def _rows():
    for case in json.loads(ROWS.read_text())["cases"]:
        if case["id"].startswith("mime_") and case["id"] not in ("mime_gzip", "mime_base64", "mime_drop_in"):
            yield pytest.param(case, id=case["id"])


@pytest.mark.parametrize("case", list(_rows()))
def test_the_reader_agrees_with_what_nodeadm_did(case):
    text = case["user_data"] if "user_data" in case else base64.b64decode(case["user_data_base64"]).decode()
    problems = Problems()
    mime.read(text, "user_data", problems)
    accepted = not len(problems)
    if case["id"] in STRICTER:
        assert not accepted
    elif case["id"] in ENVELOPE_IS_SOUND:
        assert accepted
    else:
        assert accepted == case["check"]["ok"], [str(problem) for problem in problems]
