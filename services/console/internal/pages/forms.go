package pages

import (
	"context"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

func (p *Pages) askReschedule(c *fiber.Ctx) error {
	page, b, err := p.findBooking(c)
	if err != nil {
		return err
	}
	form := view.RescheduleForm{Booking: *b, Date: b.Date, Time: b.StartTime[:len("15:04")], Back: readListQuery(c)}
	if b.Location != nil {
		form.Location = b.Location.ID.String()
	}
	if b.CustomerAddress != nil {
		form.Address = *b.CustomerAddress
	}
	return p.render(c, fiber.StatusOK, page, view.Reschedule(page, form))
}

func (p *Pages) reschedule(c *fiber.Ctx) error {
	form, err := web.Form(c)
	if err != nil {
		return err
	}
	page, b, err := p.findBooking(c)
	if err != nil {
		return err
	}
	m := view.RescheduleForm{
		Booking: *b, Date: form.Get("date"), Time: form.Get("time"), Staff: form.Get("staff"),
		Location: form.Get("location"), Address: parseAddress(form),
		Override: form.Get("override") == "yes", Back: readListQuery(c),
	}
	moved, err := p.rooms.Sales.Reschedule(withNotification(c, form), authorize.Principal(c), page.Business.Slug, b.ID,
		newReschedule(m))
	if err == nil {
		return redirectToBooking(c, page.Business, b.ID, chooseNotice("moved", moved))
	}
	status, ok := prepareRefusedForm(page, err, &m.FieldErrors)
	if !ok {
		return err
	}
	return p.render(c, status, page, view.Reschedule(page, m))
}

// newReschedule returns the change of a booking that a form requests. It omits a location and an address that the booking
// already has, so that the booking can keep an address that the business no longer serves.
func newReschedule(m view.RescheduleForm) booking.Reschedule {
	to := booking.Reschedule{Date: m.Date, Time: m.Time, Override: m.Override}
	if m.Staff != "" {
		to.StaffID = &m.Staff
	}
	if m.Location != "" && (m.Booking.Location == nil || m.Booking.Location.ID.String() != m.Location) {
		to.LocationID = &m.Location
	}
	if none := (booking.CustomerAddress{}); m.Address != none &&
		(m.Booking.CustomerAddress == nil || *m.Booking.CustomerAddress != m.Address) {
		to.Address = &m.Address
	}
	return to
}

// chooseNotice returns the id of the notice that a page shows after a booking was changed. The id is `done`. If the
// change breaks a rule that binds only customers, the id has the suffix "_warned".
func chooseNotice(done string, b *booking.Booking) string {
	if len(b.Warnings) > 0 {
		return done + "_warned"
	}
	return done
}

// withNotification returns the context for the request with which a form changes data in a service. If the person has
// chosen not to notify the customer, the context marks the request as silent.
func withNotification(c *fiber.Ctx, form url.Values) context.Context {
	if isSilent(form) {
		return actor.Silently(c.UserContext())
	}
	return c.UserContext()
}

// isSilent reports whether the person has unticked the box that notifies the customer. It returns false for a form
// without this box.
func isSilent(form url.Values) bool {
	return form.Get("notifies") == "yes" && form.Get("notify") != "yes"
}

// prepareRefusedForm prepares a form that a service has refused, so that the form can be shown again. It returns the
// HTTP status of the page. If an input causes the refusal, prepareRefusedForm writes the reason into `*fields`, under
// the name of this input. Otherwise prepareRefusedForm writes the reason into `page.ErrorText`. The second result is
// false if the person cannot solve the fault.
func prepareRefusedForm(page *view.Page, err error, fields *map[string]string) (int, bool) {
	f := fault.Of(err)
	field, sentence := "", faultTexts[f.Kind]
	switch f.Kind {
	case fault.InvalidParameter:
		name, _, _ := strings.Cut(f.Sentence, ":")
		field, sentence = inputNames[name], "check_field"
		if name == "customer_address" { // the chosen location needs the address
			sentence = "fill"
		}
	case fault.SlotUnavailable:
		field = "time"
	case fault.DateInPast:
		field = "date"
	case fault.Closed, fault.NotAStart:
		field = "time"
	case fault.NoStaffAvailable, fault.StaffNotFound:
		field = "staff"
	case fault.ServiceNotFound:
		field = "service"
	case fault.LocationNotFound:
		field = "location"
	case fault.OutsideArea:
		field = "postal_code"
	case fault.NotFound, fault.BusinessNotFound, fault.Internal, fault.Forbidden:
		return 0, false
	}
	if sentence == "" {
		return 0, false
	}
	if field != "" {
		*fields = map[string]string{field: page.Words.Say(sentence)}
		sentence = "check"
	}
	page.ErrorText = page.Words.Say(sentence)
	return f.Kind.Status, true
}

// inputNames maps the parameter names in error messages of the services to the input names of forms.
var inputNames = map[string]string{
	"date": "date", "time": "time", "staff_id": "staff", "party_size": "people", "customer_name": "name",
	"customer_email": "email",
	"customer_phone": "phone", "service_ids": "service", "variants": "service", "name": "name", "scope": "scope",
	"expires_at": "days", "shows": "shows",
	"rental_id": "rental", "start_date": "start", "end_date": "end", "start_time": "start_time", "end_time": "end_time",
	"quantity": "quantity", "location_id": "location", "customer_address": "street",
	"customer_address.street": "street", "customer_address.postal_code": "postal_code",
	"customer_address.city": "city", "customer_address.country": "country", "customer_address.note": "note",
	"address.street": "street", "address.postal_code": "postal_code", "address.city": "city",
	"address.country": "country", "address.note": "note",
}

// parseAddress reads the customer's address. It returns the zero address if at most the country is filled in.
func parseAddress(form url.Values) booking.CustomerAddress {
	read := func(name string) string { return strings.TrimSpace(form.Get(name)) }
	a := booking.CustomerAddress{Address: postal.Address{Street: read("street"), PostalCode: read("postal_code"),
		City: read("city")}, Note: read("note")}
	if a != (booking.CustomerAddress{}) {
		a.Country = read("country")
	}
	return a
}
