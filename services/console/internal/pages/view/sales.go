package view

import (
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// offersPlace reports whether the business uses the module of a menu entry, such as events or rentals.
func (p *Page) offersPlace(place Place) bool {
	switch place {
	case PlaceEvents:
		return p.Business.Modules.Events
	case PlaceRentals:
		return p.Business.Modules.Rentals
	case PlaceClasses:
		return p.Business.Modules.Services && slices.ContainsFunc(p.Business.Services, func(s catalog.Service) bool {
			return s.Active && s.IsClass()
		})
	default: // the other entries belong to no module
	}
	return true
}

// formatEventHours formats the start and the end of an event as times of day.
func (p *Page) formatEventHours(e *catalog.Event) string {
	return p.Words.Clock(toWallTime(e.Date.String(), e.Start.String()+":00")) + " – " +
		p.Words.Clock(toWallTime(e.Date.String(), e.End.String()+":00"))
}
