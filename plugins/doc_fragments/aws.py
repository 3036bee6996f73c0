# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the AWS options."""

from __future__ import annotations


class ModuleDocFragment:
    """The options that C(module_utils/_aws/client.py) reads."""

    DOCUMENTATION = r"""
options:
  region:
    description:
      - The AWS region.
      - The default is the first of these that is set. E(AWS_REGION), E(AWS_DEFAULT_REGION), and the region of the profile.
    type: str
  profile:
    description:
      - A profile from the configuration files of the AWS CLI.
      - Without O(profile) and O(access_key), boto3 uses its default chain of credentials.
    type: str
    aliases: [aws_profile]
  endpoint_url:
    description: The URL of the API. The default is the endpoint of AWS for the region.
    type: str
    aliases: [aws_endpoint_url]
  access_key:
    description: The AWS access key ID.
    type: str
    aliases: [aws_access_key_id, aws_access_key]
  secret_key:
    description: The AWS secret access key.
    type: str
    aliases: [aws_secret_access_key, aws_secret_key]
  session_token:
    description: The session token of temporary credentials.
    type: str
    aliases: [aws_session_token]
"""
