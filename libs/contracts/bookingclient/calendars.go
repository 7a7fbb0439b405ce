package bookingclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// CreateCalendar creates a calendar feed. Only the response to this call contains the token and the URL of the feed.
// Faults: invalid_parameter; conflict if the same Idempotency-Key was used before; the faults of catalog about the
// business.
func (c *Client) CreateCalendar(ctx context.Context, businessID uuid.UUID,
	wanted booking.NewCalendar) (*booking.Calendar, error) {
	return CreateCalendarFeed.Call(ctx, c.peer, endpoints.About(businessID, wanted))
}

// Calendars lists the calendar feeds of a business, oldest first,
// including revoked ones. Faults: invalid_parameter for an invalid page.
func (c *Client) Calendars(ctx context.Context, businessID uuid.UUID,
	page request.Page) (*booking.CalendarList, error) {
	return ListCalendarFeeds.Call(ctx, c.peer, newPageRequest(businessID, page))
}

// RevokeCalendar revokes a calendar feed immediately. Faults: not_found.
func (c *Client) RevokeCalendar(ctx context.Context, businessID, id uuid.UUID) error {
	return RevokeCalendarFeed.Send(ctx, c.peer, CalendarID{businessID, id})
}

// CalendarPath returns the path of the internal API that returns the calendar feed with this token.
func CalendarPath(token string) string { return ReadCalendarFeed.URL(&endpoints.ByToken{Token: token}) }
