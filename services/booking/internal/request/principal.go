package request

import (
	"strings"

	"github.com/google/uuid"
)

// Principal is who asks for a booking. Idempotency keys count within one principal of a business, and which fields of a form a
// request may set follows from it.
type Principal struct {
	Kind Kind
	ID   uuid.UUID // of the API key or the person; the nil UUID for the page and the system
}

// Kind is the kind of a [Principal].
type Kind string

// The kinds of principals.
const (
	APIKey Kind = "api_key" // a server or an agent with an API key
	Page   Kind = "page"    // the customer, on the business's own booking page
	Person Kind = "person"  // a person who is signed in on the owner's side
	System Kind = "system"  // Slotmesh itself
)

// String names the principal within its business.
func (p Principal) String() string { return string(p.Kind) + ":" + p.ID.String() }

// MaySet reports whether the principal may set this member of form_data. Those that begin with an underscore, in particular the
// consent to be written to (_consent), are the customer's alone to set, on the booking page (interface.md §4).
func (p Principal) MaySet(member string) bool {
	return p.Kind == Page || !strings.HasPrefix(member, "_")
}
