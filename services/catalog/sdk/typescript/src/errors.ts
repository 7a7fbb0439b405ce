/** The codes that there are; the developers' page of a Slotmesh, /api/public/docs, says what to do about each. */
export const codes = [
  "invalid_parameter", "business_not_found", "service_not_found", "rental_not_found", "not_found", "method_not_allowed",
  "payload_too_large", "unsupported_media_type", "headers_too_large", "missing_api_key", "invalid_api_key", "rate_limited",
  "scope_forbidden", "subscription_inactive", "account_closing", "not_open_yet", "not_accepting_bookings", "slot_unavailable",
  "no_staff_available",
  "date_in_past", "beyond_advance_limit", "too_soon", "closed", "not_a_start", "staff_not_found", "payment_not_offered",
  "availability_unverified", "payment_unavailable", "idempotency_mismatch", "idempotency_in_progress", "service_unavailable",
  "outcome_unknown", "internal",
] as const;

/** What a refusal is, for programs. Expect new ones; it is empty where something between here and Slotmesh answered. */
export type Code = (typeof codes)[number] | (string & {});

/** A refusal. */
export class SlotmeshError extends Error {
  override readonly name = "SlotmeshError";
  /** The status of HTTP. */
  readonly status: number;
  readonly code: Code;
  /** Seconds after which the same request would pass; undefined where that was not said. */
  readonly retryAfter: number | undefined;
  /** The traceparent of the answer: tell it to whoever helps you. */
  readonly trace: string | undefined;

  constructor(status: number, code: Code, message: string, retryAfter?: number, trace?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.trace = trace;
  }
}

/** No whole answer came; `cause` says why. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/**
 * Whether an error of `book` leaves open whether there is a booking: Slotmesh said so, or its answer never came. The same order with the same
 * idempotency key tells. After any other error nothing was booked.
 */
export function outcomeUnknown(error: unknown): boolean {
  if (error instanceof SlotmeshError) return error.code === "outcome_unknown" || (error.code === "" && error.status >= 500);
  return error instanceof ConnectionError;
}

/** Whether the very same request may pass later. All may be sent twice: reads change nothing, and bookings carry an idempotency key. */
export function passesLater(error: unknown): boolean {
  if (error instanceof SlotmeshError) {
    return [429, 502, 503, 504].includes(error.status) || error.code === "rate_limited" || error.code === "idempotency_in_progress";
  }
  return error instanceof ConnectionError;
}

/** The refusal that an answer without success is. One that a proxy wrote has no code. */
export function refusal(status: number, header: Headers, text: string): SlotmeshError {
  let said: { error?: unknown; messageCode?: unknown } = {};
  try {
    said = Object(JSON.parse(text));
  } catch {
    // no JSON: a proxy's page
  }
  const seconds = header.get("Retry-After");
  return new SlotmeshError(
    status,
    typeof said.messageCode === "string" ? said.messageCode : "",
    typeof said.error === "string" ? said.error : `The answer was ${status}.`,
    seconds !== null && /^[0-9]{1,9}$/.test(seconds) ? Number(seconds) : undefined,
    header.get("traceparent") ?? undefined,
  );
}
