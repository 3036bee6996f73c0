# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The way back, the look at the result, and the end of the script: what each step calls, and its result.

function Invoke-Remove {
    # Stops the services, puts back what was there before the first change, and removes the folder of the role.
    $running = @($script:Services | Where-Object -FilterScript { (Get-NodeService -Name $_).State -in @('Running', 'Start Pending') })
    foreach ($name in $running) {
        $script:Actions.Add("stop $name")
    }
    $ours = [IO.Directory]::Exists($script:Wanted.folder)
    if ($ours) {
        $script:Actions.Add("put back what was there before, and remove $($script:Wanted.folder)")
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

function Invoke-Verify {
    # What is still missing. One look: the controller repeats it.
    foreach ($name in $script:Services) {
        $service = Get-NodeService -Name $name
        if (-not $service) {
            $script:Missing.Add("there is no service $name")
        }
        elseif ($service.State -ne 'Running') {
            $script:Missing.Add("the service $name is in the state $($service.State)")
        }
    }
    $url = $script:Wanted.healthz
    if ($url) {
        try {
            $answer = Invoke-WebRequest -Uri $url -UseBasicParsing -TimeoutSec 5
            if ($answer.StatusCode -ne 200) {
                $script:Missing.Add("$url answers $($answer.StatusCode)")
            }
        }
        catch {
            $script:Missing.Add("no answer from ${url}: $($_.Exception.Message)")
        }
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
    # What keeps the step from its work.
    switch ($Step) {
        'configure' { Get-NodeProblem; Get-ScriptProblem }
        'preflight' { Get-NodeProblem }
        'remove' { Get-MachineProblem }
        'start' {
            Get-NodeProblem
            if (-not $Ansible.CheckMode) { Get-FileProblem }
        }
        'validate' { Get-ScriptProblem }
    }
}

$problems = @()
$trace = ''
try {
    $script:Wanted = ConvertFrom-Plan -Packed $Plan
    if ($script:Wanted.format -ne 1) {
        throw "The plan has format $($script:Wanted.format), and this script reads format 1."
    }
    $problems = @(Get-Problem)
    if ($problems.Count -eq 0) {
        switch ($Step) {
            'configure' { Invoke-Configure }
            'remove' { Invoke-Remove }
            'start' { Invoke-Start }
            'verify' { Invoke-Verify }
        }
    }
}
catch {
    $problems = @($_.Exception.Message)
    $trace = $_.ScriptStackTrace
}
$Ansible.Result = @{
    step = $Step
    problem = $problems -join "`n"
    trace = $trace
    actions = @($script:Actions)
    restarted = @($script:Restarted)
    warnings = @($script:Warnings)
    missing = @($script:Missing)
}
