// Uses the packed TypeScript SDK as an integration does: it reads everything, books once, is refused, and reads the
// webhook of a booking.
import { apiVersion, codes, outcomeUnknown, Slotmesh, SlotmeshError, type BookingRequest } from "@slotmesh/sdk";
import { readWebhook, WebhookError, type WebhookBooking } from "@slotmesh/sdk/webhooks";
import type { components } from "./admin.js";

// The type of a webhook's booking must agree with the admin API's document.
export const promised: (documented: components["schemas"]["Booking"]) => WebhookBooking = (booking) => booking;

const { BASE, SLUG, DAY, KEY, HOOK } = process.env as Record<string, string>;

function expect(so: boolean, what: unknown): asserts so {
  if (!so) throw new Error(JSON.stringify(what));
}

async function book() {
  const client = new Slotmesh(BASE, SLUG, { key: KEY });
  const [info, offered, staff, events, rentals] = await Promise.all([
    client.info(), client.services({ locale: "pt" }), client.staff(), client.events(), client.rentals({ date: DAY }),
  ]);
  const [cut, boat] = [offered.services[0], rentals.rentals[0]];
  expect(info.name === "Harbor Studio" && cut.name === "Corte" && cut.quoted_price !== null && staff.staff.length > 0 && events.currency === "EUR", { info, cut });
  const what = { service_id: [cut.id] };
  const { slots, computed } = await client.slots({ date: DAY, ...what });
  const dates = await client.availableDates({ start: DAY, end: DAY, ...what });
  const units = await client.rentalDates({ start: DAY, end: DAY, rental_id: [boat.id] });
  const rental = await client.rentalAvailability({ rentalId: boat.id, startDate: DAY, endDate: DAY, quantity: 1 });
  expect(computed && slots.length > 0 && dates.days[DAY] === slots.length && rental.available === (units.days[DAY]?.[boat.id] ?? 0) > 0, { slots, dates, units, rental });

  const order: BookingRequest = {
    service_ids: [cut.id], date: slots[0].date, time: slots[0].time, staff_id: slots[0].staffId, customer_name: "Ada Example", customer_email: "ada@example.com",
  };
  const made = await client.book(order, { idempotencyKey: "typescript-1" });
  const again = await client.book(order, { idempotencyKey: "typescript-1" });
  expect(!made.replayed && again.replayed && again.booking.id === made.booking.id && made.booking.staff_id === slots[0].staffId, { made, again });
  const taken = await client.book(order).catch((error: unknown) => error);
  expect(taken instanceof SlotmeshError && taken.code === "slot_unavailable" && taken.status === 409 && taken.trace !== undefined && !outcomeUnknown(taken), taken);
  console.log(JSON.stringify({ booking: made.booking.id, codes, apiVersion }));
}

async function hook() {
  const { headers, body, secret, now } = JSON.parse(HOOK) as { headers: Record<string, string>; body: string; secret: string; now: number };
  const event = await readWebhook<WebhookBooking>(secret, headers, atob(body), now * 1000);
  const changed = await readWebhook(secret, headers, atob(body) + " ", now * 1000).catch((error: unknown) => error);
  expect(changed instanceof WebhookError, changed);
  console.log(JSON.stringify({ booking: event.data.id, type: event.type, id: event.id, status: event.data.status, sequence: event.data.sequence, email: event.data.customer_email }));
}

await (HOOK ? hook() : book());
