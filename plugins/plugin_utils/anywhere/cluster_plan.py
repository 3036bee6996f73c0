# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a run needs, rendered from the options of the action anywhere_cluster and the files that they name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from ..errors import Problems, joined
from ..formats import json, yaml
from . import bootstrap_config, capi_manifests, clusterctl_config, engine, names, packages, user_manifests
from .acts import Plan, Timeouts
from .bootstrap_config import BootstrapOptions
from .capi_machines import CapiOptions, NodeImage, proxy_variables
from .clusterctl_config import Release, Versions
from .mirror_files import Credentials
from .model import DOCKER, Cluster
from .validate import validate

Read = Callable[[str, str], str]
"""Returns the text of a file that an option names: path, name of the option. Raises C(SpecError)."""

_NEEDED = ("bootstrap_image", "repository", "cluster_api_version", "cert_manager_version")


def plan_of(options: Mapping[str, Any], read: Read) -> Plan:
    """Everything that the run needs. Raises C(SpecError) with all problems of the inputs."""
    text = read(options["cluster_file"], "cluster_file")
    problems = Problems()
    found = validate(text)
    problems.extend(found.errors)
    _check_options(options, problems)
    if found.errors:
        problems.raise_any()
    # Without errors, there is a cluster.
    cluster = cast(Cluster, found.cluster)
    more = clusterctl_config.read_releases(options["providers"], "providers", problems)
    capi = _capi_options(options, read, more)
    own = user_manifests.read([read(path, "manifests") for path in options["manifests"]], problems)
    engine.check(cluster, capi, problems, has_manifests=bool(options["manifests"]))
    if options["manifests"] and cluster.provider != DOCKER:
        engine.check_infrastructure(cluster, more, problems)
        user_manifests.check(own, cluster, problems)
    network = _network(options, read, problems)
    wanted_packages = packages.read(options["packages"], "packages", problems)
    problems.raise_any()
    plan = _plan(options, cluster, capi, more)
    is_rendered = cluster.provider == DOCKER
    plan = replace(
        plan,
        objects=tuple(capi_manifests.objects(cluster, capi)) if is_rendered else user_manifests.objects(own),
        network=network,
        config_text=text,
        machines_from="docker" if is_rendered else "machines",
        packages=wanted_packages,
    )
    return replace(plan, digest=_digest(plan))


def _check_options(options: Mapping[str, Any], problems: Problems) -> None:
    """What the engine capi needs. The engine eksctl does not, so the options are not required."""
    for option in _NEEDED:
        if not options[option]:
            problems.add("input.missing_field", option, "is required by the engine capi", fix=f"set eks_anywhere_{option}")
    for option, starts in (("work_dir", ("/", "~")), ("repository", ("/",)), ("images_dir", ("/", "~"))):
        if options[option] and not options[option].startswith(starts):
            fix = f"write the path on the admin machine from {' or '.join(starts)}"
            problems.add("input.invalid_text", option, "is not an absolute path", value=options[option], fix=fix)


def _plan(options: Mapping[str, Any], cluster: Cluster, capi: CapiOptions, more: tuple[Release, ...]) -> Plan:
    """What does not depend on who describes the machines."""
    versions = Versions(options["cluster_api_version"], options["cert_manager_version"])
    releases = clusterctl_config.releases(versions, more, clusterctl_config.DOCKER if cluster.provider == DOCKER else None)
    bootstrap = BootstrapOptions(
        options["bootstrap_image"],
        certs_dir=bootstrap_config.CERTS_FOLDER if cluster.mirror else None,
        docker_socket=options["docker_socket"],
        allow_cgroup_v1=options["allow_cgroup_v1"],
    )
    return Plan(
        command="create" if options["operation"] == "status" else options["operation"],
        name=cluster.name,
        namespace=names.NAMESPACE,
        bootstrap_name=names.bootstrap_cluster(cluster.name),
        work_dir=f"{options['work_dir'].rstrip('/')}/{cluster.name}",
        objects=(),
        network=(),
        providers=tuple(clusterctl_config.wanted(versions, releases)),
        kind_config=bootstrap_config.kind_config(cluster, bootstrap),
        clusterctl_config=clusterctl_config.clusterctl_config(options["repository"], versions, options["image_repository"], releases),
        config_text="",
        digest="",
        cert_manager=options["cert_manager_version"],
        take_lock=options["take_lock"],
        timeouts=Timeouts(control_plane=options["machine_timeout"], machines=_for_machines(options, cluster)),
        environment=proxy_variables(cluster),
        mirror_files=bootstrap_config.mirror_of(cluster, capi.registry),
        images_dir=options["images_dir"],
        needed_files=clusterctl_config.files(options["repository"], versions, releases),
    )


def _capi_options(options: Mapping[str, Any], read: Read, more: tuple[Release, ...]) -> CapiOptions:
    rows = options["node_images"] or ()
    images = {row["version"].lstrip("v").rpartition(".")[0]: NodeImage(row["version"], row["image"]) for row in rows}
    password = options["registry_password"]
    registry = None if password is None else Credentials(options["registry_username"], password)
    haproxy = options["haproxy_config"]
    given = {one.provider.name for one in more if one.provider.kind == clusterctl_config.BOOTSTRAP.kind}
    return CapiOptions(
        images,
        registry,
        None if haproxy is None else read(haproxy, "haproxy_config"),
        options["allow_cgroup_v1"],
        tuple(options["preload_images"]),
        options["etcd_version"],
        given >= set(clusterctl_config.ETCDADM),
        options["docker_socket"],
    )


def _for_machines(options: Mapping[str, Any], cluster: Cluster) -> float:
    """EKS Anywhere waits ten minutes for each machine, and at least for the time that the user sets."""
    machines = (cluster.control_plane.count or 0) + sum(group.replicas for group in cluster.workers)
    machines += (cluster.etcd.count or 0) if cluster.etcd else 0
    return float(max(options["machine_timeout"], machines * 600.0))


def _network(options: Mapping[str, Any], read: Read, problems: Problems) -> tuple[Mapping[str, Any], ...]:
    """The objects of the CNI and of the storage class."""
    path = options["network_manifest"]
    if path is None:
        return ()
    try:
        documents = [one for one in yaml.load_all(read(path, "network_manifest")) if one is not None]
    except ValueError as error:
        problems.add("input.unreadable_file", "network_manifest", f"is not valid YAML: {error}")
        return ()
    for index, one in enumerate(documents):
        if not isinstance(one, dict) or not {"apiVersion", "kind", "metadata"} <= one.keys():
            problems.add("input.wrong_type", joined("network_manifest", index), "is not an object of Kubernetes")
    return tuple(documents)


def _digest(plan: Plan) -> str:
    inputs = [list(plan.objects), list(plan.network), list(plan.providers), plan.kind_config, plan.clusterctl_config]
    return hashlib.sha256(json.dump(inputs).encode()).hexdigest()[:16]
