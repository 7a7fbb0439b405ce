package api

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// confirmation is the body of a 201 (interface.md §2, semantics.md §3).
type confirmation struct {
	Success         bool            `json:"success"`
	Booking         confirmed       `json:"booking"`
	PaymentRequired bool            `json:"paymentRequired"`
	Payment         *paymentDetails `json:"payment,omitempty"`
	ManageURL       string          `json:"manage_url,omitempty"` // lifecycle.md §5
}

type paymentDetails struct {
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
	// Quantity, UnitPrice and PriceChanges are documented in booking.BookedService.
	Quantity     int                   `json:"quantity,omitempty"`
	UnitPrice    json.Number           `json:"unit_price,omitempty"`
	PriceChanges []booking.PriceChange `json:"price_changes,omitempty"`
}

func (p *Public) render(c store.Confirmation) confirmation {
	services := make([]sold, len(c.Services))
	for i, s := range c.Services {
		services[i] = sold{
			Name: s.Name, VariantName: s.VariantName, DurationMinutes: s.DurationMinutes,
			Price:        c.Currency.JSON(s.Price),
			PriceChanges: s.PriceChanges,
		}
		if s.Quantity > 1 {
			services[i].Quantity, services[i].UnitPrice = s.Quantity, c.Currency.JSON(s.UnitPrice)
		}
	}
	told := confirmation{Success: true, ManageURL: p.links.URL(event.Booking, c.ID, c.LinkHash), Booking: confirmed{
		ID: c.ID, Date: c.LocalStart.Format(time.DateOnly),
		StartTime: c.LocalStart.Format(time.TimeOnly), EndTime: c.LocalEnd.Format(time.TimeOnly),
		Status: c.Status, Source: c.Source, Services: services,
		Total: c.Currency.JSON(c.Total), Currency: c.Currency.Code, PartySize: c.PartySize,
		StaffID: c.StaffID, StaffName: c.StaffName, SessionID: c.SessionID,
	}}
	if p := c.Payment; p != nil {
		told.PaymentRequired = true
		told.Payment = &paymentDetails{
			Provider: p.Provider, Amount: c.Currency.JSON(p.Amount), Currency: c.Currency.Code,
			Reference: p.Reference, ClientSecret: p.ClientSecret,
		}
	}
	return told
}
