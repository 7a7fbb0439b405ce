"""Reads what a business offers on Slotmesh, asks when it is free, books, and checks webhooks."""

from .client import API_VERSION, Slotmesh
from .errors import CODES, ConnectionFailed, SlotmeshError, outcome_unknown
from .webhooks import WebhookError, WebhookEvent, read_webhook

__all__ = [
    "API_VERSION", "CODES", "ConnectionFailed", "Slotmesh", "SlotmeshError", "WebhookError", "WebhookEvent", "outcome_unknown",
    "read_webhook",
]
