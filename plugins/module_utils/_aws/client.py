# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls AWS with boto3, if it is installed: one set of options, and errors that say what to do. Runs on the controller."""

from __future__ import annotations

import difflib
import os
import traceback
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from ansible.module_utils.basic import env_fallback

BOTO3_ERROR = ""
try:
    import boto3
    from botocore import exceptions
    from botocore.config import Config
    from botocore.parsers import ResponseParserError
except ImportError:
    BOTO3_ERROR = traceback.format_exc()

OPTIONS = {
    "region": {"type": "str", "fallback": (env_fallback, ["AWS_REGION", "AWS_DEFAULT_REGION"])},
    "profile": {"type": "str", "aliases": ["aws_profile"]},
    "endpoint_url": {"type": "str", "aliases": ["aws_endpoint_url"]},
    "access_key": {"type": "str", "aliases": ["aws_access_key_id", "aws_access_key"], "no_log": True},
    "secret_key": {"type": "str", "aliases": ["aws_secret_access_key", "aws_secret_key"], "no_log": True},
    "session_token": {"type": "str", "aliases": ["aws_session_token"], "no_log": True},
}
"""The options for AWS, as Ansible checks them."""

RULES = {
    "mutually_exclusive": [("profile", "access_key"), ("profile", "secret_key"), ("profile", "session_token")],
    "required_together": [("access_key", "secret_key")],
    "required_by": {"session_token": ("access_key",)},
}
"""The rules between these options."""


class AwsError(Exception):
    """A call to AWS failed. The text is the whole message."""


class AwsTemporary(AwsError):
    """A call failed, and may succeed later: AWS does not answer, is busy, or limits the rate of requests."""


class AwsDenied(AwsError):
    """The credentials are valid, but do not have the permission for a call."""


def nearest(word: str, words: Sequence[str]) -> str:
    """The end of a sentence that suggests the most similar word, '' without one."""
    matches = difflib.get_close_matches(word, words, n=1)
    return f'; did you mean "{matches[0]}"?' if matches else ""


@contextmanager
def environment(variables: Mapping[str, Any]) -> Iterator[None]:
    """Set environment variables of this process inside the block."""
    before = dict(os.environ)
    os.environ.update({str(name): str(value) for name, value in variables.items()})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_action(action: Any, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of C(work) with the environment of the task, in which boto3 looks for credentials. An C(AwsError) fails the task."""
    variables: dict[str, Any] = {}
    action._compute_environment_string(variables)
    try:
        with environment(variables):
            return work()
    except AwsError as error:
        return {"failed": True, "msg": f"{action._task.action.rpartition('.')[2]}: {error}"}


def new_session(options: dict[str, Any]) -> Any:
    """A boto3 session with the given region and credentials; boto3 finds missing values in its usual places."""
    session = boto3.session.Session(
        aws_access_key_id=options["access_key"],
        aws_secret_access_key=options["secret_key"],
        aws_session_token=options["session_token"],
        region_name=options["region"],
        profile_name=options["profile"],
    )
    if not session.region_name:
        raise AwsError("the region is not set; fix: set region, AWS_REGION, or a region in the profile")
    return session


def new_client(session: Any, service: str, options: dict[str, Any]) -> Any:
    """A client that waits 10 seconds for a connection and 30 for an answer, and tries again as boto3's standard mode does."""
    config = Config(retries={"mode": "standard"}, connect_timeout=10, read_timeout=30)
    return session.client(service, endpoint_url=options["endpoint_url"], config=config)


def parse_error(error: Any) -> tuple[str, str]:
    """Code and message of a C(ClientError), each '' if AWS sent none."""
    answer = error.response.get("Error", {})
    return answer.get("Code") or "", answer.get("Message") or ""


def is_access_denied(code: str) -> bool:
    """Whether the credentials are valid but do not have the permission."""
    return code.startswith("AccessDenied") or code in ("UnauthorizedOperation", "NotAuthorized")


def explain_credentials(code: str, text: str) -> str:
    """The problem with the credentials, if C(code) names one, otherwise ''."""
    if code in ("ExpiredToken", "ExpiredTokenException", "RequestExpired"):
        return f"the credentials have expired; fix: get new ones ({code}: {text})"
    if code in ("UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException", "SignatureDoesNotMatch"):
        return f"AWS does not recognize these credentials; fix: check access_key and secret_key, profile and region ({code}: {text})"
    return ""


def explain_unreachable(client: Any, session: Any, endpoint_url: Any, name: str) -> str:
    """Why there is no answer. The URL is shown without its path and user information, which can contain a password.

    name: the usual name of the service.
    """
    region = client.meta.region_name
    regions = session.get_available_regions(client.meta.service_model.service_name)
    text = f"the {name} API at {urlsplit(client.meta.endpoint_url).hostname} does not answer"
    if endpoint_url:
        return f"{text}; fix: check endpoint_url, the network, the proxy and the certificates"
    if regions and region not in regions:
        return f"{text}: according to boto3, {name} is not available in region {region}{nearest(region, regions)}"
    return f"{text}; fix: check region ({region}), the network, the proxy and the certificates"


@contextmanager
def explained_errors(options: dict[str, Any], name: str) -> Iterator[None]:
    """Turn the errors before boto3 sends a request into AwsError. name: the usual name of the service."""
    try:
        yield
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError):
        raise AwsError(
            "the AWS credentials are missing or incomplete; fix: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or the "
            "options profile, or access_key and secret_key)"
        ) from None
    except exceptions.ProfileNotFound:
        names = boto3.session.Session().available_profiles if options["profile"] else []
        profile = options["profile"] or "named by AWS_PROFILE"
        raise AwsError(
            f"the AWS profile {profile} does not exist; existing profiles: {', '.join(names) or 'none'}{nearest(profile, names)}"
        ) from None
    except (exceptions.BotoCoreError, ValueError) as error:
        # An invalid option or configuration file. The text has no traceback and no secret.
        raise AwsError(f"boto3 cannot send a request to {name}: {error}") from None


def client_error() -> tuple[Any, ...]:
    """The errors that AWS returns."""
    return (exceptions.ClientError,)


def no_connection() -> tuple[Any, ...]:
    """The errors for a failed connection: no connection, no TLS, or no answer in time."""
    return (exceptions.ConnectionError, exceptions.HTTPClientError)


def not_understood() -> tuple[Any, ...]:
    """The errors for an answer that does not come from AWS."""
    return (ResponseParserError,)
