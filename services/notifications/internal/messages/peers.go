package messages

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/console"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Services implements [Peers] by calls to the other services.
type Services struct {
	*catalogclient.ByID
	*console.Client

	bookings  *bookingclient.Client
	decisions *bookingclient.Decisions
	sessions  *bookingclient.Sessions
	rentals   *rental.Client
	pictures  *catalogclient.Owner
}

var _ Peers = (*Services)(nil)

// NewServices returns Services that use the given clients. While the catalog service responds, a business snapshot is
// at most two seconds old.
func NewServices(catalog, bookings, rentals, team *peer.Client, tel *telemetry.Telemetry) *Services {
	return &Services{
		ByID: catalogclient.NewByID(catalog, catalogclient.NewClient(catalog, tel)), Client: console.NewClient(team),
		bookings: bookingclient.NewClient(bookings), decisions: bookingclient.NewDecisions(bookings),
		sessions: bookingclient.NewSessions(bookings), rentals: rental.NewClient(rentals),
		pictures: catalogclient.NewOwner(catalog),
	}
}

// DecisionLink reads the URL from the booking service.
func (s *Services) DecisionLink(ctx context.Context, businessID uuid.UUID,
	recipient booking.DecisionRecipient) (string, error) {
	return s.decisions.Link(ctx, businessID, recipient)
}

// SignIn reads a customer's sign-in from the booking service.
func (s *Services) SignIn(ctx context.Context, businessID, id uuid.UUID) (*booking.SignIn, error) {
	return s.sessions.SignIn(ctx, businessID, id)
}

// HasReservations asks the rental service.
func (s *Services) HasReservations(ctx context.Context, businessID uuid.UUID, email string) (bool, error) {
	offer, err := s.Offer(ctx, businessID)
	if err != nil {
		return false, err
	}
	return s.rentals.ForBusiness(businessID).KnowsCustomer(ctx, offer.Slug, email)
}

// PictureFile reads the file from the catalog service.
func (s *Services) PictureFile(ctx context.Context, name string) ([]byte, error) {
	return s.pictures.PictureFile(ctx, name)
}

// Subject reads the subject from the service that stores it.
func (s *Services) Subject(ctx context.Context, businessID uuid.UUID, subject event.Subject) (json.RawMessage, error) {
	if subject.Kind == event.Booking {
		found, err := s.bookings.Booking(ctx, businessID, subject.ID)
		if err != nil {
			return nil, err
		}
		return json.Marshal(found)
	}
	if subject.Kind == event.Ticket {
		found, err := s.bookings.Ticket(ctx, businessID, subject.ID)
		if err != nil {
			return nil, err
		}
		return json.Marshal(found)
	}
	offer, err := s.Offer(ctx, businessID)
	if err != nil {
		return nil, err
	}
	found, err := s.rentals.ForBusiness(businessID).Reservation(ctx, offer.Slug, subject.ID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(found)
}

// Link reads the URL of the customer view from the service that stores the subject. If that service no longer has the
// subject, Link returns "".
func (s *Services) Link(ctx context.Context, businessID uuid.UUID, subject event.Subject) (string, error) {
	var url string
	var err error
	if subject.Kind == event.Reservation {
		url, err = s.rentals.Link(ctx, businessID, subject.ID)
	} else {
		url, err = s.bookings.Link(ctx, businessID, subject.Kind, subject.ID)
	}
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return url, err
}
