# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The beginning of the one script that brings a live node to its plan, for Windows PowerShell 5.1 and win_powershell. The action
# apply_windows joins it from the files of this folder. This part: parameters, the plan, texts and the state.
#
# Everything that depends on the node group comes in Plan. The result says what happened: problem (empty when all is well),
# actions (done, or to be done in check mode), restarted, warnings, missing and others. Wait: seconds that the step verify waits for a node
# that is not well yet.
[CmdletBinding(SupportsShouldProcess)]
param (
    [Parameter(Mandatory = $true)]
    [ValidateSet('preflight', 'configure', 'validate', 'start', 'verify', 'remove')]
    [string[]]
    $Steps,

    [Parameter(Mandatory = $true)]
    [securestring]
    $Plan,

    [bool]
    $TakeOver,

    [bool]
    $Reconcile,

    [ValidateSet('when_changed', 'never')]
    [string]
    $Restart,

    [int]
    $Wait
)

$ErrorActionPreference = 'Stop'

$Ansible.Changed = $false
$script:Actions = [System.Collections.Generic.List[string]]::new()
$script:Restarted = [System.Collections.Generic.List[string]]::new()
$script:Warnings = [System.Collections.Generic.List[string]]::new()
$script:Missing = @()
$script:Recovered = $null

$script:ImageScript = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"
$script:StartupTask = 'EKS Windows startup task'
$script:Services = @('kubelet', 'kube-proxy')
$script:Proxied = @('containerd', 'kubelet')
$script:KubeletConfig = "$env:ProgramData\kubernetes\kubelet-config.json"
$script:Authority = "$env:ProgramData\Amazon\EKS\cluster_ca.crt"
$script:NetworkFolder = "$env:ProgramData\Amazon\EKS\cni\config"
$script:ResolvConf = "$env:SystemDrive\etc\resolv.conf"
$script:Kubeconfig = [Environment]::GetEnvironmentVariable('KUBECONFIG', 'Machine')
if (-not $script:Kubeconfig) {
    $script:Kubeconfig = "$env:ProgramData\kubernetes\kubeconfig"
}

$script:System = 'S-1-5-18'
$script:Administrators = 'S-1-5-32-544'

function ConvertFrom-Plan {
    param ([securestring] $Packed)
    $pointer = [Runtime.InteropServices.Marshal]::SecureStringToBSTR($Packed)
    try {
        $bytes = [Convert]::FromBase64String([Runtime.InteropServices.Marshal]::PtrToStringBSTR($pointer))
    }
    finally {
        [Runtime.InteropServices.Marshal]::ZeroFreeBSTR($pointer)
    }
    # .NET Framework reads deflate but not zlib, whose header has two bytes.
    $stream = [IO.MemoryStream]::new($bytes, 2, $bytes.Length - 2)
    $unpacked = [IO.Compression.DeflateStream]::new($stream, [IO.Compression.CompressionMode]::Decompress)
    $reader = [IO.StreamReader]::new($unpacked, [Text.Encoding]::UTF8)
    try {
        return ConvertFrom-Json -InputObject $reader.ReadToEnd()
    }
    finally {
        $reader.Dispose()
    }
}

function Read-Text {
    # Nothing when there is no such file.
    param ([string] $Path)
    if ([IO.File]::Exists($Path)) {
        return [IO.File]::ReadAllText($Path)
    }
    return $null
}

function Write-Text {
    # Windows PowerShell takes a script without a byte order mark for text of the system's code page.
    param ([string] $Path, [string] $Text)
    $new = "$Path.new"
    [IO.File]::WriteAllText($new, $Text, [Text.UTF8Encoding]::new($true))
    if ([IO.File]::Exists($Path)) {
        [IO.File]::Replace($new, $Path, [NullString]::Value)
    }
    else {
        [IO.File]::Move($new, $Path)
    }
}

function Get-OurPath {
    param ([string] $Name)
    return [IO.Path]::Combine($script:Wanted.folder, $Name)
}

function Read-State {
    # What an earlier run left, with every field that is used.
    $state = @{ keys = @{}; kubelet_arguments = ''; kube_proxy_arguments = ''; pending = @(); sensitive = $false; proxy = $false }
    $text = Read-Text -Path (Get-OurPath -Name 'state.json')
    if (-not $text) {
        return $state
    }
    $found = ConvertFrom-Json -InputObject $text
    if ($found.format -ne $script:Wanted.format) {
        throw "$(Get-OurPath -Name 'state.json') was written by another version of this collection: it has format $($found.format). " +
            'Update the collection on the controller.'
    }
    foreach ($one in @('pre', 'bootstrap', 'post')) {
        $state.keys[$one] = $found.$one
    }
    $state.kubelet_arguments = [string]$found.kubelet_arguments
    $state.kube_proxy_arguments = [string]$found.kube_proxy_arguments
    $state.pending = @($found.pending | Where-Object -FilterScript { $_ })
    $state.sensitive = [bool]$found.sensitive
    $state.proxy = [bool]$found.proxy
    return $state
}

function Write-State {
    param ([hashtable] $State)
    $content = @{
        format = $script:Wanted.format
        pre = $State.keys['pre']
        bootstrap = $State.keys['bootstrap']
        post = $State.keys['post']
        kubelet_arguments = $State.kubelet_arguments
        kube_proxy_arguments = $State.kube_proxy_arguments
        pending = @($State.pending)
        sensitive = $State.sensitive
        proxy = $State.proxy
    }
    Write-Text -Path (Get-OurPath -Name 'state.json') -Text (ConvertTo-Json -InputObject $content)
}
