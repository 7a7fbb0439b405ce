/** The known codes. The documentation of an installation, /docs/api/errors/, has a page for each code. */
export const codes = [
  "invalid_parameter", "business_not_found", "service_not_found", "location_not_found", "rental_not_found",
  "not_found", "method_not_allowed",
  "payload_too_large", "unsupported_media_type", "headers_too_large", "missing_api_key", "invalid_api_key", "rate_limited",
  "scope_forbidden", "subscription_inactive", "account_closing", "not_open_yet", "not_accepting_bookings", "slot_unavailable",
  "no_staff_available",
  "date_in_past", "beyond_advance_limit", "too_soon", "closed", "not_a_start", "staff_not_found", "payment_not_offered",
  "outside_area",
  "availability_unverified", "payment_unavailable", "idempotency_mismatch", "idempotency_in_progress", "service_unavailable",
  "outcome_unknown", "internal",
] as const;

/** The code of a refusal. New codes may be added. The code is empty if a proxy before Slotmesh answered. */
export type Code = (typeof codes)[number] | (string & {});

/** SlotmeshError is a refused request. */
export class SlotmeshError extends Error {
  override readonly name = "SlotmeshError";
  /** The HTTP status. */
  readonly status: number;
  readonly code: Code;
  /** Seconds after which the same request may succeed; undefined if the answer does not contain it. */
  readonly retryAfter: number | undefined;
  /** The traceparent of the answer. Include it when you report a problem. */
  readonly trace: string | undefined;

  constructor(status: number, code: Code, message: string, retryAfter?: number, trace?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.trace = trace;
  }
}

/** ConnectionError is a request without a complete answer. `cause` is the reason. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/**
 * Reports whether it is unknown, after an error of `book`, if a booking was made: Slotmesh reported this, or its answer
 * did not arrive. To find out, repeat the same order with the same idempotency key. After any other error, no booking
 * was made.
 */
export function outcomeUnknown(error: unknown): boolean {
  if (error instanceof SlotmeshError) {
    return error.code === "outcome_unknown" || (error.code === "" && (error.status < 300 || error.status >= 500));
  }
  return error instanceof ConnectionError;
}

/**
 * Reports whether the same request may succeed later. All requests are safe to repeat: reads change nothing, and
 * bookings have an idempotency key.
 */
export function passesLater(error: unknown): boolean {
  if (error instanceof SlotmeshError) {
    return [429, 502, 503, 504].includes(error.status) || error.code === "rate_limited" || error.code === "idempotency_in_progress";
  }
  return error instanceof ConnectionError;
}

/** Returns the error for an answer without success. The answer of a proxy gives an error without a code. */
export function refusal(status: number, header: Headers, text: string): SlotmeshError {
  let said: { error?: unknown; messageCode?: unknown } = {};
  try {
    said = Object(JSON.parse(text));
  } catch {
    // The answer is not JSON, so a proxy sent it.
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
