package usecase

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// OwnSales shows customers all their bookings, ticket orders and reservations with one business. A customer signs in by
// a mailed one-time link. The booking service stores the sign-ins and sessions, and notifications sends the mails.
type OwnSales struct {
	Sessions      *bookingclient.Sessions
	Reservations  *rental.Client
	Notifications *notifications.Client
}

// CheckAddress returns the canonical spelling of an e-mail address. Fault: invalid_parameter.
func (o *OwnSales) CheckAddress(address string) (string, error) { return customer.Check(address) }

// RequestLink requests the mail with the one-time link for an address. The calls and the result do not depend on
// whether the business knows the address: only notifications finds it out, after it has answered.
//
// The result is false if no mail can be sent at all. Faults: invalid_parameter; service_unavailable.
func (o *OwnSales) RequestLink(ctx context.Context, b *Business, email, language string) (bool, error) {
	id, err := o.Sessions.CreateSignIn(ctx, b.Snapshot.ID, booking.NewSignIn{Email: email, Locale: language})
	if err != nil {
		return false, err
	}
	err = o.Notifications.SendSignInLink(ctx, b.Snapshot.ID, id)
	if fault.Is(err, fault.Conflict) {
		return false, nil
	}
	return err == nil, err
}

// SignIn uses the token of a mailed link, once, and returns the new session. Fault: not_found for every invalid token.
func (o *OwnSales) SignIn(ctx context.Context, b *Business, token string) (*booking.NewSession, error) {
	return o.Sessions.Create(ctx, b.Snapshot.ID, token)
}

// SignOut ends a session, if it exists.
func (o *OwnSales) SignOut(ctx context.Context, b *Business, secret string) error {
	if secret == "" {
		return nil
	}
	return o.Sessions.End(ctx, b.Snapshot.ID, secret)
}

// OwnSale is a booking, ticket order or reservation of the signed-in customer. Token
// is the token of its link; it is "" if the link has expired.
type OwnSale struct {
	CustomerView
	Position booking.SalePosition
	Token    string
}

// OwnPage is one page of the sales of a customer: upcoming ones from the next on, or past ones from the latest on.
type OwnPage struct {
	IsPast bool
	Sales  []OwnSale
	Next   *booking.SalePosition // position after which the next page begins; nil for the last page
}

// List returns one page of the sales of a session's customer. The argument `after` is the position of the last sale on
// the page before; nil selects the first page. Faults: not_found if the customer is not signed in at this business;
// service_unavailable.
func (o *OwnSales) List(ctx context.Context, b *Business, secret string, isPast bool,
	after *booking.SalePosition) (*OwnPage, error) {
	request := booking.CustomerSalesRequest{Secret: secret, IsPast: isPast, After: after, Limit: booking.MaxSales}
	sales, err := o.Sessions.Sales(ctx, b.Snapshot.ID, request)
	if err != nil {
		return nil, err
	}
	reservations, err := o.Reservations.OwnReservations(ctx, b.Snapshot.Slug, b.Snapshot.ID, request)
	if err != nil {
		return nil, err
	}
	all := make([]OwnSale, 0, len(sales)+len(reservations))
	for _, s := range sales {
		all = append(all, newOwnSale(b, s))
	}
	for _, r := range reservations {
		all = append(all, OwnSale{Position: r.Position, Token: r.Token, CustomerView: CustomerView{Business: b,
			Reservation: &r.Reservation, Locale: r.Reservation.Locale, Timezone: r.Reservation.Timezone,
			Currency: r.Reservation.Currency}})
	}
	return cutPage(all, isPast), nil
}

func newOwnSale(b *Business, s booking.CustomerSale) OwnSale {
	own := OwnSale{Position: s.Position, Token: s.Token, CustomerView: CustomerView{Business: b}}
	if s.Kind == event.Ticket {
		own.Ticket = s.Ticket
		own.Locale, own.Timezone, own.Currency = s.Ticket.Locale, s.Ticket.Timezone, s.Ticket.Currency
		return own
	}
	own.Booking = s.Booking
	own.Locale, own.Timezone, own.Currency = s.Booking.Locale, s.Booking.Timezone, s.Booking.Currency
	return own
}

// cutPage sorts the sales of two services and keeps as many as one page shows.
func cutPage(all []OwnSale, isPast bool) *OwnPage {
	slices.SortFunc(all, func(a, b OwnSale) int {
		if isPast {
			return b.Position.Compare(a.Position)
		}
		return a.Position.Compare(b.Position)
	})
	page := &OwnPage{IsPast: isPast, Sales: all}
	if size := booking.MaxSales - 1; len(all) > size {
		page.Sales = all[:size]
		page.Next = &page.Sales[size-1].Position
	}
	return page
}

// FormatPosition returns a position as a text for the query of a URL, which [ParsePosition] parses: the start in
// microseconds since 1970, an underscore and the id.
func FormatPosition(p booking.SalePosition) string {
	return strconv.FormatInt(p.StartsAt.UnixMicro(), 10) + "_" + p.ID.String()
}

// ParsePosition parses the text of a position. It returns nil for any other text, so that the first page is shown.
func ParsePosition(text string) *booking.SalePosition {
	micros, id, _ := strings.Cut(text, "_")
	start, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || start < 0 || start > maxPositionMicros {
		return nil
	}
	sale, err := uuid.Parse(id)
	if err != nil {
		return nil
	}
	return &booking.SalePosition{StartsAt: time.UnixMicro(start).UTC(), ID: sale}
}

// maxPositionMicros is the year 9999 in microseconds, the last year that PostgreSQL and JSON both represent.
const maxPositionMicros = 253_370_764_800_000_000
