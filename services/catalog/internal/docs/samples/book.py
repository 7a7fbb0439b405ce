import json
import os
import urllib.error
import urllib.request
import uuid

api = f"{os.environ['BASE']}/api/public/{os.environ['SLUG']}"


def call(path, body=None, headers={}):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(api + path, data, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        said = json.load(refusal)
        raise SystemExit(f"{said['messageCode']}: {said['error']}")


# What is offered, and when the first service is free on a day.
service = call("/services")["services"][0]
calendar = call(f"/slots?date={os.environ['DAY']}&service_id={service['id']}")
if not calendar["computed"]:
    raise SystemExit("not known just now: ask again")
if not calendar["slots"]:
    raise SystemExit("no free time on this day")
slot = calendar["slots"][0]

# Book it. Keep the Idempotency-Key with the order. If no answer arrives, send the same request with the same key again.
made = call("/book", {
    "service_ids": [service["id"]],
    "date": slot["date"],
    "time": slot["time"],
    "staff_id": slot["staffId"],
    "customer_name": "Ada Example",
    "customer_email": "ada@example.com",
}, {"Authorization": f"Bearer {os.environ['SLOTMESH_KEY']}", "Idempotency-Key": str(uuid.uuid4())})
print(json.dumps(made))
