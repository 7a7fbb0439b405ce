// Package catalog holds the types of the catalog service's internal API: the [Offer]
// of a business, and the lists for owners. It has no client and does no I/O, so that
// packages without I/O may import it. The client is libs/contracts/catalogclient.
package catalog

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// Offer is the published state of a business as the other services read it. Ids are
// resolved, windows are parsed, prices are in minor units, defaults are applied, and long
// texts are left out. It is sent as JSON by GET /internal/offers/{slug}. The receiver
// calls [Offer.Prepare] once. After that an Offer is shared by readers and never changed.
type Offer struct {
	ID       uuid.UUID `json:"id"`
	Slug     string    `json:"slug"`
	Version  int64     `json:"version"`
	Name     string    `json:"name"`
	Currency string    `json:"currency"` // ISO 4217
	Timezone string    `json:"timezone"` // IANA name
	// NameTranslations are the names by language; see [Offer.NameIn].
	NameTranslations map[string]string `json:"name_translations,omitempty"`

	DefaultLanguage string   `json:"default_language"`
	Languages       []string `json:"languages"`
	Modules         Modules  `json:"modules"`
	Payments        Payments `json:"payments"`
	Account         Account  `json:"account"`
	Bookings        Bookings `json:"bookings"`
	// NotYetOpen reports that the owner has not opened the business: customers see no offers and cannot book.
	NotYetOpen bool `json:"not_yet_open,omitempty"`

	CancellationPolicy []CancellationRule `json:"cancellation_policy"` // each hours_before once, in the owner's order
	CoolingOffHours    int                `json:"cooling_off_hours"`
	SelfService        SelfService        `json:"self_service"`
	Notifications      Notifications      `json:"notifications"`
	Privacy            Privacy            `json:"privacy"`
	Page               Page               `json:"page"`
	// Form holds the questions of the booking page, in the owner's order.
	Form []Question `json:"form"`
	// FormEnforceAPI reports that bookings with API keys must answer the required questions.
	FormEnforceAPI bool `json:"form_enforce_api,omitempty"`

	Hours     WeekHours     `json:"hours"`
	Overrides []DayOverride `json:"overrides"` // by date, each date once
	Blocks    []Block       `json:"blocks"`
	Staff     []Staff       `json:"staff"`              // in Auto-Assign order: by order, name, id
	Services  []Service     `json:"services"`           // in display order
	Packages  []Package     `json:"packages,omitempty"` // in the owner's order
	Events    []Event       `json:"events"`
	Rentals   []Rental      `json:"rentals"`
	Rules     []Rule        `json:"pricing_rules"` // in the order in which they apply: priority, then key
	// PriceNeeds are the inputs that the rules need. They must be known before the price of a purchase is final.
	PriceNeeds []rule.Input `json:"price_needs"`

	location *time.Location
	money    money.Currency
	services index
	staff    index
	events   index
	rentals  index
}

// WeekHours are the windows that start on each weekday, indexed by [time.Weekday]; nil or empty means closed.
type WeekHours [7][]timespan.Window

// Modules are the parts of the platform that the business uses.
type Modules struct {
	Services bool `json:"services"`
	Events   bool `json:"events"`
	Rentals  bool `json:"rentals"`
}

// Payment modes (semantics.md §3).
const (
	ModeOnline         = "online"
	ModeAtDoor         = "at_door"
	ModeCustomerChoice = "customer_choice"
)

// Payments are the payment settings of the business.
type Payments struct {
	Providers []string          `json:"providers"` // identifiers of connected providers; empty means none
	Modes     PaymentModes      `json:"modes"`
	Accounts  map[string]string `json:"accounts"` // provider → the business's connected account
}

// PaymentModes holds the payment mode of each kind of offer.
type PaymentModes struct {
	Services string `json:"services"`
	Rentals  string `json:"rentals"`
	Events   string `json:"events"`
}

// Account is the state of the business's account: its subscription and its removal.
type Account struct {
	SubscriptionActive bool           `json:"subscription_active"`
	RemovalOn          *timespan.Date `json:"removal_on"` // if set, bookings are already refused
	Sandbox            bool           `json:"sandbox"`    // no payments are taken, and no messages are sent
}

// Bookings are the business's booking settings.
type Bookings struct {
	PausedUntil         *timespan.Date `json:"paused_until"` // paused while today is before it
	SlotIntervalMinutes int            `json:"slot_interval_minutes"`
	MinNoticeMinutes    int            `json:"min_notice_minutes"`
	AdvanceDays         int            `json:"advance_days"`
	// AutoConfirm confirms bookings immediately, or with online payment as soon as they are paid.
	AutoConfirm        bool `json:"auto_confirm"`
	MaxOpenPerCustomer int  `json:"max_open_per_customer"` // per e-mail address, for the booking page
}

// CancellationRule is the refund for a cancellation at least HoursBefore hours before the start (lifecycle.md §4).
type CancellationRule struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

// SelfService holds how many hours before the start customers may
// still cancel or reschedule with their link. null: they never may.
type SelfService struct {
	CancelUntilHours     *int `json:"cancel_until_hours"`
	RescheduleUntilHours *int `json:"reschedule_until_hours"`
}

// Notifications are the settings of messages: recipients, reminders and the owner's additions.
type Notifications struct {
	OwnerEmails          []string `json:"owner_emails"`
	ReplyTo              string   `json:"reply_to"`               // "": replies are not read
	RemindersHoursBefore []int    `json:"reminders_hours_before"` // empty: no reminders
	// Notes are the owner's texts by kind of message, with the kinds of lifecycle.md §2.
	Notes map[string]Note `json:"notes,omitempty"`
}

// Note is a plain text of the owner, in the default language, with translations by language.
type Note struct {
	Text         string            `json:"text"`
	Translations map[string]string `json:"translations,omitempty"`
}

// Privacy is the retention time of customers' data.
type Privacy struct {
	KeepCustomersDays int `json:"keep_customers_days"` // counted from the end of a booking (lifecycle.md §6)
}

// Page is the appearance of the business's booking page, and the sites that may embed it (pages.md).
type Page struct {
	Accent       string   `json:"accent"`        // #rrggbb, dark enough for white text; "": the default
	EmbedOrigins []string `json:"embed_origins"` // of the web pages that may embed it
	AboutHTML    string   `json:"about_html"`    // sanitized; "": no text
	// AboutTranslations are the sanitized translations of about_html by language.
	AboutTranslations map[string]string `json:"about_translations,omitempty"`
}

// DayOverride replaces the windows that start on one date. Without windows the date is closed.
type DayOverride struct {
	Date  timespan.Date     `json:"date"`
	Hours []timespan.Window `json:"hours"`
}

// Block is a half-open span of blocked time on the business's local clock.
type Block struct {
	From     timespan.LocalDateTime `json:"from"`
	To       timespan.LocalDateTime `json:"to"`
	StaffIDs []uuid.UUID            `json:"staff_ids"`        // empty: the whole business
	Reason   string                 `json:"reason,omitempty"` // the owner's note, never shown to customers
}

// Staff is one staff member.
type Staff struct {
	ID        uuid.UUID     `json:"id"`
	Key       string        `json:"key"`
	Name      string        `json:"name"`
	Active    bool          `json:"active"`
	Order     int           `json:"order"`
	Hours     *WeekHours    `json:"hours"` // null: the business's hours; empty: only overrides
	Overrides []DayOverride `json:"overrides"`
	// NameTranslations are the names by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// Payment requirements.
const (
	RequirementNone           = "none"
	RequirementFull           = "full"
	RequirementDepositPercent = "deposit_percent"
	RequirementDepositFixed   = "deposit_fixed"
)

// Service is one bookable service.
type Service struct {
	ID                  uuid.UUID        `json:"id"`
	Key                 string           `json:"key"`
	Name                string           `json:"name"`
	Active              bool             `json:"active"`
	DurationMinutes     int              `json:"duration_minutes"`
	BufferBeforeMinutes int              `json:"buffer_before_minutes"`
	BufferAfterMinutes  int              `json:"buffer_after_minutes"`
	SlotIntervalMinutes int              `json:"slot_interval_minutes"` // the business's, if the service has none
	Price               int64            `json:"price"`                 // minor units; 0 is free
	PerPerson           bool             `json:"per_person,omitempty"`  // Price is per person, not per booking
	PaymentRequirement  string           `json:"payment_requirement"`
	DepositValue        *decimal.Decimal `json:"deposit_value"`
	Capacity            int              `json:"capacity"` // capacity units of a service without staff
	// StaffIDs are the members who perform the service, also inactive ones; empty for a service without staff.
	StaffIDs []uuid.UUID    `json:"staff_ids"`
	Variants []Variant      `json:"variants"`
	Classes  []ClassSession `json:"classes"` // if not empty, bookable at these sessions only
	// NameTranslations are the names by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Category is the heading under which the service is listed; "" for none.
	Category Label `json:"category,omitzero"`
}

// Variant is an alternative duration and price of a service.
type Variant struct {
	ID              uuid.UUID `json:"id"`
	Key             string    `json:"key"`
	Name            string    `json:"name"`
	DurationMinutes int       `json:"duration_minutes"`
	Price           int64     `json:"price"`
	// NameTranslations are the names by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// ClassSession is a class session of a service: on every Weekday from From to To, both inclusive, or once on Date.
type ClassSession struct {
	ID       uuid.UUID          `json:"id"`
	Key      string             `json:"key"`
	Weekday  *time.Weekday      `json:"weekday"`
	Date     *timespan.Date     `json:"date"`
	Time     timespan.TimeOfDay `json:"time"`
	Capacity int                `json:"capacity"`
	StaffID  *uuid.UUID         `json:"staff_id"`
	From     *timespan.Date     `json:"from"`
	To       *timespan.Date     `json:"to"`
}

// Event is a ticketed event.
type Event struct {
	ID            uuid.UUID          `json:"id"`
	Key           string             `json:"key"`
	Name          string             `json:"name"`
	Date          timespan.Date      `json:"date"`
	Start         timespan.TimeOfDay `json:"start"`
	End           timespan.TimeOfDay `json:"end"`
	Active        bool               `json:"active"`
	Public        bool               `json:"public"`
	TotalCapacity int                `json:"total_capacity"`
	// PaymentRequirement is the part of a ticket's price that is paid at
	// the order. DepositValue is set for the two deposit requirements.
	PaymentRequirement string           `json:"payment_requirement"`
	DepositValue       *decimal.Decimal `json:"deposit_value"`
	Tiers              []Tier           `json:"tiers"`
	// NameTranslations are the names by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// Tier is a price tier of an event's tickets.
type Tier struct {
	ID       uuid.UUID `json:"id"`
	Key      string    `json:"key"`
	Name     string    `json:"name"`
	Price    int64     `json:"price"`
	Capacity int       `json:"capacity"`
	// NameTranslations are the names by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// Price types of rentals.
const (
	PriceHourly = "hourly"
	PriceDaily  = "daily"
)

// Rental is a thing that is rented by the hour or the day.
type Rental struct {
	ID             uuid.UUID    `json:"id"`
	Key            string       `json:"key"`
	Name           string       `json:"name"`
	Active         bool         `json:"active"`
	Price          int64        `json:"price"`
	PriceType      string       `json:"price_type"`
	Quantity       *int         `json:"quantity"` // null: not offered online
	Units          []RentalUnit `json:"units"`
	MinRentalHours *int         `json:"min_rental_hours"`
	MaxRentalHours *int         `json:"max_rental_hours"`
	MinRentalDays  *int         `json:"min_rental_days"`
	MaxRentalDays  *int         `json:"max_rental_days"`
	OutsideHours   bool         `json:"outside_hours"` // pick-up and return are possible outside opening hours
	// PaymentRequirement is the part of a reservation's price that is paid
	// when it is made. DepositValue is set for the two deposit requirements.
	PaymentRequirement string           `json:"payment_requirement"`
	DepositValue       *decimal.Decimal `json:"deposit_value"`
	Upsells            []Upsell         `json:"upsells"` // offered with it, in the owner's order
	// NameTranslations are the names by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// Upsell is a rental that is offered together with another rental.
// If it is required, one is reserved with each unit of the other.
type Upsell struct {
	RentalID uuid.UUID `json:"rental_id"`
	Required bool      `json:"required"`
}

// RentalUnit is one physical unit of a rental.
type RentalUnit struct {
	Key         string        `json:"key"`
	InService   bool          `json:"in_service"`
	Maintenance []Maintenance `json:"maintenance"`
}

// Maintenance is a range of whole dates, both inclusive.
type Maintenance struct {
	From timespan.Date `json:"from"`
	To   timespan.Date `json:"to"`
}

// Rule is one pricing rule. Exactly one of Percent, Amount and Set is set. Its condition has the owner's wording.
type Rule struct {
	Key       string           `json:"key"`
	Kind      rule.Kind        `json:"kind"`
	Priority  int              `json:"priority"`
	Percent   *decimal.Decimal `json:"percent,omitempty"`
	Amount    *int64           `json:"amount,omitempty"` // minor units
	Set       *int64           `json:"set,omitempty"`    // minor units
	Stop      bool             `json:"stop,omitempty"`
	AppliesTo AppliesTo        `json:"applies_to"`
	Label     Label            `json:"label,omitzero"` // "": the default text of its kind (libs/sale/pricelabel)

	rule.When
}

// AppliesTo selects the services, events and rentals whose prices a rule changes. The fields All…
// select all of one kind. If nothing is selected, the rule applies to everything with a price.
type AppliesTo struct {
	AllServices bool        `json:"all_services,omitempty"`
	AllEvents   bool        `json:"all_events,omitempty"`
	AllRentals  bool        `json:"all_rentals,omitempty"`
	Services    []uuid.UUID `json:"services,omitempty"`
	Events      []uuid.UUID `json:"events,omitempty"`
	Rentals     []uuid.UUID `json:"rentals,omitempty"`
}

// Everything reports whether the rule applies to everything.
func (a AppliesTo) Everything() bool {
	return !a.AllServices && !a.AllEvents && !a.AllRentals && len(a.Services)+len(a.Events)+len(a.Rentals) == 0
}

// Prepare loads the time zone, reduces the memory of the lists and builds the indexes. It must be called once, before
// several goroutines use the offer. It returns an error if the process does not know the time zone or the currency.
func (o *Offer) Prepare() error {
	var err error
	if o.location, err = zone.Load(o.Timezone); err != nil {
		return err
	}
	if o.money, err = money.ParseCurrency(o.Currency); err != nil {
		return err
	}
	o.compact()
	o.services, o.staff = newIndex[Service](o.Services), newIndex[Staff](o.Staff)
	o.events, o.rentals = newIndex[Event](o.Events), newIndex[Rental](o.Rentals)
	return nil
}

// Location returns the business's time zone.
func (o *Offer) Location() *time.Location { return o.location }

// Money returns the business's currency with its number of decimals.
func (o *Offer) Money() money.Currency { return o.money }

// NameIn returns the business's name in one of its languages, or in the default language if there is no translation.
func (o *Offer) NameIn(language string) string {
	return Label{Text: o.Name, Translations: o.NameTranslations}.In(language)
}

// Today returns the business's local date at the instant now (semantics.md §1).
func (o *Offer) Today(now time.Time) timespan.Date { return timespan.DateOf(now, o.location) }

// Paused reports whether online bookings are paused at the instant now.
func (o *Offer) Paused(now time.Time) bool {
	return o.Bookings.PausedUntil != nil && o.Today(now) < *o.Bookings.PausedUntil
}

// Service returns the service with this id, active or not, or nil.
func (o *Offer) Service(id uuid.UUID) *Service { return find[Service](o.Services, o.services, id) }

// StaffMember returns the staff member with this id, active or not, or nil.
func (o *Offer) StaffMember(id uuid.UUID) *Staff { return find[Staff](o.Staff, o.staff, id) }

// Event returns the event with this id, or nil.
func (o *Offer) Event(id uuid.UUID) *Event { return find[Event](o.Events, o.events, id) }

// Rental returns the rental with this id, or nil.
func (o *Offer) Rental(id uuid.UUID) *Rental { return find[Rental](o.Rentals, o.rentals, id) }
