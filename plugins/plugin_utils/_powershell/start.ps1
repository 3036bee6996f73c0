# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The services: bootstrapped once, changed where they differ, restarted only when what they read has changed.

function Get-Work {
    # What has to be done so that the node is what the plan says.
    param ([hashtable] $State)
    $wanted = $script:Wanted
    $work = @{ pre = $false; bootstrap = $false; post = $false; arguments = @(); stopped = @(); pending = $State.pending }
    $work.proxy = @(Get-Unproxied -State $State)
    foreach ($one in @('pre', 'post')) {
        $work[$one] = [bool]($wanted.$one -and $State.keys[$one] -cne $wanted.$one.key)
    }
    $there = @($script:Services | Where-Object -FilterScript { Get-NodeService -Name $_ })
    $known = $State.keys['bootstrap']
    if ($there.Count -lt $script:Services.Count) {
        $work.bootstrap = $true
    }
    elseif (-not $wanted.expected) {
        $work.bootstrap = $known -cne $wanted.bootstrap.key
    }
    else {
        # A node that its user data has bootstrapped needs nothing where it is as it should be.
        $work.bootstrap = ($known -and $known -cne $wanted.bootstrap.key) -or @(Get-StaleFile).Count -gt 0
    }
    foreach ($name in $there) {
        $line = Get-WantedCommandLine -Name $name -State $State
        if ($null -ne $line -and $line -cne (Get-NodeService -Name $name).PathName.TrimEnd()) {
            $work.arguments += $name
        }
    }
    $task = Get-ScheduledTask -TaskName $script:StartupTask -ErrorAction SilentlyContinue
    if (-not $task -or $task.State -ne 'Running') {
        $work.stopped = @($there | Where-Object -FilterScript { (Get-NodeService -Name $_).State -eq 'Stopped' })
    }
    return $work
}

function Add-PlannedAction {
    # What check mode says. Whether a new run of the image's script changes what a service reads is known only afterwards.
    param ([hashtable] $Work)
    if ($Work.pre) { $script:Actions.Add('run commands.pre') }
    if ($Work.bootstrap) { $script:Actions.Add("run $($script:Wanted.bootstrap.name)") }
    foreach ($name in $Work.arguments) { $script:Actions.Add("set the arguments of $name") }
    foreach ($name in $Work.proxy) { $script:Actions.Add("set the proxy of $name") }
    foreach ($name in @('containerd') + $script:Services) {
        if ($name -in $Work.arguments -or $name -in $Work.proxy -or $name -in $Work.pending) {
            if ($Restart -eq 'never') { $script:Warnings.Add("$name would need a restart") } else { $script:Actions.Add("restart $name") }
        }
        elseif ($name -in $Work.stopped) {
            $script:Actions.Add("start $name")
        }
    }
    if ($Work.post) { $script:Actions.Add('run commands.post') }
}

function Invoke-OurScript {
    # Runs one of the scripts, its output into a file beside it. Result: what went wrong, if anything.
    param ($Description)
    $path = Get-OurPath -Name $Description.file
    $log = [IO.Path]::ChangeExtension($path, '.log')
    $script:Actions.Add("run $($Description.name)")
    $Ansible.Changed = $true
    # The scripts decide for themselves what ends them. Errors are not redirected: Windows PowerShell would make errors of all
    # that programs write there.
    $ErrorActionPreference = 'Continue'
    try {
        & $path 3>&1 4>&1 5>&1 6>&1 > $log
        if (-not $?) {
            return "$($Description.name) ended with exit code $LASTEXITCODE; its output is in $log."
        }
    }
    catch {
        $_ | Out-String | Out-File -FilePath $log -Append
        $said = $_.Exception.Message
        if ($script:Wanted.sensitive) { $said = 'the reason is not shown because the script may hold secrets' }
        return "$($Description.name) failed: $said (its output is in $log)."
    }
}

function Invoke-Once {
    # Commands of the user run again only when they change, and are remembered as soon as they have run.
    param ([string] $Name, [hashtable] $State)
    $fault = Invoke-OurScript -Description $script:Wanted.$Name
    if ($fault) {
        throw $fault
    }
    $State.keys[$Name] = $script:Wanted.$Name.key
    Write-State -State $State
}

function Invoke-Bootstrap {
    # The image's script reports little, so what counts is what it leaves.
    $fault = Invoke-OurScript -Description $script:Wanted.bootstrap
    $name = $script:Wanted.bootstrap.name
    $absent = @($script:Services | Where-Object -FilterScript { -not (Get-NodeService -Name $_) })
    if ($absent.Count -gt 0) {
        throw "$name has not registered the service $($absent -join ', '). $fault"
    }
    if ($script:Wanted.expected) {
        $stale = @(Get-StaleFile)
        if ($stale.Count -gt 0) {
            throw "$name has run, but not brought up to date: $($stale -join ', '). $fault"
        }
    }
    elseif ($fault) {
        throw $fault
    }
}

function Invoke-Restart {
    # Restarts what reads something else than before, starts what is stopped, and remembers what must not be restarted now.
    param ([hashtable] $Before, [hashtable] $Work, [hashtable] $State)
    $pending = @()
    $ran = @($script:Services | Where-Object -FilterScript { (Get-NodeService -Name $_).State -eq 'Running' })
    foreach ($name in @('containerd') + $script:Services) {
        $changed = $Before.ContainsKey($name) -and $Before[$name] -cne (Get-Fingerprint -Name $name)
        if ($changed -or $name -in $Work.pending) {
            if ($Restart -eq 'never') {
                $pending += $name
                $script:Warnings.Add("$name runs with its old configuration until it is restarted: eks_node_restart is never")
                continue
            }
            Restart-NodeService -Name $name
        }
        elseif ($name -in $Work.stopped) {
            Start-Service -Name $name
            $script:Actions.Add("start $name")
            $Ansible.Changed = $true
        }
        elseif ($name -in $ran) {
            # A stop of containerd stops the services that depend on it.
            Start-Service -Name $name
        }
    }
    $State.pending = $pending
}

function Restart-NodeService {
    param ([string] $Name)
    Stop-NodeService -Name $Name
    Start-Service -Name $Name
    $script:Actions.Add("restart $Name")
    $script:Restarted.Add($Name)
    $Ansible.Changed = $true
}

function Set-Proxy {
    param ([hashtable] $State)
    foreach ($name in @(Get-Unproxied -State $State)) {
        $script:Actions.Add("set the proxy of $name")
        $Ansible.Changed = $true
        Set-ServiceVariable -Name $name -Values @(Get-WantedVariable -Name $name -State $State)
    }
}

function Invoke-Change {
    # Bootstraps, or corrects what is there. Throws when the node is not what the plan says afterwards.
    param ([hashtable] $Work, [hashtable] $State)
    $before = @{}
    foreach ($name in @(@('containerd') + $script:Services | Where-Object -FilterScript { Get-NodeService -Name $_ })) {
        $before[$name] = Get-Fingerprint -Name $name
    }
    Set-Proxy -State $State
    if ('containerd' -in $Work.proxy -and $Restart -ne 'never' -and -not (Get-NodeService -Name 'kubelet')) {
        # kubelet, which the bootstrap starts, is to pull through the proxy from the beginning.
        Restart-NodeService -Name 'containerd'
        $before['containerd'] = Get-Fingerprint -Name 'containerd'
    }
    if ($Work.bootstrap) {
        Invoke-Bootstrap
        $new = @($script:Services | Where-Object -FilterScript { -not $before.ContainsKey($_) })
        foreach ($name in $new) {
            $before[$name] = Get-Fingerprint -Name $name
        }
        Set-Proxy -State $State
        foreach ($name in @($new | Where-Object -FilterScript { (Get-NodeService -Name $_).State -eq 'Stopped' })) {
            # The image starts new services itself, once their network is there.
            $before[$name] = Get-Fingerprint -Name $name
        }
    }
    foreach ($name in $script:Services) {
        $line = Get-WantedCommandLine -Name $name -State $State
        if ($null -ne $line -and $line -cne (Get-NodeService -Name $name).PathName.TrimEnd()) {
            $script:Actions.Add("set the arguments of $name")
            $Ansible.Changed = $true
            Set-CommandLine -Name $name -CommandLine $line
        }
    }
    Invoke-Restart -Before $before -Work $Work -State $State
}

function Undo-Change {
    param ([string] $Reason)
    try {
        Restore-Node -Name 'before' -Run
        Remove-Copy -Name 'before'
    }
    catch {
        throw "$Reason Its old state could not be put back either: $($_.Exception.Message) The next run tries again."
    }
    throw "$Reason The node is back in the state it was in."
}

function Invoke-Start {
    if (Test-Copy -Name 'before') {
        $script:Recovered = 'undone'
        $Ansible.Changed = $true
        if (-not $Ansible.CheckMode) {
            Restore-Node -Name 'before' -Run
            Remove-Copy -Name 'before'
        }
    }
    $state = Read-State
    $work = Get-Work -State $state
    if ($Ansible.CheckMode) {
        Add-PlannedAction -Work $work
        $Ansible.Changed = $Ansible.Changed -or $script:Actions.Count -gt 0
        return
    }
    if ($work.pre) {
        Invoke-Once -Name 'pre' -State $state
    }
    if (-not (Test-Copy -Name 'originals')) {
        Save-Node -Name 'originals'
    }
    $services = @($work.arguments) + @($work.proxy) + @($work.pending) + @($work.stopped)
    if ($work.bootstrap -or $services.Count -gt 0) {
        Save-Node -Name 'before'
        try {
            Invoke-Change -Work $work -State $state
        }
        catch {
            Undo-Change -Reason $_.Exception.Message
        }
        # Before the state is written: a state that is older than the node does no harm, and a copy that is older does.
        Remove-Copy -Name 'before'
    }
    $seen = @($state.keys['bootstrap'], $state.kubelet_arguments, $state.kube_proxy_arguments, $state.proxy) -join "`0"
    $state.proxy = $script:Wanted.proxy.Count -gt 0
    $state.keys['bootstrap'] = $script:Wanted.bootstrap.key
    if ($script:Wanted.expected) {
        $state.kubelet_arguments = $script:Wanted.expected.kubelet_arguments
        $state.kube_proxy_arguments = $script:Wanted.expected.kube_proxy_arguments
    }
    $now = @($state.keys['bootstrap'], $state.kubelet_arguments, $state.kube_proxy_arguments, $state.proxy) -join "`0"
    if ($Ansible.Changed -or $seen -cne $now) {
        Write-State -State $state
    }
    if ($work.post) {
        Invoke-Once -Name 'post' -State $state
    }
}
