# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors as AWS returns them."""

from __future__ import annotations


class ApiError(Exception):
    """An error of an operation: its code, its message and the HTTP status. fields: more members of the error's shape."""

    def __init__(self, code: str, message: str, status: int = 400, **fields: object) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.fields = fields


def invalid_parameter(message: str, **fields: object) -> ApiError:
    return ApiError("InvalidParameterException", message, 400, **fields)


def invalid_request(message: str, **fields: object) -> ApiError:
    return ApiError("InvalidRequestException", message, 400, **fields)


def in_use(message: str, **fields: object) -> ApiError:
    return ApiError("ResourceInUseException", message, 409, **fields)


def not_found(message: str, **fields: object) -> ApiError:
    return ApiError("ResourceNotFoundException", message, 404, **fields)
