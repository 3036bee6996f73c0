# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The recovery, the check of the result, and the end of the script: the steps in their order, and what they say.

function Invoke-Remove {
    # Stops the services, puts back what was there before the first change, and removes the folder of the role.
    $running = @($script:Services | Where-Object -FilterScript { (Get-NodeService -Name $_).State -in @('Running', 'Start Pending') })
    foreach ($name in $running) {
        $script:Actions.Add("stop $name")
    }
    $ours = [IO.Directory]::Exists($script:Wanted.folder)
    if ($ours) {
        $script:Actions.Add('restore what was there before')
        $script:Actions.Add("remove $($script:Wanted.folder)")
    }
    $Ansible.Changed = $script:Actions.Count -gt 0
    if ($Ansible.CheckMode) {
        return
    }
    foreach ($name in $running) {
        Stop-NodeService -Name $name
    }
    if ($ours) {
        Restore-Node -Name 'originals'
        [IO.Directory]::Delete($script:Wanted.folder, $true)
    }
}

function Get-Missing {
    # What a healthy node has and this one lacks.
    foreach ($name in $script:Services) {
        $service = Get-NodeService -Name $name
        if (-not $service) {
            "there is no service $name"
        }
        elseif ($service.State -ne 'Running') {
            "the service $name is $("$($service.State)".ToLowerInvariant())"
        }
    }
    $url = $script:Wanted.healthz
    if ($url) {
        try {
            $answer = Invoke-WebRequest -Uri $url -UseBasicParsing -TimeoutSec 5
            if ($answer.StatusCode -ne 200) {
                "$url answers $($answer.StatusCode)"
            }
        }
        catch {
            "no answer from ${url}: $($_.Exception.Message)"
        }
    }
}

function Invoke-Verify {
    # Looks until nothing is missing, and at most as long as this call may wait: the controller calls again.
    $deadline = [DateTime]::UtcNow.AddSeconds($Wait)
    $script:Missing = @(Get-Missing)
    while ($script:Missing.Count -gt 0 -and [DateTime]::UtcNow -lt $deadline) {
        Start-Sleep -Seconds 1
        $script:Missing = @(Get-Missing)
    }
}

function Get-FileProblem {
    # Whether the step configure has run with this plan.
    foreach ($file in $script:Wanted.files) {
        if ((Read-Text -Path (Get-OurPath -Name $file.name)) -cne $file.content) {
            "$(Get-OurPath -Name $file.name) is not what the node group says. Run the step configure too."
        }
    }
}

function Get-Problem {
    # What keeps the steps from their work. Nothing has been touched yet.
    if ('remove' -in $Steps) {
        Get-MachineProblem
        return
    }
    if (@($Steps | Where-Object -FilterScript { $_ -ne 'verify' }).Count -eq 0) {
        return
    }
    $found = @(Get-NodeProblem)
    $found
    if ($found.Count -eq 0 -and ('validate' -in $Steps -or 'configure' -in $Steps)) {
        Get-ScriptProblem
    }
    if ($found.Count -eq 0 -and 'start' -in $Steps -and 'configure' -notin $Steps) {
        Get-FileProblem
    }
}

$problems = @()
$registration = $null
$trace = ''
try {
    $script:Wanted = ConvertFrom-Plan -Packed $Plan
    if ($script:Wanted.format -ne 1) {
        throw "The plan has format $($script:Wanted.format), and this script reads format 1."
    }
    $problems = @(Get-Problem | Where-Object -FilterScript { $_ })
    if ($problems.Count -eq 0) {
        if ($Reconcile -and 'start' -in $Steps) { $registration = Get-Registration }
        if ('remove' -in $Steps) { Invoke-Remove }
        if ('configure' -in $Steps) { Invoke-Configure }
        if ('start' -in $Steps) { Invoke-Start }
        # In check mode nothing was started, and a look would tell about the old state only.
        if ('verify' -in $Steps -and -not ($Ansible.CheckMode -and $Ansible.Changed)) { Invoke-Verify }
    }
}
catch {
    $problems = @($_.Exception.Message)
    $trace = $_.ScriptStackTrace
}
$Ansible.Result = @{
    problem = $problems -join "`n"
    trace = $trace
    actions = @($script:Actions)
    restarted = @($script:Restarted)
    warnings = @($script:Warnings)
    missing = @($script:Missing)
    recovered = $script:Recovered
    registration = $registration
}
