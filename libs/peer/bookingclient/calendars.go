package bookingclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/request"
)

// CreateCalendar makes a calendar feed; the answer alone carries its token and address. Faults: invalid_parameter; conflict where the
// request was made before under the same Idempotency-Key; what catalog answers about the business.
func (c *Client) CreateCalendar(ctx context.Context, businessID uuid.UUID, wanted booking.NewCalendar) (*booking.Calendar, error) {
	return typed.Call[booking.Calendar](ctx, c.peer, http.MethodPost, path(businessID, "calendars"), wanted)
}

// Calendars lists the feeds of a business, oldest first and revoked ones included. Faults: invalid_parameter for a bad page.
func (c *Client) Calendars(ctx context.Context, businessID uuid.UUID, page request.Page) (*booking.CalendarList, error) {
	return typed.Call[booking.CalendarList](ctx, c.peer, http.MethodGet, path(businessID, "calendars")+"?"+page.Values().Encode(), nil)
}

// RevokeCalendar ends a feed at once. Faults: not_found.
func (c *Client) RevokeCalendar(ctx context.Context, businessID, id uuid.UUID) error {
	return c.peer.Call(ctx, http.MethodDelete, path(businessID, "calendars/"+id.String()), nil, nil)
}

// CalendarPath is where the calendar of a feed is read, by its token.
func CalendarPath(token string) string { return "/internal/calendars/" + url.PathEscape(token) }
