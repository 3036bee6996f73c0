# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages of an image: what the programs are asked, and what is refused. Real apt and dnf are in tests/oracle/test_image_inputs.py."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import package_files, packages
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.apt import Apt
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.package_files import Package, Result
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.rpm import Rpm
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import programs
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions

SYSTEM = {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"}
CONTENT = b"a package"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Programs:
    """The programs of a machine: C(answers) by a word of the command. C(calls): the commands."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {name.replace("_", "-"): answer for name, answer in answers.items()}
        self.calls: list[list[str]] = []

    def __call__(self, argv: Sequence[str]) -> Result:
        self.calls.append(list(argv))
        for word, answer in self.answers.items():
            if word in argv:
                return answer if isinstance(answer, Result) else Result(0, answer)
        return Result(0, "")

    def called(self, word: str) -> list[list[str]]:
        return [call for call in self.calls if word in call]


def entry(name: str, version: str = "1") -> dict[str, Any]:
    file = f"{name}_{version}_all.deb"
    return {
        "name": name, "version": version, "architecture": "all", "file": file, "url": f"https://a/{file}", "sha256": DIGEST,
        "size": len(CONTENT),
    }  # fmt: skip


def lock(*entries: dict[str, Any], **system: str) -> dict[str, Any]:
    return {"system": {**SYSTEM, **system}, "requested": ["jq"], "packages": list(entries), "downloads": []}


def folder(tmp_path: Path, *names: str, content: bytes = CONTENT) -> str:
    (tmp_path / "packages").mkdir(exist_ok=True)
    for name in names:
        (tmp_path / "packages" / name).write_bytes(content)
    (tmp_path / "scratch").mkdir(exist_ok=True)
    return str(tmp_path)


def request(tmp_path: Path, document: Any = None, specs: Sequence[str] = ("jq",), held: Sequence[str] = ()) -> packages.Request:
    return packages.Request(specs, held, document, str(tmp_path))


def status(*rows: str) -> str:
    """What dpkg-query prints."""
    return "".join(f"{row.replace(' ', chr(9), 2)}\tii \n" for row in rows)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("jq", True),
        ("jq=1:1.7-3", True),
        ("jq=1:1.*", True),
        ("jq=1.7-3", False),
        ("jq:amd64", True),
        ("jq:arm64", False),
        ("libjq1", False),
    ],
)
def test_a_package_is_what_apt_is_asked_for(spec: str, expected: bool) -> None:
    assert Apt.matches(spec, Package("jq", "1:1.7-3", "amd64")) is expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("jq", True),
        ("jq-1.7", True),
        ("jq-1.7-3", True),
        ("jq-1:1.7-3", True),
        ("jq-1.*", True),
        ("jq.x86_64", True),
        ("jq-1.7-3.x86_64", True),
        ("jq-1.6", False),
        ("jq.noarch", False),
        ("libjq", False),
    ],
)
def test_a_package_is_what_dnf_is_asked_for(spec: str, expected: bool) -> None:
    assert Rpm.matches(spec, Package("jq", "1:1.7-3", "x86_64")) is expected


def test_only_complete_packages_of_apt_are_installed() -> None:
    rows = "a\t1\tall\tii \nb\t1\tall\thi \nc\t1\tall\tiU \nd\t1\tall\trc \ne\t1\tall\tiF \n"
    assert [one.name for one in Apt(Programs(dpkg_query=rows)).installed()] == ["a", "b"]


def test_keys_of_repositories_are_not_packages() -> None:
    rows = "gpg-pubkey\t(none)\t1-2\t(none)\njq\t(none)\t1-2\tx86_64\nlib\t3\t1-2\tnoarch\nzero\t0\t1-2\tnoarch\n"
    assert Rpm(Programs(rpm=rows), "dnf").installed() == [
        Package("jq", "1-2", "x86_64"), Package("lib", "3:1-2", "noarch"), Package("zero", "1-2", "noarch"),
    ]  # fmt: skip


def test_the_files_of_apt_have_digests_and_urls(tmp_path: Path) -> None:
    uris = "".join(
        f"'{url}' {file} 10 SHA256:{'a' * 64}\n"
        for url, file in (("http://a/pool/libjq1.deb", "libjq1_1%3a1.7_amd64.deb"), ("file:/srv/./jq_1_all.deb", "jq_1_all.deb"))
    )
    run = Programs(**{"--print-uris": uris})
    found = packages.lock(Apt(run), ["jq"], [], str(tmp_path))
    assert [(one["name"], one["version"], one["url"]) for one in found] == [
        ("libjq1", "1:1.7", "http://a/pool/libjq1.deb"), ("jq", "1", "file:///srv/jq_1_all.deb"),
    ]  # fmt: skip
    assert all(str(tmp_path) in " ".join(call) for call in run.called("apt-get"))


@pytest.mark.parametrize("line", ["'http://a/b.deb' b_1_all.deb 10 MD5Sum:aa", f"'cdrom:[x]/b.deb' b_1_all.deb 10 SHA256:{'a' * 64}"])
def test_what_cannot_be_fetched_later_is_refused(tmp_path: Path, line: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        packages.lock(Apt(Programs(**{"--print-uris": line})), ["b"], [], str(tmp_path))
    golden_message(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        "'s3://me:pa55word@a/b.deb' b_1_all.deb 10 MD5Sum:aa",
        f"'s3://me:pa55word@a/b.deb' b_1_all.deb 10 SHA256:{'a' * 64}",
        Result(100, "Err:1 https://me:pa55word@a/b.deb\n"),
    ],
)
def test_passwords_of_repositories_are_not_shown(tmp_path: Path, answer: Any) -> None:
    with pytest.raises(ApplyRefused) as caught:
        packages.lock(Apt(Programs(**{"--print-uris": answer})), ["b"], [], str(tmp_path))
    assert mentions(caught.value, "@a/b.deb") and "pa55word" not in str(caught.value)


def test_repositories_of_the_plan_are_read_elsewhere(tmp_path: Path) -> None:
    key, source = "/etc/apt/keyrings/own.asc", "/etc/apt/sources.list.d/own.sources"
    files = [{"path": key, "content": "KEY\n"}, {"path": source, "content": f"Signed-By: {key}\n"}]
    package_files.write_files(files, str(tmp_path))
    assert (tmp_path / "own.sources").read_text(encoding="utf-8") == f"Signed-By: {tmp_path}/own.asc\n"


def test_nothing_is_done_when_everything_is_installed(tmp_path: Path) -> None:
    run = Programs(dpkg_query=status("jq 1 all"), showhold="jq\n")
    for document in (None, lock(entry("jq"))):
        outcome = packages.apply(Apt(run), request(tmp_path, document, held=["jq"]), SYSTEM, folder(tmp_path), False)
        assert outcome == (False, [], [], [])
    assert run.called("apt-get") == run.called("hold") == []


def test_check_mode_tells_what_would_change_and_changes_nothing(tmp_path: Path) -> None:
    run = Programs(dpkg_query=status("lib 0 all"), **{"-s": "Inst jq (1 x [all])\nConf jq (1 x [all])\n"})
    locked = packages.apply(Apt(run), request(tmp_path, lock(entry("jq"), entry("lib")), held=["jq"]), SYSTEM, "", True)
    assert locked == (True, ["jq 1 all", "lib 1 all"], ["packages/jq_1_all.deb", "packages/lib_1_all.deb"], ["jq"])
    assert packages.apply(Apt(run), request(tmp_path), SYSTEM, "", True) == (True, ["jq"], [], [])
    run.answers["-s"] = Result(100, "E: Unable to locate package jq")
    assert packages.apply(Apt(run), request(tmp_path), SYSTEM, "", True).installed == ["jq"]
    run.answers["-s"] = ""
    assert packages.apply(Apt(run), request(tmp_path, specs=["awk"]), SYSTEM, "", True).changed is False
    assert all("-s" in call for call in run.called("apt-get"))


def test_a_lock_of_another_system_is_refused(tmp_path: Path, golden_message: GoldenMessages) -> None:
    run = Programs()
    for system in ({"version_id": "22.04"}, {"architecture": "aarch64"}):
        with pytest.raises(ApplyRefused) as caught:
            packages.apply(Apt(run), request(tmp_path, lock(**system)), SYSTEM, "", True)
        golden_message(caught.value)
    assert run.calls == []


def test_every_file_is_checked_before_anything_is_installed(tmp_path: Path) -> None:
    run = Programs(dpkg_query="")
    document = lock(entry("jq"), entry("lib"), entry("other"))
    path = folder(tmp_path, "jq_1_all.deb")
    folder(tmp_path, "lib_1_all.deb", content=CONTENT[::-1])
    with pytest.raises(ApplyRefused) as caught:
        packages.apply(Apt(run), request(tmp_path, document), SYSTEM, path, False)
    assert mentions(caught.value, "lib_1_all.deb", "other_1_all.deb") and "jq_1_all.deb" not in str(caught.value)
    assert run.called("apt-get") == []


def test_what_the_lock_lacks_is_not_fetched(tmp_path: Path, golden_message: GoldenMessages) -> None:
    run = Programs(dpkg_query="", install=Result(100, " jq : Depends: lib but it is not installable\nE: Unable to correct problems\n"))
    path = folder(tmp_path, "jq_1_all.deb")
    with pytest.raises(ApplyRefused) as caught:
        packages.apply(Apt(run), request(tmp_path, lock(entry("jq"))), SYSTEM, str(tmp_path / "scratch"), False)
    golden_message(caught.value)
    (call,) = run.called("install")
    assert "Dir::Etc::SourceList=/dev/null" in call and f"{path}/packages/jq_1_all.deb" in call


def test_a_package_that_does_not_arrive_is_reported(tmp_path: Path) -> None:
    folder(tmp_path, "jq_1_all.deb")
    with pytest.raises(ApplyRefused) as caught:
        packages.apply(Apt(Programs(dpkg_query="")), request(tmp_path, lock(entry("jq"))), SYSTEM, str(tmp_path / "scratch"), False)
    assert mentions(caught.value, "jq 1 all")


def test_an_interrupted_installation_is_finished_first(tmp_path: Path) -> None:
    run = Programs(dpkg_query="", **{"--audit": "jq is only half configured"})
    packages.apply(Apt(run), request(tmp_path), SYSTEM, folder(tmp_path), False)
    words = [
        next(word for word in ("--configure", "update", "install") if word in call) for call in run.calls if {"-a", "-q", "-qq"} & {*call}
    ]
    assert words[:3] == ["--configure", "update", "install"]


def test_a_hold_of_another_version_is_replaced() -> None:
    run = Programs(list="jq-0:1.6-1.*\njq-libs-0:1.6-1.*\n", rpm="jq\t(none)\t1.7-1\tx86_64\n")
    manager = Rpm(run, "dnf")
    installed = manager.installed()
    assert manager.missing_holds(["jq"], installed) == ["jq"]
    manager.hold(["jq"], installed)
    assert [call[-1] for call in (*run.called("delete"), *run.called("add"))] == ["jq-0:1.6-1.*", "jq"]
    for held in ("jq-0:1.7-1.*", "0:jq-1.7-1.*"):
        run.answers["list"] = f"{held}\n"
        assert manager.missing_holds(["jq"], installed) == []


@pytest.mark.parametrize("name", ["dnf", "yum"])
def test_the_list_of_held_packages_has_no_times(tmp_path: Path, name: str) -> None:
    run = Programs()
    Rpm(run, name).hold(["jq"], [])
    *command, path = run.called("sed")[0]
    assert path.startswith("/etc/") and path.endswith("/versionlock.list") and name in path
    held = tmp_path / "versionlock.list"
    # dnf writes "lock", yum writes "locks".
    held.write_text("# of the user\n\n# Added lock on Mon Nov 23 2026\njq-0:1.7-1.*\n\n# Added locks on Mon Nov 23 2026\n0:jq-1.7-1.*\n")
    subprocess.run([*command, str(held)], check=True)
    assert held.read_text() == "# of the user\n\njq-0:1.7-1.*\n\n0:jq-1.7-1.*\n"


def test_without_the_plugin_nothing_is_held() -> None:
    assert Rpm(Programs(list=Result(1, "No such command: versionlock")), "dnf").missing_holds(["jq"], []) == ["jq"]


@pytest.mark.parametrize(("family", "program"), [("ubuntu", "apt-get"), ("al2023", "dnf"), ("al2", "yum")])
def test_each_family_has_its_package_manager(family: str, program: str) -> None:
    run = Programs()
    packages.manager_of(family, run).install(["jq"])
    assert run.calls[0][0] == program


def test_the_cause_is_shown_even_if_it_is_not_at_the_end() -> None:
    lines = [f"Unpacking package {number} ..." for number in range(40)]
    lines[20:20] = ["dpkg: error processing archive", " cannot copy extracted data: failed to write (No space left on device)"]
    with pytest.raises(ApplyRefused) as refused:
        package_files.output_of(lambda _argv: Result(100, "\n".join(lines)), ["apt-get"], "installing the packages")
    assert refused.value.evidence == (*lines[20:22], *lines[-10:])


def test_dates_that_packages_write_are_that_of_the_system() -> None:
    output = package_files.runner(10, {})(["sh", "-c", "date -d @$SOURCE_DATE_EPOCH -Is; date -r /etc/os-release -Is"]).output
    written, release = output.split()
    assert written == release


def test_programs_get_the_proxies_of_the_task_and_nothing_else(tmp_path: Path) -> None:
    given = {"http_proxy": "http://p:1", "HTTPS_PROXY": "http://p:2", "SECRET": "x"}
    output = package_files.runner(10, given)(["env"]).output
    assert mentions(output, "http_proxy=http://p:1", "HTTPS_PROXY=http://p:2", "DEBIAN_FRONTEND=noninteractive")
    assert "SECRET" not in output
    assert package_files.runner(10, {})([str(tmp_path / "nothing")]).status == programs.NOT_RUNNABLE


def test_the_plan_of_dnf_is_read() -> None:
    table = """Dependencies resolved.
 Package          Architecture       Version            Repository         Size
Installing:
 tool             noarch             3-1                local             5.4 k
Installing dependencies:
 lib              noarch             1:1-1              local             5.4 M
"""
    assert Rpm(Programs(**{"--assumeno": Result(1, table)}), "dnf").would_install(["tool"]) == ["lib", "tool"]
    assert Rpm(Programs(**{"--assumeno": Result(1, "Unable to find a match: tool")}), "dnf").would_install(["tool"]) is None
    assert Rpm(Programs(**{"--assumeno": "Nothing to do."}), "dnf").would_install(["tool"]) == []
