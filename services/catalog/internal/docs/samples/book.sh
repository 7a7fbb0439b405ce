set -eu
api="$BASE/api/public/$SLUG"

# What is offered, and when the first service is free on a day.
service=$(curl -fsS "$api/services" | jq -r '.services[0].id')
time=$(curl -fsS "$api/slots?date=$DAY&service_id=$service" | jq -r '
  if .computed then .slots[0].time // error("no free time on this day") else error("not known just now: ask again") end')

# Book it. Keep the Idempotency-Key with the order. If no answer arrives, send the same request with the same key again.
curl -fsS "$api/book" \
  -H "Authorization: Bearer $SLOTMESH_KEY" \
  -H "Idempotency-Key: order-$(uuidgen 2>/dev/null || date +%s%N)" \
  -H "Content-Type: application/json" \
  -d "{\"service_ids\": [\"$service\"], \"date\": \"$DAY\", \"time\": \"$time\",
       \"customer_name\": \"Ada Example\", \"customer_email\": \"ada@example.com\"}"
