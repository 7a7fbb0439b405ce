// Finds a time and books it with the protocol's own SDK for TypeScript.
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const { BASE, KEY, CUT, DAY, IDEMPOTENCY_KEY } = process.env;

async function main() {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${BASE}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${KEY}` } } }));
  const call = (name, args) => client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
  const { tools } = await client.listTools();
  const found = await call("find_slots", { service_ids: [CUT], date: DAY });
  if (found.isError) throw new Error(JSON.stringify(found));
  const slot = found.structuredContent.slots[0];
  const order = {
    service_ids: [CUT], date: slot.date, time: slot.time, staff_id: slot.staff_id,
    customer_name: "Ada Example", customer_email: "ada@example.com", idempotency_key: IDEMPOTENCY_KEY,
  };
  const made = await call("book_appointment", order);
  const again = await call("book_appointment", order);
  if (made.isError || !again.structuredContent.replayed || again.structuredContent.booking.id !== made.structuredContent.booking.id) throw new Error(JSON.stringify({ made, again }));
  const taken = await call("book_appointment", { ...order, idempotency_key: `${IDEMPOTENCY_KEY}-other` });
  await client.close();
  const { structuredContent: refusal, isError } = taken;
  console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), slot: slot.time, booking: made.structuredContent.booking, refused: refusal.messageCode, isError: isError === true }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
