// Copyright (c) 2026, nodebootstrap.eks contributors
// GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// The program in the lab's pods. It uses the standard library only.
module nodebootstrap.invalid/lab/pod

go 1.26.0
