package desk

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// confirmation is the body of a 201 (interface.md §2, semantics.md §3).
type confirmation struct {
	Success         bool      `json:"success"`
	Booking         confirmed `json:"booking"`
	PaymentRequired bool      `json:"paymentRequired"`
	Payment         *toPay    `json:"payment,omitempty"`
}

// toPay is what the customer's browser pays by.
type toPay struct {
	Provider     string      `json:"provider"`
	Amount       json.Number `json:"amount"`
	Currency     string      `json:"currency"`
	Reference    string      `json:"reference"`
	ClientSecret string      `json:"client_secret"`
}

type confirmed struct {
	ID        uuid.UUID   `json:"id"`
	Date      string      `json:"date"`
	StartTime string      `json:"start_time"`
	EndTime   string      `json:"end_time"`
	Status    state.State `json:"status"`
	Source    string      `json:"source"`
	Services  []sold      `json:"services"`
	Total     json.Number `json:"total"`
	Currency  string      `json:"currency"`
	PartySize int         `json:"party_size"`
	StaffID   *uuid.UUID  `json:"staff_id"`
	StaffName *string     `json:"staff_name"`
	SessionID *uuid.UUID  `json:"class_schedule_id,omitempty"`
}

type sold struct {
	Name            string      `json:"name"`
	VariantName     string      `json:"variant_name,omitempty"`
	DurationMinutes int         `json:"duration_minutes"`
	Price           json.Number `json:"price"`
}

// render writes what the customer is told of a booking. It names nobody but the staff member, so that it may be kept
// for an idempotency key. intent is its charge, nil where nothing is paid online.
func render(b store.NewBooking, currency money.Currency, intent *payment.Intent) ([]byte, error) {
	start, end := b.StartsAt.In(b.Location), b.EndsAt.In(b.Location)
	services := make([]sold, len(b.Services))
	for i, s := range b.Services {
		services[i] = sold{Name: s.Name, VariantName: s.VariantName, DurationMinutes: s.DurationMinutes, Price: currency.JSON(s.Price)}
	}
	told := confirmation{Success: true, Booking: confirmed{
		ID: b.ID, Date: start.Format(time.DateOnly), StartTime: start.Format(time.TimeOnly), EndTime: end.Format(time.TimeOnly),
		Status: state.Pending, Source: b.Source, Services: services,
		Total: currency.JSON(b.Total), Currency: b.Currency, PartySize: b.PartySize,
		StaffID: b.StaffID, StaffName: b.StaffName,
	}}
	if b.Session != nil {
		told.Booking.SessionID = &b.Session.ID
	}
	if intent != nil {
		told.PaymentRequired = true
		told.Payment = &toPay{
			Provider: b.Payment.Provider, Amount: currency.JSON(b.Payment.Amount), Currency: b.Currency,
			Reference: intent.Reference, ClientSecret: intent.ClientSecret,
		}
	}
	return json.Marshal(told)
}
