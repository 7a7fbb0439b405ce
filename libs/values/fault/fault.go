// Package fault defines the error type that the services of Slotmesh exchange. It also contains the table of the kinds
// of errors, each with a code and an HTTP status (semantics.md §7). Handlers return faults, and the server sends them
// as JSON. The client of the calling service decodes the JSON to a fault of the same kind.
//
// Any other error is internal: the server logs it in full, and sends status 500 without details.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"
)

// Kind is a kind of fault. Code is the messageCode in the JSON answer, which clients check. Status is the HTTP status.
type Kind struct {
	Code   string
	Status int
}

// These variables are the table of all kinds. A code has two rows if the API sends it with two statuses.
var (
	InvalidParameter = Kind{"invalid_parameter", 400}
	RequestTimeout   = Kind{"invalid_parameter", 408} // the request did not arrive in time
	Unauthorized     = Kind{"unauthorized", 401}      // the token for the admin API is missing or invalid
	MissingAPIKey    = Kind{"missing_api_key", 401}
	InvalidAPIKey    = Kind{"invalid_api_key", 401}
	// the limit of the API key; interface.md §8 prescribes the status 401
	KeyRateLimited       = Kind{"rate_limited", 401}
	ScopeForbidden       = Kind{"scope_forbidden", 403}
	Forbidden            = Kind{"forbidden", 403}        // the person's role does not permit the action
	SourceForbidden      = Kind{"source_forbidden", 403} // the header Host or Origin is not allowed
	SubscriptionInactive = Kind{"subscription_inactive", 403}
	AccountClosing       = Kind{"account_closing", 403}
	NotAcceptingBookings = Kind{"not_accepting_bookings", 403}
	NotOpenYet           = Kind{"not_open_yet", 403} // the field `open` in the manifest is false
	BusinessNotFound     = Kind{"business_not_found", 404}
	ServiceNotFound      = Kind{"service_not_found", 404}
	RentalNotFound       = Kind{"rental_not_found", 404}
	// the location is unknown, or the services are not offered there
	LocationNotFound   = Kind{"location_not_found", 404}
	NotFound           = Kind{"not_found", 404}
	MethodNotAllowed   = Kind{"method_not_allowed", 405}
	SlotUnavailable    = Kind{"slot_unavailable", 409}
	NoStaffAvailable   = Kind{"no_staff_available", 409}
	DateInPast         = Kind{"date_in_past", 409}
	BeyondAdvanceLimit = Kind{"beyond_advance_limit", 409}
	TooSoon            = Kind{"too_soon", 409} // less notice than the business requires
	Closed             = Kind{"closed", 409}   // no staff member for the service works at this time
	NotAStart          = Kind{"not_a_start", 409}
	// the staff member is unknown, inactive or not assigned to the service
	StaffNotFound     = Kind{"staff_not_found", 409}
	PaymentNotOffered = Kind{"payment_not_offered", 409}
	// BeforeBookingDay means that staff marked a booking as completed, or as a no-show, before the day of the booking.
	BeforeBookingDay = Kind{"before_booking_day", 409}
	TooLateToReopen  = Kind{"too_late_to_reopen", 409} // later than the day after the booking
	NotEnoughUnits   = Kind{"not_enough_units", 409}   // too few units are free for a reservation
	OutsideArea      = Kind{"outside_area", 409}       // the business does not serve the customer's address
	// a customer on the booking page has reached bookings.max_open_per_customer
	TooManyOpen            = Kind{"too_many_open_bookings", 409}
	IdempotencyInProgress  = Kind{"idempotency_in_progress", 409}
	Conflict               = Kind{"conflict", 409}       // the current state forbids the transition or the removal
	CursorExpired          = Kind{"cursor_expired", 410} // events were deleted before the reader read them
	PreconditionFailed     = Kind{"precondition_failed", 412}
	PayloadTooLarge        = Kind{"payload_too_large", 413}
	UnsupportedMediaType   = Kind{"unsupported_media_type", 415}
	IdempotencyMismatch    = Kind{"idempotency_mismatch", 422}
	RateLimited            = Kind{"rate_limited", 429}
	HeadersTooLarge        = Kind{"headers_too_large", 431}
	Internal               = Kind{"internal", 500}
	AvailabilityUnverified = Kind{"availability_unverified", 503}
	PaymentUnavailable     = Kind{"payment_unavailable", 503}
	PeerUnavailable        = Kind{"service_unavailable", 503} // another service did not answer
	// OutcomeUnknown is the only fault after which the write may exist. After any other fault, the write does not
	// exist, and this attempt will not make the write later.
	OutcomeUnknown = Kind{"outcome_unknown", 503}
)

// Error is a fault: a kind, one sentence for the client, and an internal cause, which is only logged.
type Error struct {
	Kind       Kind
	Sentence   string
	RetryAfter time.Duration  // sent as the header Retry-After if it is above 0
	Extra      map[string]any // additional members of the JSON body
	Cause      error
}

// New returns a fault of a kind with its sentence.
func New(kind Kind, sentence string) *Error { return &Error{Kind: kind, Sentence: sentence} }

// Newf returns a fault of a kind with a formatted sentence.
func Newf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Sentence: fmt.Sprintf(format, args...)}
}

// Wrap returns a fault of a kind with its sentence. The fault keeps err as the cause for the log.
func Wrap(kind Kind, err error, sentence string) *Error {
	return &Error{Kind: kind, Sentence: sentence, Cause: err}
}

// Error returns the fault as text for the log, including the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Kind.Code + ": " + e.Sentence + ": " + e.Cause.Error()
	}
	return e.Kind.Code + ": " + e.Sentence
}

// Unwrap returns the cause of the fault.
func (e *Error) Unwrap() error { return e.Cause }

// startRefusals are the kinds of faults that mean that the requested start time cannot be booked.
var startRefusals = []Kind{SlotUnavailable, NoStaffAvailable, DateInPast, BeyondAdvanceLimit, TooSoon, Closed,
	NotAStart, StaffNotFound}

// RefusesStart reports whether err means that the requested start
// time cannot be booked. Another start time may still be bookable.
func RefusesStart(err error) bool { return slices.Contains(startRefusals, KindOf(err)) }

// Of returns err as a fault. If err is not a fault, Of returns a fault of kind [Internal] with err as the cause.
func Of(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return Wrap(Internal, err, "Something went wrong on our side.")
}

// Is reports whether err is a fault of the given kind.
func Is(err error, kind Kind) bool {
	var f *Error
	return errors.As(err, &f) && f.Kind == kind
}

// KindOf returns the kind of err, or [Internal] if err is not a fault.
func KindOf(err error) Kind { return Of(err).Kind }

// Unknown returns the fault for a write if the service cannot find
// out before the deadline whether the write exists (semantics.md §7).
func Unknown(err error) *Error {
	return Wrap(OutcomeUnknown, err,
		"It is not known whether this was done; look it up, or repeat the request with the same Idempotency-Key.")
}

// Body returns the JSON body that is sent for the fault: {"error",
// "messageCode"} and the members in Extra. The body never contains the cause.
func (e *Error) Body() []byte {
	members := make(map[string]any, len(e.Extra)+2)
	maps.Copy(members, e.Extra)
	members["error"] = e.Sentence
	members["messageCode"] = e.Kind.Code
	b, err := json.Marshal(members)
	if err != nil {
		return []byte(`{"error":"Something went wrong on our side.","messageCode":"internal"}`)
	}
	return b
}

// RetrySeconds returns RetryAfter in whole seconds, rounded up. It returns 0 if RetryAfter is 0.
func (e *Error) RetrySeconds() int { return int((e.RetryAfter + time.Second - 1) / time.Second) }

// Decode decodes a body that [Error.Body] has created. If the body is
// not JSON, Decode returns an internal fault that names the status.
func Decode(status int, body []byte, retryAfter time.Duration) *Error {
	var extra map[string]any
	if err := json.Unmarshal(body, &extra); err != nil {
		return Wrap(Internal, fmt.Errorf("peer answered status %d", status), "Something went wrong on our side.")
	}
	sentence, _ := extra["error"].(string)
	code, _ := extra["messageCode"].(string)
	delete(extra, "error")
	delete(extra, "messageCode")
	return &Error{Kind: Kind{Code: code, Status: status}, Sentence: sentence, RetryAfter: retryAfter, Extra: extra}
}

// Guard calls `work`. If `work` panics, Guard returns an error with the stack, so that the panic does not end the
// process.
func Guard(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work()
}
