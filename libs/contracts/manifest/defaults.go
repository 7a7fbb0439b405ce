package manifest

import (
	"cmp"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The defaults of omitted fields.
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

// valueOr returns the value to which the pointer points, or the fallback if the pointer is nil.
func valueOr[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}

// OfferedLanguages returns the listed languages. If none are listed, it returns only the default language.
func (m *Manifest) OfferedLanguages() []Language {
	if len(m.Languages) == 0 {
		return []Language{m.DefaultLanguage}
	}
	return m.Languages
}

// UsesServices reports whether the business offers services. The default is true if the manifest lists services.
func (m *Manifest) UsesServices() bool {
	return valueOr(valueOr(m.Modules, Modules{}).Services, len(m.Services) > 0)
}

// UsesEvents reports whether the business offers events. The default is true if the manifest lists events.
func (m *Manifest) UsesEvents() bool {
	return valueOr(valueOr(m.Modules, Modules{}).Events, len(m.Events) > 0)
}

// UsesRentals reports whether the business offers rentals. The default is true if the manifest lists rentals.
func (m *Manifest) UsesRentals() bool {
	return valueOr(valueOr(m.Modules, Modules{}).Rentals, len(m.Rentals) > 0)
}

// PaymentProviders returns the payment providers of the business.
func (m *Manifest) PaymentProviders() []string { return valueOr(m.Payments, Payments{}).Providers }

// PaymentAccounts returns the accounts of the business by payment provider.
func (m *Manifest) PaymentAccounts() map[string]Line { return valueOr(m.Payments, Payments{}).Accounts }

// PaymentModes returns the payment modes, with the default for each omitted mode.
func (m *Manifest) PaymentModes() PaymentModes {
	modes := valueOr(valueOr(m.Payments, Payments{}).Modes, PaymentModes{})
	return PaymentModes{
		Services: cmp.Or(modes.Services, defaultPaymentMode),
		Rentals:  cmp.Or(modes.Rentals, defaultPaymentMode),
		Events:   cmp.Or(modes.Events, defaultPaymentMode),
	}
}

// HasActiveSubscription reports whether the subscription of the business is active. Only then can customers book.
func (m *Manifest) HasActiveSubscription() bool {
	return valueOr(m.Account, Account{}).Subscription != "inactive"
}

// IsOpen reports whether the owner has opened the business for bookings.
func (m *Manifest) IsOpen() bool { return valueOr(m.Open, true) }

// RemovalOn returns the date on which the account is scheduled for removal. It returns nil if no removal is scheduled.
func (m *Manifest) RemovalOn() *timespan.Date { return valueOr(m.Account, Account{}).RemovalOn }

// IsSandbox reports whether the business is a sandbox for tests.
func (m *Manifest) IsSandbox() bool { return valueOr(m.Account, Account{}).Sandbox }

// BookingSettings returns the settings for bookings, with the defaults
// for omitted settings. PausedUntil is nil if bookings are not paused.
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

// CancelUntilHours returns how many hours before the start a customer may still cancel. Nil means never.
func (m *Manifest) CancelUntilHours() *int {
	return valueOr(m.SelfService, SelfService{}).CancelUntilHours.toHours()
}

// RescheduleUntilHours returns how many hours before the start a customer may still reschedule. Nil means never.
func (m *Manifest) RescheduleUntilHours() *int {
	return valueOr(m.SelfService, SelfService{}).RescheduleUntilHours.toHours()
}

// NotificationSettings returns the settings for messages, with the defaults for omitted settings.
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

// KeepCustomersDays returns the number of days between the end
// of a booking and the deletion of the customer's data from it.
func (m *Manifest) KeepCustomersDays() int {
	return valueOr(valueOr(m.Privacy, Privacy{}).KeepCustomersDays, defaultKeepCustomersDays)
}

// PageSettings returns the settings of the booking page. If Accent is empty, the page has its default color.
func (m *Manifest) PageSettings() Page { return valueOr(m.Page, Page{}) }

// MaxAnswerLength returns the maximal length of an answer in characters.
// It returns 0 if the type of the question is neither text nor textarea.
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

// On returns the opening windows that begin on the given weekday.
func (w *WeekHours) On(day time.Weekday) []timespan.Window {
	return [7][]timespan.Window{w.Sun, w.Mon, w.Tue, w.Wed, w.Thu, w.Fri, w.Sat}[day]
}

// IsActive reports whether the staff member is active. The default is true.
func (s *Staff) IsActive() bool { return valueOr(s.Active, true) }

// IsActive reports whether the service is active. The default is true.
func (s *Service) IsActive() bool { return valueOr(s.Active, true) }

// CapacityUnits returns the maximal number of bookings at the same time, for a service that needs no staff.
func (s *Service) CapacityUnits() int { return valueOr(s.Capacity, 1) }

// IsPricedPerPerson reports whether the price is for one person, not for one booking. The default is true for a class.
func (s *Service) IsPricedPerPerson() bool {
	return s.PricePer == PerPerson || s.PricePer == "" && len(s.Classes) > 0
}

// Requirement returns which part of the price the customer pays online at the booking. The default is none.
func (s *Service) Requirement() string {
	return cmp.Or(s.PaymentRequirement, defaultPaymentRequirement)
}

// Minutes returns the duration of the variant in minutes. The default is the duration of the service.
func (v *Variant) Minutes(s *Service) int { return valueOr(v.DurationMinutes, s.DurationMinutes) }

// ListPrice returns the price of the variant. The default is the price of the service.
func (v *Variant) ListPrice(s *Service) Decimal { return valueOr(v.Price, s.Price) }

// IsActive reports whether the event is active. The default is true.
func (e *Event) IsActive() bool { return valueOr(e.Active, true) }

// IsPublic reports whether the list of events contains the event. The default is true.
func (e *Event) IsPublic() bool { return valueOr(e.Public, true) }

// Requirement returns which part of the price the customer pays online at the order. The default is none.
func (e *Event) Requirement() string { return cmp.Or(e.PaymentRequirement, defaultPaymentRequirement) }

// IsActive reports whether the rental is active. The default is true.
func (r *Rental) IsActive() bool { return valueOr(r.Active, true) }

// Requirement returns which part of the price the customer pays online at the reservation. The default is none.
func (r *Rental) Requirement() string { return cmp.Or(r.PaymentRequirement, defaultPaymentRequirement) }

// IsInService reports whether the unit can be rented. The default is true.
func (u *RentalUnit) IsInService() bool { return valueOr(u.InService, true) }
