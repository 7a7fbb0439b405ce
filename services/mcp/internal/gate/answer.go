package gate

import (
	"errors"
	"net/http"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// answer is the response writer that the SDK gets. It passes protocol responses on to the client. If the SDK refuses
// an invalid request with plain text, answer keeps the text, so that the gate can send it as JSON (semantics.md §7).
type answer struct {
	http.ResponseWriter
	hasBody bool // true if the SDK wrote anything
	status  int  // status of the plain-text refusal; 0 if there is none
	text    strings.Builder
}

// WriteHeader sends the status, unless the response is a plain-text refusal. For a refusal, it keeps the status.
func (a *answer) WriteHeader(status int) {
	a.hasBody = true
	if status >= http.StatusBadRequest && strings.HasPrefix(a.Header().Get("Content-Type"), "text/plain") {
		a.status = status
		a.Header().Del("X-Content-Type-Options")
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write sends the bytes to the client. If the bytes belong to a plain-text refusal, Write keeps them instead.
func (a *answer) Write(b []byte) (int, error) {
	a.hasBody = true
	if a.status != 0 {
		return a.text.Write(b)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap returns the wrapped writer, so that [http.ResponseController] can use the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// missingAnswer returns a fault if the SDK wrote no response because the deadline
// of the tool call had passed. Without the fault, the client would read the empty
// response as success. If the SDK wrote a response, missingAnswer returns nil.
//
// The argument `isLate` is true if the deadline passed before the tool was called.
// In this case, the tool did nothing. Otherwise the result of the call is unknown.
func (a *answer) missingAnswer(isLate bool) error {
	switch {
	case a.hasBody:
		return nil
	case isLate:
		return fault.New(fault.PeerUnavailable,
			"There was no time left for this request, and nothing was done; try again shortly.")
	}
	return fault.Unknown(errors.New("the MCP SDK wrote no answer before the deadline"))
}

// refusal returns the plain-text refusal as a fault. It returns nil if there is no refusal.
func (a *answer) refusal() error {
	if a.status == 0 {
		return nil
	}
	return fault.New(kindOf(a.status), strings.TrimSpace(a.text.String()))
}

// kindOf returns the kind of fault for the status of a plain-text refusal.
func kindOf(status int) fault.Kind {
	for _, kind := range []fault.Kind{
		fault.NotFound, fault.MethodNotAllowed, fault.PayloadTooLarge, fault.UnsupportedMediaType,
		fault.SourceForbidden,
	} {
		if kind.Status == status {
			return kind
		}
	}
	if status >= http.StatusInternalServerError {
		return fault.Internal
	}
	return fault.InvalidParameter
}
