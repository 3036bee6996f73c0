#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin anywhere_cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_cluster
short_description: Create, upgrade or delete a cluster the way EKS Anywhere makes it
version_added: 0.1.0
description:
  - Creates a cluster from the file of an EKS Anywhere cluster. A temporary bootstrap cluster of kind makes its machines with Cluster API.
    Then the management moves into the cluster itself, and the bootstrap cluster is deleted. A deletion goes the other way. An upgrade
    needs no bootstrap cluster.
  - Before each step, reads what is true of the machine and of both clusters, and decides on that alone. A run that was interrupted at any
    moment is continued by the same task. What cannot be known stops the run, with the way out.
  - Before the lock is taken, V(create) and V(upgrade) check the admin machine as M(nodebootstrap.eks.anywhere_preflight) does. A run that
    continues is not refused for what the run before it made. While they wait, they print the cause when it changes, and end early if it is
    one that waiting does not end.
  - Refuses invalid files, files that need EKS Anywhere itself, missing programs, and a second run, before anything is changed.
  - This is not EKS Anywhere. It uses upstream Cluster API, and installs no controller of EKS Anywhere. With O(engine=eksctl), it runs
    C(eksctl anywhere) instead.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.anywhere
  - nodebootstrap.eks.anywhere.checks
options:
  operation:
    description:
      - V(create) creates the cluster, or continues a creation.
      - V(create) never changes a cluster that manages itself. If the file differs from it, the run stops, and names the upgrade.
      - V(upgrade) brings the versions of Kubernetes, of Cluster API and of cert-manager, the groups of workers and their machines to what
        the options say. It refuses older versions, more than one minor version at once, and other networks.
      - V(delete) deletes the cluster and its machines, or continues a deletion. A cluster that manages other clusters is refused.
      - V(recover) brings what an interrupted run left into one consistent state, with the objects on one side and nothing paused. It does
        not go on with the run, but says which playbook does.
      - V(status) only reads. It returns the steps that V(create) would take.
    type: str
    required: true
    choices: [create, delete, recover, status, upgrade]
  cluster_file:
    description: The path of the YAML file of the cluster on the controller.
    type: path
  work_dir:
    description:
      - The folder of the files of clusters on the admin machine. The kubeconfig, the ledger, the lock and backups of a cluster are in the
        folder C(NAME) in it, which gets mode 0700.
    type: str
    required: true
  bootstrap_image:
    description: The image of the node of the bootstrap cluster. O(engine=capi) needs it.
    type: str
  node_images:
    description: The images of Docker machines, with C(version), such as V(v1.34.2), and C(image).
    type: list
    elements: dict
    default: []
    suboptions:
      version:
        description: The version of Kubernetes with its C(v).
        type: str
        required: true
      image:
        description: The image.
        type: str
        required: true
  repository:
    description: The folder on the admin machine with the providers of Cluster API. O(engine=capi) needs it.
    type: path
  cluster_api_version:
    description: The version of Cluster API with its C(v). O(engine=capi) needs it.
    type: str
  cert_manager_version:
    description: The version of cert-manager with its C(v). O(engine=capi) needs it.
    type: str
  network_manifest:
    description: The path of the manifest of the CNI and the storage class on the controller.
    type: path
  image_repository:
    description: A registry with a namespace for all images of the providers.
    type: str
  haproxy_config:
    description:
      - The path of a configuration of the load balancer of Docker machines on the controller. The run applies it as a ConfigMap in the
        namespace of the cluster, before the objects that need it.
    type: path
  manifests:
    description:
      - The paths of the manifests of Cluster API on the controller, for other providers than Docker. They are compared with the file of
        the cluster, and must be in the namespace V(eksa-system).
    type: list
    elements: path
    default: []
  providers:
    description:
      - Providers beside those of Cluster API and Docker, or in other versions. The manifests need their infrastructure provider, and
        external etcd needs V(etcdadm-bootstrap) and V(etcdadm-controller), both of the type V(BootstrapProvider).
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: The name, such as V(vsphere).
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
      components:
        description: The name of the file in the repository, if it is not the usual one, such as V(bootstrap-components.yaml).
        type: str
  etcd_version:
    description: The version of etcd for external etcd of Docker machines, such as V(3.5.21).
    type: str
  images_dir:
    description:
      - A folder on the admin machine with archives of images, for machines that reach no registry. They are loaded into Docker before the
        bootstrap cluster is created, and into its node.
    type: str
  preload_images:
    description: Images that Docker has, and that every Docker machine gets before it starts.
    type: list
    elements: str
    default: []
  packages:
    description: Charts that helm installs as the last step, in this order.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: The name of the release.
        type: str
        required: true
      chart:
        description: The absolute path of the chart on the admin machine, or C(oci://REGISTRY/CHART).
        type: str
        required: true
      version:
        description: The version of the chart. It is required for a chart in a registry.
        type: str
      namespace:
        description: The namespace, which is created.
        type: str
        default: eksa-packages
      values:
        description: The values of the chart.
        type: dict
        default: {}
  engine:
    description: V(capi) takes the steps itself. V(eksctl) runs C(eksctl anywhere), which cannot be resumed.
    type: str
    choices: [capi, eksctl]
    default: capi
  eksctl:
    description: Options of O(engine=eksctl).
    type: dict
    default: {}
    suboptions:
      hardware_csv:
        description: The path of the CSV file with the machines of a Bare Metal cluster on the controller.
        type: path
      arguments:
        description: Other arguments of the command, such as V(--no-timeouts).
        type: list
        elements: str
        default: []
      rerun:
        description: Whether a command is run again although machines of the last one may exist. Set it when you have deleted them.
        type: bool
        default: false
      timeout:
        description: Seconds for which the command is watched. It is not ended after them.
        type: float
        default: 14400.0
  docker_socket:
    description: The socket of the Docker that makes the machines.
    type: path
    default: /var/run/docker.sock
  allow_cgroup_v1:
    description: Whether kubelet starts on a machine with cgroup v1.
    type: bool
    default: true
  registry_username:
    description: The user name for a registry mirror with C(authenticate).
    type: str
  registry_password:
    description: The password for it.
    type: str
  take_lock:
    description: Whether the lock of a run on another machine is taken, which may be alive.
    type: bool
    default: false
  machine_timeout:
    description: Seconds to wait for the control plane, and for the machines if they are less than six.
    type: float
    default: 3600.0
  name:
    description: The name of the cluster, for O(operation=status) without O(cluster_file).
    type: str
  diagnostics:
    description:
      - Whether diagnostics are collected if a step fails, as by M(nodebootstrap.eks.anywhere_diagnostics). The message then has the first
        failing object of each cluster. If they cannot be collected, the message says so after that of the step.
    type: bool
    default: true
  diagnostics_dir:
    description: The folder for the diagnostics on the controller. Only the owner can read what is in it.
    type: path
    default: diagnostics
  status_file:
    description: A file on the controller to which O(operation=status) writes its result as JSON. Only the owner can read it.
    type: path
attributes:
  action:
    description: Decides on the controller, and runs modules on the admin machine.
    support: full
  check_mode:
    description: Reads the state, and returns the steps of the run.
    support: full
  diff_mode:
    description: The steps say what is changed.
    support: none
  idempotent:
    description: A second run changes nothing.
    support: full
seealso:
  - module: nodebootstrap.eks.anywhere_validate
  - module: nodebootstrap.eks.capi_move
"""

EXAMPLES = r"""
- name: Create a cluster
  nodebootstrap.eks.anywhere_cluster:
    operation: create
    cluster_file: dev.yaml
    work_dir: ~/eks-anywhere
    bootstrap_image: kindest/node:v1.34.2
    node_images:
      - {version: v1.34.2, image: "kindest/node:v1.34.2"}
    repository: ~/eks-anywhere/repository
    cluster_api_version: v1.13.4
    cert_manager_version: v1.20.2
    network_manifest: cni.yaml
  register: dev

- name: Show where the kubeconfig is
  ansible.builtin.debug:
    var: dev.kubeconfig
"""

RETURN = r"""
plan:
  description: What the upgrade changes, each row with C(subject), C(before), C(after) and C(changes).
  returned: if O(operation=upgrade)
  type: list
  elements: dict
  sample:
    - {subject: "control plane: Kubernetes", before: v1.34.2, after: v1.35.2, changes: true}
state:
  description:
    - V(in_cluster) (the cluster manages itself), V(creating), V(upgrading) or V(deleting) (the run was interrupted), or V(absent).
  returned: if O(operation=recover)
  type: str
  sample: deleting
words:
  description: The state in words, with what to do next.
  returned: if O(operation=recover)
  type: str
  sample: "deleting: a deletion was interrupted; next: run eks_anywhere_delete again"
next:
  description: The playbook that goes on, or null.
  returned: if O(operation=recover)
  type: str
  sample: eks_anywhere_delete
steps:
  description: The steps that were taken. In check mode and for V(status), the steps that the run would take.
  returned: always
  type: list
  elements: str
  sample: [create the bootstrap cluster, install Cluster API in the bootstrap cluster]
kubeconfig:
  description: The path of the kubeconfig of the cluster on the admin machine.
  returned: if O(operation=create) or O(operation=upgrade)
  type: str
  sample: /home/me/eks-anywhere/dev/dev-eks-a-cluster.kubeconfig
checks:
  description: The checks of the admin machine, as M(nodebootstrap.eks.anywhere_preflight) returns them.
  returned: if O(operation) is V(create) or V(upgrade), and there is something to do
  type: list
  elements: dict
  sample: [{name: inotify, result: ok, found: "max_user_watches 524288, max_user_instances 512", cure: ""}]
causes:
  description: The first failing object of each cluster that answers, or null. They are those of M(nodebootstrap.eks.anywhere_diagnostics).
  returned: if O(operation=status)
  type: dict
  sample: {"dev-eks-a-cluster": {"kind": "Machine", "name": "dev-md-0-abc", "condition": "NodeHealthy"}, "dev": null}
lacking:
  description: The options without which V(status) does not know the next steps.
  returned: if O(operation=status), and they are not set
  type: list
  elements: str
  sample: [repository]
lock:
  description: The owner of the lock, with C(host), C(pid) and C(since), or null.
  returned: if O(operation=status)
  type: dict
  sample: {"host": "admin1", "pid": 4711, "since": "2026-11-26T10:00:00+00:00"}
work_dir:
  description: The folder of the files of the cluster on the admin machine.
  returned: if O(operation=status)
  type: str
  sample: /home/me/eks-anywhere/dev
stop:
  description: Why V(create) would stop, or null.
  returned: if O(operation=status)
  type: str
  sample: "the cluster cannot be reached; fix: check the kubeconfig"
tried:
  description: What earlier runs tried, each with C(step), C(state) (V(begun), V(done) or V(failed)), C(began), C(ended) and C(message).
  returned: if O(operation=status)
  type: list
  elements: dict
  sample:
    - {step: create the bootstrap cluster, state: done, began: "2026-11-26T10:00:00+00:00", ended: "2026-11-26T10:01:00+00:00", message: ""}
observed:
  description: The state, as M(nodebootstrap.eks.capi_info) returns it.
  returned: if O(operation=status)
  type: dict
  sample: {bootstrap: running}
running:
  description: Programs that are running for the cluster, each with C(pid), C(start_time) and C(command).
  returned: if O(operation=status)
  type: list
  elements: dict
  sample: []
is_locked:
  description: Whether a run has the lock.
  returned: if O(operation=status)
  type: bool
  sample: false
"""
