import { randomUUID } from "node:crypto";

const { BASE, SLUG, DAY, SLOTMESH_KEY } = process.env;
const api = `${BASE}/api/public/${SLUG}`;

async function call(path: string, init?: RequestInit) {
  const answer = await fetch(api + path, init);
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${body.messageCode}: ${body.error}`);
  return body;
}

// What is offered, and when the first service is free on a day.
const { services } = await call("/services");
const { slots, computed } = await call(`/slots?date=${DAY}&service_id=${services[0].id}`);
if (!computed) throw new Error("not known just now: ask again");
if (!slots.length) throw new Error("no free time on this day");

// Book it. Keep the Idempotency-Key with the order. If no answer arrives, send the same request with the same key again.
const made = await call("/book", {
  method: "POST",
  headers: {
    "Authorization": `Bearer ${SLOTMESH_KEY}`,
    "Idempotency-Key": randomUUID(),
    "Content-Type": "application/json",
  },
  body: JSON.stringify({
    service_ids: [services[0].id],
    date: slots[0].date,
    time: slots[0].time,
    staff_id: slots[0].staffId,
    customer_name: "Ada Example",
    customer_email: "ada@example.com",
  }),
});
console.log(JSON.stringify(made));
