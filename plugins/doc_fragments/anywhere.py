# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation shared by the modules that run kind, clusterctl, kubectl and docker on an admin machine."""

from __future__ import annotations


class ModuleDocFragment:
    """The work folder and the requirements, and the options of a cluster."""

    DOCUMENTATION = r"""
options:
  work_dir:
    description:
      - A folder on the machine where the module runs, for its files and for a record of running programs. It gets mode 0700.
    type: path
requirements:
  - Python 3.7 or newer, C(kind), C(clusterctl), C(kubectl) and C(docker) in C(PATH), as far as the module uses them
notes:
  - A creation and a deletion ran with real programs. Everything else was tested with stand-ins of them.
  - Set variables such as C(DOCKER_HOST) and C(HTTPS_PROXY) with the keyword C(environment). C(KUBECONFIG) has no effect.
attributes:
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
"""

    CLUSTER = r"""
options:
  kubeconfig:
    description: The path of the kubeconfig of the management cluster, which has the objects.
    type: path
    required: true
  name:
    description: The name of the cluster.
    type: str
    required: true
  namespace:
    description: The namespace of its objects.
    type: str
    default: eksa-system
"""

    CLUSTERCTL = r"""
options:
  kubeconfig:
    description: The path of the kubeconfig of the cluster.
    type: path
    required: true
  providers:
    description: The providers that the cluster must have, with their versions.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The name, such as V(kubeadm).
        type: str
        required: true
      type:
        description: The type.
        type: str
        required: true
        choices: [CoreProvider, BootstrapProvider, ControlPlaneProvider, InfrastructureProvider]
      version:
        description: The version with its C(v).
        type: str
        required: true
  config:
    description: The configuration of clusterctl as YAML. It says where the providers come from.
    type: str
    default: ""
  environment:
    description: Variables for clusterctl, such as C(HTTPS_PROXY), and the variables of the components of a provider.
    type: dict
    default: {}
  timeout:
    description: Seconds that clusterctl, and then the Deployments, may take.
    type: float
    default: 1800.0
"""

    CHECKS = r"""
options:
  registries:
    description:
      - The hosts of the registries from which images are pulled. With an empty list, no registry is checked. Use it if all images are on
        the machine already.
      - By default, the registry mirror of the cluster. Without one, the registries of the engine.
    type: list
    elements: str
  ports:
    description: TCP ports that must be free, in addition to the ports that the provider needs.
    type: list
    elements: int
    default: []
  skip_checks:
    description: The names of the checks that are not made.
    type: list
    elements: str
    choices:
      - tool_docker
      - tool_kind
      - tool_clusterctl
      - tool_kubectl
      - tool_helm
      - tool_eksctl
      - tool_eksctl_anywhere
      - docker_daemon
      - docker_memory
      - memory
      - disk_docker
      - disk_work_dir
      - inotify
      - cgroup
      - clock
      - cluster_name
      - bootstrap_cluster
      - other_clusters
      - tools_containers
      - kubeconfig
      - ports
      - addresses
      - registries
    default: []
"""
