import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];

export type BusinessInfo = Schemas["BusinessInfo"];
export type Location = Schemas["Location"];
export type Contact = Schemas["Contact"];
export type Legal = Schemas["Legal"];
export type ServiceList = Schemas["ServiceList"];
export type Service = Schemas["Service"];
export type Variant = Schemas["Variant"];
export type StaffList = Schemas["StaffList"];
export type StaffMember = Schemas["StaffMember"];
export type EventList = Schemas["EventList"];
export type Event = Schemas["Event"];
export type TicketTier = Schemas["TicketTier"];
export type RentalList = Schemas["RentalList"];
export type Rental = Schemas["Rental"];
export type SlotList = Schemas["SlotList"];
export type Slot = Schemas["Slot"];
export type AvailableDates = Schemas["AvailableDates"];
export type RentalAvailability = Schemas["RentalAvailability"];
export type RentalDates = Schemas["RentalDates"];
export type BookingRequest = Schemas["BookingRequest"];
export type CustomerAddress = Schemas["CustomerAddress"];
export type Booking = Schemas["Booking"];
export type Payment = Schemas["Payment"];

/** A confirmed booking. `replayed` is true if an earlier request with the same idempotency key made the booking. */
export type BookingConfirmation = Schemas["BookingConfirmation"] & { replayed: boolean };

/** The query of an operation. Lists may be arrays, and `is_package` may be a boolean. */
type Query<O extends keyof operations> = Friendly<NonNullable<operations[O]["parameters"]["query"]>>;
type Friendly<Q> = {
  [K in keyof Q]: K extends "service_id" | "rental_id" | "variants" ? Q[K] | readonly string[] : K extends "is_package" ? Q[K] | boolean : Q[K];
};

export type ServicesQuery = Query<"listServices">;
export type StaffQuery = Query<"listStaff">;
export type EventsQuery = Query<"listEvents">;
export type RentalsQuery = Query<"listRentals">;
export type SlotsQuery = Query<"listSlots">;
export type AvailableDatesQuery = Query<"listAvailableDates">;
export type RentalAvailabilityQuery = Query<"checkRental">;
export type RentalDatesQuery = Query<"listRentalDates">;
