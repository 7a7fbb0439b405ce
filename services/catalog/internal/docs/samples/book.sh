set -eu
api="$BASE/api/public/$SLUG"

# What is offered, and when the first service is free on a day.
service=$(curl -fsS "$api/services" | jq -r '.services[0].id')
time=$(curl -fsS "$api/slots?date=$DAY&service_id=$service" | jq -r '.slots[0].time')

# Book it. The Idempotency-Key makes it safe to send this again.
curl -fsS "$api/book" \
  -H "Authorization: Bearer $SLOTMESH_KEY" \
  -H "Idempotency-Key: order-$(uuidgen 2>/dev/null || date +%s%N)" \
  -H "Content-Type: application/json" \
  -d "{\"service_ids\": [\"$service\"], \"date\": \"$DAY\", \"time\": \"$time\",
       \"customer_name\": \"Ada Example\", \"customer_email\": \"ada@example.com\"}"
