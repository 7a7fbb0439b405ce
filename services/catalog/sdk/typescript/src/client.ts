import { ConnectionError, passesLater, refusal, SlotmeshError } from "./errors.js";
import type {
  AvailableDates, AvailableDatesQuery, BookingConfirmation, BookingRequest, BusinessInfo, EventList, EventsQuery, RentalAvailability,
  RentalAvailabilityQuery, RentalDates, RentalDatesQuery, RentalList, RentalsQuery, ServiceList, ServicesQuery, SlotList, SlotsQuery, StaffList, StaffQuery,
} from "./types.js";

/** The version of the OpenAPI document that this package speaks. Its own major version is the same. */
export const apiVersion = "1";

export interface Options {
  /** An API key of scope write or all. It is for servers: in a browser the constructor refuses it. */
  key?: string;
  /** How often a request that may pass later is sent again. 3 when it is left out. */
  retries?: number;
  /** The most milliseconds to wait before that. 30,000 when it is left out. */
  longestWait?: number;
  /** The most milliseconds of one attempt. 30,000 when it is left out. */
  attemptTimeout?: number;
  /** What sends requests, where it is not the platform's fetch. */
  fetch?: typeof fetch;
}

export interface Call {
  /** Ends the call. */
  signal?: AbortSignal;
  /** The most milliseconds of the whole call, waiting included. 120,000 when it is left out. */
  timeout?: number;
}

export interface BookCall extends Call {
  /** Makes it safe to order again, also after this program has ended: keep a new random value with each order that a customer makes. Left out, there is one for the attempts of one call. */
  idempotencyKey?: string;
}

interface Sent {
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: string;
}

/**
 * Asks for one business. Dates are YYYY-MM-DD and times HH:MM, both in the business's time zone. What is refused is thrown as a `SlotmeshError`;
 * where no answer came, as a `ConnectionError`.
 */
export class Slotmesh {
  readonly #address: string;
  readonly #options: Required<Omit<Options, "key">> & Pick<Options, "key">;

  /** A business at a Slotmesh, such as https://book.example and harbor-studio. */
  constructor(base: string, slug: string, options: Options = {}) {
    const at = new URL(base);
    if (!/^https?:$/.test(at.protocol) || at.search !== "" || at.hash !== "") throw new TypeError(`${base} is no address such as https://book.example`);
    if (!/^[a-z0-9-]{1,63}$/.test(slug)) throw new TypeError(`${slug} is no name of a business: 1 to 63 of a-z, 0-9 and -`);
    if (options.key !== undefined && typeof document !== "undefined") throw new TypeError("An API key does not belong into a browser: whoever has it books in the business's name.");
    this.#address = `${at.href.replace(/\/+$/, "")}/api/public/${slug}`;
    this.#options = { retries: 3, longestWait: 30_000, attemptTimeout: 30_000, fetch: (...sent) => fetch(...sent), ...options };
  }

  /** The business. */
  info(call?: Call): Promise<BusinessInfo> {
    return this.#get("/info", {}, call);
  }

  /** What can be booked by the appointment. */
  services(query: ServicesQuery = {}, call?: Call): Promise<ServiceList> {
    return this.#get("/services", query, call);
  }

  /** Who works there. */
  staff(query: StaffQuery = {}, call?: Call): Promise<StaffList> {
    return this.#get("/staff", query, call);
  }

  /** What tickets can be had for. */
  events(query: EventsQuery = {}, call?: Call): Promise<EventList> {
    return this.#get("/events", query, call);
  }

  /** What can be rented. */
  rentals(query: RentalsQuery = {}, call?: Call): Promise<RentalList> {
    return this.#get("/rentals", query, call);
  }

  /** The bookable starts of a date. Where `computed` is false they could not be read: never show that as fully booked. */
  slots(query: SlotsQuery, call?: Call): Promise<SlotList> {
    return this.#get("/slots", query, call);
  }

  /** How many starts each date has. */
  availableDates(query: AvailableDatesQuery, call?: Call): Promise<AvailableDates> {
    return this.#get("/available-dates", query, call);
  }

  /** Whether units of a rental are free. */
  rentalAvailability(query: RentalAvailabilityQuery, call?: Call): Promise<RentalAvailability> {
    return this.#get("/rental-availability", query, call);
  }

  /** How many units of rentals are free on each date. */
  rentalDates(query: RentalDatesQuery, call?: Call): Promise<RentalDates> {
    return this.#get("/rental-available-dates", query, call);
  }

  /** Books an appointment. Where it throws and `outcomeUnknown` says so, the same order with the same `idempotencyKey` books once, and tells. */
  async book(order: BookingRequest, call: BookCall = {}): Promise<BookingConfirmation> {
    const headers: Record<string, string> = { "Content-Type": "application/json", "Idempotency-Key": call.idempotencyKey ?? newKey() };
    if (this.#options.key !== undefined) headers["Authorization"] = `Bearer ${this.#options.key}`;
    const { header, body } = await this.#ask("/book", { method: "POST", headers, body: JSON.stringify(order) }, call);
    return { ...(body as BookingConfirmation), replayed: header.get("Idempotent-Replayed") === "true" };
  }

  async #get<T>(path: string, query: object, call?: Call): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString(); // an array with commas
    return (await this.#ask(text === "" ? path : `${path}?${text}`, { method: "GET", headers: {} }, call)).body as T;
  }

  /** Asks until there is an answer that stays. */
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
      // A key goes nowhere else.
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

  /** Waits so many milliseconds, or until the call is ended, and throws the signal's reason then. */
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

/** What an answer asked for, else twice the pause before, half of it left to chance, so that those who failed together do not come back together. */
function pauseAfter(attempt: number, error: unknown): number {
  if (error instanceof SlotmeshError && error.retryAfter !== undefined && error.retryAfter > 0) return error.retryAfter * 1000;
  const pause = Math.min(250 * 2 ** attempt, 8000);
  return pause / 2 + (Math.random() * pause) / 2;
}

/** A key that nobody has used. It need not be secret, and Node 18 has no global crypto. */
function newKey(): string {
  return globalThis.crypto?.randomUUID?.() ?? Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join("");
}
