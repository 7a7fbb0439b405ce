"""The errors of requests, and what a program can do after them."""

from __future__ import annotations

import json
from email.message import Message

# The known codes. The documentation of an installation, /docs/api/errors/, has a page for each code.
CODES = (
    "invalid_parameter", "business_not_found", "service_not_found", "location_not_found", "rental_not_found", "not_found",
    "method_not_allowed", "payload_too_large", "unsupported_media_type", "headers_too_large", "missing_api_key",
    "invalid_api_key", "rate_limited", "scope_forbidden", "subscription_inactive", "account_closing", "not_open_yet",
    "not_accepting_bookings", "slot_unavailable", "no_staff_available", "date_in_past", "beyond_advance_limit", "too_soon",
    "closed", "not_a_start", "staff_not_found", "payment_not_offered", "outside_area", "availability_unverified",
    "payment_unavailable", "idempotency_mismatch", "idempotency_in_progress", "service_unavailable", "outcome_unknown",
    "internal",
)


class SlotmeshError(Exception):
    """A refused request.

    status: the HTTP status
    code: the code of the refusal. New codes may be added. It is empty if a proxy before Slotmesh answered
    retry_after: seconds after which the same request may succeed; None if the answer does not contain it
    trace: the traceparent of the answer. Include it when you report a problem
    """

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None, trace: str | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.retry_after, self.trace = status, code, retry_after, trace


class ConnectionFailed(Exception):
    """A request without a complete answer. `__cause__` is the reason."""


def outcome_unknown(error: BaseException) -> bool:
    """Reports whether it is unknown, after an error of `book`, if a booking was made.

    To find out, repeat the same order with the same idempotency key. After any other error, no booking was made.
    """
    if isinstance(error, SlotmeshError):
        return error.code == "outcome_unknown" or (error.code == "" and not 300 <= error.status < 500)
    return isinstance(error, ConnectionFailed)


def may_pass_later(error: BaseException) -> bool:
    """Reports whether the same request may succeed later.

    All requests are safe to repeat: reads change nothing, and bookings have an idempotency key.
    """
    if isinstance(error, SlotmeshError):
        return error.status in (429, 502, 503, 504) or error.code in ("rate_limited", "idempotency_in_progress")
    return isinstance(error, ConnectionFailed)


def read_refusal(status: int, headers: Message, text: bytes) -> SlotmeshError:
    """Returns the error for an answer without success. The answer of a proxy gives an error without a code."""
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {}
    code, message, seconds = body.get("messageCode"), body.get("error"), headers.get("Retry-After", "")
    return SlotmeshError(
        status,
        code if isinstance(code, str) else "",
        message if isinstance(message, str) else f"The answer was {status}.",
        int(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 10 else None,
        headers.get("traceparent"),
    )
