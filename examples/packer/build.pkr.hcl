# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs, seals and verifies the image. If it has errors, the build ends with the reasons, and no image is saved.
build {
  sources = ["source.amazon-ebs.al2023", "source.amazon-ebs.ubuntu"]

  provisioner "ansible" {
    playbook_file    = "${path.root}/bake.yml"
    user             = build.User
    use_proxy        = false
    ansible_env_vars = ["ANSIBLE_PIPELINING=1"]
    extra_arguments = [
      "--become",
      "--extra-vars", "@${path.root}/${source.name}.yml",
      "--extra-vars", jsonencode({ eks_node_image_report = "${abspath(path.root)}/report/${source.name}" }),
    ]
  }

  post-processor "manifest" {
    output = "${path.root}/manifest.json"
  }
}
