package bookingclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// CreateCalendar creates a calendar feed. Only the response to this call contains the token and the URL of the feed.
// Faults: invalid_parameter; conflict if the same Idempotency-Key was used before; the faults of catalog about the
// business.
func (c *Client) CreateCalendar(ctx context.Context, businessID uuid.UUID,
	wanted booking.NewCalendar) (*booking.Calendar, error) {
	return typed.Call[booking.Calendar](ctx, c.peer, http.MethodPost, path(businessID, "calendars"), wanted)
}

// Calendars lists the calendar feeds of a business, oldest first,
// including revoked ones. Faults: invalid_parameter for an invalid page.
func (c *Client) Calendars(ctx context.Context, businessID uuid.UUID,
	page request.Page) (*booking.CalendarList, error) {
	return typed.Call[booking.CalendarList](ctx, c.peer, http.MethodGet, path(businessID, "calendars")+"?"+
		page.Values().Encode(), nil)
}

// RevokeCalendar revokes a calendar feed immediately. Faults: not_found.
func (c *Client) RevokeCalendar(ctx context.Context, businessID, id uuid.UUID) error {
	return c.peer.Call(ctx, http.MethodDelete, path(businessID, "calendars/"+id.String()), nil, nil)
}

// CalendarPath returns the path of the internal API that returns the calendar feed with this token.
func CalendarPath(token string) string { return "/internal/calendars/" + url.PathEscape(token) }
