package offer

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/plan"
)

// affectedSales has the reservations and tickets that would conflict with a new offer. They are read at the same time
// as the conflicting bookings. Then the method addTo adds them to the [plan.Conflicts] that has the conflicting
// bookings.
type affectedSales struct {
	rentalAnswer    rental.ConflictsResponse
	ticketConflicts []plan.Tickets
}

func (s *affectedSales) addTo(o *plan.Conflicts) {
	o.IsIncomplete = o.IsIncomplete || s.rentalAnswer.More
	for _, r := range s.rentalAnswer.Conflicts {
		if o.Add(r.Already); len(o.Reservations) == plan.MaxListed {
			o.Omitted++
			continue
		}
		o.Reservations = append(o.Reservations, r)
	}
	for _, t := range s.ticketConflicts {
		if o.Add(t.IsExisting); len(o.Tickets) == plan.MaxListed {
			o.Omitted++
			continue
		}
		o.Tickets = append(o.Tickets, t)
	}
}

// findReservations asks the rental service which reservations conflict with the new offer. A reservation can conflict
// only if it occupies units.
func (s *affectedSales) findReservations(ctx context.Context, o *UseCases, business, snapshot *catalog.Snapshot) error {
	if len(business.Rentals) == 0 {
		return nil
	}
	answer, err := o.Rentals.FindConflicts(ctx, business.Slug, rental.ConflictsRequest{OfferVersion: business.Version,
		Offer: *snapshot})
	if err == nil {
		s.rentalAnswer = *answer
	}
	return err
}

// findTickets finds the sold tickets of future events that would conflict with the new offer.
func (s *affectedSales) findTickets(ctx context.Context, o *UseCases, business, snapshot *catalog.Snapshot) error {
	today := business.Today(o.Clock.Now())
	var ids []uuid.UUID
	for i := range business.Events {
		if e := &business.Events[i]; e.Date >= today && len(ids) < booking.MaxSalesEvents {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	sales, err := o.Bookings.Sales(ctx, business.ID, ids)
	if err != nil {
		return err
	}
	sold := make(map[uuid.UUID]booking.EventSales, len(sales.Events))
	for _, e := range sales.Events {
		sold[e.EventID] = e
	}
	for i := range business.Events {
		if e := &business.Events[i]; sold[e.ID].Sold > 0 {
			s.ticketConflicts = append(s.ticketConflicts, findAffectedTickets(business, snapshot, e, sold[e.ID])...)
		}
	}
	return nil
}

// findAffectedTickets returns the tickets of an event that would conflict with the new offer. All tickets conflict if
// the new offer has removed, deactivated or rescheduled the event. All tickets also conflict if the new capacity of the
// event is smaller than the number of sold tickets.
//
// Otherwise only the tickets of two kinds of tiers conflict: tiers that the new offer has removed, and tiers whose new
// capacity is smaller than the number of sold tickets.
func findAffectedTickets(before, snapshot *catalog.Snapshot, e *catalog.Event,
	eventSales booking.EventSales) []plan.Tickets {
	whole := plan.Tickets{EventID: e.ID, Event: e.Name, Date: e.Date, Sold: eventSales.Sold}
	if reason := findEventReason(snapshot, e, eventSales.Sold); reason != nil {
		whole.Reason, whole.IsExisting = *reason, findEventReason(before, e, eventSales.Sold) != nil
		return []plan.Tickets{whole}
	}
	var list []plan.Tickets
	for _, tier := range eventSales.Tiers {
		reason := findTierReason(snapshot, e, tier)
		if reason == nil || tier.Sold == 0 {
			continue
		}
		t := whole
		t.TierID, t.Tier, t.Sold = tier.TierID, findTierName(e, tier.TierID), tier.Sold
		if reason.Rule == availability.RuleRemoved {
			reason.Name = t.Tier
		}
		reason.Explain()
		t.Reason, t.IsExisting = *reason, findTierReason(before, e, tier) != nil
		list = append(list, t)
	}
	return list
}

// findEventReason returns the reason why all sold tickets of an event would conflict with an offer. findEventReason
// returns nil if not all tickets conflict; the tickets of a tier may still conflict.
func findEventReason(offer *catalog.Snapshot, e *catalog.Event, sold int) *availability.Reason {
	var reason *availability.Reason
	now := findEvent(offer, e.ID)
	switch {
	case now == nil || !offer.Modules.Events:
		reason = &availability.Reason{Rule: availability.RuleRemoved, Name: e.Name}
	case !now.Active:
		reason = &availability.Reason{Rule: availability.RuleInactive, Name: now.Name}
	case now.Date != e.Date || now.Start != e.Start:
		reason = &availability.Reason{Rule: availability.RuleMoved, Name: now.Name,
			From: &timespan.LocalDateTime{Date: now.Date, Time: now.Start}}
	case sold > now.TotalCapacity:
		reason = &availability.Reason{Rule: availability.RuleTooFew, Name: now.Name, Booked: sold,
			Offered: now.TotalCapacity}
	default:
		return nil
	}
	reason.Explain()
	return reason
}

func findTierReason(offer *catalog.Snapshot, e *catalog.Event, tierSales booking.TierSales) *availability.Reason {
	now := findEvent(offer, e.ID)
	if now == nil {
		return &availability.Reason{Rule: availability.RuleRemoved}
	}
	for _, tier := range now.Tiers {
		if tier.ID != tierSales.TierID {
			continue
		}
		if tierSales.Sold > tier.Capacity {
			return &availability.Reason{Rule: availability.RuleTooFew, Name: tier.Name, Booked: tierSales.Sold,
				Offered: tier.Capacity}
		}
		return nil
	}
	return &availability.Reason{Rule: availability.RuleRemoved}
}

func findTierName(e *catalog.Event, id uuid.UUID) string {
	for _, tier := range e.Tiers {
		if tier.ID == id {
			return tier.Name
		}
	}
	return id.String()
}

// findEvent finds an event in an offer by the event's id. It searches the list of events, so the offer needs no
// prepared index of ids.
func findEvent(offer *catalog.Snapshot, id uuid.UUID) *catalog.Event {
	i := slices.IndexFunc(offer.Events, func(e catalog.Event) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return &offer.Events[i]
}

// AffectsSales reports whether replacing the manifest `before` with the manifest `after` may affect sales or customers'
// data: the new manifest may conflict with sales, remove customers' data, or change the time zone, the currency or the
// address of future sales. AffectsSales returns false if only prices, texts and pictures differ, because a change of these never
// conflicts with an existing booking.
func AffectsSales(before, after *manifest.Manifest) (bool, error) {
	old, err := json.Marshal(removePrices(before))
	if err != nil {
		return false, err
	}
	wanted, err := json.Marshal(removePrices(after))
	return !bytes.Equal(old, wanted), err
}

// removePrices returns a copy of a manifest without its prices, texts and pictures, but with its addresses.
func removePrices(m *manifest.Manifest) *manifest.Manifest {
	rest := *m
	rest.Name, rest.LogoURL, rest.SocialLinks, rest.ActionButtons, rest.PricingRules = "", "", nil, nil, nil
	rest.Translations, rest.Page, rest.Notifications, rest.Logo = nil, nil, nil, ""
	rest.Contact, rest.Legal, rest.PolicyText = nil, nil, ""
	rest.Locations = copyList(m.Locations, func(l *manifest.Location) {
		l.Name, l.DirectionsHTML, l.Phone, l.Link, l.Translations = "", "", "", "", nil
		l.Geo = nil
	})
	rest.Staff = copyList(m.Staff, func(s *manifest.Staff) {
		s.Name, s.Category, s.DescriptionHTML, s.ImageURL, s.Translations = "", "", "", "", nil
		s.Photo = ""
	})
	rest.Services = copyList(m.Services, func(s *manifest.Service) {
		s.Name, s.Category, s.DescriptionHTML, s.ImageURL, s.Translations = "", "", "", "", nil
		s.Picture = ""
		s.Price, s.PricePer, s.PaymentRequirement, s.DepositValue = manifest.Decimal{}, "", "", nil
		s.Variants = copyList(s.Variants, func(v *manifest.Variant) { v.Name, v.Price, v.Translations = "", nil, nil })
	})
	rest.Events = copyList(m.Events, func(e *manifest.Event) {
		e.Name, e.DescriptionHTML, e.ImageURL, e.Picture, e.Translations = "", "", "", "", nil
		e.Tiers = copyList(
			e.Tiers,
			func(t *manifest.Tier) { t.Name, t.Price, t.Translations = "", manifest.Decimal{}, nil },
		)
	})
	rest.Rentals = copyList(m.Rentals, func(r *manifest.Rental) {
		r.Name, r.Category, r.DescriptionHTML, r.ImageURL, r.Translations = "", "", "", "", nil
		r.Picture = ""
		r.Price, r.PaymentRequirement, r.DepositValue = manifest.Decimal{}, "", nil
	})
	return &rest
}

// copyList returns a copy of a list, and applies the function `change` to each item of the copy. The items of the
// original list stay unchanged.
func copyList[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}
