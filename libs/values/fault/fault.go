// Package fault is the error type that Slotmesh's services exchange, and the table of its kinds with their
// HTTP form (semantics.md §7). Code returns faults, the server sends them, and a peer's client decodes them
// to the same kind. Any other error is internal: it is logged in full and sent as a 500 without details.
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

// Kind is a row of the table: the messageCode that callers check, and the HTTP status.
type Kind struct {
	Code   string
	Status int
}

// The table. A messageCode may have two rows if the interface sends it with two statuses.
var (
	InvalidParameter     = Kind{"invalid_parameter", 400}
	RequestTimeout       = Kind{"invalid_parameter", 408} // the server closes an idle connection
	Unauthorized         = Kind{"unauthorized", 401}      // the admin API's token
	MissingAPIKey        = Kind{"missing_api_key", 401}
	InvalidAPIKey        = Kind{"invalid_api_key", 401}
	KeyRateLimited       = Kind{"rate_limited", 401} // interface.md §8: the key's limit answers 401
	ScopeForbidden       = Kind{"scope_forbidden", 403}
	Forbidden            = Kind{"forbidden", 403}        // the role of the person does not permit the action
	SourceForbidden      = Kind{"source_forbidden", 403} // a Host or Origin that is not allowed
	SubscriptionInactive = Kind{"subscription_inactive", 403}
	AccountClosing       = Kind{"account_closing", 403}
	NotAcceptingBookings = Kind{"not_accepting_bookings", 403}
	NotOpenYet           = Kind{"not_open_yet", 403} // the manifest's open is false
	BusinessNotFound     = Kind{"business_not_found", 404}
	ServiceNotFound      = Kind{"service_not_found", 404}
	RentalNotFound       = Kind{"rental_not_found", 404}
	NotFound             = Kind{"not_found", 404}
	MethodNotAllowed     = Kind{"method_not_allowed", 405}
	SlotUnavailable      = Kind{"slot_unavailable", 409}
	NoStaffAvailable     = Kind{"no_staff_available", 409}
	DateInPast           = Kind{"date_in_past", 409}
	BeyondAdvanceLimit   = Kind{"beyond_advance_limit", 409}
	TooSoon              = Kind{"too_soon", 409} // less notice than the business requires
	Closed               = Kind{"closed", 409}   // no staff member who performs the service works at this time
	NotAStart            = Kind{"not_a_start", 409}
	StaffNotFound        = Kind{"staff_not_found", 409} // unknown, inactive, or does not perform the service
	PaymentNotOffered    = Kind{"payment_not_offered", 409}
	// BeforeBookingDay is returned if staff marks a booking as completed, or as a no-show, before its day.
	BeforeBookingDay       = Kind{"before_booking_day", 409}
	TooLateToReopen        = Kind{"too_late_to_reopen", 409}     // later than the day after the booking
	NotEnoughUnits         = Kind{"not_enough_units", 409}       // for handing out a reservation
	TooManyOpen            = Kind{"too_many_open_bookings", 409} // the booking page: bookings.max_open_per_customer
	IdempotencyInProgress  = Kind{"idempotency_in_progress", 409}
	Conflict               = Kind{"conflict", 409}       // a transition or removal that the state forbids
	CursorExpired          = Kind{"cursor_expired", 410} // events that the reader has not read are deleted
	PreconditionFailed     = Kind{"precondition_failed", 412}
	PayloadTooLarge        = Kind{"payload_too_large", 413}
	UnsupportedMediaType   = Kind{"unsupported_media_type", 415}
	IdempotencyMismatch    = Kind{"idempotency_mismatch", 422}
	RateLimited            = Kind{"rate_limited", 429}
	HeadersTooLarge        = Kind{"headers_too_large", 431}
	Internal               = Kind{"internal", 500}
	AvailabilityUnverified = Kind{"availability_unverified", 503}
	PaymentUnavailable     = Kind{"payment_unavailable", 503}
	PeerUnavailable        = Kind{"service_unavailable", 503} // a peer did not answer
	// OutcomeUnknown is the only fault after which the write may
	// have been made. After all others it was not and will not be.
	OutcomeUnknown = Kind{"outcome_unknown", 503}
)

// Error is a fault: a kind, one sentence for the caller, and an internal cause, which is only logged.
type Error struct {
	Kind       Kind
	Sentence   string
	RetryAfter time.Duration  // if above 0, sent in whole seconds, rounded up
	Extra      map[string]any // further members of the JSON body
	Cause      error
}

// New returns a fault of a kind with its sentence.
func New(kind Kind, sentence string) *Error { return &Error{Kind: kind, Sentence: sentence} }

// Newf is [New] with a format.
func Newf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Sentence: fmt.Sprintf(format, args...)}
}

// Wrap returns a fault that keeps err as its cause for the log.
func Wrap(kind Kind, err error, sentence string) *Error {
	return &Error{Kind: kind, Sentence: sentence, Cause: err}
}

// Error returns the fault as text for logs.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Kind.Code + ": " + e.Sentence + ": " + e.Cause.Error()
	}
	return e.Kind.Code + ": " + e.Sentence
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// startRefusals are the kinds of faults that mean that a start cannot be booked.
var startRefusals = []Kind{SlotUnavailable, NoStaffAvailable, DateInPast, BeyondAdvanceLimit, TooSoon, Closed,
	NotAStart, StaffNotFound}

// RefusesStart reports whether err means that a start cannot be booked, although another start may be bookable.
func RefusesStart(err error) bool { return slices.Contains(startRefusals, KindOf(err)) }

// Of returns err as a fault. An error that is not a fault becomes an internal one.
func Of(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return Wrap(Internal, err, "Something went wrong on our side.")
}

// Is reports whether err is a fault of this kind.
func Is(err error, kind Kind) bool {
	var f *Error
	return errors.As(err, &f) && f.Kind == kind
}

// KindOf returns the kind of err; [Internal] for an error that is not a fault.
func KindOf(err error) Kind { return Of(err).Kind }

// Unknown returns the fault of a write whose outcome could not be learned within the deadline (semantics.md §7).
func Unknown(err error) *Error {
	return Wrap(OutcomeUnknown, err,
		"It is not known whether this was done; look it up, or repeat the request with the same Idempotency-Key.")
}

// Body returns the JSON body of a fault: {"error", "messageCode"} and its extra members. It never contains the cause.
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

// RetrySeconds returns RetryAfter in whole seconds, rounded up; 0 if it is not set.
func (e *Error) RetrySeconds() int { return int((e.RetryAfter + time.Second - 1) / time.Second) }

// Decode decodes a body of [Error.Body]. A body that is not JSON becomes an internal fault that names the status.
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

// Guard calls work and converts a panic, which could end the process, into an error with its stack.
func Guard(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work()
}
