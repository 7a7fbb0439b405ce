package slotmesh

import (
	"errors"
	"fmt"
	"time"
)

// Error is an error answer of the API. [errors.Is] compares a [Code] with the field Code.
type Error struct {
	// Status is the HTTP status of the answer.
	Status int
	// Code is the reason for the refusal, for use in programs. Later releases
	// may add codes. Code is empty if a proxy in front of Slotmesh answered.
	Code Code
	// Message is the reason as a sentence for people.
	Message string
	// RetryAfter is how long to wait before the next attempt; 0 if the answer had no Retry-After header.
	RetryAfter time.Duration
	// Trace is the header traceparent of the answer. Include Trace in a request for support.
	Trace string
}

// Error returns the status, the code and the message.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("slotmesh: %d: %s", e.Status, e.Message)
	}
	return fmt.Sprintf("slotmesh: %d %s: %s", e.Status, e.Code, e.Message)
}

// Unwrap returns the code, so that errors.Is(err, CodeSlotUnavailable) is true.
func (e *Error) Unwrap() error {
	if e.Code == "" {
		return nil
	}
	return e.Code
}

// Code is the reason for a refusal, for use in programs. In the OpenAPI document, the field is named messageCode.
type Code string

// Error returns the code.
func (c Code) Error() string { return string(c) }

// The error codes of the API. The pages at /docs/api/errors/ describe what to do after each code.
const (
	CodeInvalidParameter       Code = "invalid_parameter"
	CodeBusinessNotFound       Code = "business_not_found"
	CodeServiceNotFound        Code = "service_not_found"
	CodeLocationNotFound       Code = "location_not_found"
	CodeRentalNotFound         Code = "rental_not_found"
	CodeNotFound               Code = "not_found"
	CodeMethodNotAllowed       Code = "method_not_allowed"
	CodePayloadTooLarge        Code = "payload_too_large"
	CodeUnsupportedMediaType   Code = "unsupported_media_type"
	CodeHeadersTooLarge        Code = "headers_too_large"
	CodeMissingAPIKey          Code = "missing_api_key"
	CodeInvalidAPIKey          Code = "invalid_api_key"
	CodeRateLimited            Code = "rate_limited"
	CodeScopeForbidden         Code = "scope_forbidden"
	CodeSubscriptionInactive   Code = "subscription_inactive"
	CodeAccountClosing         Code = "account_closing"
	CodeNotOpenYet             Code = "not_open_yet"
	CodeNotAcceptingBookings   Code = "not_accepting_bookings"
	CodeSlotUnavailable        Code = "slot_unavailable"
	CodeNoStaffAvailable       Code = "no_staff_available"
	CodeDateInPast             Code = "date_in_past"
	CodeBeyondAdvanceLimit     Code = "beyond_advance_limit"
	CodeTooSoon                Code = "too_soon"
	CodeClosed                 Code = "closed"
	CodeNotAStart              Code = "not_a_start"
	CodeStaffNotFound          Code = "staff_not_found"
	CodePaymentNotOffered      Code = "payment_not_offered"
	CodeOutsideArea            Code = "outside_area"
	CodeAvailabilityUnverified Code = "availability_unverified"
	CodePaymentUnavailable     Code = "payment_unavailable"
	CodeIdempotencyMismatch    Code = "idempotency_mismatch"
	CodeIdempotencyInProgress  Code = "idempotency_in_progress"
	CodeServiceUnavailable     Code = "service_unavailable"
	CodeOutcomeUnknown         Code = "outcome_unknown"
	CodeInternal               Code = "internal"
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{
		CodeInvalidParameter, CodeBusinessNotFound, CodeServiceNotFound, CodeLocationNotFound, CodeRentalNotFound,
		CodeNotFound, CodeMethodNotAllowed,
		CodePayloadTooLarge, CodeUnsupportedMediaType, CodeHeadersTooLarge, CodeMissingAPIKey, CodeInvalidAPIKey,
		CodeRateLimited,
		CodeScopeForbidden, CodeSubscriptionInactive, CodeAccountClosing, CodeNotOpenYet, CodeNotAcceptingBookings,
		CodeSlotUnavailable,
		CodeNoStaffAvailable, CodeDateInPast, CodeBeyondAdvanceLimit, CodeTooSoon, CodeClosed, CodeNotAStart,
		CodeStaffNotFound,
		CodePaymentNotOffered, CodeOutsideArea, CodeAvailabilityUnverified, CodePaymentUnavailable, CodeIdempotencyMismatch,
		CodeIdempotencyInProgress,
		CodeServiceUnavailable, CodeOutcomeUnknown, CodeInternal,
	}
}

// ErrNotSent is returned if the client cannot build a request. Nothing was sent in this case.
var ErrNotSent = errors.New("slotmesh: the request was not sent")

// OutcomeUnknown reports whether the booking may have been made although [Client.Book]
// returned the error err. It returns true if Slotmesh answered outcome_unknown, or if
// no answer of Slotmesh arrived. After any other error, nothing was booked.
func OutcomeUnknown(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Code == CodeOutcomeUnknown || refused.Code == "" && refused.Status >= 500
	}
	return err != nil && !errors.Is(err, ErrNotSent)
}
