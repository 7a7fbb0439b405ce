package gate

import (
	"errors"
	"net/http"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// answer is the response writer that the SDK gets. It passes protocol responses on. It holds back the
// SDK's plain-text refusals of invalid requests, so that the gate can send them as JSON (semantics.md §7).
type answer struct {
	http.ResponseWriter
	said   bool // whether the protocol wrote anything
	status int  // of a plain-text refusal; 0 without one
	text   strings.Builder
}

// WriteHeader sends the status unless it starts a plain-text refusal.
func (a *answer) WriteHeader(status int) {
	a.said = true
	if status >= http.StatusBadRequest && strings.HasPrefix(a.Header().Get("Content-Type"), "text/plain") {
		a.status = status
		a.Header().Del("X-Content-Type-Options")
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write sends the bytes, or keeps them if they belong to a plain-text refusal.
func (a *answer) Write(b []byte) (int, error) {
	a.said = true
	if a.status != 0 {
		return a.text.Write(b)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// silence returns a fault if the SDK wrote no response because the request's time was over: a client
// would read an empty response as success. If the protocol wrote a response, it returns nil.
//
// The argument late is true if the time was over before the tool was called. Then nothing was done;
// otherwise the outcome is unknown.
func (a *answer) silence(late bool) error {
	switch {
	case a.said:
		return nil
	case late:
		return fault.New(fault.PeerUnavailable,
			"There was no time left for this request, and nothing was done; try again shortly.")
	}
	return fault.Unknown(errors.New("the protocol gave no answer in time"))
}

// refusal returns the plain-text refusal as a fault, or nil without one.
func (a *answer) refusal() error {
	if a.status == 0 {
		return nil
	}
	return fault.New(kindOf(a.status), strings.TrimSpace(a.text.String()))
}

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
