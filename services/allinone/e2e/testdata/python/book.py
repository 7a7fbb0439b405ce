"""Reads and books with what openapi-python-client makes of the document, and nothing else."""
import os
import sys
from datetime import date

sys.path.insert(0, os.getcwd())

from slotmesh_client import AuthenticatedClient  # noqa: E402
from slotmesh_client.api.booking import book  # noqa: E402
from slotmesh_client.api.business import get_info, list_events, list_rentals, list_services, list_staff  # noqa: E402
from slotmesh_client.api.calendar import list_available_dates, list_slots  # noqa: E402
from slotmesh_client.models import BookingConfirmation, BookingRequest, Error  # noqa: E402

slug = os.environ["SLUG"]
day = date.fromisoformat(os.environ["DAY"])
client = AuthenticatedClient(base_url=os.environ["BASE"], token=os.environ["KEY"])

info = get_info.sync(slug, client=client)
service = list_services.sync(slug, client=client).services[0]
assert list_staff.sync(slug, client=client).staff and list_events.sync(slug, client=client) and list_rentals.sync(slug, client=client)
days = list_available_dates.sync(slug, client=client, start=day, end=day, service_id=str(service.id)).days
slots = list_slots.sync(slug, client=client, date=day, service_id=str(service.id)).slots
assert days[day.isoformat()] == len(slots) > 0, (days, len(slots))

first = slots[0]
order = BookingRequest(
    service_ids=[service.id], date=first.date, time=first.time, staff_id=first.staff_id,
    customer_name="Ada Example", customer_email="ada@example.com",
)
made = book.sync(slug, client=client, body=order, idempotency_key="python-1")
assert isinstance(made, BookingConfirmation), made
assert made.booking.start_time == first.time + ":00", made
again = book.sync(slug, client=client, body=order, idempotency_key="python-2")
assert isinstance(again, Error) and again.message_code == "slot_unavailable", again
print(info.name, made.booking.status.value)
