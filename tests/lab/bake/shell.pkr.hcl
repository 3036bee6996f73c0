# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The same image with a script instead of the role, to compare how long both take. Packer 1.6.6 reads it.
variable "base" {
  type = string
}

variable "container" {
  type = string
}

variable "run" {
  type = string
}

variable "tag" {
  type = string
}

variable "files" {
  type = string
}

variable "script" {
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

build {
  sources = ["source.docker.node"]

  # While systemd starts, it empties /tmp, and the scripts of Packer are there.
  provisioner "shell-local" {
    inline = ["docker exec ${var.container} timeout 120 sh -c 'until systemctl is-active -q multi-user.target; do sleep 0.2; done'"]
  }
  provisioner "shell" {
    inline = ["mkdir /opt/uploaded"]
  }
  provisioner "file" {
    source      = var.files
    destination = "/opt/uploaded"
  }
  provisioner "shell" {
    script           = var.script
    environment_vars = ["DEBIAN_FRONTEND=noninteractive"]
  }

  post-processor "docker-tag" {
    repository = "nodelab-baked"
    tags       = [var.tag]
  }
}
