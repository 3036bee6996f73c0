# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How AWS is reached, for all plugins that call it."""

from __future__ import annotations


class ModuleDocFragment:
    """The options of C(module_utils/_aws/client.py)."""

    DOCUMENTATION = r"""
options:
  region:
    description:
      - AWS region to ask.
      - Without it, E(AWS_REGION), E(AWS_DEFAULT_REGION) and the configuration of the profile are asked, in this order.
    type: str
  profile:
    description:
      - Profile in the files of the AWS command line.
      - Without it and without O(access_key), boto3 looks for credentials in its usual places.
    type: str
    aliases: [aws_profile]
  endpoint_url:
    description: URL of the API, instead of AWS's for the region.
    type: str
    aliases: [aws_endpoint_url]
  access_key:
    description: AWS access key ID.
    type: str
    aliases: [aws_access_key_id, aws_access_key]
  secret_key:
    description: AWS secret access key.
    type: str
    aliases: [aws_secret_access_key, aws_secret_key]
  session_token:
    description: Session token of temporary credentials.
    type: str
    aliases: [aws_session_token]
"""
