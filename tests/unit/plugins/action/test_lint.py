# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action lint and its playbook in real runs: the report, the exit status, check mode, and options that cannot be used."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/lint.yml"
GOOD = "#!/bin/bash\ntrue\n"
BAD = "#cloud-config\nruncmd: echo hello\n"


def lint(folder: Path, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the playbook in C(folder), which has two files."""
    (folder / "good.sh").write_text(GOOD, encoding="utf-8")
    (folder / "bad.yaml").write_text(BAD, encoding="utf-8")
    given = json.dumps({f"eks_node_lint_{name}": value for name, value in variables.items()})
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), "-i", "localhost,", "-e", given, *arguments)


def test_an_error_fails_the_run(tmp_path: Path) -> None:
    done = lint(tmp_path, sources=["good.sh", "bad.yaml"])
    assert done.returncode == 2, done.stdout + done.stderr
    facts = ("bad.yaml:2:9: error: ", "[cloud_config.wrong_type]", "2 | runcmd: echo hello", "1 error, 0 warnings, 0 notes")
    assert mentions(done.stdout, *facts)
    assert done.stdout.count("cloud_config.wrong_type") == 1
    good = lint(tmp_path, sources=["good.sh"])
    assert good.returncode == 0, good.stdout + good.stderr
    assert "0 errors, 0 warnings, 0 notes" in good.stdout


def test_a_report_is_written_once_and_not_in_check_mode(tmp_path: Path) -> None:
    given: dict[str, Any] = {"sources": ["bad.yaml"], "format": "sarif", "report": "out/lint.sarif"}
    assert lint(tmp_path, "--check", **given).returncode == 2
    assert not (tmp_path / "out").exists()
    assert lint(tmp_path, **given).returncode == 2
    results = json.loads((tmp_path / "out/lint.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["cloud_config.wrong_type"]
    again = given | {"sources": ["good.sh"], "format": "json"}
    assert "changed=1" in lint(tmp_path, **again).stdout
    assert "changed=0" in lint(tmp_path, **again).stdout


@pytest.mark.parametrize(
    ("variables", "rule"),
    [
        ({}, "input.missing_field"),
        ({"sources": ["none.sh"]}, "input.unreadable_file"),
        ({"sources": ["good.sh"], "family": "al3"}, "input.unknown_value"),
        ({"sources": ["good.sh"], "version": "one"}, "input.invalid_text"),
        ({"sources": ["good.sh"], "report": "good.sh/a"}, "output.unwritable_directory"),
    ],
)
def test_options_that_cannot_be_used(variables: dict[str, Any], rule: str, tmp_path: Path) -> None:
    done = lint(tmp_path, "-v", **variables)
    assert done.returncode == 2
    assert rule in done.stdout


def test_the_family_and_the_version_are_used(tmp_path: Path) -> None:
    (tmp_path / "call.sh").write_text("#!/bin/bash\n/etc/eks/bootstrap.sh shop\n", encoding="utf-8")
    assert lint(tmp_path, sources=["call.sh"], family="al2").returncode == 0
    assert "[bootstrap.removed_from_image]" in lint(tmp_path, sources=["call.sh"], family="al2023").stdout
    assert "[family.not_in_version]" in lint(tmp_path, sources=["call.sh"], family="al2", version="1.33").stdout


def test_the_instance_type_is_used(tmp_path: Path) -> None:
    (tmp_path / "node.toml").write_text("[settings.kubernetes]\nmax-pods = 110\n", encoding="utf-8")
    assert "[capacity.needs_prefixes]" not in lint(tmp_path, sources=["node.toml"]).stdout
    assert "[capacity.needs_prefixes]" in lint(tmp_path, sources=["node.toml"], instance_type="m5.large").stdout


def test_corrections_are_written_once_and_not_in_check_mode(tmp_path: Path) -> None:
    script = tmp_path / "install.sh"
    script.write_bytes(b"#!/bin/bash\r\nyum install jq\r\n")
    script.chmod(0o750)
    (tmp_path / "link.sh").symlink_to("install.sh")
    given: dict[str, Any] = {"sources": ["link.sh"], "fix": True}
    checked = lint(tmp_path, "--check", "--diff", **given)
    assert checked.returncode == 0
    assert "changed=1" in checked.stdout
    assert mentions(checked.stdout, "+yum install -y jq")
    assert script.read_bytes() == b"#!/bin/bash\r\nyum install jq\r\n"
    assert "changed=1" in lint(tmp_path, **given).stdout
    assert script.read_bytes() == b"#!/bin/bash\nyum install -y jq\n"
    assert script.stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "link.sh").is_symlink()
    assert "changed=0" in lint(tmp_path, **given).stdout


def test_what_cannot_be_corrected_still_fails(tmp_path: Path) -> None:
    done = lint(tmp_path, "--diff", sources=["bad.yaml"], fix=True)
    assert done.returncode == 2
    assert mentions(done.stdout, "[cloud_config.wrong_type]", "1 error")
    assert (tmp_path / "bad.yaml").read_text(encoding="utf-8") == BAD
    # Files of other tools are not changed.
    manifest = "kind: EC2NodeClass\nspec:\n  userData: |\n    #!/bin/bash\n    yum install jq\n"
    (tmp_path / "nodes.yaml").write_text(manifest, encoding="utf-8")
    assert "changed=0" in lint(tmp_path, sources=["nodes.yaml"], fix=True).stdout
    # A diff shows no file with a secret.
    (tmp_path / "secret.sh").write_text("#!/bin/bash\nyum install jq\ncurl http://u:hunter22@p/\n", encoding="utf-8")
    shown = lint(tmp_path, "--diff", sources=["secret.sh"], fix=True).stdout
    assert "hunter22" not in shown
    assert "install -y" in (tmp_path / "secret.sh").read_text(encoding="utf-8")
