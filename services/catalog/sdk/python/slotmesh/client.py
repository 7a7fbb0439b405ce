"""The client of the public API."""

from __future__ import annotations

import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Sequence
from email.message import Message
from typing import IO, Any, cast

from . import types
from .errors import ConnectionFailed, SlotmeshError, may_pass_later, read_refusal

# The version of the OpenAPI document that this package implements. The package has the same major version.
API_VERSION = "1"


class _KeepAddress(urllib.request.HTTPRedirectHandler):
    """Follows no redirect of a POST request, which contains the key."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str,
    ) -> urllib.request.Request | None:
        return None if req.get_method() == "POST" else super().redirect_request(req, fp, code, msg, headers, newurl)


class Slotmesh:
    """A client for one business of an installation, such as harbor-studio at https://book.example.

    Dates are YYYY-MM-DD and times HH:MM, both in the business's time zone. A refused request raises a `SlotmeshError`. A
    request without an answer raises a `ConnectionFailed`. A client can be used by several threads.

    key: an API key with the scope write or all, for `book`
    retries: the maximum number of retries of a request that may succeed later
    longest_wait: the maximum pause before a retry, in seconds. A longer pause ends the call
    attempt_timeout: the time limit of each network operation of one attempt, in seconds
    timeout: after this time, in seconds, a call makes no further attempt
    """

    def __init__(
        self, base: str, slug: str, key: str | None = None, *, retries: int = 3, longest_wait: float = 30,
        attempt_timeout: float = 30, timeout: float = 120,
    ) -> None:
        at = urllib.parse.urlsplit(base)
        if at.scheme not in ("http", "https") or not at.netloc or at.query or at.fragment:
            raise ValueError(f"{base} is no address such as https://book.example")
        if re.fullmatch(r"[a-z0-9-]{1,63}", slug) is None:
            raise ValueError(f"{slug} is no name of a business: 1 to 63 of a-z, 0-9 and -")
        self._address = f"{base.rstrip('/')}/api/public/{slug}"
        self._key, self._retries, self._longest_wait = key, retries, longest_wait
        self._attempt_timeout, self._timeout = attempt_timeout, timeout
        self._opener = urllib.request.build_opener(_KeepAddress)

    def info(self) -> types.BusinessInfo:
        """Returns the business."""
        return cast(types.BusinessInfo, self._get("/info"))

    def services(self, *, locale: str | None = None, date: str | None = None) -> types.ServiceList:
        """Lists the services."""
        return cast(types.ServiceList, self._get("/services", locale=locale, date=date))

    def staff(self, *, service_id: str | None = None, locale: str | None = None) -> types.StaffList:
        """Lists the staff."""
        return cast(types.StaffList, self._get("/staff", service_id=service_id, locale=locale))

    def events(self, *, locale: str | None = None) -> types.EventList:
        """Lists the events with tickets."""
        return cast(types.EventList, self._get("/events", locale=locale))

    def rentals(self, *, locale: str | None = None, date: str | None = None) -> types.RentalList:
        """Lists the rentals."""
        return cast(types.RentalList, self._get("/rentals", locale=locale, date=date))

    def slots(
        self, date: str, service_id: Sequence[str], *, staff_id: str | None = None, location_id: str | None = None,
        is_package: bool | None = None, staffing_mode: str | None = None, variants: Sequence[str] | None = None,
    ) -> types.SlotList:
        """Lists the bookable starts of a date. If `computed` is false, they are unknown: never show it as fully booked."""
        return cast(types.SlotList, self._get(
            "/slots", date=date, service_id=service_id, staff_id=staff_id, location_id=location_id, is_package=is_package,
            staffing_mode=staffing_mode, variants=variants,
        ))

    def available_dates(
        self, start: str, end: str, service_id: Sequence[str], *, staff_id: str | None = None,
        location_id: str | None = None, is_package: bool | None = None, staffing_mode: str | None = None,
        variants: Sequence[str] | None = None,
    ) -> types.AvailableDates:
        """Returns the number of starts of each date."""
        return cast(types.AvailableDates, self._get(
            "/available-dates", start=start, end=end, service_id=service_id, staff_id=staff_id, location_id=location_id,
            is_package=is_package, staffing_mode=staffing_mode, variants=variants,
        ))

    def rental_availability(
        self, rental_id: str, start_date: str, end_date: str, *, quantity: int | None = None,
        start_time: str | None = None, end_time: str | None = None, lang: str | None = None,
    ) -> types.RentalAvailability:
        """Reports whether units of a rental are free."""
        return cast(types.RentalAvailability, self._get(
            "/rental-availability", rentalId=rental_id, startDate=start_date, endDate=end_date, quantity=quantity,
            startTime=start_time, endTime=end_time, lang=lang,
        ))

    def rental_dates(self, start: str, end: str, rental_id: Sequence[str]) -> types.RentalDates:
        """Returns the number of free units of rentals on each date."""
        return cast(types.RentalDates, self._get("/rental-available-dates", start=start, end=end, rental_id=rental_id))

    def book(
        self, order: types.BookingRequest, *, idempotency_key: str | None = None,
    ) -> tuple[types.BookingConfirmation, bool]:
        """Books an appointment. The second result reports whether an earlier request with the same key made the booking.

        The idempotency key makes it safe to send the same order again, also after a restart of the program: store a new
        random value with each order of a customer. Without it, each call has a new key, which all its attempts share. If
        `outcome_unknown` is true for the raised error, repeat the same order with the same key: Slotmesh books only once,
        and returns the result.
        """
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._address + "/book", json.dumps(order).encode(), headers, method="POST")
        body, answer = self._ask(request)
        return cast(types.BookingConfirmation, body), answer.get("Idempotent-Replayed") == "true"

    def _get(self, path: str, **query: object) -> Any:
        given = {name: _write(value) for name, value in query.items() if value is not None}
        text = urllib.parse.urlencode(given)
        return self._ask(urllib.request.Request(self._address + path + ("?" + text if text else "")))[0]

    def _ask(self, request: urllib.request.Request) -> tuple[Any, Message]:
        """Sends a request, and retries it until a retry cannot succeed or the limits are reached."""
        ends = time.monotonic() + self._timeout
        attempt = 0
        while True:
            try:
                return self._send(request)
            except (SlotmeshError, ConnectionFailed) as error:
                pause = _pause_after(attempt, error)
                if (
                    attempt >= self._retries or not may_pass_later(error) or pause > self._longest_wait
                    or time.monotonic() + pause >= ends
                ):
                    raise
            attempt += 1
            self._wait(pause)

    def _send(self, request: urllib.request.Request) -> tuple[Any, Message]:
        try:
            with self._opener.open(request, timeout=self._attempt_timeout) as answer:
                text, headers, status = answer.read(), answer.headers, answer.status
        except urllib.error.HTTPError as refused:
            with refused:
                try:
                    text = refused.read()
                except (OSError, http.client.HTTPException) as cause:
                    raise ConnectionFailed("No whole answer came.") from cause
                raise read_refusal(refused.code, refused.headers, text) from None
        except (OSError, http.client.HTTPException) as cause:
            raise ConnectionFailed("No whole answer came.") from cause
        try:
            return json.loads(text), headers
        except ValueError:
            raise SlotmeshError(status, "", "The answer is not what the document describes.") from None

    def _wait(self, seconds: float) -> None:
        time.sleep(seconds)


def _write(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(part) for part in value)
    return str(value)


def _pause_after(attempt: int, error: Exception) -> float:
    """Returns the pause before the next attempt, in seconds: the Retry-After of the answer, or twice the previous pause.

    Half of the pause is random, so that clients that failed at the same time do not retry at the same time.
    """
    if isinstance(error, SlotmeshError) and error.retry_after:
        return error.retry_after
    pause = min(0.25 * 2.0**attempt, 8.0)
    return pause / 2 + random.random() * pause / 2
