# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight checks of the admin machine itself: disk, memory, limits of the kernel, clock, Docker."""

from __future__ import annotations

from collections.abc import Iterator

from .check import FAILED, OK, WARNING, Check, Facts, Wanted, unknown

_GIB = 1024**3
DISK_MINIMUM, DISK_ADVISED = 10 * _GIB, 30 * _GIB
"""Bytes for images and machines. The minimum is room for a node image of kind (2 GiB, unpacked twice) and the images of the providers.
Advised: the requirements of EKS Anywhere."""

WORK_DIR_MINIMUM = _GIB
"""Bytes for manifests, kubeconfigs, backups and logs."""

MEMORY_MINIMUM, MEMORY_OF_MACHINES = 2 * _GIB, 4 * _GIB
"""Available bytes for a bootstrap cluster with Cluster API, which uses 1.4 GiB. With machines of Docker, 2.9 GiB are used at the peak."""

DOCKER_MEMORY_ADVISED = 6_200_000_000
"""Bytes of all memory, of which EKS Anywhere warns below."""

WATCHES, INSTANCES = 524288, 512
"""The limits of inotify that kind and Cluster API advise. kubelet and containerd of each node container need a part of them."""

WATCHES_MINIMUM, INSTANCES_MINIMUM = 65536, 256
"""Below these, which are above the defaults of distributions (8192 and 128), the second or third node fails with "too many open files".
A bootstrap cluster with two nodes of the Docker provider was created with 192536 watches."""

_NEXT_LOGIN = "sudo usermod -aG docker USER, then log in again"


def check(facts: Facts, wanted: Wanted) -> Iterator[Check]:
    """The checks of the machine."""
    yield _docker(facts)
    yield _docker_memory(facts)
    yield _memory(facts, wanted)
    yield from _disks(facts, wanted)
    yield _inotify(facts, wanted)
    yield _cgroup(facts)
    yield _clock(facts)


def _docker(facts: Facts) -> Check:
    problem, user = facts["docker"]["problem"], facts["user"]
    if not problem:
        return Check("docker_daemon", OK, f"Docker {facts['docker']['version']} answers to the user {user['name']}")
    if "permission denied" in problem.lower() and not user["in_docker_group"]:
        found = f"the user {user['name']} may not use Docker and is not in the group docker"
        return Check("docker_daemon", FAILED, found, _NEXT_LOGIN.replace("USER", user["name"]))
    if "not installed" in problem:
        return Check("docker_daemon", FAILED, problem, "install Docker Engine: https://docs.docker.com/engine/install/")
    return Check("docker_daemon", FAILED, problem, "start Docker: sudo systemctl enable --now docker; or correct DOCKER_HOST")


def _docker_memory(facts: Facts) -> Check:
    memory = facts["docker"]["memory"]
    if memory is None:
        return unknown("docker_memory", "the memory of Docker")
    found = f"Docker has {_size(memory)}"
    if memory < DOCKER_MEMORY_ADVISED:
        cure = f"give Docker at least {_size(DOCKER_MEMORY_ADVISED)}: pods are killed and time out otherwise"
        return Check("docker_memory", WARNING, found, cure)
    return Check("docker_memory", OK, found)


def _memory(facts: Facts, wanted: Wanted) -> Check:
    available = facts["memory"].get("available")
    if available is None:
        return unknown("memory", "the available memory")
    needed = MEMORY_OF_MACHINES if wanted.is_docker else MEMORY_MINIMUM
    found = f"{_size(available)} available, {_size(needed)} needed"
    if available < needed and wanted.is_continued:
        # The machines that exist already use what is missing.
        return Check("memory", WARNING, found, "stop other programs if pods are killed")
    if available < needed:
        return Check("memory", FAILED, found, "stop other programs, or use a larger machine")
    return Check("memory", OK, found)


def _disks(facts: Facts, wanted: Wanted) -> Iterator[Check]:
    for name, purpose, minimum, advised in (
        ("disk_docker", "docker", DISK_MINIMUM, DISK_ADVISED),
        ("disk_work_dir", "work_dir", WORK_DIR_MINIMUM, WORK_DIR_MINIMUM),
    ):
        disk = facts["disks"].get(purpose)
        if disk is None:
            yield unknown(name, "the free space")
            continue
        free = disk["free_bytes"]
        # If a run is continued, most images are there already.
        needed = min(minimum, WORK_DIR_MINIMUM) if wanted.is_continued else minimum
        found = f"{_size(free)} free at {disk['path']}, {_size(needed)} needed"
        if disk["inodes"] and disk["free_inodes"] * 20 < disk["inodes"]:
            yield Check(name, FAILED, f"{disk['free_inodes']} of {disk['inodes']} inodes free at {disk['path']}", _room(purpose))
        elif free < needed:
            yield Check(name, FAILED, found, _room(purpose))
        else:
            yield Check(name, OK if free >= advised else WARNING, found, "" if free >= advised else f"{_size(advised)} are advised")


def _room(purpose: str) -> str:
    return (
        "make room: docker system prune; or move the data-root of Docker" if purpose == "docker" else "make room, or choose another folder"
    )


def _inotify(facts: Facts, wanted: Wanted) -> Check:
    limits = facts["inotify"]
    needed = {"max_user_watches": WATCHES, "max_user_instances": INSTANCES}
    if None in limits.values():
        return unknown("inotify", "the limits of inotify")
    low = {name: minimum for name, minimum in needed.items() if limits[name] < minimum}
    found = ", ".join(f"{name} {limits[name]}" for name in needed)
    if not low:
        return Check("inotify", OK, found)
    is_too_low = limits["max_user_watches"] < WATCHES_MINIMUM or limits["max_user_instances"] < INSTANCES_MINIMUM
    settings = " ".join(f"fs.inotify.{name}={minimum}" for name, minimum in low.items())
    cure = f"sudo sysctl -w {settings}, and the same in a file of /etc/sysctl.d"
    # One bootstrap cluster usually starts with the limits of a distribution.
    return Check("inotify", FAILED if wanted.is_docker and is_too_low else WARNING, found, cure)


def _cgroup(facts: Facts) -> Check:
    version = facts["docker"]["cgroup_version"] or facts["cgroup_version"]
    if version == 2:
        return Check("cgroup", OK, "cgroup v2")
    cure = (
        "boot with systemd.unified_cgroup_hierarchy=1: from Kubernetes 1.35 on, kubelet starts on cgroup v1 only with fail-cgroupv1=false"
    )
    return Check("cgroup", WARNING, f"cgroup v{version}", cure)


def _clock(facts: Facts) -> Check:
    synchronized = facts["clock_synchronized"]
    cure = "start a time service: sudo timedatectl set-ntp true"
    if synchronized is None:
        return unknown("clock", "whether the clock follows a time source", cure)
    if synchronized:
        return Check("clock", OK, "follows a time source")
    return Check(
        "clock", FAILED, "follows no time source: certificates and tokens are not valid yet, or not any more, on other machines", cure
    )


def _size(count: int) -> str:
    return f"{count / _GIB:.1f} GiB"
