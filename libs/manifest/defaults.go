package manifest

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Defaults of values left out.
const (
	defaultSlotIntervalMinutes = 15
	defaultAdvanceDays         = 365
	defaultMaxOpenPerCustomer  = 20
	defaultReminderHoursBefore = 24
	defaultKeepCustomersDays   = 730
	defaultTextLength          = 200
	defaultTextareaLength      = 2000
	defaultPaymentMode         = "at_door"
	defaultPaymentRequirement  = "none"
)

// or is the value that was written, else another.
func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// OfferedLanguages are the languages listed, or the default language alone.
func (m *Manifest) OfferedLanguages() []Language {
	if len(m.Languages) == 0 {
		return []Language{m.DefaultLanguage}
	}
	return m.Languages
}

// UsesServices reports whether the services module is on; left out, it is where services are listed.
func (m *Manifest) UsesServices() bool {
	return or(or(m.Modules, Modules{}).Services, len(m.Services) > 0)
}

// UsesEvents reports whether the events module is on; left out, it is where events are listed.
func (m *Manifest) UsesEvents() bool {
	return or(or(m.Modules, Modules{}).Events, len(m.Events) > 0)
}

// UsesRentals reports whether the rentals module is on; left out, it is where rentals are listed.
func (m *Manifest) UsesRentals() bool {
	return or(or(m.Modules, Modules{}).Rentals, len(m.Rentals) > 0)
}

// PaymentProviders are the connected providers.
func (m *Manifest) PaymentProviders() []string { return or(m.Payments, Payments{}).Providers }

// PaymentAccounts are the business's accounts by provider.
func (m *Manifest) PaymentAccounts() map[string]Line { return or(m.Payments, Payments{}).Accounts }

// PaymentModes are the modes with those left out filled in.
func (m *Manifest) PaymentModes() PaymentModes {
	modes := or(or(m.Payments, Payments{}).Modes, PaymentModes{})
	return PaymentModes{
		Services: cmp.Or(modes.Services, defaultPaymentMode),
		Rentals:  cmp.Or(modes.Rentals, defaultPaymentMode),
		Events:   cmp.Or(modes.Events, defaultPaymentMode),
	}
}

// SubscriptionActive reports whether bookings are accepted as far as the subscription goes.
func (m *Manifest) SubscriptionActive() bool {
	return or(m.Account, Account{}).Subscription != "inactive"
}

// IsOpen reports whether the business is open for bookings.
func (m *Manifest) IsOpen() bool { return or(m.Open, true) }

// RemovalOn is the date on which the account is to be removed, or nil.
func (m *Manifest) RemovalOn() *timespan.Date { return or(m.Account, Account{}).RemovalOn }

// Sandbox reports whether the business is for trying things out.
func (m *Manifest) Sandbox() bool { return or(m.Account, Account{}).Sandbox }

// BookingSettings are the booking settings, every one of them set but PausedUntil.
func (m *Manifest) BookingSettings() Bookings {
	b := or(m.Bookings, Bookings{})
	interval := or(b.SlotIntervalMinutes, defaultSlotIntervalMinutes)
	advance := or(b.AdvanceDays, defaultAdvanceDays)
	open := or(b.MaxOpenPerCustomer, defaultMaxOpenPerCustomer)
	b.SlotIntervalMinutes, b.AdvanceDays, b.MaxOpenPerCustomer = &interval, &advance, &open
	return b
}

// ConfirmsAtOnce reports whether bookings need no confirmation by the owner.
func (b *Bookings) ConfirmsAtOnce() bool { return b.Confirm == "auto" }

// CancelUntilHours is how many hours before the start a customer may still cancel; nil: never.
func (m *Manifest) CancelUntilHours() *int {
	return or(m.SelfService, SelfService{}).CancelUntilHours.orStart()
}

// RescheduleUntilHours is how many hours before the start a customer may still move; nil: never.
func (m *Manifest) RescheduleUntilHours() *int {
	return or(m.SelfService, SelfService{}).RescheduleUntilHours.orStart()
}

// NotificationSettings are the settings of messages with those left out filled in.
func (m *Manifest) NotificationSettings() Notifications {
	n := or(m.Notifications, Notifications{})
	if n.RemindersHoursBefore == nil {
		n.RemindersHoursBefore = []int{defaultReminderHoursBefore}
	}
	if n.ReplyTo == "" && len(n.OwnerEmails) > 0 {
		n.ReplyTo = n.OwnerEmails[0]
	}
	return n
}

// KeepCustomersDays is how many days after its end a booking keeps who made it.
func (m *Manifest) KeepCustomersDays() int {
	return or(or(m.Privacy, Privacy{}).KeepCustomersDays, defaultKeepCustomersDays)
}

// PageSettings are the settings of the booking page; a colour left out is the page's own.
func (m *Manifest) PageSettings() Page { return or(m.Page, Page{}) }

// Longest is how many characters an answer may have; 0 where the type of the question decides.
func (q *Question) Longest() int {
	switch q.Type {
	case "text":
		return or(q.MaxLength, defaultTextLength)
	case "textarea":
		return or(q.MaxLength, defaultTextareaLength)
	default:
		return 0
	}
}

// On returns the windows that begin on a weekday.
func (w *WeekHours) On(day time.Weekday) []timespan.Window {
	return [7][]timespan.Window{w.Sun, w.Mon, w.Tue, w.Wed, w.Thu, w.Fri, w.Sat}[day]
}

// IsActive reports whether the member is active, as by default.
func (s *Staff) IsActive() bool { return or(s.Active, true) }

// IsActive reports whether the service is active, as by default.
func (s *Service) IsActive() bool { return or(s.Active, true) }

// Lanes is how many bookings of a service without staff fit at the same time.
func (s *Service) Lanes() int { return or(s.Capacity, 1) }

// IsPricedPerPerson reports whether the price is of one person, as by default of a class.
func (s *Service) IsPricedPerPerson() bool {
	return s.PricePer == PerPerson || s.PricePer == "" && len(s.Classes) > 0
}

// Requirement is what is paid when booking; none by default.
func (s *Service) Requirement() string {
	return cmp.Or(s.PaymentRequirement, defaultPaymentRequirement)
}

// Minutes is the variant's duration, the service's where it states none.
func (v *Variant) Minutes(s *Service) int { return or(v.DurationMinutes, s.DurationMinutes) }

// ListPrice is the variant's price, the service's where it states none.
func (v *Variant) ListPrice(s *Service) Decimal { return or(v.Price, s.Price) }

// IsActive reports whether the event is active, as by default.
func (e *Event) IsActive() bool { return or(e.Active, true) }

// IsPublic reports whether the event is listed for everyone, as by default.
func (e *Event) IsPublic() bool { return or(e.Public, true) }

// Requirement is what is paid when booking; none by default.
func (e *Event) Requirement() string { return cmp.Or(e.PaymentRequirement, defaultPaymentRequirement) }

// IsActive reports whether the rental is active, as by default.
func (r *Rental) IsActive() bool { return or(r.Active, true) }

// Requirement is what is paid when booking; none by default.
func (r *Rental) Requirement() string { return cmp.Or(r.PaymentRequirement, defaultPaymentRequirement) }

// IsInService reports whether the unit can be rented at all, as by default.
func (u *RentalUnit) IsInService() bool { return or(u.InService, true) }
