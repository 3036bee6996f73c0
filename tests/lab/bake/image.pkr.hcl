# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# An image, baked by the role.
variable "inventory" {
  type    = string
  default = ""
}

variable "variables" {
  type    = string
  default = ""
}

build {
  name    = "image"
  sources = ["source.docker.node"]

  provisioner "ansible" {
    playbook_file   = "${path.root}/../../../playbooks/bake.yml"
    user            = "root"
    use_proxy       = false
    inventory_file  = var.inventory
    extra_arguments = ["-e", "@${var.variables}"]
  }

  post-processors {
    post-processor "docker-tag" {
      repository = "nodelab-baked"
      tags       = [var.tag]
    }
    post-processor "manifest" {
      output = "${var.inventory}.manifest"
    }
  }
}
