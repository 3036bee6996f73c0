# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The container in which every template of this directory builds: with systemd and without network. Packer 1.6.6 reads all of them, and -only
# selects one, so the variables of the others need a default.
variable "base" {
  type = string
}

variable "container" {
  type        = string
  description = "The name of the container. The inventory has it, too."
}

variable "run" {
  type        = string
  description = "The ID of the test run. If the run is killed, the next one removes the container."
}

variable "tag" {
  type = string
}

source "docker" "node" {
  image   = var.base
  pull    = false
  commit  = true
  changes = ["LABEL nodebootstrap.eks.nodelab=image"]
  # No tmpfs on /tmp: Packer copies files to it, below the mount.
  run_command = [
    "-d", "--name", var.container, "--label", "nodebootstrap.eks.nodelab.run=${var.run}", "--network", "none",
    "--cap-add", "SYS_ADMIN", "--cap-add", "NET_ADMIN", "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
    "--cgroupns", "private", "--tmpfs", "/run", "--tmpfs", "/run/lock", "-e", "NODELAB_CLOUD_INIT=1", "--", "{{ .Image }}",
  ]
}
