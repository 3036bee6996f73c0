# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What speaks against a change. Each function gives one line of text for a problem, or nothing.

function Get-MachineProblem {
    # Whether this is a machine that the role can work on at all.
    if ($PSVersionTable.PSEdition -ne 'Desktop') {
        'The role works with Windows PowerShell 5.1, and this connection runs another PowerShell. Use the default session configuration.'
        return
    }
    $identity = [Security.Principal.WindowsPrincipal]::new([Security.Principal.WindowsIdentity]::GetCurrent())
    if (-not $identity.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) {
        'The user of this connection is not an administrator of the node. Connect as an administrator, or set become.'
        return
    }
    Get-FolderProblem
}

function Get-ImageProblem {
    # Whether it is the machine that the node group describes.
    $version = Get-ItemProperty -LiteralPath 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
    $is = "$($version.ProductName), build $($version.CurrentBuildNumber), $($version.InstallationType)"
    $wanted = $script:Wanted.windows
    if ($version.InstallationType -notin @('Server', 'Server Core')) {
        "This machine is $is, and node_group.family is windows, which means Windows Server."
    }
    if ($wanted.build -and [int]$version.CurrentBuildNumber -ne $wanted.build) {
        "This machine is $is, and node_group.windows.version is $($wanted.version), which has build $($wanted.build)."
    }
    $editions = @{ core = 'Server Core'; full = 'Server' }
    if ($wanted.edition -and $version.InstallationType -ne $editions[$wanted.edition]) {
        "This machine is $is, and node_group.windows.edition is $($wanted.edition)."
    }
    if (-not [IO.File]::Exists($script:ImageScript)) {
        "There is no $script:ImageScript. Launch the node from an EKS optimized Windows AMI, or one built from it."
    }
}

function Get-NodeProblem {
    $machine = @(Get-MachineProblem)
    if ($machine.Count -gt 0) {
        return $machine
    }
    Get-ImageProblem
    if (Test-OtherCluster) {
        if (-not $TakeOver) {
            $found = Get-ClusterOnNode
            "This node belongs to the cluster $($found.name) at $($found.endpoint), and not to $($script:Wanted.cluster.name) at " +
                "$($script:Wanted.cluster.endpoint). Check the inventory, or set take_over: true (role: eks_node_take_over: true)."
        }
    }
    elseif (-not $Reconcile) {
        Get-RegistrationProblem
    }
}

function Get-ScriptProblem {
    # What Windows PowerShell itself says of the scripts, and the image's script of its parameters.
    foreach ($file in $script:Wanted.files) {
        $tokens = $null
        $faults = $null
        [void][Management.Automation.Language.Parser]::ParseInput($file.content, [ref]$tokens, [ref]$faults)
        if ($faults.Count -gt 0) {
            # The message may repeat a word of the script.
            $said = if ($script:Wanted.sensitive) { 'it is not shown because the script may hold secrets' } else { $faults[0].Message }
            "$($file.name) is not valid PowerShell, line $($faults[0].Extent.StartLineNumber): $said"
        }
    }
    if ([IO.File]::Exists($script:ImageScript)) {
        $known = @((Get-Command -Name $script:ImageScript -CommandType ExternalScript).Parameters.Keys)
        foreach ($name in @($script:Wanted.parameters | Where-Object -FilterScript { $_ -and $_ -notin $known })) {
            "Start-EKSBootstrap.ps1 of this image has no parameter $name. Leave out the field that needs it, or use a newer image."
        }
    }
}
