# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The files of the role: all of them, or none.

function Get-FolderText {
    # Path and content of every file of ours: as they are, or as the plan wants them.
    param ([hashtable] $Content, [bool] $Hidden)
    $parts = foreach ($name in @($script:Wanted.every_file | Where-Object -FilterScript { $null -ne $Content[$_] })) {
        "# $(Get-OurPath -Name $name)"
        if ($Hidden) { '(not shown: it may hold secrets)' } else { $Content[$name] }
    }
    return ($parts -join "`n") + "`n"
}

function Invoke-Configure {
    $is = @{}
    $expected = @{}
    foreach ($name in $script:Wanted.every_file) {
        $is[$name] = Read-Text -Path (Get-OurPath -Name $name)
    }
    foreach ($file in $script:Wanted.files) {
        $expected[$file.name] = $file.content
    }
    $changed = @($script:Wanted.every_file | Where-Object -FilterScript { $is[$_] -cne $expected[$_] })
    $there = [IO.Directory]::Exists($script:Wanted.folder)
    if (-not $there) {
        $script:Actions.Add("make $($script:Wanted.folder)")
    }
    foreach ($name in $changed) {
        $verb = if ($null -eq $expected[$name]) { 'remove' } else { 'write' }
        $script:Actions.Add("$verb $(Get-OurPath -Name $name)")
    }
    $state = Read-State
    if ($changed.Count -gt 0) {
        $Ansible.Diff = @{
            before_header = $script:Wanted.folder
            after_header = $script:Wanted.folder
            before = Get-FolderText -Content $is -Hidden ($state.sensitive -or $script:Wanted.sensitive)
            after = Get-FolderText -Content $expected -Hidden $script:Wanted.sensitive
        }
    }
    $Ansible.Changed = $script:Actions.Count -gt 0
    if ($Ansible.CheckMode -or -not $Ansible.Changed) {
        return
    }
    if (-not $there) {
        New-Folder
    }
    if ($script:Wanted.sensitive -and -not $state.sensitive) {
        # First, so that a later run knows what the files of an interrupted one may hold.
        $state.sensitive = $true
        Write-State -State $state
    }
    try {
        foreach ($name in $changed) {
            Set-OurFile -Name $name -Content $expected[$name]
        }
    }
    catch {
        foreach ($name in $changed) {
            Set-OurFile -Name $name -Content $is[$name]
        }
        throw
    }
    if ($state.sensitive -and -not $script:Wanted.sensitive) {
        $state.sensitive = $false
        Write-State -State $state
    }
}

function Set-OurFile {
    # Nothing as content removes the file.
    param ([string] $Name, $Content)
    $path = Get-OurPath -Name $Name
    if ($null -ne $Content) {
        Write-Text -Path $path -Text $Content
    }
    elseif ([IO.File]::Exists($path)) {
        [IO.File]::Delete($path)
    }
}
