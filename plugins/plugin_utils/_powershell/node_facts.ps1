# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the node says of itself, and what it should say.

function Get-FolderProblem {
    # Every user may create folders below ProgramData, so a folder that another user has prepared is not trusted.
    $folder = $script:Wanted.folder
    if ([IO.File]::Exists($folder)) {
        return "$folder is a file. Remove it."
    }
    if (-not [IO.Directory]::Exists($folder)) {
        return
    }
    if ([IO.File]::GetAttributes($folder) -band [IO.FileAttributes]::ReparsePoint) {
        return "$folder is a link to another place. Remove it."
    }
    $owner = (Get-Acl -LiteralPath $folder).GetOwner([Security.Principal.SecurityIdentifier]).Value
    $trusted = @($script:System, $script:Administrators, [Security.Principal.WindowsIdentity]::GetCurrent().User.Value)
    if ($owner -notin $trusted) {
        return "$folder belongs to $owner, and not to the administrators. Remove it."
    }
    if (-not (Test-FolderPrivate)) {
        # Any user may have written its files, and an administrator would run them.
        return "Others than administrators have rights in $folder. Look at what is in it, and remove it."
    }
}

function Test-FolderPrivate {
    $acl = Get-Acl -LiteralPath $script:Wanted.folder
    $rules = $acl.GetAccessRules($true, $true, [Security.Principal.SecurityIdentifier])
    $others = @($rules | Where-Object -FilterScript { $_.IdentityReference.Value -notin @($script:System, $script:Administrators) })
    return $acl.AreAccessRulesProtected -and $others.Count -eq 0
}

function New-Folder {
    # The folder is created with its owner and rights, so that no other user can ever write a file there.
    $security = [Security.AccessControl.DirectorySecurity]::new()
    $sections = [Security.AccessControl.AccessControlSections]'Owner, Access'
    $security.SetSecurityDescriptorSddlForm('O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)', $sections)
    [void][IO.Directory]::CreateDirectory($script:Wanted.folder, $security)
}

function Get-NodeService {
    # Get-Service would keep a handle open, and a service with open handles cannot be removed.
    param ([string] $Name)
    return Get-CimInstance -ClassName Win32_Service -Filter "Name='$Name'"
}

function Get-ClusterOnNode {
    # Name and endpoint in kubelet's kubeconfig, empty where it does not say.
    $text = Read-Text -Path $script:Kubeconfig
    $found = @{ name = ''; endpoint = '' }
    if ($text -match '(?m)^\s*server:\s*"?([^"\s]+)"?\s*$') {
        $found.endpoint = $Matches[1]
    }
    if ($text -match '(?m)^\s*-\s*"?-i"?\s*\r?\n\s*-\s*"?([^"\s]+)"?\s*$') {
        $found.name = $Matches[1]
    }
    return $found
}

function Test-OtherCluster {
    $found = Get-ClusterOnNode
    $wanted = $script:Wanted.cluster
    return ($found.name -and $found.name -cne $wanted.name) -or ($found.endpoint -and $found.endpoint -ne $wanted.endpoint)
}

function Get-SortedItem {
    # Labels or taints in a form that can be compared: KEY=:EFFECT and KEY:EFFECT are the same taint.
    param ([object[]] $Items)
    $same = $Items | Where-Object -FilterScript { $_ } | ForEach-Object -Process { $_.Replace('=:', ':') }
    return @($same | Sort-Object -Unique -CaseSensitive)
}

function Get-FlagItem {
    # The items of a flag such as --node-labels on a command line, sorted.
    param ([string] $CommandLine, [string] $Flag)
    $items = foreach ($match in [regex]::Matches($CommandLine, "(?<=\s)$Flag[= ](?:`"([^`"]*)`"|(\S+))")) {
        ($match.Groups[1].Value + $match.Groups[2].Value).Split(',')
    }
    return Get-SortedItem -Items @($items)
}

function Get-Registration {
    # The node's name, and the labels and taints with which it has registered; nothing where it has not.
    $service = Get-NodeService -Name 'kubelet'
    if (-not $service -or (Test-OtherCluster)) {
        return
    }
    return @{
        node = (Get-FlagItem -CommandLine $service.PathName -Flag '--hostname-override') -join ''
        labels = @(Get-FlagItem -CommandLine $service.PathName -Flag '--node-labels')
        taints = @(Get-FlagItem -CommandLine $service.PathName -Flag '--register-with-taints')
    }
}

function Get-RegistrationProblem {
    $found = Get-Registration
    if (-not $found) {
        return
    }
    foreach ($kind in @('labels', 'taints')) {
        $is = $found[$kind] -join ','
        $expected = @(Get-SortedItem -Items @($script:Wanted.registration.$kind)) -join ','
        if ($is -cne $expected) {
            "This node is registered already, and kubelet tells $kind only when it registers: those of the node are '$is', and should be " +
                "'$expected'. Set reconcile: true with credentials for the cluster (role: eks_node_reconcile: true), or replace the node."
        }
    }
}

function Get-NetworkConfiguration {
    $files = Get-ChildItem -Path "$script:NetworkFolder\*" -File -Include '*.conf', '*.conflist' -ErrorAction SilentlyContinue
    foreach ($file in @($files)) {
        ConvertFrom-Json -InputObject (Read-Text -Path $file.FullName)
    }
}

function Get-StaleFile {
    # What the image's script has to write anew. Where a file does not have the field, that image keeps the value elsewhere.
    $expected = $script:Wanted.expected
    $found = Get-ClusterOnNode
    if ($found.endpoint -ne $script:Wanted.cluster.endpoint -or (Test-OtherCluster)) {
        $script:Kubeconfig
    }
    $certificate = [Text.Encoding]::ASCII.GetString([Convert]::FromBase64String($expected.certificate_authority))
    if ("$(Read-Text -Path $script:Authority)".Trim() -cne $certificate.Trim()) {
        $script:Authority
    }
    $text = Read-Text -Path $script:KubeletConfig
    if (-not $text) {
        $script:KubeletConfig
    }
    elseif ($expected.dns) {
        $servers = @((ConvertFrom-Json -InputObject $text).clusterDNS | Where-Object -FilterScript { $_ })
        if ($servers.Count -gt 0 -and ($servers -join ' ') -ne $expected.dns) {
            $script:KubeletConfig
        }
    }
    foreach ($network in @(Get-NetworkConfiguration)) {
        $ranges = @($network.vpcCIDRs | Where-Object -FilterScript { $_ })
        $absent = @($expected.excluded_snat_cidrs | Where-Object -FilterScript { $_ -and $_ -notin $ranges })
        if (($expected.service_cidr -and $network.serviceCIDR -and $network.serviceCIDR -ne $expected.service_cidr) -or
            ($ranges.Count -gt 0 -and $absent.Count -gt 0)) {
            $script:NetworkFolder
        }
    }
}

function Get-CommandLine {
    # The command line of a service with New in place of Old. What the image itself gives stays.
    param ([string] $Current, [string] $Old, [string] $New)
    $line = "$Current "
    if ($Old -and $Old -cne $New) {
        $at = $line.LastIndexOf(" $Old ", [StringComparison]::Ordinal)
        if ($at -ge 0) {
            $line = $line.Remove($at, $Old.Length + 1)
        }
    }
    if ($New -and -not $line.Contains(" $New ")) {
        $line = "$($line.TrimEnd()) $New"
    }
    return $line.TrimEnd()
}

function Get-WantedCommandLine {
    # What a service's command line should be; nothing while there is no such service.
    param ([string] $Name, [hashtable] $State)
    $service = Get-NodeService -Name $Name
    if (-not $service -or -not $script:Wanted.expected) {
        return $null
    }
    $key = $Name.Replace('-', '_') + '_arguments'
    $current = $service.PathName
    if ($Name -eq 'kubelet' -and -not $State.keys['bootstrap']) {
        # The node was bootstrapped by its user data. Labels and taints given twice would add up.
        $current = [regex]::Replace($current, '\s--(node-labels|register-with-taints)[= ]("[^"]*"|\S+)', '')
        if ("$($service.PathName) ".Contains(" $($script:Wanted.expected.$key) ")) {
            $current = $service.PathName
        }
    }
    return Get-CommandLine -Current $current -Old $State.$key -New $script:Wanted.expected.$key
}

function Get-ServiceVariable {
    # The variables that Windows adds when it starts a service, as NAME=value.
    param ([string] $Name)
    $key = "HKLM:\SYSTEM\CurrentControlSet\Services\$Name"
    $found = Get-ItemProperty -LiteralPath $key -ErrorAction SilentlyContinue
    return @($found.Environment | Where-Object -FilterScript { $_ })
}

function Get-WantedVariable {
    # The variables that a service should have. A proxy that is not ours stays.
    param ([string] $Name, [hashtable] $State)
    $now = @(Get-ServiceVariable -Name $Name)
    if ($script:Wanted.proxy.Count -eq 0 -and -not $State.proxy) {
        return $now
    }
    return @($now | Where-Object -FilterScript { $_ -notmatch '^(HTTP|HTTPS|NO)_PROXY=' }) + @($script:Wanted.proxy)
}

function Get-Unproxied {
    # The services whose variables differ from the plan.
    param ([hashtable] $State)
    foreach ($name in @($script:Proxied | Where-Object -FilterScript { Get-NodeService -Name $_ })) {
        if ((@(Get-ServiceVariable -Name $name) -join "`n") -cne (@(Get-WantedVariable -Name $name -State $State) -join "`n")) {
            $name
        }
    }
}

function Get-Fingerprint {
    # What a service reads when it starts.
    param ([string] $Name)
    $files = @()
    if ($Name -in $script:Services) {
        $files += $script:Kubeconfig, $script:Authority
    }
    if ($Name -eq 'kubelet') {
        $files += $script:KubeletConfig
    }
    $parts = @((Get-NodeService -Name $Name).PathName) + @(Get-ServiceVariable -Name $Name)
    $parts += @($files | ForEach-Object -Process { Read-Text -Path $_ })
    return $parts -join "`0"
}
