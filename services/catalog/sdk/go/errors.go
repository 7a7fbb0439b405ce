package slotmesh

import (
	"errors"
	"fmt"
	"time"
)

// Error is a refusal. [errors.Is] finds its Code.
type Error struct {
	// Status is the one of HTTP.
	Status int
	// Code is for programs; expect new ones. It is empty where something between here and Slotmesh answered.
	Code Code
	// Message is one sentence for people.
	Message string
	// RetryAfter is after how long the same request would pass; 0 where that was not said.
	RetryAfter time.Duration
	// Trace is the traceparent of the answer: tell it to whoever helps you.
	Trace string
}

// Error says what was refused and why.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("slotmesh: %d: %s", e.Status, e.Message)
	}
	return fmt.Sprintf("slotmesh: %d %s: %s", e.Status, e.Code, e.Message)
}

// Unwrap is the code, so that errors.Is(err, CodeSlotUnavailable) holds.
func (e *Error) Unwrap() error {
	if e.Code == "" {
		return nil
	}
	return e.Code
}

// Code is what a refusal is, for programs: the document's messageCode.
type Code string

// Error is the code itself.
func (c Code) Error() string { return string(c) }

// The codes that there are; the developers' page of a Slotmesh, /api/public/docs, says what to do about each.
const (
	CodeInvalidParameter       Code = "invalid_parameter"
	CodeBusinessNotFound       Code = "business_not_found"
	CodeServiceNotFound        Code = "service_not_found"
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
	CodeAvailabilityUnverified Code = "availability_unverified"
	CodePaymentUnavailable     Code = "payment_unavailable"
	CodeIdempotencyMismatch    Code = "idempotency_mismatch"
	CodeIdempotencyInProgress  Code = "idempotency_in_progress"
	CodeServiceUnavailable     Code = "service_unavailable"
	CodeOutcomeUnknown         Code = "outcome_unknown"
	CodeInternal               Code = "internal"
)

// Codes are those above.
func Codes() []Code {
	return []Code{
		CodeInvalidParameter, CodeBusinessNotFound, CodeServiceNotFound, CodeRentalNotFound, CodeNotFound, CodeMethodNotAllowed,
		CodePayloadTooLarge, CodeUnsupportedMediaType, CodeHeadersTooLarge, CodeMissingAPIKey, CodeInvalidAPIKey, CodeRateLimited,
		CodeScopeForbidden, CodeSubscriptionInactive, CodeAccountClosing, CodeNotOpenYet, CodeNotAcceptingBookings, CodeSlotUnavailable,
		CodeNoStaffAvailable, CodeDateInPast, CodeBeyondAdvanceLimit, CodeTooSoon, CodeClosed, CodeNotAStart, CodeStaffNotFound,
		CodePaymentNotOffered, CodeAvailabilityUnverified, CodePaymentUnavailable, CodeIdempotencyMismatch, CodeIdempotencyInProgress,
		CodeServiceUnavailable, CodeOutcomeUnknown, CodeInternal,
	}
}

// ErrNotSent says that a request could not be made, so that nothing was asked.
var ErrNotSent = errors.New("slotmesh: the request was not sent")

// OutcomeUnknown reports whether an error of [Client.Book] leaves open whether there is a booking: Slotmesh said so, or its answer never came.
// After any other error nothing was booked.
func OutcomeUnknown(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Code == CodeOutcomeUnknown || refused.Code == "" && refused.Status >= 500
	}
	return err != nil && !errors.Is(err, ErrNotSent)
}
