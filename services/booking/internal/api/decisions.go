package api

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// Decisions serves the links in notices with which recipients confirm or decline pending bookings. Tokens and addresses
// are in bodies, never in paths, so that no log and no span contains them.
type Decisions struct {
	decisions *usecase.Decisions
	links     *link.Links
}

// NewDecisions returns the internal API of the links in notices.
func NewDecisions(decisions *usecase.Decisions, links *link.Links) *Decisions {
	return &Decisions{decisions: decisions, links: links}
}

// Mount adds the endpoints of the links in notices.
func (a *Decisions) Mount(r *server.Internal) {
	server.Mount(r, bookingclient.ReadDecisionLink, a.readLink)
	server.Mount(r, bookingclient.ReadDecision, a.read)
	server.Mount(r, bookingclient.MakeDecision, a.decide)
}

func (a *Decisions) readLink(_ context.Context,
	r bookingclient.With[booking.DecisionRecipient]) (*link.Response, error) {
	return &link.Response{URL: a.links.DecisionURL(r.Body.Slug, link.Decision{Business: r.At.Business,
		Booking: r.Body.Booking, Recipient: link.RecipientID(r.At.Business, r.Body.Email)})}, nil
}

func (a *Decisions) read(ctx context.Context,
	r bookingclient.With[booking.DecisionToken]) (*booking.Decision, error) {
	d, err := a.decisions.Read(ctx, r.At.Business, r.Body.Token)
	if err != nil {
		return nil, err
	}
	return &booking.Decision{Booking: showBooking(a.links, d.Booking), IsOpen: d.IsOpen,
		Refund: d.Booking.Currency.JSON(d.Refund), Made: d.Made}, nil
}

func (a *Decisions) decide(ctx context.Context, r bookingclient.With[booking.Decide]) (*endpoints.None, error) {
	return nil, a.decisions.Decide(ctx, r.At.Business, r.Body)
}
