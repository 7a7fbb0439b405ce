import { ConnectionError, passesLater, refusal, SlotmeshError } from "./errors.js";
import type {
  AvailableDates, AvailableDatesQuery, BookingConfirmation, BookingRequest, BusinessInfo, EventList, EventsQuery, RentalAvailability,
  RentalAvailabilityQuery, RentalDates, RentalDatesQuery, RentalList, RentalsQuery, ServiceList, ServicesQuery, SlotList, SlotsQuery, StaffList, StaffQuery,
} from "./types.js";

/** The version of the OpenAPI document that this package implements. The package has the same major version. */
export const apiVersion = "1";

export interface Options {
  /** An API key with the scope write or all. Keys are for servers: in a browser, the constructor throws. */
  key?: string;
  /** The maximum number of retries of a request that may succeed later. Default: 3. */
  retries?: number;
  /** The maximum pause before a retry, in milliseconds. A longer pause ends the call. Default: 30,000. */
  longestWait?: number;
  /** The timeout of one attempt, in milliseconds. Default: 30,000. */
  attemptTimeout?: number;
  /** The function that sends requests. Default: the platform's fetch. */
  fetch?: typeof fetch;
}

export interface Call {
  /** Aborts the call. */
  signal?: AbortSignal;
  /** The timeout of the whole call, including pauses, in milliseconds. Default: 120,000. */
  timeout?: number;
}

export interface BookCall extends Call {
  /**
   * Makes it safe to send the same order again, also after a restart of this program. Store a new random value with
   * each order of a customer. Default: a new key for each call, which all attempts of the call share.
   */
  idempotencyKey?: string;
}

interface Sent {
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
}

/**
 * Slotmesh is a client for one business. Dates are YYYY-MM-DD and times HH:MM, both in the business's time zone. A
 * refused request throws a `SlotmeshError`. A request without an answer throws a `ConnectionError`.
 */
export class Slotmesh {
  readonly #address: string;
  readonly #options: Required<Omit<Options, "key">> & Pick<Options, "key">;

  /** Creates a client for a business of an installation, such as harbor-studio at https://book.example. */
  constructor(base: string, slug: string, options: Options = {}) {
    const at = new URL(base);
    if (!/^https?:$/.test(at.protocol) || at.search !== "" || at.hash !== "") throw new TypeError(`${base} is no address such as https://book.example`);
    if (!/^[a-z0-9-]{1,63}$/.test(slug)) throw new TypeError(`${slug} is no name of a business: 1 to 63 of a-z, 0-9 and -`);
    if (options.key !== undefined && typeof document !== "undefined") throw new TypeError("An API key does not belong into a browser: whoever has it books in the business's name.");
    this.#address = `${at.href.replace(/\/+$/, "")}/api/public/${slug}`;
    this.#options = { retries: 3, longestWait: 30_000, attemptTimeout: 30_000, fetch: (...sent) => fetch(...sent), ...options };
  }

  /** Returns the business. */
  info(call?: Call): Promise<BusinessInfo> {
    return this.#get("/info", {}, call);
  }

  /** Lists the services. */
  services(query: ServicesQuery = {}, call?: Call): Promise<ServiceList> {
    return this.#get("/services", query, call);
  }

  /** Lists the staff. */
  staff(query: StaffQuery = {}, call?: Call): Promise<StaffList> {
    return this.#get("/staff", query, call);
  }

  /** Lists the events with tickets. */
  events(query: EventsQuery = {}, call?: Call): Promise<EventList> {
    return this.#get("/events", query, call);
  }

  /** Lists the rentals. */
  rentals(query: RentalsQuery = {}, call?: Call): Promise<RentalList> {
    return this.#get("/rentals", query, call);
  }

  /** Lists the bookable starts of a date. If `computed` is false, they are unknown: never show it as fully booked. */
  slots(query: SlotsQuery, call?: Call): Promise<SlotList> {
    return this.#get("/slots", query, call);
  }

  /** Returns the number of starts of each date. */
  availableDates(query: AvailableDatesQuery, call?: Call): Promise<AvailableDates> {
    return this.#get("/available-dates", query, call);
  }

  /** Reports whether units of a rental are free. */
  rentalAvailability(query: RentalAvailabilityQuery, call?: Call): Promise<RentalAvailability> {
    return this.#get("/rental-availability", query, call);
  }

  /** Returns the number of free units of rentals on each date. */
  rentalDates(query: RentalDatesQuery, call?: Call): Promise<RentalDates> {
    return this.#get("/rental-available-dates", query, call);
  }

  /**
   * Books an appointment. If it throws an error for which `outcomeUnknown` returns true, repeat the same order with the
   * same `idempotencyKey`: Slotmesh books only once, and returns the result.
   */
  async book(order: BookingRequest, call: BookCall = {}): Promise<BookingConfirmation> {
    const headers: Record<string, string> = { "Content-Type": "application/json", "Idempotency-Key": call.idempotencyKey ?? newKey() };
    if (this.#options.key !== undefined) headers["Authorization"] = `Bearer ${this.#options.key}`;
    const { header, body } = await this.#ask("/book", { method: "POST", headers, body: JSON.stringify(order) }, call);
    return { ...(body as BookingConfirmation), replayed: header.get("Idempotent-Replayed") === "true" };
  }

  async #get<T>(path: string, query: object, call?: Call): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    // String joins the values of an array with commas.
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return (await this.#ask(text === "" ? path : `${path}?${text}`, { method: "GET", headers: {} }, call)).body as T;
  }

  /** Sends a request, and retries it until a retry cannot succeed or the limits are reached. */
  async #ask(path: string, sent: Sent, call: Call = {}): Promise<{ header: Headers; body: unknown }> {
    const ends = Date.now() + (call.timeout ?? 120_000);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(path, sent, Math.min(this.#options.attemptTimeout, Math.max(ends - Date.now(), 1)), call.signal);
      } catch (error) {
        call.signal?.throwIfAborted();
        const pause = pauseAfter(attempt, error);
        if (attempt >= this.#options.retries || !passesLater(error) || pause > this.#options.longestWait || Date.now() + pause >= ends) throw error;
        await this.wait(pause, call.signal);
      }
    }
  }

  async #once(path: string, sent: Sent, timeout: number, signal?: AbortSignal): Promise<{ header: Headers; body: unknown }> {
    const ending = new AbortController();
    const end = () => ending.abort(signal?.reason);
    const timer = setTimeout(() => ending.abort(new DOMException("No answer came in time.", "TimeoutError")), timeout);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
    let answer: Response, text: string;
    try {
      // A POST request contains the key, so it does not follow redirects to other addresses.
      answer = await this.#options.fetch(this.#address + path, { ...sent, redirect: sent.method === "POST" ? "manual" : "follow", signal: ending.signal });
      text = await answer.text();
    } catch (cause) {
      throw new ConnectionError("No whole answer came.", { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
    if (!answer.ok) throw refusal(answer.status, answer.headers, text);
    try {
      return { header: answer.headers, body: JSON.parse(text) };
    } catch {
      throw new SlotmeshError(answer.status, "", "The answer is not what the document describes.");
    }
  }

  /** Waits for a number of milliseconds. If the call is aborted, it throws the signal's reason. */
  protected wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", end);
        resolve();
      }, milliseconds);
      signal?.addEventListener("abort", end, { once: true });
    });
  }
}

/**
 * Returns the pause before the next attempt, in milliseconds: the `Retry-After` of the answer, or twice the previous
 * pause. Half of the pause is random, so that clients that failed at the same time do not retry at the same time.
 */
function pauseAfter(attempt: number, error: unknown): number {
  if (error instanceof SlotmeshError && error.retryAfter !== undefined && error.retryAfter > 0) return error.retryAfter * 1000;
  const pause = Math.min(250 * 2 ** attempt, 8000);
  return pause / 2 + (Math.random() * pause) / 2;
}

/** Returns a new random key. Node 18 has no global crypto; Math.random is enough, as the key need not be secret. */
function newKey(): string {
  return globalThis.crypto?.randomUUID?.() ?? Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join("");
}
