// Package catalog is what the catalog service tells others: the [Offer] of a business, and the lists of its owner's side.
// It holds values and no client, so that pure packages may import it; the client is libs/peer/catalogclient.
package catalog

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/rule"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/libs/zone"
)

// Offer is what one business offers, as the other services need it: ids resolved, windows parsed, prices in minor
// units, defaults applied, long texts left out. It travels as JSON under GET /internal/offers/{slug}; the lookups
// are built once, by [Offer.Prepare], when it arrives. An Offer is shared by readers and never changed.
type Offer struct {
	ID       uuid.UUID `json:"id"`
	Slug     string    `json:"slug"`
	Version  int64     `json:"version"`
	Name     string    `json:"name"`
	Currency string    `json:"currency"` // ISO 4217
	Timezone string    `json:"timezone"` // IANA name
	// NameTranslations are the name by language; [Offer.NameIn] reads them.
	NameTranslations map[string]string `json:"name_translations,omitempty"`

	DefaultLanguage string   `json:"default_language"`
	Languages       []string `json:"languages"`
	Modules         Modules  `json:"modules"`
	Payments        Payments `json:"payments"`
	Account         Account  `json:"account"`
	Bookings        Bookings `json:"bookings"`
	// NotYetOpen reports that customers cannot book anything, nor see what is offered, until the owner opens the business.
	NotYetOpen bool `json:"not_yet_open,omitempty"`

	CancellationPolicy []CancellationRule `json:"cancellation_policy"` // each hours_before once, as the owner listed them
	CoolingOffHours    int                `json:"cooling_off_hours"`
	SelfService        SelfService        `json:"self_service"`
	Notifications      Notifications      `json:"notifications"`
	Privacy            Privacy            `json:"privacy"`
	Page               Page               `json:"page"`
	Form               []Question         `json:"form"`                       // of the booking page, as the owner listed them
	FormEnforceAPI     bool               `json:"form_enforce_api,omitempty"` // bookings with API keys need the required answers, too

	Hours     WeekHours     `json:"hours"`
	Overrides []DayOverride `json:"overrides"` // by date, each date once
	Blocks    []Block       `json:"blocks"`
	Staff     []Staff       `json:"staff"`              // in Auto-Assign order: order, name, id
	Services  []Service     `json:"services"`           // in display order
	Packages  []Package     `json:"packages,omitempty"` // as the owner listed them
	Events    []Event       `json:"events"`
	Rentals   []Rental      `json:"rentals"`
	Rules     []Rule        `json:"pricing_rules"` // in the order they apply: priority, then key
	// PriceNeeds are the inputs that any of the rules needs: what must be known of a purchase before it is priced for good.
	PriceNeeds []rule.Input `json:"price_needs"`

	location *time.Location
	money    money.Currency
	services index
	staff    index
	events   index
	rentals  index
}

// WeekHours are the windows that begin on each weekday, indexed by [time.Weekday]; nil or empty means closed.
type WeekHours [7][]timespan.Window

// Modules says which parts of the platform the business uses.
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

// Payments says how the business is paid.
type Payments struct {
	Providers []string          `json:"providers"` // identifiers of connected providers; empty means none
	Modes     PaymentModes      `json:"modes"`
	Accounts  map[string]string `json:"accounts"` // provider → the business's connected account
}

// PaymentModes holds a mode for each kind of bookable thing.
type PaymentModes struct {
	Services string `json:"services"`
	Rentals  string `json:"rentals"`
	Events   string `json:"events"`
}

// Account is how the business stands with the platform: its subscription, and when it leaves.
type Account struct {
	SubscriptionActive bool           `json:"subscription_active"`
	RemovalOn          *timespan.Date `json:"removal_on"` // set: bookings are refused from now on
	Sandbox            bool           `json:"sandbox"`    // nothing is charged, and no message is sent
}

// Bookings are the business's booking settings.
type Bookings struct {
	PausedUntil         *timespan.Date `json:"paused_until"` // paused while today is before it
	SlotIntervalMinutes int            `json:"slot_interval_minutes"`
	MinNoticeMinutes    int            `json:"min_notice_minutes"`
	AdvanceDays         int            `json:"advance_days"`
	AutoConfirm         bool           `json:"auto_confirm"`          // confirmed at once, where paid online when paid
	MaxOpenPerCustomer  int            `json:"max_open_per_customer"` // of one e-mail address, made on the booking page
}

// CancellationRule says what is refunded of a booking that is cancelled at least so many hours before its start
// (lifecycle.md §4).
type CancellationRule struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

// SelfService says until how many hours before the start customers may act by the link of their booking; null: never.
type SelfService struct {
	CancelUntilHours     *int `json:"cancel_until_hours"`
	RescheduleUntilHours *int `json:"reschedule_until_hours"`
}

// Notifications says whom messages go to, when customers are reminded, and what the owner adds.
type Notifications struct {
	OwnerEmails          []string `json:"owner_emails"`
	ReplyTo              string   `json:"reply_to"`               // "": nobody reads answers
	RemindersHoursBefore []int    `json:"reminders_hours_before"` // empty: no reminders
	// Notes are by kind of message, as lifecycle.md §2 names them.
	Notes map[string]Note `json:"notes,omitempty"`
}

// Note is plain text of the owner's, in the default language and by language.
type Note struct {
	Text         string            `json:"text"`
	Translations map[string]string `json:"translations,omitempty"`
}

// Privacy says how long customers are remembered.
type Privacy struct {
	KeepCustomersDays int `json:"keep_customers_days"` // after the end of what they took (lifecycle.md §6)
}

// Page is how the business's booking page looks, and where else it may be shown (pages.md).
type Page struct {
	Accent       string   `json:"accent"`        // #rrggbb, on which white text is readable; "": the page's own
	EmbedOrigins []string `json:"embed_origins"` // of web pages that may embed it
	AboutHTML    string   `json:"about_html"`    // sanitized; "": nothing is said
	// AboutTranslations are about_html by language, sanitized.
	AboutTranslations map[string]string `json:"about_translations,omitempty"`
}

// DayOverride replaces the windows that begin on one date; no windows closes it.
type DayOverride struct {
	Date  timespan.Date     `json:"date"`
	Hours []timespan.Window `json:"hours"`
}

// Block is blocked time on the business's wall clock, half-open.
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
	Hours     *WeekHours    `json:"hours"` // null: the business's hours; empty: overrides only
	Overrides []DayOverride `json:"overrides"`
	// NameTranslations are the name by language.
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
	SlotIntervalMinutes int              `json:"slot_interval_minutes"` // the business's where the service sets none
	Price               int64            `json:"price"`                 // minor units; 0 is free
	PerPerson           bool             `json:"per_person,omitempty"`  // Price is of one person, not of the booking
	PaymentRequirement  string           `json:"payment_requirement"`
	DepositValue        *decimal.Decimal `json:"deposit_value"`
	Capacity            int              `json:"capacity"`  // lanes of a service that no staff member performs
	StaffIDs            []uuid.UUID      `json:"staff_ids"` // who performs it, inactive members included; empty: no staff
	Variants            []Variant        `json:"variants"`
	Classes             []ClassSession   `json:"classes"` // not empty: bookable at these sessions only
	// NameTranslations are the name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Category is the heading under which the service is listed, "" for none.
	Category Label `json:"category,omitzero"`
}

// Variant is another length and price of a service.
type Variant struct {
	ID              uuid.UUID `json:"id"`
	Key             string    `json:"key"`
	Name            string    `json:"name"`
	DurationMinutes int       `json:"duration_minutes"`
	Price           int64     `json:"price"`
	// NameTranslations are the name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// ClassSession is a session of a class-based service: every Weekday within [From, To], or once on Date.
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
	// PaymentRequirement is what is paid of a ticket when it is bought; DepositValue goes with the two deposits.
	PaymentRequirement string           `json:"payment_requirement"`
	DepositValue       *decimal.Decimal `json:"deposit_value"`
	Tiers              []Tier           `json:"tiers"`
	// NameTranslations are the name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// Tier is a kind of ticket of an event.
type Tier struct {
	ID       uuid.UUID `json:"id"`
	Key      string    `json:"key"`
	Name     string    `json:"name"`
	Price    int64     `json:"price"`
	Capacity int       `json:"capacity"`
	// NameTranslations are the name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// Price types of rentals.
const (
	PriceHourly = "hourly"
	PriceDaily  = "daily"
)

// Rental is a thing rented by the hour or the day.
type Rental struct {
	ID             uuid.UUID    `json:"id"`
	Key            string       `json:"key"`
	Name           string       `json:"name"`
	Active         bool         `json:"active"`
	Price          int64        `json:"price"`
	PriceType      string       `json:"price_type"`
	Quantity       *int         `json:"quantity"` // null: nothing is offered online
	Units          []RentalUnit `json:"units"`
	MinRentalHours *int         `json:"min_rental_hours"`
	MaxRentalHours *int         `json:"max_rental_hours"`
	MinRentalDays  *int         `json:"min_rental_days"`
	MaxRentalDays  *int         `json:"max_rental_days"`
	OutsideHours   bool         `json:"outside_hours"` // customers pick up and return also outside opening hours
	// PaymentRequirement is what is paid of a reservation when it is made; DepositValue goes with the two deposits.
	PaymentRequirement string           `json:"payment_requirement"`
	DepositValue       *decimal.Decimal `json:"deposit_value"`
	Upsells            []Upsell         `json:"upsells"` // what is offered along with it, in the owner's order
	// NameTranslations are the name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// Upsell is a rental that is offered along with another one: a required one goes with every unit of it.
type Upsell struct {
	RentalID uuid.UUID `json:"rental_id"`
	Required bool      `json:"required"`
}

// RentalUnit is one physical unit.
type RentalUnit struct {
	Key         string        `json:"key"`
	InService   bool          `json:"in_service"`
	Maintenance []Maintenance `json:"maintenance"`
}

// Maintenance covers whole dates, both included.
type Maintenance struct {
	From timespan.Date `json:"from"`
	To   timespan.Date `json:"to"`
}

// Rule is one pricing rule. Exactly one of Percent, Amount and Set is present; its condition is as its owner wrote it.
type Rule struct {
	Key       string           `json:"key"`
	Kind      rule.Kind        `json:"kind"`
	Priority  int              `json:"priority"`
	Percent   *decimal.Decimal `json:"percent,omitempty"`
	Amount    *int64           `json:"amount,omitempty"` // minor units
	Set       *int64           `json:"set,omitempty"`    // minor units
	Stop      bool             `json:"stop,omitempty"`
	AppliesTo AppliesTo        `json:"applies_to"`
	Label     Label            `json:"label,omitzero"` // "": the text of its kind (libs/pricelabel)

	rule.When
}

// AppliesTo names what a rule changes; all three empty means everything priced. All* means every one of a kind.
type AppliesTo struct {
	AllServices bool        `json:"all_services,omitempty"`
	AllEvents   bool        `json:"all_events,omitempty"`
	AllRentals  bool        `json:"all_rentals,omitempty"`
	Services    []uuid.UUID `json:"services,omitempty"`
	Events      []uuid.UUID `json:"events,omitempty"`
	Rentals     []uuid.UUID `json:"rentals,omitempty"`
}

// Everything reports whether the rule is not narrowed at all.
func (a AppliesTo) Everything() bool {
	return !a.AllServices && !a.AllEvents && !a.AllRentals && len(a.Services)+len(a.Events)+len(a.Rentals) == 0
}

// Prepare loads the time zone, makes the lists as small as they can be and builds the lookups. It is called once, before an Offer is shared; its error says
// that the time zone or currency is not known on this machine.
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

// Location is the business's time zone.
func (o *Offer) Location() *time.Location { return o.location }

// Money is the business's currency with its decimals.
func (o *Offer) Money() money.Currency { return o.money }

// NameIn is the business's name in one of its languages, the default one where it has no translation.
func (o *Offer) NameIn(language string) string {
	return Label{Text: o.Name, Translations: o.NameTranslations}.In(language)
}

// Today is the business's date at the instant now (semantics.md §1).
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
