# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives, templates and compressed files: their content is checked like that of other user data, and findings have its place."""

from __future__ import annotations

import base64
import gzip

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.fix import fix
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.source import file_place
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sources import sources_of

CALL = "/etc/eks/bootstrap.sh demo --kubelet-extra-args --node-labels=a=b --max-pods=5"
ARCHIVE = f"""#cloud-config-archive
- type: text/x-shellscript
  content: |
    #!/bin/bash
    {CALL}
- "runcmd: ls"
- type: text/jinja2
  content: |
    ## template: jinja
    #cloud-config
    hostname: {{{{ v1.local_hostname }}}}
    packages: jq
- {{content: "#!/bin/bash\\nyum install jq\\n"}}
"""


def places(text: str, *rules: str) -> list[tuple[str, int, int, int | None]]:
    """The rule, line, column and length of the findings of these rules."""
    (source,) = sources_of("file", text.encode(), None, None)
    found = ((finding.rule.id, file_place(source, finding.where)) for finding in source.findings if finding.rule.id in rules)
    return [(rule, place.line, place.column, place.length) for rule, place in found]


def rules_of(text: str) -> list[str]:
    return [finding.rule.id for finding in lint(text).findings]


def test_the_parts_of_an_archive() -> None:
    rules = ("bootstrap.unknown_option", "cloud_config.wrong_type", "shell.asks_question")
    assert places(ARCHIVE, *rules) == [
        ("bootstrap.unknown_option", 5, 71, 12),
        ("cloud_config.wrong_type", 6, 12, 2),
        ("cloud_config.wrong_type", 12, 15, 2),
        ("shell.asks_question", 13, 13, 1),
    ]


def test_an_archive_in_a_part_of_mime() -> None:
    head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/cloud-config-archive\n\n'
    found = places(f"{head}{ARCHIVE}--x--\n", "bootstrap.unknown_option", "mime.invalid_header")
    assert found == [("bootstrap.unknown_option", 11, 71, 12)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("#cloud-config-archive\na: b\n", "cloud_config.unreadable"),
        ("#cloud-config-archive\n- [\n", "cloud_config.unreadable"),
        ("#cloud-config-archive\n- 5\n", "cloud_config.unreadable"),
        ("#cloud-config-archive\n- runcmd: [ls]\n", "cloud_config.unreadable"),
        ("#cloud-config-archive\n- {content: 5}\n", "cloud_config.unreadable"),
        # Without a type and a begin that it knows, cloud-init takes text for a cloud-config.
        ("#cloud-config-archive\n- yum -y update\n", "cloud_config.unreadable"),
        (
            "#cloud-config-archive\n- type: application/node.eks.aws\n  content: |\n    apiVersion: node.eks.aws/v1alpha1\n"
            "    kind: NodeConfig\n",
            "nodeconfig.wrong_part",
        ),
        ("## template: jinja\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n", "user_data.wrong_kind"),
    ],
)
def test_what_cloud_init_does_not_read(text: str, rule: str) -> None:
    assert rules_of(text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "#cloud-config-archive\n[]\n",
        "#cloud-config-archive\n- {content: ''}\n",
        "#cloud-config-archive\n- {type: text/cloud-boothook, content: 'echo a'}\n",
        "## template: jinja\n#cloud-config\nruncmd: {{ a.b }}\nwrite_files:\n- {path: /a, permissions: '{{ a }}', content: '{{ b }}'}\n",
        "## template: jinja\n#cloud-config\nwrite_files:\n- {path: /a, content: '{{ b }}', encoding: b64}\n",
        "## template: jinja\n#cloud-config\nhostname: {{ v1.local_hostname }}\n",
        "## template: jinja\n#!/bin/bash\necho {{ v1.region }} '{{ v1.a }}' \"{{ v1.b }}\"\n",
        "## template: jinja\n#!/bin/bash\n/etc/eks/bootstrap.sh {{ ds.name }} --apiserver-endpoint {{ ds.a }} --b64-cluster-ca {{ ds.b }} "
        "--dns-cluster-ip {{ ds.c }} --kubelet-extra-args '--node-labels=a={{ v1.instance_id }},b={{ v1.d }} --max-pods={{ ds.e }}'\n",
    ],
)
def test_no_false_alarms(text: str) -> None:
    assert rules_of(text) == []


def test_the_variables_of_a_template_are_unknown_text() -> None:
    text = f"## template: jinja\n#!/bin/bash\necho {{{{ v1.region }}}}\n{CALL} {{{{ v1.a }}}}\n"
    assert places(text, "bootstrap.unknown_option") == [("bootstrap.unknown_option", 4, 67, 12)]


@pytest.mark.parametrize(
    "text",
    [
        "#cloud-config-archive\n" + "- a\n" * 3000,
        '#cloud-config-archive\n- &a "' + "x" * 20_000 + '"\n' + "- *a\n" * 3000,
        "version: 1.0\ntasks:\n- task: executeScript\n  inputs:\n" + "  - {type: powershell, content: a}\n" * 2000,
    ],
    ids=["parts", "aliases", "tasks"],
)
def test_many_parts_are_not_all_checked(text: str) -> None:
    found = rules_of(text)
    assert found.count("user_data.not_checked") == 1
    assert len(found) <= 201


def test_templates_and_archives_are_not_nested() -> None:
    assert rules_of("## template: jinja\n" * 800 + "#!/bin/bash\n") == ["user_data.wrong_kind"]
    for inner in ("#cloud-config-archive", "#include"):
        assert rules_of(f"#cloud-config-archive\n- '{inner}'\n") == ["user_data.wrong_kind"]


def test_a_template_tells_the_family() -> None:
    text = "## template: jinja\n#!/bin/bash\n/etc/eks/bootstrap.sh demo --container-runtime dockerd\n"
    assert "bootstrap.removed_runtime" in rules_of(text)


def test_a_correction_in_an_archive() -> None:
    text = "#cloud-config-archive\n- |\n  #!/bin/bash\n  yum install jq\n"
    assert fix(text.encode()).content.decode() == text.replace("install", "install -y")


def test_a_compressed_file_of_a_cloud_config() -> None:
    content = base64.b64encode(gzip.compress(b"#!/bin/bash\nyum install jq\n")).decode()
    text = f"#cloud-config\nwrite_files:\n- path: /opt/a.sh\n  encoding: gz+b64\n  content: {content}\n"
    assert [rule for rule, line, _column, _length in places(text, "shell.asks_question") if line == 5] == ["shell.asks_question"]
