"""Uses the installed Python SDK as an integration does: it reads everything, books once, is refused, and reads a webhook."""
import base64
import json
import os

from slotmesh import API_VERSION, CODES, Slotmesh, SlotmeshError, WebhookError, outcome_unknown, read_webhook


def book() -> None:
    day = os.environ["DAY"]
    client = Slotmesh(os.environ["BASE"], os.environ["SLUG"], os.environ["KEY"])
    info, cut, boat = client.info(), client.services(locale="pt")["services"][0], client.rentals(date=day)["rentals"][0]
    assert info["name"] == "Harbor Studio" and cut["name"] == "Corte" and cut["quoted_price"] is not None, (info, cut)
    assert client.staff()["staff"] and client.events()["currency"] == "EUR"
    free = client.slots(day, [cut["id"]])
    dates = client.available_dates(day, day, [cut["id"]])["days"]
    units = client.rental_dates(day, day, [boat["id"]])["days"]
    rental = client.rental_availability(boat["id"], day, day, quantity=1)
    assert free["computed"] and dates[day] == len(free["slots"]) > 0, (free, dates)
    assert rental["available"] == (units.get(day, {}).get(boat["id"], 0) > 0), (rental, units)

    slot = free["slots"][0]
    order = {"service_ids": [cut["id"]], "date": slot["date"], "time": slot["time"], "staff_id": slot["staffId"],
             "customer_name": "Ada Example", "customer_email": "ada@example.com"}
    made, first = client.book(order, idempotency_key="python-sdk-1")
    again, second = client.book(order, idempotency_key="python-sdk-1")
    assert (first, second) == (False, True) and again["booking"]["id"] == made["booking"]["id"], (made, again)
    try:
        client.book(order)
        raise AssertionError("the same time was booked twice")
    except SlotmeshError as taken:
        assert (taken.status, taken.code) == (409, "slot_unavailable") and taken.trace and not outcome_unknown(taken), taken
    print(json.dumps({"booking": made["booking"]["id"], "codes": CODES, "apiVersion": API_VERSION}))


def hook() -> None:
    given = json.loads(os.environ["HOOK"])
    body = base64.b64decode(given["body"])
    event = read_webhook(given["secret"], given["headers"], body, now=given["now"])
    try:
        read_webhook(given["secret"], given["headers"], body + b" ", now=given["now"])
        raise AssertionError("a changed body was accepted")
    except WebhookError:
        pass
    data = event.data
    print(json.dumps({"booking": data["id"], "type": event.type, "id": event.id, "status": data["status"],
                      "sequence": data["sequence"], "email": data["customer_email"]}))


hook() if "HOOK" in os.environ else book()
