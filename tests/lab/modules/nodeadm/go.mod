// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// The one version of nodeadm that the module proxy has (February 2024).
module nodebootstrap.invalid/lab/nodeadm

go 1.22.0

require github.com/awslabs/amazon-eks-ami/nodeadm v0.0.0-20240229193347-cfab22a10647
