package api

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// showBooking converts a booking into the JSON form of the internal API.
func (in *Internal) showBooking(b store.Booking) booking.Booking { return showBooking(in.links, b) }

func showBooking(links *link.Links, b store.Booking) booking.Booking {
	services := make([]booking.BookedService, len(b.Services))
	for i, s := range b.Services {
		services[i] = booking.BookedService{
			ID: s.ID, Name: s.Name, VariantID: s.VariantID, VariantName: s.VariantName,
			DurationMinutes: s.DurationMinutes, Price: b.Currency.JSON(s.Price), StaffID: s.StaffID,
			PriceChanges: s.PriceChanges, PackageName: s.PackageName,
		}
		if s.Quantity > 1 {
			services[i].Quantity, services[i].UnitPrice = s.Quantity, b.Currency.JSON(s.UnitPrice)
		}
	}
	return booking.Booking{
		ID: b.ID, Status: string(b.Status), Date: b.LocalStart.Format(time.DateOnly),
		StartTime: b.LocalStart.Format(time.TimeOnly), EndTime: b.LocalEnd.Format(time.TimeOnly),
		StartsAt: b.StartsAt, EndsAt: b.EndsAt, Timezone: b.Timezone, Services: services,
		StaffID: b.StaffID, StaffName: b.StaffName, ClassScheduleID: b.SessionID,
		StaffRequested: b.StaffRequested, IsPackage: b.IsPackage, StaffingMode: b.StaffingMode, PartySize: b.PartySize,
		Total: b.Currency.JSON(b.Total), Currency: b.Currency.Code, Source: b.Source,
		CustomerName: b.Customer.Name, CustomerEmail: b.Customer.Email, CustomerPhone: b.Customer.Phone,
		FormData: b.FormData, Locale: b.Locale, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, Sequence: b.Sequence,
		Payment: showPayment(b.Payment, b.Currency), Withdrawn: b.Withdrawn, Warnings: b.Warnings,
		Location: showLocation(links, b), CustomerAddress: b.Customer.Address,
	}
}

// showLocation converts the location of a booking, with its meeting link
// ([usecase.MeetingLink]). The result is nil if the booking has no location.
func showLocation(links *link.Links, b store.Booking) *booking.BookedLocation {
	rendered := showPlace(b.Location)
	if rendered != nil {
		rendered.Link = usecase.MeetingLink(links, b)
	}
	return rendered
}

// showPlace converts a location without its meeting link. The argument `at` may be nil.
func showPlace(at *store.Location) *booking.BookedLocation {
	if at == nil {
		return nil
	}
	return &booking.BookedLocation{ID: at.ID, Kind: at.Kind, Name: at.Name}
}

// showPayment converts an online payment into the JSON form of the internal
// API. The amounts are in the given currency. The result is nil if `p` is nil.
func showPayment(p *store.Payment, currency money.Currency) *booking.Payment {
	if p == nil {
		return nil
	}
	rendered := &booking.Payment{
		Provider: p.Provider, Status: p.Status, Amount: currency.JSON(p.Amount), Refunded: currency.JSON(p.Refunded),
		Policy: p.Policy,
	}
	switch p.Status {
	case store.PaymentCreating:
		rendered.Status = booking.PaymentOpen
	case store.PaymentOpen:
		due := p.DueAt.UTC()
		rendered.DueAt = &due
	case store.PaymentCancelling:
		rendered.Status = booking.PaymentCancelled
	}
	if p.DisputeStatus != "" {
		rendered.Dispute = &booking.Dispute{Status: string(p.DisputeStatus), Reason: p.DisputeReason}
	}
	if p.RefundStatus != "" {
		rendered.Refund = &booking.Refund{
			Amount: currency.JSON(p.RefundAmount), Percent: p.RefundPercent, Status: string(p.RefundStatus),
			Reason: p.RefundReason,
		}
	}
	return rendered
}

// showTicket converts an order of tickets into the JSON form of the internal API.
func showTicket(t store.Ticket) booking.Ticket {
	order := booking.Ticket{
		ID: t.ID, Status: t.Status, EventID: t.EventID, EventName: t.EventName, TierName: joinTierNames(t),
		Tiers: convertAll(t.Tiers, showTier(t.Currency)),
		Date:  t.LocalStart.Format(time.DateOnly), StartTime: t.LocalStart.Format(time.TimeOnly), Timezone: t.Timezone,
		Withdrawn: t.Withdrawn,
		Quantity:  t.Quantity, Total: toOptionalAmount(t.Currency, t.Total), Currency: t.Currency.Code,
		PriceChanges: t.PriceChanges,
		CustomerName: t.CustomerName, CustomerEmail: t.CustomerEmail, CustomerPhone: t.CustomerPhone,
		FormData: t.FormData,
		Locale:   t.Locale, CreatedAt: t.CreatedAt, CancelledAt: t.CancelledAt, FormerStarts: t.FormerStarts,
		Payment: showPayment(t.Payment, t.Currency),
	}
	if len(t.Tiers) == 1 {
		order.TierID = t.Tiers[0].ID
	}
	return order
}

func showTier(in money.Currency) func(store.SoldTier) booking.SoldTier {
	return func(tier store.SoldTier) booking.SoldTier {
		return booking.SoldTier{TierID: tier.ID, TierName: tier.Name, Quantity: tier.Quantity,
			Price: toOptionalAmount(in, tier.Price)}
	}
}

func joinTierNames(t store.Ticket) string {
	return strings.Join(convertAll(t.Tiers, func(tier store.SoldTier) string { return tier.Name }), ", ")
}

// toOptionalAmount converts an amount in minor units into a JSON number with the
// decimals of the currency. The result is nil if the argument `minor` is nil.
func toOptionalAmount(in money.Currency, minor *int64) *json.Number {
	if minor == nil {
		return nil
	}
	amount := in.JSON(*minor)
	return &amount
}

// showKey converts an API key into the JSON form of the internal API, without the secret.
func showKey(k store.Key) booking.Key {
	return booking.Key{
		ID: k.ID, Name: k.Name, Scope: k.Scope, Prefix: k.Prefix,
		CreatedAt: k.CreatedAt, CreatedBy: k.CreatedBy, ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt,
		RevokedAt: k.RevokedAt,
	}
}

// ShowEvents returns, for each kind of subject, the function that renders the subjects of
// booking's events as JSON. The JSON form is the same as in the answers of the internal API.
func ShowEvents(records *store.Store, links *link.Links) map[event.SubjectKind]eventlog.Show {
	return map[event.SubjectKind]eventlog.Show{
		event.Booking: showBookingEvents(records, links),
		event.Ticket:  showTicketEvents(records),
		event.Key:     eventlog.NewShow(records.DecodeKeys, showKey),
		// The stored data contain only counts, and they already have the form of the answer.
		event.Customer: func(_ context.Context, data []json.RawMessage) ([]json.RawMessage, error) { return data, nil },
	}
}

// convertAll converts each entry of the list with the function `show` and returns the results.
// The result for an empty list is an empty slice, not nil, so that the JSON is an empty array.
func convertAll[T, W any](list []T, show func(T) W) []W {
	rendered := make([]W, len(list))
	for i, entry := range list {
		rendered[i] = show(entry)
	}
	return rendered
}
