import type { Booking } from "./types.js";

/** What a business's endpoint is told. It may come twice and in any order: keep the `id`, and take the higher `sequence` of a subject. */
export interface WebhookEvent<Data = Record<string, unknown>> {
  /** The same over attempts. */
  id: string;
  /** Such as booking.created; expect new ones. */
  type: string;
  /** When it happened, by RFC 3339. */
  timestamp: string;
  /** The subject after the change, as the admin API shows it; of a booking, `WebhookBooking` is the most of it. */
  data: Data & { sequence: number };
}

/** What the data of a booking's events says. */
export interface WebhookBooking extends Omit<Booking, "class_schedule_id"> {
  class_schedule_id: string | null;
  starts_at: string;
  ends_at: string;
  customer_name: string;
  customer_email: string;
  customer_phone: string | null;
  form_data: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

/** A webhook that is not to be believed. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

const seconds = 300; // how old a webhook may be

/**
 * Reads a request that a webhook is told by: its headers and its raw body. Throws a `WebhookError` unless it was signed with the endpoint's secret
 * (whsec_…) within five minutes of `now` (milliseconds), as Standard Webhooks says. While a secret is being replaced there are two signatures; one that
 * fits is enough.
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

/** The bytes of a text in base64; undefined for one that is none. */
function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The platform's cryptography, which Node 18 has as a module only. */
async function webCrypto(): Promise<Crypto> {
  const module = "node:crypto"; // no bundler looks for it
  return globalThis.crypto ?? (await import(module)).webcrypto;
}
