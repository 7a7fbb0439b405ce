package usecase

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/pricelabel"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newBooking returns the booking to store for the evaluated request. The argument
// `id` is the id of the booking, and `c` is the assignment that the booking gets.
func (e evaluation) newBooking(id uuid.UUID, c availability.Assignment) store.NewBooking {
	q := e.question
	start, end, loc := time.Unix(c.During.Start, 0), time.Unix(c.During.End, 0), q.offer.Location()
	n := store.NewBooking{
		Details: store.Details{
			ID: id, Status: e.firstStatus(), StartsAt: start, EndsAt: end,
			LocalStart: store.WallClock(start, loc), LocalEnd: store.WallClock(end, loc), Timezone: q.offer.Timezone,
			StaffID: c.StaffID, StaffName: q.staffName(c), PartySize: q.request.PartySize,
			IsPackage: q.request.IsPackage, StaffingMode: q.request.StaffingMode,
			StaffRequested: q.request.StaffID != nil,
			Total:          e.total, Currency: q.offer.Money(), Source: q.request.Source, Warnings: e.warnings,
		},
		BusinessID: q.offer.ID, FirstBooking: e.isFirst,
		Customer: store.Customer{Name: q.request.CustomerName, Email: q.request.CustomerEmail,
			Phone: q.request.CustomerPhone},
		FormData: q.request.FormData, Locale: locale.MatchOr(q.request.Locale, q.offer.Languages,
			q.offer.DefaultLanguage),
		OfferVersion: q.offer.Version, Now: q.now, Parts: c.Parts, Payment: e.payment,
	}
	if q.by == actor.Page {
		n.MaxOpen = &q.offer.Bookings.MaxOpenPerCustomer
	}
	if c.Session != nil {
		n.SessionID, n.Capacity = &c.Session.ID, c.Session.Capacity
	}
	sold := q.packageName()
	for i, s := range q.services {
		n.Services = append(n.Services, store.SoldService{
			PackageName: sold,
			StaffID:     findPerformer(c, i),
			ID:          s.ID, Name: s.Name, VariantID: q.request.Variants[s.ID], VariantName: q.variantName(s),
			DurationMinutes: s.DurationMinutes, Price: e.quotes[i].Price, Quantity: e.quotes[i].Quantity,
			UnitPrice:    e.quotes[i].Unit,
			PriceChanges: pricelabel.ListChanges(q.offer, n.Locale, e.quotes[i]),
		})
	}
	return n
}

// packageName returns the name of the booked package in the default language
// of the business. It returns "" if the services are not sold as a package.
func (q question) packageName() string {
	if !q.isSoldByBusiness() {
		return ""
	}
	ids := make([]uuid.UUID, len(q.services))
	for i, s := range q.services {
		ids[i] = s.ID
	}
	if p := q.offer.PackageOf(ids, len(q.request.Variants) > 0); p != nil {
		return p.Name.Text
	}
	return ""
}

// findPerformer returns the staff member who serves the service with the given index.
// It returns nil if the assignment has one staff member for all services, or none.
func findPerformer(c availability.Assignment, service int) *uuid.UUID {
	if service < len(c.Performers) {
		return c.Performers[service]
	}
	return nil
}

// staffName returns the name of the assignment's staff member. It returns nil if the assignment has no staff member.
func (q question) staffName(c availability.Assignment) *string {
	if c.StaffID == nil {
		return nil
	}
	name := ""
	if member := q.offer.StaffMember(*c.StaffID); member != nil {
		name = member.Name
	}
	return &name
}

// confirmsImmediately reports whether the booking needs no manual confirmation. This
// is the case if the business confirms bookings automatically, or if the owner books.
func (q question) confirmsImmediately() bool {
	return q.offer.Bookings.AutoConfirm || q.by == actor.Owner
}

// firstStatus returns the status of a new booking. The status is confirmed if the booking
// needs neither a manual confirmation nor an online payment; otherwise it is pending.
func (e evaluation) firstStatus() state.State {
	if e.payment == nil && e.confirmsImmediately() {
		return state.Confirmed
	}
	return state.Pending
}

// variantName returns the name of the chosen variant of a service. It returns "" if the customer chose no variant.
func (q question) variantName(s *catalog.Service) string {
	chosen, ok := q.request.Variants[s.ID]
	if !ok {
		return ""
	}
	i := slices.IndexFunc(s.Variants, func(v catalog.Variant) bool { return v.ID == chosen })
	return s.Variants[i].Name
}
