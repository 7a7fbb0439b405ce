package rental

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Managed is what the customer sees by the link of a reservation (lifecycle.md §5).
type Managed struct {
	Kind        event.SubjectKind       `json:"kind"`
	Business    catalog.ManagedBusiness `json:"business"`
	Reservation ManagedReservation      `json:"reservation"`
}

// ManagedReservation is a reservation as its customer sees it; its fields are those of [Reservation].
type ManagedReservation struct {
	ID           uuid.UUID           `json:"id"`
	RentalName   string              `json:"rental_name"`
	Status       string              `json:"status"`
	Quantity     int                 `json:"quantity"`
	StartDate    timespan.Date       `json:"start_date"`
	EndDate      timespan.Date       `json:"end_date"`
	StartTime    *timespan.TimeOfDay `json:"start_time"`
	EndTime      *timespan.TimeOfDay `json:"end_time"`
	Extras       []Extra             `json:"extras"`
	Price        *json.Number        `json:"price"`
	Total        *json.Number        `json:"total"`
	Currency     string              `json:"currency,omitempty"`
	CustomerName string              `json:"customer_name"`
	Locale       string              `json:"locale"`
	CreatedAt    time.Time           `json:"created_at"`
}

// Managed returns what the customer sees by the token of a link. Faults: not_found, one for every token that leads nowhere; whoever asks
// on behalf of an address counts it before (libs/limits, manage).
func (c *Client) Managed(ctx context.Context, token string) (*Managed, error) {
	var out Managed
	if err := c.peer.Call(ctx, http.MethodGet, ManagePath(token), nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// ManagePath is where what a link leads to is read; below it, /calendar is the same as text/calendar.
func ManagePath(token string) string { return "/internal/manage/" + url.PathEscape(token) }
