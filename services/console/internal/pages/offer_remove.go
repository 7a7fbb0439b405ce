package pages

import (
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// askRemoval returns the handler that asks for confirmation before an object is removed. The page shows how many
// bookings and other objects the removal affects.
func (p *Pages) askRemoval(k offerKind) fiber.Handler {
	return func(c *fiber.Ctx) error {
		o, err := p.loadOfferPage(c, k.section, 0)
		if err != nil {
			return err
		}
		return p.showRemoval(c, fiber.StatusOK, k, o)
	}
}

func (p *Pages) showRemoval(c *fiber.Ctx, status int, k offerKind, o *offerPage) error {
	object, _, err := k.findObject(c, o)
	if err != nil {
		return err
	}
	key, _ := object["key"].(string)
	removal, _ := document.Remove(document.Clone(o.fields), k.list, key)
	r := view.OfferRemoval{
		Offering: o.about, Name: k.nameObject(o, object), Action: "/offer/" + k.section + "/" + key + "/remove",
		Back: "/offer/" + k.section + "/" + key,
	}
	if r.Losses, err = p.describeFutureSales(c, k, o, key); err != nil {
		return err
	}
	if k.list == locationsKind.list {
		r.Losses = append(r.Losses, describeLocationRemoval(o, removal)...)
		return p.render(c, status, o.page, view.RemoveOffer(o.page, r))
	}
	for _, line := range []struct {
		sentence string
		n        int
	}{
		{"offer_loses_services", removal.Services}, {"offer_loses_off", removal.DisabledServices},
		{"offer_loses_classes", removal.Classes},
		{"offer_loses_rules", removal.Rules - removal.RemovedRules}, {"offer_loses_rules_gone", removal.RemovedRules},
		{"offer_loses_questions", removal.Questions - removal.RemovedQuestions},
		{"offer_loses_questions_gone", removal.RemovedQuestions},
		{"offer_loses_blocks", removal.Blocks}, {"offer_loses_upsells", removal.Upsells},
	} {
		if line.n > 0 {
			r.Losses = append(r.Losses, o.page.Words.Count(line.sentence, line.n))
		}
	}
	if removal.Packages > 0 {
		r.Losses = append(r.Losses, o.page.Words.With("offer_loses_packages", "Count",
			o.page.Words.Number(removal.Packages)))
	}
	return p.render(c, status, o.page, view.RemoveOffer(o.page, r))
}

// describeLocationRemoval returns texts with the numbers of the objects that the removal of a location changes.
func describeLocationRemoval(o *offerPage, removal document.Removal) []string {
	var losses []string
	for _, line := range []struct {
		sentence string
		n        int
	}{
		{"offer_loses_offered", removal.Services - removal.DisabledServices},
		{"offer_loses_nowhere", removal.DisabledServices},
		{"offer_loses_workers", removal.Members},
		{"offer_loses_takes_place", removal.Classes + removal.Events + removal.Rentals},
	} {
		if line.n > 0 {
			losses = append(losses, o.page.Words.With(line.sentence, "Count", o.page.Words.Number(line.n)))
		}
	}
	return losses
}

// maxCounted is the maximum number of bookings, orders or reservations that the confirmation page counts.
const maxCounted = 1000

// describeFutureSales returns texts with the numbers of future bookings, tickets or reservations of an object. The
// removal of the object cancels none of the bookings, tickets or reservations.
func (p *Pages) describeFutureSales(c *fiber.Ctx, k offerKind, o *offerPage, key string) ([]string, error) {
	today := o.page.Business.Today(o.page.Now)
	filter := booking.Filter{From: &today}
	id := findObjectID(o.offer.Manifest, k.list, key)
	switch k.list {
	case "services":
		filter.ServiceID = &id
	case "staff":
		filter.StaffID = &id
	case "events":
		return p.describeFutureTickets(c, o, id)
	case "rentals":
		return p.describeFutureReservations(c, o, id)
	case "locations":
		filter.LocationIDs = []uuid.UUID{id}
	default:
		return nil, nil
	}
	n := 0
	for _, status := range []string{booking.StatusPending, booking.StatusConfirmed} {
		filter.Status = status
		list, err := p.rooms.Sales.ListBookings(c.UserContext(), authorize.Principal(c), o.page.Business.Slug, filter,
			request.Page{Limit: maxCounted})
		if err != nil {
			return nil, err
		}
		n += len(list.Bookings)
		if list.NextCursor != "" {
			return []string{o.page.Words.Count("offer_loses_bookings_many", n)}, nil
		}
	}
	return []string{o.page.Words.Count("offer_loses_bookings", n)}, nil
}

// describeFutureTickets returns a message text with the number of sold tickets of an event.
func (p *Pages) describeFutureTickets(c *fiber.Ctx, o *offerPage, event uuid.UUID) ([]string, error) {
	list, err := p.rooms.Sales.ListTickets(c.UserContext(), authorize.Principal(c), o.page.Business.Slug,
		booking.TicketFilter{EventID: &event}, request.Page{Limit: maxCounted})
	if err != nil {
		return nil, err
	}
	n := 0
	for _, order := range list.Tickets {
		if order.Status != booking.StatusCancelled {
			n += order.Quantity
		}
	}
	return []string{o.page.Words.Count("offer_loses_tickets", n)}, nil
}

// describeFutureReservations returns a message text with the number of a rental's reservations that have not ended.
func (p *Pages) describeFutureReservations(c *fiber.Ctx, o *offerPage, thing uuid.UUID) ([]string, error) {
	today := o.page.Business.Today(o.page.Now)
	list, err := p.rooms.Sales.ListReservations(c.UserContext(), authorize.Principal(c), o.page.Business.Slug,
		rental.Filter{From: &today}, request.Page{Limit: maxCounted})
	if err != nil {
		return nil, err
	}
	n := 0
	for _, r := range list.Reservations {
		if r.RentalID == thing && r.Status != rental.StatusCancelled && r.Status != rental.StatusReturned {
			n++
		}
	}
	return []string{o.page.Words.Count("offer_loses_reservations", n)}, nil
}

// findObjectID returns the id of an object of the manifest. The other services use this id; the manifest has only the
// object's key.
func findObjectID(m *manifest.Manifest, list, key string) uuid.UUID {
	business := m.BusinessID()
	switch list {
	case "services":
		for i := range m.Services {
			if string(m.Services[i].Key) == key {
				return m.Services[i].ObjectID(business)
			}
		}
	case "staff":
		for i := range m.Staff {
			if string(m.Staff[i].Key) == key {
				return m.Staff[i].ObjectID(business)
			}
		}
	case "events":
		for i := range m.Events {
			if string(m.Events[i].Key) == key {
				return m.Events[i].ObjectID(business)
			}
		}
	case "locations":
		for i := range m.Locations {
			if string(m.Locations[i].Key) == key {
				return m.Locations[i].ObjectID(business)
			}
		}
	case "rentals":
		for i := range m.Rentals {
			if string(m.Rentals[i].Key) == key {
				return m.Rentals[i].ObjectID(business)
			}
		}
	}
	return uuid.Nil
}

// removeOffer returns the handler that removes an object from the offer. The handler starts from the version that the
// confirmation page showed.
func (p *Pages) removeOffer(k offerKind) fiber.Handler {
	return func(c *fiber.Ctx) error {
		posted, err := web.Form(c)
		if err != nil {
			return err
		}
		o, err := p.loadOfferPage(c, k.section, parseVersion(posted.Get("base")))
		if err != nil {
			return err
		}
		if _, found := document.Remove(o.fields, k.list, c.Params("id")); !found {
			return fault.New(fault.NotFound, "There is nothing at this path.")
		}
		return p.publishOffer(c, o, submission{
			posted: posted, result: &form.Result{}, back: "/offer/" + k.section,
			action:         string(c.Request().URI().Path()),
			findEditedPath: func(document.Fields) string { return "-" },
			showForm: func(status int, _ map[string]string) error {
				fresh, err := p.loadOfferPage(c, k.section, 0)
				if err != nil {
					return err
				}
				fresh.page.ErrorText, fresh.about.Problems = o.page.ErrorText, o.about.Problems
				return p.showRemoval(c, status, k, fresh)
			},
		})
	}
}
