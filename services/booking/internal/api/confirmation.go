package api

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

func (p *Public) render(c store.Confirmation) publicapi.BookingConfirmation {
	services := make([]publicapi.BookedService, len(c.Services))
	for i, s := range c.Services {
		services[i] = publicapi.BookedService{
			Name: s.Name, VariantName: s.VariantName, DurationMinutes: s.DurationMinutes,
			Price:        c.Currency.JSON(s.Price),
			PriceChanges: s.PriceChanges,
		}
		if s.Quantity > 1 {
			services[i].Quantity, services[i].UnitPrice = s.Quantity, c.Currency.JSON(s.UnitPrice)
		}
	}
	manageURL := p.links.URL(event.Booking, c.ID, c.LinkHash)
	rendered := publicapi.BookingConfirmation{Success: true, ManageURL: manageURL, Booking: publicapi.Booking{
		ID: c.ID, Date: c.LocalStart.Format(time.DateOnly),
		StartTime: c.LocalStart.Format(time.TimeOnly), EndTime: c.LocalEnd.Format(time.TimeOnly),
		Status: string(c.Status), Source: c.Source, Services: services,
		Total: c.Currency.JSON(c.Total), Currency: c.Currency.Code, PartySize: c.PartySize,
		StaffID: c.StaffID, StaffName: c.StaffName, ClassScheduleID: c.SessionID,
	}}
	if l := c.Location; l != nil {
		rendered.Booking.Location = &publicapi.BookedLocation{ID: l.ID, Kind: l.Kind, Name: l.Name}
	}
	if p := c.Payment; p != nil {
		rendered.PaymentRequired = true
		rendered.Payment = publicapi.Payment{
			Provider: p.Provider, Amount: c.Currency.JSON(p.Amount), Currency: c.Currency.Code,
			Reference: p.Reference, ClientSecret: p.ClientSecret,
		}
	}
	return rendered
}
