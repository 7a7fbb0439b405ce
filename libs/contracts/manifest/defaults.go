package manifest

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The defaults of fields that are left out.
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

// valueOr returns the value if it is set, otherwise the other one.
func valueOr[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}

// OfferedLanguages returns the languages listed, or the default language alone.
func (m *Manifest) OfferedLanguages() []Language {
	if len(m.Languages) == 0 {
		return []Language{m.DefaultLanguage}
	}
	return m.Languages
}

// UsesServices reports whether the services module is on. By default it is on if services are listed.
func (m *Manifest) UsesServices() bool {
	return valueOr(valueOr(m.Modules, Modules{}).Services, len(m.Services) > 0)
}

// UsesEvents reports whether the events module is on. By default it is on if events are listed.
func (m *Manifest) UsesEvents() bool {
	return valueOr(valueOr(m.Modules, Modules{}).Events, len(m.Events) > 0)
}

// UsesRentals reports whether the rentals module is on. By default it is on if rentals are listed.
func (m *Manifest) UsesRentals() bool {
	return valueOr(valueOr(m.Modules, Modules{}).Rentals, len(m.Rentals) > 0)
}

// PaymentProviders returns the connected providers.
func (m *Manifest) PaymentProviders() []string { return valueOr(m.Payments, Payments{}).Providers }

// PaymentAccounts returns the business's accounts by provider.
func (m *Manifest) PaymentAccounts() map[string]Line { return valueOr(m.Payments, Payments{}).Accounts }

// PaymentModes returns the payment modes with the defaults filled in.
func (m *Manifest) PaymentModes() PaymentModes {
	modes := valueOr(valueOr(m.Payments, Payments{}).Modes, PaymentModes{})
	return PaymentModes{
		Services: cmp.Or(modes.Services, defaultPaymentMode),
		Rentals:  cmp.Or(modes.Rentals, defaultPaymentMode),
		Events:   cmp.Or(modes.Events, defaultPaymentMode),
	}
}

// HasActiveSubscription reports whether the subscription allows bookings.
func (m *Manifest) HasActiveSubscription() bool {
	return valueOr(m.Account, Account{}).Subscription != "inactive"
}

// IsOpen reports whether the business is open for bookings.
func (m *Manifest) IsOpen() bool { return valueOr(m.Open, true) }

// RemovalOn returns the date on which the account is scheduled for removal, or nil.
func (m *Manifest) RemovalOn() *timespan.Date { return valueOr(m.Account, Account{}).RemovalOn }

// IsSandbox reports whether the business is a sandbox, that is, for tests.
func (m *Manifest) IsSandbox() bool { return valueOr(m.Account, Account{}).Sandbox }

// BookingSettings returns the booking settings with the defaults filled in. PausedUntil may be nil.
func (m *Manifest) BookingSettings() Bookings {
	b := valueOr(m.Bookings, Bookings{})
	interval := valueOr(b.SlotIntervalMinutes, defaultSlotIntervalMinutes)
	advance := valueOr(b.AdvanceDays, defaultAdvanceDays)
	open := valueOr(b.MaxOpenPerCustomer, defaultMaxOpenPerCustomer)
	b.SlotIntervalMinutes, b.AdvanceDays, b.MaxOpenPerCustomer = &interval, &advance, &open
	return b
}

// ConfirmsAutomatically reports whether bookings need no confirmation by the owner.
func (b *Bookings) ConfirmsAutomatically() bool { return b.Confirm == "auto" }

// CancelUntilHours returns how many hours before the start a customer may still cancel; nil means never.
func (m *Manifest) CancelUntilHours() *int {
	return valueOr(m.SelfService, SelfService{}).CancelUntilHours.hoursOrNil()
}

// RescheduleUntilHours returns how many hours before the start a customer may still reschedule; nil means never.
func (m *Manifest) RescheduleUntilHours() *int {
	return valueOr(m.SelfService, SelfService{}).RescheduleUntilHours.hoursOrNil()
}

// NotificationSettings returns the settings of messages with the defaults filled in.
func (m *Manifest) NotificationSettings() Notifications {
	n := valueOr(m.Notifications, Notifications{})
	if n.RemindersHoursBefore == nil {
		n.RemindersHoursBefore = []int{defaultReminderHoursBefore}
	}
	if n.ReplyTo == "" && len(n.OwnerEmails) > 0 {
		n.ReplyTo = n.OwnerEmails[0]
	}
	return n
}

// KeepCustomersDays returns the days after the end of a booking until the customer's data is removed from it.
func (m *Manifest) KeepCustomersDays() int {
	return valueOr(valueOr(m.Privacy, Privacy{}).KeepCustomersDays, defaultKeepCustomersDays)
}

// PageSettings returns the settings of the booking page. An empty accent means the page's default colour.
func (m *Manifest) PageSettings() Page { return valueOr(m.Page, Page{}) }

// MaxAnswerLength returns the maximum number of characters of an answer, or 0 if the question is neither text nor
// textarea.
func (q *Question) MaxAnswerLength() int {
	switch q.Type {
	case "text":
		return valueOr(q.MaxLength, defaultTextLength)
	case "textarea":
		return valueOr(q.MaxLength, defaultTextareaLength)
	default:
		return 0
	}
}

// On returns the windows that begin on a weekday.
func (w *WeekHours) On(day time.Weekday) []timespan.Window {
	return [7][]timespan.Window{w.Sun, w.Mon, w.Tue, w.Wed, w.Thu, w.Fri, w.Sat}[day]
}

// IsActive reports whether the member is active; default true.
func (s *Staff) IsActive() bool { return valueOr(s.Active, true) }

// IsActive reports whether the service is active; default true.
func (s *Service) IsActive() bool { return valueOr(s.Active, true) }

// CapacityUnits returns the maximum number of bookings at the same time, for a service without staff.
func (s *Service) CapacityUnits() int { return valueOr(s.Capacity, 1) }

// IsPricedPerPerson reports whether the price is per person, which is the default for a class.
func (s *Service) IsPricedPerPerson() bool {
	return s.PricePer == PerPerson || s.PricePer == "" && len(s.Classes) > 0
}

// Requirement returns what is paid when booking; default none.
func (s *Service) Requirement() string {
	return cmp.Or(s.PaymentRequirement, defaultPaymentRequirement)
}

// Minutes returns the duration of the variant in minutes; default: that of the service.
func (v *Variant) Minutes(s *Service) int { return valueOr(v.DurationMinutes, s.DurationMinutes) }

// ListPrice returns the price of the variant; default: that of the service.
func (v *Variant) ListPrice(s *Service) Decimal { return valueOr(v.Price, s.Price) }

// IsActive reports whether the event is active; default true.
func (e *Event) IsActive() bool { return valueOr(e.Active, true) }

// IsPublic reports whether everyone sees the event in the list of events; default true.
func (e *Event) IsPublic() bool { return valueOr(e.Public, true) }

// Requirement returns what is paid when booking; default none.
func (e *Event) Requirement() string { return cmp.Or(e.PaymentRequirement, defaultPaymentRequirement) }

// IsActive reports whether the rental is active; default true.
func (r *Rental) IsActive() bool { return valueOr(r.Active, true) }

// Requirement returns what is paid when booking; default none.
func (r *Rental) Requirement() string { return cmp.Or(r.PaymentRequirement, defaultPaymentRequirement) }

// IsInService reports whether the unit can be rented; default true.
func (u *RentalUnit) IsInService() bool { return valueOr(u.InService, true) }
