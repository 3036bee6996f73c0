# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the provenance file and the bill of materials of an image contain."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import provenance, sbom, seal
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

Programs = Callable[[str, str], Path]
TOP = Path(__file__).resolve().parents[5]
PLANS = TOP / "tests/golden/image_plans"
CNI = "222222222222-cni-plugins-linux-amd64-v1.8.0.tgz"
PACKAGES = "printf 'jq\\t1.7.1-3build1\\tamd64\\nhtop\\t3.3.0-4build1\\tamd64\\nabsent\\t\\t\\n'\n"
LOCK = json.dumps(
    {
        "packages": [{"name": "jq"}, {"name": "libjq1"}],
        "downloads": [{"sha256": "2" * 64, "url": "https://mirror.example.com/cni.tgz"}],
    }
)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def plan(name: str = "ubuntu-full") -> dict[str, Any]:
    return dict(json.loads((PLANS / f"{name}.json").read_text(encoding="utf-8")))


def installed(root: Path, content: dict[str, Any]) -> Host:
    """A machine with what the plan installs."""
    files: dict[str, str | bytes] = {file["path"]: file["content"] for file in [*content["files"], *content["repositories"]]}
    files |= {download["dest"]: f"{download['name']}\n" for download in content["downloads"] if download["kind"] == "file"}
    files |= {"/etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n', "/opt/cni/bin/bridge": "bridge", "/opt/cni/bin/host-local": "local"}
    return machine(root, files)


def archive(root: Path) -> None:
    """The archive of the CNI plugins, as it is on the machine during the build."""
    path = root / f".{provenance.CACHE}/{CNI}"
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as packed:
        for name in ("./", "./bridge", "host-local"):
            member = tarfile.TarInfo(name)
            member.type = tarfile.DIRTYPE if name == "./" else tarfile.REGTYPE
            packed.addfile(member, io.BytesIO())


@pytest.fixture
def found(tmp_path: Path, programs: Programs) -> dict[str, Any]:
    programs("dpkg-query", PACKAGES)
    host = installed(tmp_path / "root", plan())
    archive(tmp_path / "root")
    return provenance.document(host, plan(), LOCK, {})


def test_it_says_what_the_image_was_built_from(found: dict[str, Any]) -> None:
    galaxy = yaml.safe_load((TOP / "galaxy.yml").read_text(encoding="utf-8"))
    assert found["collection"] == {"name": f"{galaxy['namespace']}.{galaxy['name']}", "version": galaxy["version"]}
    assert found["system"] == {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"}
    assert found["lock"] == digest(LOCK.encode())
    assert found["packages"] == [
        {"name": "htop", "version": "3.3.0-4build1", "architecture": "amd64"},
        {"name": "jq", "version": "1.7.1-3build1", "architecture": "amd64"},
    ]
    cni = next(program for program in found["programs"] if program["name"] == "cni_plugins")
    assert (cni["url"], cni["files"]) == ("https://mirror.example.com/cni.tgz", ["/opt/cni/bin/bridge", "/opt/cni/bin/host-local"])
    assert not [program for program in found["programs"] if "?" in (program["url"] or "")]
    assert [image["name"] for image in found["container_images"]] == [image["name"] for image in plan()["images"]]


def test_urls_have_no_user_and_no_query(tmp_path: Path, programs: Programs) -> None:
    programs("dpkg-query", PACKAGES)
    content, url = plan(), "https://me:pa55word@mirror.example.com/file.tgz?signature=s3cret"
    for download in content["downloads"]:
        download["url"] = url
    lock = json.dumps({"downloads": [{"sha256": content["downloads"][0]["sha256"], "url": url}]})
    found = provenance.document(installed(tmp_path / "root", content), content, lock, {})
    assert {program["url"] for program in found["programs"]} == {"https://mirror.example.com/file.tgz"}
    for document in (found, sbom.document(found)):
        assert not [secret for secret in ("pa55word", "s3cret") if secret in provenance.text(document)]


def test_it_lists_every_file_that_was_written(found: dict[str, Any], tmp_path: Path) -> None:
    files = {entry["path"]: entry for entry in found["files"]}
    assert list(files) == sorted(files)
    written = {file["path"]: file["content"].encode() for file in plan()["files"]}
    assert {path: files[path]["sha256"] for path in written} == {path: digest(content) for path, content in written.items()}
    assert files["/opt/cni/bin/bridge"] == {"path": "/opt/cni/bin/bridge", "mode": "0644", "sha256": digest(b"bridge")}
    assert {download["dest"] for download in plan()["downloads"] if download["kind"] == "file"} <= files.keys()


def test_the_same_inputs_give_the_same_bytes(found: dict[str, Any], tmp_path: Path) -> None:
    other = installed(tmp_path / "other", plan())
    archive(tmp_path / "other")
    again = provenance.document(other, plan(), LOCK, {})
    assert provenance.text(again) == provenance.text(found)
    assert provenance.text(sbom.document(again)) == provenance.text(sbom.document(found))
    assert str(tmp_path) not in provenance.text(found)


def test_after_sealing_the_archives_are_not_needed(found: dict[str, Any], tmp_path: Path) -> None:
    root = tmp_path / "root"
    machine(root, {provenance.PROVENANCE: provenance.text(found), provenance.SBOM: provenance.text(sbom.document(found))})
    removed = seal.seal(str(root), (), (), False).removed
    assert {"/var/cache/eks-node-image"} == {removal.path for removal in removed}
    host = Host(60.0, str(root))
    assert provenance.document(host, plan(), LOCK, provenance.read(host)) == found
    newer = plan()
    next(one for one in newer["downloads"] if one["name"] == "cni_plugins")["sha256"] = "0" * 64
    programs = provenance.document(host, newer, LOCK, provenance.read(host))["programs"]
    assert next(program for program in programs if program["name"] == "cni_plugins")["files"] == []


@pytest.mark.parametrize("name", sorted(path.stem for path in PLANS.glob("*.json")))
def test_the_bill_of_materials_has_the_form_of_cyclonedx(name: str, tmp_path: Path, programs: Programs) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    for program in ("dpkg-query", "rpm"):
        programs(program, PACKAGES)
    content = provenance.document(installed(tmp_path / "root", plan(name)), plan(name), None, {})
    document = sbom.document(content)
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(provenance.text(document)) is None
    references = [component["bom-ref"] for component in document["components"]]
    assert len(references) == len(set(references)) and document["dependencies"][0]["dependsOn"] == references
    kinds = {component["type"] for component in document["components"]}
    assert kinds >= {"file", "library"}
    assert {component.get("purl", "pkg:")[:8] for component in document["components"]} <= {"pkg:", "pkg:deb/", "pkg:rpm/"}


def test_a_validator_sees_a_wrong_document(found: dict[str, Any]) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    wrong = {**sbom.document(found), "timestamp": "now"}
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(json.dumps(wrong)) is not None


def test_rpm_is_asked_for_packages_of_other_families(tmp_path: Path, programs: Programs) -> None:
    record = programs("rpm", PACKAGES)
    packages = provenance.installed_packages(machine(tmp_path / "root", {}), "al2023", ["jq-1.7", "htop"])
    assert [package.name for package in packages] == ["htop", "jq"]
    assert record.read_text().split()[-2:] == ["htop", "jq-1.7"]
    assert provenance.installed_packages(Host(), "al2023", []) == []


@pytest.mark.parametrize("lock", ["[]", "{", '{"packages": [1]}'])
def test_a_wrong_lock_is_refused(lock: str, tmp_path: Path, golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as refused:
        provenance.document(machine(tmp_path, {}), plan(), lock, {})
    golden_message(refused.value)


def test_an_archive_that_cannot_be_read_is_refused(tmp_path: Path, programs: Programs) -> None:
    host = machine(tmp_path / "root", {f"{provenance.CACHE}/{CNI}": "broken"})
    with pytest.raises(ApplyRefused) as refused:
        provenance.document(host, plan(), None, {})
    assert CNI in str(refused.value)
