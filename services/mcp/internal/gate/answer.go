package gate

import (
	"errors"
	"net/http"
	"strings"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// answer passes the protocol's answers on, but holds back the plain text with which the protocol's library refuses a
// request that is no message, so that it is sent in the one shape of semantics.md §7.
type answer struct {
	http.ResponseWriter
	said   bool // whether the protocol said anything
	status int  // of a refusal in plain text; 0 without one
	text   strings.Builder
}

// WriteHeader sends the status unless it begins a refusal in plain text.
func (a *answer) WriteHeader(status int) {
	a.said = true
	if status >= http.StatusBadRequest && strings.HasPrefix(a.Header().Get("Content-Type"), "text/plain") {
		a.status = status
		a.Header().Del("X-Content-Type-Options")
		return
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write sends what is no refusal in plain text.
func (a *answer) Write(b []byte) (int, error) {
	a.said = true
	if a.status != 0 {
		return a.text.Write(b)
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// silence is the fault of a request of which the protocol's library says nothing, as its time was over: the client would read an empty
// answer as success. late says that the tools' time was over before it began: they did nothing then. Otherwise it is not known what was
// done. It is nil where the protocol said something.
func (a *answer) silence(late bool) error {
	switch {
	case a.said:
		return nil
	case late:
		return fault.New(fault.PeerUnavailable, "There was no time left for this request, and nothing was done; try again shortly.")
	}
	return fault.Unknown(errors.New("the protocol gave no answer in time"))
}

// refusal is what was held back, nil without one.
func (a *answer) refusal() error {
	if a.status == 0 {
		return nil
	}
	return fault.New(kindOf(a.status), strings.TrimSpace(a.text.String()))
}

func kindOf(status int) fault.Kind {
	for _, kind := range []fault.Kind{
		fault.NotFound, fault.MethodNotAllowed, fault.PayloadTooLarge, fault.UnsupportedMediaType, fault.SourceForbidden,
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
