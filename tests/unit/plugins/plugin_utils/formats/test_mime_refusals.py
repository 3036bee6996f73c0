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
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import mime_reader
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"
SCRIPT = "#!/bin/bash\necho hi\n"
ROWS = Path(__file__).resolve().parents[4] / "oracle" / "data" / "nodeadm.json"


def document(*parts: str, head: str = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n', end: str = "--B--\n") -> str:
    return f"{head}\n" + "".join(f"--B\n{part}\n" for part in parts) + end


SHELL_PART = f"Content-Type: text/x-shellscript\n\n{SCRIPT}"
NODE_PART = f"Content-Type: application/node.eks.aws\n\n{NODE_CONFIG}"
GOOD = document(SHELL_PART, NODE_PART)

REFUSED = [
    pytest.param("\n" + GOOD, "mime.leading_blank", id="leading blank line"),
    pytest.param(re.sub("^", "  ", GOOD, flags=re.MULTILINE), "mime.leading_blank", id="indented"),
    pytest.param(document(f"Content-Type: application/node.eks.aws\n{NODE_CONFIG}"), "mime.invalid_header", id="no blank line, NodeConfig"),
    pytest.param(document(f"Content-Type: text/x-shellscript\n{SCRIPT}"), "mime.invalid_header", id="no blank line, shell"),
    pytest.param(document("Content-Type: text/x-shellscript"), "mime.invalid_header", id="headers only"),
    pytest.param(GOOD.replace('boundary="B"', "boundary=//").replace("--B", "--//"), "mime.invalid_content_type", id="unquoted boundary"),
    pytest.param(
        GOOD.replace('boundary="B"', "boundary===B==").replace("--B", "--==B=="),
        "mime.invalid_content_type",
        id="unquoted boundary, equals",
    ),
    pytest.param(GOOD.replace('boundary="B"', 'boundary="B"; boundary="C"'), "mime.invalid_content_type", id="two boundaries"),
    pytest.param(GOOD.replace('; boundary="B"', ""), "mime.invalid_boundary", id="no boundary"),
    pytest.param(GOOD.replace('"B"', '"é"').replace("--B", "--é"), "mime.invalid_header", id="boundary beyond ASCII"),
    pytest.param(
        document(SHELL_PART).replace("--B--", "--B--\n--B") + NODE_PART + "\n--B--\n",
        "mime.text_after_end",
        id="close in the middle",
    ),
    pytest.param(document(f'Content-Type: multipart/mixed; boundary="I"\n\n--I\n{NODE_PART}\n--I--'), "mime.nested_document", id="nested"),
    pytest.param(document(SHELL_PART, end=""), "mime.missing_end", id="no close"),
    pytest.param(document("Content-Type: text/x-shellscript\n\necho hi\n"), "mime.no_interpreter", id="no shebang"),
    pytest.param(document("Content-Type: text/x-shellscript\n\n\n#!/bin/sh\n"), "mime.no_interpreter", id="blank line before shebang"),
    pytest.param(document("Content-Type: text/x-shellscript\n\n#!/bin/sh\n--B x\n"), "mime.invalid_boundary", id="line like the boundary"),
    pytest.param(document("Content-Type: text/yaml\n\na: b\n"), "mime.unknown_type", id="unknown type"),
    pytest.param(document("Content-Type: ;;\n\nx\n"), "mime.invalid_content_type", id="bad type"),
    pytest.param(
        document("Content-Type: application/node.eks.aws\n\nkind: ConfigMap\napiVersion: v1\n"),
        "nodeconfig.wrong_document",
        id="another kind",
    ),
    pytest.param(document("Content-Type: application/node.eks.aws\n\n"), "nodeconfig.wrong_document", id="empty NodeConfig"),
    pytest.param(document(f"X-Header: 1\n\n{NODE_CONFIG}"), "mime.no_interpreter", id="NodeConfig without its type"),
    pytest.param(document("Content-Type: text/x-shellscript\n\n#!/bin/sh\n# é\n"), "mime.missing_encoding", id="8bit"),
    pytest.param(
        document("Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n###\n"), "mime.unreadable_part", id="bad base64"
    ),
    pytest.param(
        document("Content-Type: text/x-shellscript\nContent-Transfer-Encoding: quoted-printable\n\n#!/bin/sh\na=b\n"),
        "mime.unreadable_part",
        id="bad quoted-printable",
    ),
    pytest.param(
        document("Content-Type: text/x-shellscript\nContent-Transfer-Encoding: x-uuencode\n\n#!/bin/sh\n"),
        "mime.unreadable_part",
        id="uuencode",
    ),
    pytest.param(document("Content-Type: text/plain\nContent-Type: text/plain\n\n#!/bin/sh\n"), "mime.repeated_header", id="type twice"),
    pytest.param(GOOD.replace("MIME-Version: 1.0\n", ""), "mime.missing_version", id="no version"),
    pytest.param(GOOD.replace("MIME-Version", "X: " + "x" * 5000 + "\nMIME-Version"), "mime.missing_version", id="late version"),
    pytest.param(GOOD.replace("Content-Type: m", "Content-Type : m"), "mime.invalid_header", id="blank before colon"),
    pytest.param(GOOD.replace("multipart/mixed", "text/plain"), "mime.not_multipart", id="no multipart"),
    pytest.param(document(), "mime.no_part", id="no part"),
    pytest.param(GOOD.replace("\n\n--B", "\n\n#!/bin/sh\necho lost\n--B", 1), "mime.text_before_parts", id="script as preamble"),
    pytest.param(GOOD.replace("--B\n", "--B\r\n", 1), "mime.invalid_boundary", id="delimiters with mixed line ends"),
    pytest.param(
        document(SHELL_PART, head='MIME-Version: 1.0\nContent-Transfer-Encoding: base64\nContent-Type: multipart/mixed; boundary="B"\n'),
        "mime.encoded_document",
        id="outer encoding",
    ),
]


@pytest.mark.parametrize(("text", "rule"), REFUSED)
def test_text_that_one_of_the_readers_rejects_or_loses_is_a_problem(text, rule, golden_message: GoldenMessages):
    problems = Problems()
    mime_reader.read(text, "user_data", problems)
    assert rule in [problem.rule for problem in problems]
    assert all(problem.path.startswith("user_data") for problem in problems)
    golden_message("\n".join(f"{problem} [{problem.rule}]" for problem in problems))


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
    mime_reader.read(text, "user_data", problems)
    accepted = not len(problems)
    if case["id"] in STRICTER:
        assert not accepted
    elif case["id"] in ENVELOPE_IS_SOUND:
        assert accepted
    else:
        assert accepted == case["check"]["ok"], [str(problem) for problem in problems]
