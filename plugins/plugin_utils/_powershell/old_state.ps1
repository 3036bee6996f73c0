# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The state before a change: kept, and put back.

function Get-WatchedFile {
    # Files that the image's script writes.
    $script:Kubeconfig
    $script:Authority
    $script:KubeletConfig
    $script:ResolvConf
    Get-ChildItem -LiteralPath $script:NetworkFolder -File -ErrorAction SilentlyContinue | ForEach-Object -Process { $_.FullName }
}

function Save-Node {
    # Copies into a folder of ours. The list is written last: a copy without a list is not complete.
    param ([string] $Name)
    $folder = Get-OurPath -Name $Name
    Remove-Copy -Name $Name
    [void][IO.Directory]::CreateDirectory($folder)
    $number = 0
    $files = foreach ($path in @(Get-WatchedFile)) {
        $copy = ''
        if ([IO.File]::Exists($path)) {
            $number += 1
            $copy = [string]$number
            [IO.File]::Copy($path, [IO.Path]::Combine($folder, $copy))
        }
        @{ path = $path; copy = $copy }
    }
    $services = foreach ($service in $script:Services) {
        $now = Get-NodeService -Name $service
        @{ name = $service; command_line = [string]$now.PathName; running = [bool]($now.State -eq 'Running') }
    }
    $variables = foreach ($service in @($script:Proxied | Where-Object -FilterScript { Get-NodeService -Name $_ })) {
        @{ name = $service; items = @(Get-ServiceVariable -Name $service) }
    }
    $task = Get-ScheduledTask -TaskName $script:StartupTask -ErrorAction SilentlyContinue
    $enabled = [bool]($task -and $task.State -ne 'Disabled')
    $list = @{ files = @($files); services = @($services); variables = @($variables); task = $enabled }
    Write-Text -Path ([IO.Path]::Combine($folder, 'list.json')) -Text (ConvertTo-Json -InputObject $list -Depth 4)
}

function Test-Copy {
    param ([string] $Name)
    return [IO.File]::Exists([IO.Path]::Combine((Get-OurPath -Name $Name), 'list.json'))
}

function Remove-Copy {
    # The list first: a copy without a list is not complete.
    param ([string] $Name)
    $folder = Get-OurPath -Name $Name
    if ([IO.Directory]::Exists($folder)) {
        [IO.File]::Delete([IO.Path]::Combine($folder, 'list.json'))
        [IO.Directory]::Delete($folder, $true)
    }
}

function Stop-NodeService {
    param ([string] $Name)
    if ((Get-NodeService -Name $Name).State -in @('Running', 'Start Pending')) {
        Stop-Service -Name $Name -Force -NoWait
        $deadline = [DateTime]::UtcNow.AddMinutes(2)
        while ((Get-NodeService -Name $Name).State -ne 'Stopped') {
            if ([DateTime]::UtcNow -gt $deadline) {
                throw "The service $Name does not stop within two minutes."
            }
            Start-Sleep -Milliseconds 500
        }
    }
}

function Set-CommandLine {
    param ([string] $Name, [string] $CommandLine)
    $arguments = @{ PathName = $CommandLine }
    $answer = Invoke-CimMethod -InputObject (Get-NodeService -Name $Name) -MethodName 'Change' -Arguments $arguments
    if ($answer.ReturnValue -ne 0) {
        throw "The command line of the service $Name cannot be changed: Win32_Service.Change returned $($answer.ReturnValue)."
    }
}

function Set-ServiceVariable {
    param ([string] $Name, [string[]] $Values)
    $key = "HKLM:\SYSTEM\CurrentControlSet\Services\$Name"
    if ($Values.Count -eq 0) {
        Remove-ItemProperty -LiteralPath $key -Name 'Environment' -ErrorAction SilentlyContinue
        return
    }
    New-ItemProperty -LiteralPath $key -Name 'Environment' -PropertyType MultiString -Value $Values -Force | Out-Null
}

function Remove-NodeService {
    param ([string] $Name)
    Stop-NodeService -Name $Name
    $answer = Invoke-CimMethod -InputObject (Get-NodeService -Name $Name) -MethodName 'Delete'
    if ($answer.ReturnValue -ne 0) {
        throw "The service $Name cannot be removed: Win32_Service.Delete returned $($answer.ReturnValue)."
    }
}

function Restore-Node {
    # Puts back what Save-Node kept, and removes what came since. Services end stopped unless Run says to start what ran.
    param ([string] $Name, [switch] $Run)
    $folder = Get-OurPath -Name $Name
    $text = Read-Text -Path ([IO.Path]::Combine($folder, 'list.json'))
    if (-not $text) {
        return
    }
    $list = ConvertFrom-Json -InputObject $text
    $task = Get-ScheduledTask -TaskName $script:StartupTask -ErrorAction SilentlyContinue
    if ($task -and -not $list.task) {
        Stop-ScheduledTask -InputObject $task
        Disable-ScheduledTask -InputObject $task | Out-Null
    }
    foreach ($service in $list.services) {
        $now = Get-NodeService -Name $service.name
        if ($now -and -not $service.command_line) {
            Remove-NodeService -Name $service.name
        }
        elseif ($now) {
            Stop-NodeService -Name $service.name
            if ($now.PathName -cne $service.command_line) {
                Set-CommandLine -Name $service.name -CommandLine $service.command_line
            }
        }
    }
    foreach ($one in @($list.variables | Where-Object -FilterScript { $_ -and (Get-NodeService -Name $_.name) })) {
        if ((@($one.items) -join "`n") -cne (@(Get-ServiceVariable -Name $one.name) -join "`n")) {
            Set-ServiceVariable -Name $one.name -Values @($one.items)
            if ($one.name -eq 'containerd') {
                Stop-NodeService -Name $one.name
                Start-Service -Name $one.name
            }
        }
    }
    foreach ($file in $list.files) {
        if ($file.copy) {
            [IO.File]::Copy([IO.Path]::Combine($folder, $file.copy), $file.path, $true)
        }
        elseif ([IO.File]::Exists($file.path)) {
            [IO.File]::Delete($file.path)
        }
    }
    foreach ($path in @(Get-WatchedFile)) {
        if ($path -notin @($list.files.path) -and [IO.File]::Exists($path)) {
            [IO.File]::Delete($path)
        }
    }
    if ($Run) {
        foreach ($service in @($list.services | Where-Object -FilterScript { $_.running })) {
            Start-Service -Name $service.name
        }
    }
}
