import assert from "node:assert/strict";
import { test } from "node:test";
import { readWebhook, WebhookError } from "@slotmesh/sdk/webhooks";

// The example in the specification of Standard Webhooks.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const body = '{"test": 2432232314}';
const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const at = 1614265330;
const headers = (signature) => ({ "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": String(at), "webhook-signature": signature });

test("what is signed with the secret is believed", async () => {
  for (const given of [signature, `v1,AAAA ${signature}`, `v2,AAAA  v1,! ${signature}`]) {
    assert.deepEqual(await readWebhook(secret, headers(given), body, (at + 240) * 1000), { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", test: 2432232314 });
  }
  assert.ok(await readWebhook(secret, new Headers(headers(signature)), new TextEncoder().encode(body), at * 1000));
});

test("nothing else is", async () => {
  for (const [because, with_, given, text, now] of [
    ["another body", secret, signature, body + " ", at], ["another secret", "whsec_AAAA", signature, body, at],
    ["another version", secret, "v2" + signature.slice(2), body, at], ["no signature", secret, "", body, at],
    ["an old one", secret, signature, body, at + 360], ["one of tomorrow", secret, signature, body, at - 360],
  ]) {
    await assert.rejects(readWebhook(with_, headers(given), text, now * 1000), WebhookError, because);
  }
  await assert.rejects(readWebhook("whsec_", headers(signature), body, at * 1000), TypeError);
  await assert.rejects(readWebhook(secret, {}, body, at * 1000), WebhookError);
});
