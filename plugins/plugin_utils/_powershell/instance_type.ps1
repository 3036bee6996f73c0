# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Asks the instance metadata service, version 2, for the type of the instance. It only reads, so it runs in check mode too.
[CmdletBinding(SupportsShouldProcess)]
param ()

$Ansible.Changed = $false
$service = 'http://169.254.169.254/latest'
try {
    $lifetime = @{ 'X-aws-ec2-metadata-token-ttl-seconds' = '60' }
    $token = Invoke-RestMethod -Uri "$service/api/token" -Method Put -Headers $lifetime -TimeoutSec 5
    $type = Invoke-RestMethod -Uri "$service/meta-data/instance-type" -Headers @{ 'X-aws-ec2-metadata-token' = $token } -TimeoutSec 5
    $Ansible.Result = @{ problem = ''; instance_type = [string]$type }
}
catch {
    $reason = "The instance metadata service does not tell the type of the instance: $($_.Exception.Message)"
    $Ansible.Result = @{ problem = "$reason Name it in node_group.instance.type."; instance_type = '' }
}
