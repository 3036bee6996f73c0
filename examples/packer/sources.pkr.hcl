# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# The machines on which images are built: Amazon Linux 2023 and Ubuntu.
variable "region" {
  type    = string
  default = "eu-west-1"
}

variable "architecture" {
  type        = string
  default     = "x86_64"
  description = "The architecture of the image: x86_64 or arm64. The downloads in al2023.yml and ubuntu.yml must be for it."
}

variable "instance_type" {
  type        = string
  default     = "m6i.large"
  description = "The type of the machine that builds, for example m7g.large for arm64."
}

variable "subnet_id" {
  type        = string
  default     = ""
  description = "The subnet of the machine that builds. Empty: one of the default VPC."
}

locals {
  al2023 = yamldecode(file("${path.root}/al2023.yml"))["eks_node_image"]
  ubuntu = yamldecode(file("${path.root}/ubuntu.yml"))["eks_node_image"]
  time   = formatdate("YYYYMMDD-hhmmss", timestamp())
}

source "amazon-ebs" "al2023" {
  ami_name      = "eks-al2023-${local.al2023.kubernetes_version}-${var.architecture}-${local.time}"
  region        = var.region
  subnet_id     = var.subnet_id
  instance_type = var.instance_type

  source_ami_filter {
    owners      = ["amazon"]
    most_recent = true
    filters = {
      name         = "al2023-ami-minimal-2023.*-kernel-6.12-*"
      architecture = var.architecture
    }
  }

  launch_block_device_mappings {
    device_name           = "/dev/xvda"
    volume_type           = "gp3"
    volume_size           = 20
    iops                  = 3000
    throughput            = 125
    delete_on_termination = true
  }

  # IMDSv2 only: on the machine that builds, and on the instances of the image.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }
  imds_support = "v2.0"

  ssh_username            = "ec2-user"
  temporary_key_pair_type = "ed25519"

  tags = {
    Name               = "eks-al2023-${local.al2023.kubernetes_version}"
    kubernetes_version = local.al2023.kubernetes_version
    source_ami         = "{{ .SourceAMI }}"
  }
}

source "amazon-ebs" "ubuntu" {
  ami_name      = "eks-ubuntu-${local.ubuntu.kubernetes_version}-${var.architecture}-${local.time}"
  region        = var.region
  subnet_id     = var.subnet_id
  instance_type = var.instance_type

  source_ami_filter {
    owners      = ["099720109477"] # Canonical
    most_recent = true
    filters = {
      name         = "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-*-server-*"
      architecture = var.architecture
    }
  }

  launch_block_device_mappings {
    device_name           = "/dev/sda1"
    volume_type           = "gp3"
    volume_size           = 20
    iops                  = 3000
    throughput            = 125
    delete_on_termination = true
  }

  # IMDSv2 only: on the machine that builds, and on the instances of the image.
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }
  imds_support = "v2.0"

  ssh_username            = "ubuntu"
  temporary_key_pair_type = "ed25519"

  tags = {
    Name               = "eks-ubuntu-${local.ubuntu.kubernetes_version}"
    kubernetes_version = local.ubuntu.kubernetes_version
    source_ami         = "{{ .SourceAMI }}"
  }
}
