# C:\ProgramData\nodebootstrap\bootstrap.ps1 0600 SYSTEM:Administrators
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"
$ErrorActionPreference = 'Stop'
Set-TimeZone -Id UTC
$ErrorActionPreference = 'Continue'
$Parameters = Import-PowerShellDataFile -LiteralPath "$PSScriptRoot\bootstrap.psd1"
& $EKSBootstrapScriptFile @Parameters 3>&1 4>&1 5>&1 6>&1
