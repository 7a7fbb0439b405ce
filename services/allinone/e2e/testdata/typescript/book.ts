// Reads and books with only the types that openapi-typescript generates from the document.
import type { paths } from "./slotmesh";

type Ok<P extends keyof paths> = paths[P] extends { get: { responses: { 200: { content: { "application/json": infer B } } } } } ? B : never;
type Order = paths["/api/public/{slug}/book"]["post"]["requestBody"]["content"]["application/json"];
type Made = paths["/api/public/{slug}/book"]["post"]["responses"][201]["content"]["application/json"];
type Refused = paths["/api/public/{slug}/book"]["post"]["responses"][409]["content"]["application/json"];

const { BASE, SLUG, DAY, KEY } = process.env;
const api = `${BASE}/api/public/${SLUG}`;

async function read<P extends keyof paths>(path: P, query = ""): Promise<Ok<P>> {
  const answer = await fetch(BASE + path.replace("{slug}", SLUG!) + query);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

async function book(order: Order): Promise<Made | Refused> {
  const answer = await fetch(`${api}/book`, {
    method: "POST",
    headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify(order),
  });
  return answer.json();
}

async function main() {
  const info = await read("/api/public/{slug}/info");
  const { services } = await read("/api/public/{slug}/services");
  const { slots } = await read("/api/public/{slug}/slots", `?date=${DAY}&service_id=${services[0].id}`);
  const { days } = await read("/api/public/{slug}/available-dates", `?start=${DAY}&end=${DAY}&service_id=${services[0].id}`);
  if (slots.length === 0 || days[DAY!] !== slots.length) throw new Error(`${slots.length} slots`);
  // Optional fields are missing here: a type that requires one of them does not compile.
  const order: Order = {
    service_ids: [services[0].id], date: slots[0].date, time: slots[0].time, staff_id: slots[0].staffId,
    customer_name: "Ada Example", customer_email: "ada@example.com",
  };
  const made = await book(order);
  if (!("booking" in made)) throw new Error(made.error);
  const again = await book(order);
  if (!("messageCode" in again) || again.messageCode !== "slot_unavailable") throw new Error(JSON.stringify(again));
  console.log(info.name, made.booking.status);
}

void main();
