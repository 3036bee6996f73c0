# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The same image with a script instead of the role, to compare how long both take.
variable "files" {
  type    = string
  default = ""
}

variable "script" {
  type    = string
  default = ""
}

build {
  name    = "shell"
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
