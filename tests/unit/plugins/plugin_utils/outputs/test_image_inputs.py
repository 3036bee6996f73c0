# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of inputs, filled from a real HTTP server that also cuts off, lies and refuses."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock as locks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import image_inputs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image import mirror as mirrors
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.mirror import CONTENTS, Mirror

JQ, LIBJQ, KUBELET = CONTENTS
PLACES = [f"packages/{JQ}", f"packages/{LIBJQ}", "downloads/kubelet"]
FAULTS = {
    "missing": ("lock.fetch_failed", "404"),
    "cut off": ("lock.fetch_failed", "cut off"),
    "ends early": ("lock.fetch_failed", "cut off"),
    "other content": ("lock.wrong_content", "digest"),
    "longer": ("lock.wrong_content", "longer"),
    "silent": ("lock.fetch_failed", "timed out"),
}


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with mirrors.started() as found:
        yield found


def run(lock: Path, folder: Path, *, check_mode: bool = False, say: Callable[[str], None] = print, **options: Any) -> dict[str, Any]:
    given = {"plan": None, "builder": None, "download": True, "timeout": 1, **options}
    return image_inputs.fetch_task({"lock": str(lock), "folder": str(folder), **given}, check_mode=check_mode, say=say)


def refused(lock: Path, folder: Path, **options: Any) -> SpecError:
    with pytest.raises(SpecError) as caught:
        run(lock, folder, **options)
    return caught.value


def found(folder: Path) -> dict[str, bytes]:
    """The files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_folder_has_every_file_and_a_second_run_fetches_nothing(tmp_path: Path, mirror: Mirror) -> None:
    lock, folder = mirror.write_lock(tmp_path), tmp_path / "a" / "inputs"
    lines: list[str] = []
    first = run(lock, folder, say=lines.append)
    assert (first["changed"], first["fetched"], first["foreign"]) == (True, PLACES, [])
    assert found(folder) == {"inputs.lock": lock.read_bytes(), **dict(zip(PLACES, CONTENTS.values(), strict=True))}
    assert [line.split()[1] for line in lines] == PLACES
    assert [file["path"] for file in first["files"]] == [f"{folder}/{place}" for place in PLACES]
    assert first["lock"]["system"]["id"] == "ubuntu"
    second = run(lock, folder)
    assert (second["changed"], second["fetched"]) == (False, [])
    assert len(mirror.requests) == 3


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_explained_and_the_next_run_continues(tmp_path: Path, mirror: Mirror, fault: str) -> None:
    lock, folder = mirror.write_lock(tmp_path, query="?signature=secret"), tmp_path / "inputs"
    mirror.faults[LIBJQ] = fault
    rule, word = FAULTS[fault]
    error = refused(lock, folder)
    assert [(problem.rule, problem.path) for problem in error.problems] == [(rule, "lock.packages[1]")]
    assert mentions(error, LIBJQ, word) and "secret" not in str(error)
    assert found(folder).keys() == {PLACES[0], PLACES[2]}
    mirror.faults.clear()
    assert run(lock, folder)["fetched"] == [PLACES[1]]


def test_the_problems_of_all_files_are_reported_at_once(tmp_path: Path, mirror: Mirror) -> None:
    mirror.faults = {JQ: "missing", LIBJQ: "cut off", KUBELET: "other content"}
    error = refused(mirror.write_lock(tmp_path), tmp_path / "inputs")
    assert [problem.rule for problem in error.problems] == ["lock.wrong_content", "lock.fetch_failed", "lock.fetch_failed"]


def test_check_mode_uses_no_network_and_changes_nothing(tmp_path: Path, mirror: Mirror) -> None:
    lock, folder = mirror.write_lock(tmp_path), tmp_path / "inputs"
    result = run(lock, folder, check_mode=True)
    assert (result["changed"], result["fetched"], folder.exists(), mirror.requests) == (True, PLACES, False, [])
    run(lock, folder)
    assert run(lock, folder, check_mode=True)["changed"] is False
    (folder / PLACES[0]).write_bytes(b"x")
    assert run(lock, folder, check_mode=True)["fetched"] == PLACES[:1]
    assert (folder / PLACES[0]).read_bytes() == b"x"


def test_a_damaged_file_is_fetched_again(tmp_path: Path, mirror: Mirror) -> None:
    lock, folder = mirror.write_lock(tmp_path), tmp_path / "inputs"
    run(lock, folder)
    (folder / PLACES[0]).write_bytes(CONTENTS[JQ][::-1])
    assert run(lock, folder)["fetched"] == PLACES[:1]
    assert found(folder)[PLACES[0]] == CONTENTS[JQ]


def test_only_files_of_the_last_lock_are_removed(tmp_path: Path, mirror: Mirror) -> None:
    folder = tmp_path / "inputs"
    run(mirror.write_lock(tmp_path), folder)
    (folder / "packages" / "mine.deb").write_bytes(b"mine")
    (folder / "downloads" / ".other.part").write_bytes(b"left by a killed run")
    lock = mirror.write_lock(tmp_path, without=(JQ,))
    check = run(lock, folder, check_mode=True)
    result = run(lock, folder)
    assert (result["removed"], result["foreign"], result["fetched"]) == (PLACES[:1], ["packages/mine.deb"], [])
    assert {**check, "lock": None} == {**result, "lock": None}
    assert found(folder).keys() == {"inputs.lock", *PLACES[1:], "packages/mine.deb"}
    assert run(lock, folder)["changed"] is False


def test_a_folder_of_something_else_is_refused(tmp_path: Path, mirror: Mirror) -> None:
    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / "inputs.lock").write_text("{}", encoding="utf-8")
    error = refused(mirror.write_lock(tmp_path), folder)
    assert [(problem.rule, problem.path) for problem in error.problems] == [("lock.unreadable", "folder")]
    assert mirror.requests == []


def test_the_lock_may_be_in_the_folder(tmp_path: Path, mirror: Mirror) -> None:
    lock = mirror.write_lock(tmp_path)
    assert run(lock, tmp_path)["fetched"] == PLACES
    assert run(lock, tmp_path)["changed"] is False


def test_a_full_disk_is_reported_before_the_transfer(tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.statvfs_result((4096, 4096, 100, 1, 1, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _path: full)
    error = refused(mirror.write_lock(tmp_path), tmp_path / "inputs")
    assert [(problem.rule, problem.path) for problem in error.problems] == [("lock.unwritable_folder", "folder")]
    assert mirror.requests == []


def test_a_disk_that_becomes_full_ends_the_run(tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_old: str, _new: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    lock, folder = mirror.write_lock(tmp_path), tmp_path / "inputs"
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        error = refused(lock, folder)
    assert [(problem.rule, problem.path) for problem in error.problems] == [("lock.unwritable_folder", "lock.packages[0]")]
    assert found(folder) == {} and mirror.requests == [JQ]
    assert run(lock, folder)["fetched"] == PLACES


def test_a_directory_in_the_place_of_a_file_is_reported(tmp_path: Path, mirror: Mirror) -> None:
    (tmp_path / "inputs" / PLACES[0]).mkdir(parents=True)
    error = refused(mirror.write_lock(tmp_path), tmp_path / "inputs")
    assert [(problem.rule, problem.path) for problem in error.problems] == [("lock.unwritable_folder", "lock.packages[0]")]


def test_a_file_in_the_place_of_the_folder_is_reported(tmp_path: Path, mirror: Mirror) -> None:
    (tmp_path / "inputs").write_text("", encoding="utf-8")
    error = refused(mirror.write_lock(tmp_path), tmp_path / "inputs")
    assert [(problem.rule, problem.path) for problem in error.problems] == [("lock.unwritable_folder", "folder")]


def test_without_download_the_folder_must_be_complete(tmp_path: Path, mirror: Mirror) -> None:
    lock, folder = mirror.write_lock(tmp_path), tmp_path / "inputs"
    run(lock, folder)
    assert run(lock, folder, download=False)["changed"] is False
    (folder / PLACES[0]).unlink()
    (folder / PLACES[2]).write_bytes(b"x")
    error = refused(lock, folder, download=False)
    assert [(problem.rule, problem.path) for problem in error.problems] == [
        ("lock.wrong_content", "lock.downloads[0]"),
        ("lock.missing_file", "lock.packages[0]"),
    ]
    assert len(mirror.requests) == 3


def test_a_lock_that_does_not_fit_is_refused_before_anything_changes(tmp_path: Path, mirror: Mirror) -> None:
    lock, folder = mirror.write_lock(tmp_path), tmp_path / "inputs"
    plan = {"packages": ["jq", "curl"], "downloads": [], "images": []}
    error = refused(lock, folder, plan=plan, builder={"id": "amzn", "version_id": "2023", "architecture": "x86_64"})
    assert [problem.rule for problem in error.problems] == ["lock.outdated", "lock.outdated", "lock.other_system"]
    assert not folder.exists() and mirror.requests == []


def test_the_proxy_of_the_environment_is_used(tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = mirror.write_lock(tmp_path)
    lock.write_text(lock.read_text(encoding="utf-8").replace(mirror.url, "http://mirror.invalid"), encoding="utf-8")
    monkeypatch.setenv("http_proxy", mirror.url)
    assert run(lock, tmp_path / "inputs")["fetched"] == PLACES


def test_files_of_the_controller_are_copied(tmp_path: Path, mirror: Mirror) -> None:
    source = tmp_path / "pool"
    source.mkdir()
    for name, content in CONTENTS.items():
        (source / name).write_bytes(content)
    lock = mirror.write_lock(tmp_path)
    lock.write_text(lock.read_text(encoding="utf-8").replace(mirror.url, source.as_uri()), encoding="utf-8")
    assert run(lock, tmp_path / "inputs")["fetched"] == PLACES
    (source / "kubelet").unlink()
    (tmp_path / "inputs" / PLACES[2]).unlink()
    assert [problem.rule for problem in refused(lock, tmp_path / "inputs").problems] == ["lock.fetch_failed"]


def test_two_runs_fill_one_folder(tmp_path: Path, mirror: Mirror) -> None:
    lock, folder = mirror.write_lock(tmp_path), tmp_path / "inputs"
    results: list[dict[str, Any]] = []
    threads = [threading.Thread(target=lambda: results.append(run(lock, folder))) for _unused in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result["changed"] for result in results) == [False, False, False, True]
    assert len(mirror.requests) == 3


def locked(
    mirror: Mirror, tmp_path: Path, folder: Path | None = None, *, check_mode: bool = False, image: bytes = b"pause"
) -> dict[str, Any]:
    """Lock the packages and the download of the mirror, and an image of the controller."""
    path = tmp_path / "pause image.tar"
    path.write_bytes(image)
    lock = mirror.lock()
    answer = {"changed": False, "system": asdict(lock.system), "packages": [asdict(one) for one in lock.packages]}
    plan = {
        "packages": ["jq"],
        "downloads": [{"name": one.name, "file": one.file, "url": one.url, "sha256": one.sha256} for one in lock.downloads],
        "images": [{"name": "pause", "file": "pause.tar", "path": str(path), "sha256": mirrors.sha256(b"pause")}],
    }
    options = {"plan": plan, "folder": folder and str(folder), "timeout": 1}

    def machine(module: str, given: Any) -> dict[str, Any]:
        assert (module, given) == ("nodebootstrap.eks.image_lock", options)
        return answer

    return image_inputs.lock_task(options, machine, check_mode=check_mode, say=print)


def test_a_lock_has_the_packages_of_the_machine_and_the_downloads_of_the_controller(tmp_path: Path, mirror: Mirror) -> None:
    result = locked(mirror, tmp_path)
    found = locks.load(result["content"])
    assert found.packages == mirror.lock().packages and found.requested == ("jq",)
    assert [(one.file, one.url, one.size) for one in found.downloads] == [
        ("kubelet", f"{mirror.url}/kubelet", len(CONTENTS[KUBELET])),
        ("pause.tar", (tmp_path / "pause image.tar").as_uri(), 5),
    ]
    assert result["changed"] is False


def test_downloads_are_stored_for_fetch(tmp_path: Path, mirror: Mirror) -> None:
    folder = tmp_path / "inputs"
    assert locked(mirror, tmp_path, folder, check_mode=True)["changed"] is False and not folder.exists()
    result = locked(mirror, tmp_path, folder)
    assert found(folder) == {"downloads/kubelet": CONTENTS[KUBELET], "downloads/pause.tar": b"pause"}
    (tmp_path / "inputs.lock").write_text(result["content"], encoding="utf-8")
    assert run(tmp_path / "inputs.lock", folder)["fetched"] == PLACES[:2]
    assert locked(mirror, tmp_path, folder)["content"] == result["content"]
    assert mirror.requests == [KUBELET, KUBELET, JQ, LIBJQ]


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "silent"])
def test_a_download_with_another_digest_is_not_locked(tmp_path: Path, mirror: Mirror, fault: str) -> None:
    mirror.faults[KUBELET] = fault
    with pytest.raises(SpecError) as caught:
        locked(mirror, tmp_path, tmp_path / "inputs", image=b"other")
    assert mentions(caught.value, "kubelet", "pause.tar")
    assert found(tmp_path / "inputs") == {}


@pytest.mark.parametrize("address", ["http://me:pa55word@127.0.0.1", "http://me:pa55/word@127.0.0.1", "http://me:pa55word"])
def test_a_url_with_a_password_is_not_shown(address: str, tmp_path: Path, mirror: Mirror) -> None:
    port = mirror.url.rpartition(":")[2]
    mirror.url = f"{address}:{port}"
    with pytest.raises(SpecError) as caught:
        locked(mirror, tmp_path)
    assert [problem.rule for problem in caught.value.problems] == ["lock.fetch_failed"]
    assert mentions(caught.value, "kubelet") and "pa55" not in str(caught.value) and "word@" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["http:me:pa55word@127.0.0.1", "http://me:pa55word@127.0.0.1:pa55word", "ftp://me:pa55word@[::1"])
def test_a_proxy_with_a_password_is_not_shown(proxy: str, tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    error = refused(mirror.write_lock(tmp_path), tmp_path / "inputs")
    assert {problem.rule for problem in error.problems} == {"lock.fetch_failed"}
    assert mentions(error, "proxy") and "pa55word" not in str(error)


def test_a_redirection_is_not_shown(tmp_path: Path, mirror: Mirror) -> None:
    mirror.faults[KUBELET] = "redirects"
    error = refused(mirror.write_lock(tmp_path), tmp_path / "inputs")
    assert mentions(error, KUBELET, "HTTP 302") and "pa55word" not in str(error)


def test_a_failed_machine_is_reported(tmp_path: Path, mirror: Mirror) -> None:
    answer = {"failed": True, "msg": "no network"}
    options = {"plan": {"packages": []}, "folder": None, "timeout": 1}
    assert image_inputs.lock_task(options, lambda *_unused: answer, check_mode=False, say=print) == answer
    assert mirror.requests == []


def test_an_answer_that_is_no_lock_is_refused() -> None:
    answer = {"system": {"id": "a", "version_id": "", "architecture": "b"}, "packages": []}
    options = {"plan": {"packages": []}, "folder": None, "timeout": 1}
    with pytest.raises(SpecError) as caught:
        image_inputs.lock_task(options, lambda *_unused: answer, check_mode=False, say=print)
    assert [problem.path for problem in caught.value.problems] == ["lock.system.version_id"]


def test_a_lock_that_is_missing_is_reported(tmp_path: Path) -> None:
    error = refused(tmp_path / locks.FILE, tmp_path / "inputs")
    assert [(problem.rule, problem.path) for problem in error.problems] == [("input.unreadable_file", "lock")]
