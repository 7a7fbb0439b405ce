import assert from "node:assert/strict";
import { test } from "node:test";
import { codes, ConnectionError, outcomeUnknown, Slotmesh, SlotmeshError } from "@slotmesh/sdk";

/** A client that gets the given answers in order, and records pauses instead of waiting. */
class Scripted extends Slotmesh {
  constructor(answers, options = {}) {
    const asked = [];
    super("https://book.example/", "harbor-studio", {
      key: "sm_1", fetch: async (url, sent) => {
        asked.push({ url, ...sent });
        const next = answers.shift();
        if (next instanceof Error) throw next;
        return next;
      }, ...options,
    });
    this.asked = asked;
    this.pauses = [];
  }
  async wait(milliseconds) {
    this.pauses.push(milliseconds);
  }
}

const refused = (status, messageCode, seconds) =>
  new Response(JSON.stringify({ error: "A sentence.", messageCode }), { status, headers: { traceparent: "00-1-2-03", ...(seconds && { "Retry-After": seconds }) } });
const made = () => new Response('{"success": true, "booking": {"id": "b1"}, "paymentRequired": false}', { status: 201, headers: { "Idempotent-Replayed": "true" } });
const order = { service_ids: ["s1"], date: "2027-03-01", time: "10:00", customer_name: "Ada", customer_email: "ada@example.com" };

test("a booking is sent again under its key until its outcome is known", async () => {
  const client = new Scripted([new TypeError("fetch failed"), refused(503, "outcome_unknown", "7"), refused(409, "idempotency_in_progress", "2"), made()]);
  const booked = await client.book(order);
  assert.equal(booked.booking.id, "b1");
  assert.equal(booked.replayed, true);
  assert.equal(client.asked.length, 4);
  assert.deepEqual(client.pauses.slice(1), [7000, 2000]);
  assert.ok(client.pauses[0] >= 125 && client.pauses[0] <= 250, client.pauses[0]);
  for (const sent of client.asked) {
    assert.equal(sent.headers["Idempotency-Key"], client.asked[0].headers["Idempotency-Key"]);
    assert.equal(sent.headers["Authorization"], "Bearer sm_1");
    assert.equal(sent.body, JSON.stringify(order));
    assert.equal(sent.redirect, "manual");
  }
  assert.match(client.asked[0].headers["Idempotency-Key"], /^[!-~]{16,255}$/);
});

test("what would fail again is not sent again", async () => {
  for (const [status, code] of [[409, "slot_unavailable"], [401, "invalid_api_key"], [400, "invalid_parameter"], [422, "idempotency_mismatch"], [500, "internal"]]) {
    const client = new Scripted([refused(status, code)]);
    const error = await client.book(order, { idempotencyKey: "mine" }).catch((e) => e);
    assert.ok(error instanceof SlotmeshError && codes.includes(error.code));
    assert.deepEqual([error.status, error.code, error.message, error.trace, outcomeUnknown(error)], [status, code, "A sentence.", "00-1-2-03", false]);
    assert.equal(client.asked.length, 1);
    assert.equal(client.asked[0].headers["Idempotency-Key"], "mine");
  }
});

test("nothing waits beyond the call's time, nor longer than it may", async () => {
  for (const [seconds, call] of [["20", { timeout: 10_000 }], ["3600", {}]]) {
    const client = new Scripted([refused(503, "service_unavailable", seconds)]);
    await assert.rejects(client.info(call), { code: "service_unavailable", retryAfter: Number(seconds) });
    assert.deepEqual(client.pauses, []);
  }
});

test("the last error is told after enough attempts, and a proxy's has no code", async () => {
  const bad = () => new Response("<html>Bad gateway</html>", { status: 502 });
  const client = new Scripted([bad(), bad(), bad(), bad(), made()]);
  const error = await client.book(order).catch((e) => e);
  assert.deepEqual([error.status, error.code, outcomeUnknown(error), client.asked.length], [502, "", true, 4]);
});

test("the outcome of a success without a confirmation is unknown", async () => {
  for (const [status, unknown] of [[200, true], [201, true], [302, false], [404, false]]) {
    const error = await new Scripted([new Response("<html>Welcome</html>", { status })]).book(order).catch((e) => e);
    assert.deepEqual([error.code, outcomeUnknown(error)], ["", unknown]);
  }
});

test("a call that is ended says so", async () => {
  const ending = new AbortController();
  const client = new Scripted([], { fetch: (_, sent) => new Promise((_, reject) => sent.signal.addEventListener("abort", () => reject(sent.signal.reason))) });
  const asked = client.info({ signal: ending.signal });
  ending.abort(new Error("closed"));
  await assert.rejects(asked, { message: "closed" });
  const slow = new Scripted([], { retries: 0, attemptTimeout: 1, fetch: (_, sent) => new Promise((_, reject) => sent.signal.addEventListener("abort", () => reject(sent.signal.reason))) });
  const error = await slow.info().catch((e) => e);
  assert.ok(error instanceof ConnectionError && outcomeUnknown(error) && error.cause.name === "TimeoutError", error);
});

test("reading sends no key, and lists with commas", async () => {
  const client = new Scripted([new Response("{}")]);
  await client.slots({ date: "2027-03-01", service_id: ["a", "b"], is_package: true, staff_id: undefined });
  assert.equal(client.asked[0].url, "https://book.example/api/public/harbor-studio/slots?date=2027-03-01&service_id=a%2Cb&is_package=true");
  assert.deepEqual(client.asked[0].headers, {});
});

test("a key does not belong into a browser, nor a name into another path", (t) => {
  globalThis.document = {};
  t.after(() => delete globalThis.document);
  assert.throws(() => new Slotmesh("https://book.example", "salon", { key: "sm_1" }), /browser/);
  assert.ok(new Slotmesh("https://book.example", "salon"));
  for (const [base, slug] of [["book.example", "salon"], ["https://book.example?x=1", "salon"], ["https://book.example", "../admin"]]) {
    assert.throws(() => new Slotmesh(base, slug), TypeError);
  }
});
