import type { Booking, CustomerAddress } from "./types.js";

/**
 * An event that Slotmesh sends to a business's endpoint. Events may arrive twice and in any order: store each `id`, and
 * use the event with the highest `sequence` of a subject.
 */
export interface WebhookEvent<Data = Record<string, unknown>> {
  /** The id of the event, which is the same in all attempts. */
  id: string;
  /** The type, such as booking.created. New types may be added. */
  type: string;
  /** The time of the event, in RFC 3339. */
  timestamp: string;
  /** The subject after the change, as in the admin API. For a booking, `WebhookBooking` has most of its fields. */
  data: Data & { sequence: number };
}

/** The data of a booking's events. */
export interface WebhookBooking extends Omit<Booking, "class_schedule_id"> {
  class_schedule_id: string | null;
  starts_at: string;
  ends_at: string;
  customer_name: string;
  customer_email: string;
  customer_phone: string | null;
  /** The address of the customer; only if the booking takes place there. */
  customer_address?: CustomerAddress;
  form_data: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

/** WebhookError is a webhook without a valid signature. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

const seconds = 300; // maximum age of a webhook

/**
 * Reads the request of a webhook: its headers and its raw body. It throws a `WebhookError` unless the request was
 * signed with the endpoint's secret (whsec_…) within five minutes of `now` (milliseconds), as Standard Webhooks
 * specifies. While a secret is being replaced, a request has two signatures; one valid signature is enough.
 */
export async function readWebhook<Data = Record<string, unknown>>(
  secret: string, headers: Headers | Record<string, string | string[] | undefined>, body: string | Uint8Array, now: number = Date.now(),
): Promise<WebhookEvent<Data>> {
  const header = (name: string) => String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? "");
  const id = header("webhook-id"), at = header("webhook-timestamp");
  if (!/^[0-9]+$/.test(at) || !(Math.abs(now / 1000 - Number(at)) <= seconds)) throw new WebhookError("The webhook was signed more than five minutes ago, or ahead.");
  const crypto = await webCrypto();
  const bytes = keyOf(secret);
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const text = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const prefix = new TextEncoder().encode(`${id}.${at}.`);
  const signed = new Uint8Array(prefix.length + text.length);
  signed.set(prefix);
  signed.set(text, prefix.length);
  for (const part of header("webhook-signature").split(" ")) {
    const signature = part.startsWith("v1,") ? decoded(part.slice(3)) : undefined;
    if (signature !== undefined && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
      return { ...JSON.parse(new TextDecoder().decode(text)), id };
    }
  }
  throw new WebhookError("The webhook is not signed with this secret.");
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = decoded(secret.replace(/^whsec_/, ""));
  if (key === undefined || key.length === 0) throw new TypeError("The secret is not one of a webhook, whsec_…");
  return key;
}

/** Returns the bytes of a base64 text; undefined if the text is not base64. */
function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Returns the platform's Web Crypto, which Node 18 provides only as a module. */
async function webCrypto(): Promise<Crypto> {
  const module = "node:crypto"; // as a variable, so that bundlers do not resolve it
  return globalThis.crypto ?? (await import(module)).webcrypto;
}
