"""Checks and reads webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_AGE = 300  # seconds


@dataclass(frozen=True)
class WebhookEvent:
    """An event that Slotmesh sends to a business's endpoint.

    Events may arrive twice and in any order: store each `id`, and use the event with the highest `data["sequence"]` of a
    subject. `data` is the subject after the change. New types may be added.
    """

    id: str
    type: str
    timestamp: str
    data: dict[str, Any]


class WebhookError(Exception):
    """A webhook without a valid signature."""


def read_webhook(secret: str, headers: Mapping[str, str], body: bytes, now: float | None = None) -> WebhookEvent:
    """Reads the request of a webhook: its headers and its raw body.

    It raises a `WebhookError` unless the request was signed with the endpoint's secret (whsec_…) within five minutes of
    `now`, in seconds. While a secret is being replaced, a request has two signatures; one valid signature is enough.
    """
    given = {name.lower(): value for name, value in headers.items()}
    identifier, at = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not (at.isascii() and at.isdigit() and len(at) < 12) or abs((time.time() if now is None else now) - int(at)) > MAX_AGE:
        raise WebhookError("The webhook was signed more than five minutes ago, or ahead.")
    signed = hmac.new(_read_key(secret), f"{identifier}.{at}.".encode() + body, hashlib.sha256).digest()
    for part in given.get("webhook-signature", "").split(" "):
        version, _, signature = part.partition(",")
        if version == "v1" and hmac.compare_digest(signature.encode(), base64.b64encode(signed)):
            event = json.loads(body)
            return WebhookEvent(identifier, event["type"], event["timestamp"], event["data"])
    raise WebhookError("The webhook is not signed with this secret.")


def _read_key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("The secret is not one of a webhook, whsec_…")
    return key
