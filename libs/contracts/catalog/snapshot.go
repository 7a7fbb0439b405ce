// Package catalog holds the types of the internal API of the catalog service: the
// [Snapshot] of a business, and the lists for owners. It does no I/O, so that packages
// without I/O may import it. The client is in libs/contracts/catalogclient.
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

// Snapshot is the published state of a business in the form that the other services need. Ids
// replace the keys of the manifest, opening hours are parsed, and prices are in minor units.
// Omitted fields have their default values, and long texts are left out.
//
// The catalog service sends the snapshot as JSON in the response to GET /internal/offers/{slug}. The receiver
// calls [Snapshot.Prepare] once. After that call, goroutines may share the Snapshot, but must not change it.
type Snapshot struct {
	ID       uuid.UUID `json:"id"`
	Slug     string    `json:"slug"`
	Version  int64     `json:"version"`
	Name     string    `json:"name"`
	Currency string    `json:"currency"` // ISO 4217 code
	Timezone string    `json:"timezone"` // IANA name
	// NameTranslations are the translations of Name by language; see [Snapshot.NameIn].
	NameTranslations map[string]string `json:"name_translations,omitempty"`

	// Logo is the uploaded logo of the business, or nil.
	Logo *Picture `json:"logo,omitempty"`

	DefaultLanguage string   `json:"default_language"`
	Languages       []string `json:"languages"`
	Modules         Modules  `json:"modules"`
	Payments        Payments `json:"payments"`
	Account         Account  `json:"account"`
	Bookings        Bookings `json:"bookings"`
	// NotYetOpen reports that the owner has not opened the business for bookings
	// yet. Customers then see no services, events or rentals, and cannot book.
	NotYetOpen bool `json:"not_yet_open,omitempty"`

	// Locations are where bookings take place, in the owner's order. The first is the default location.
	Locations []Location `json:"locations,omitempty"`
	Contact   Contact    `json:"contact,omitzero"`
	Legal     Legal      `json:"legal,omitzero"`
	// PolicyText holds the owner's rules for customers in plain text. Pages show it together with CancellationPolicy.
	PolicyText Label `json:"policy_text,omitzero"`

	CancellationPolicy []CancellationRule `json:"cancellation_policy"` // in the owner's order
	CoolingOffHours    int                `json:"cooling_off_hours"`
	SelfService        SelfService        `json:"self_service"`
	Notifications      Notifications      `json:"notifications"`
	Privacy            Privacy            `json:"privacy"`
	Page               Page               `json:"page"`
	// Form holds the questions on the booking page, in the owner's order.
	Form []Question `json:"form"`
	// FormEnforceAPI reports that bookings with API keys must answer the required questions, too.
	FormEnforceAPI bool `json:"form_enforce_api,omitempty"`

	Hours     WeekHours     `json:"hours"`
	Overrides []DayOverride `json:"overrides"` // in order of the dates, at most one override per date
	Blocks    []Block       `json:"blocks"`
	Staff     []Staff       `json:"staff"`              // in Auto-Assign order: by order, then name, then id
	Services  []Service     `json:"services"`           // in the order in which pages show them
	Packages  []Package     `json:"packages,omitempty"` // in the owner's order
	Events    []Event       `json:"events"`
	Rentals   []Rental      `json:"rentals"`
	Rules     []Rule        `json:"pricing_rules"` // in the order of application: by priority, then key
	// PriceNeeds are the inputs of the pricing rules. The price of a sale is final only if all of them are known.
	PriceNeeds []rule.Input `json:"price_needs"`

	location *time.Location
	money    money.Currency
	services index
	staff    index
	events   index
	rentals  index
}

// WeekHours are the opening windows that start on each weekday, indexed by
// [time.Weekday]. An empty entry means that no window starts on the weekday.
type WeekHours [7][]timespan.Window

// Modules reports what the business sells: services, tickets of events, rentals.
type Modules struct {
	Services bool `json:"services"`
	Events   bool `json:"events"`
	Rentals  bool `json:"rentals"`
}

// The payment modes (semantics.md §3).
const (
	ModeOnline         = "online"
	ModeAtDoor         = "at_door"
	ModeCustomerChoice = "customer_choice"
)

// Payments are the payment settings of the business.
type Payments struct {
	Providers []string          `json:"providers"` // identifiers of the payment providers; may be empty
	Modes     PaymentModes      `json:"modes"`
	Accounts  map[string]string `json:"accounts"` // account of the business at each provider
}

// PaymentModes holds the payment modes for services, rentals and tickets of events.
type PaymentModes struct {
	Services string `json:"services"`
	Rentals  string `json:"rentals"`
	Events   string `json:"events"`
}

// Account is the state of the business's account with Slotmesh: its subscription and its removal.
type Account struct {
	SubscriptionActive bool `json:"subscription_active"`
	// RemovalOn is the date of the scheduled removal. If RemovalOn is set, the business already refuses bookings.
	RemovalOn *timespan.Date `json:"removal_on"`
	Sandbox   bool           `json:"sandbox"` // no payments are taken and no messages are sent
}

// Bookings are the settings of the business for bookings.
type Bookings struct {
	PausedUntil         *timespan.Date `json:"paused_until"` // paused while the local date is before PausedUntil
	SlotIntervalMinutes int            `json:"slot_interval_minutes"`
	MinNoticeMinutes    int            `json:"min_notice_minutes"`
	AdvanceDays         int            `json:"advance_days"`
	// AutoConfirm confirms a booking immediately or, with online payment, as soon as it is paid.
	AutoConfirm bool `json:"auto_confirm"`
	// MaxOpenPerCustomer is the maximal number of open bookings of
	// one email address. It applies to bookings on the booking page.
	MaxOpenPerCustomer int `json:"max_open_per_customer"`
	// LocationChangeMinutes is the minimal time between two bookings of one staff member at different
	// locations. It applies to the time of the services, without buffers. The maximum is [MaxLocationChange].
	LocationChangeMinutes int `json:"location_change_minutes,omitempty"`
}

// CancellationRule sets the refund of a cancellation that is made
// at least HoursBefore hours before the start (lifecycle.md §4).
type CancellationRule struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

// SelfService holds how many hours before the start customers may still cancel
// or reschedule with their link. If a field is null, customers may never do this.
type SelfService struct {
	CancelUntilHours     *int `json:"cancel_until_hours"`
	RescheduleUntilHours *int `json:"reschedule_until_hours"`
}

// Notifications are the settings for messages: their recipients, the reminders and the owner's texts.
type Notifications struct {
	OwnerEmails          []string `json:"owner_emails"`
	ReplyTo              string   `json:"reply_to"`               // address for replies; "": replies are not read
	RemindersHoursBefore []int    `json:"reminders_hours_before"` // hours before the start; empty: no reminders
	// Notes are texts that the owner adds to messages, by kind of message (lifecycle.md §2).
	Notes map[string]Note `json:"notes,omitempty"`
	// Intros are the first sentences of messages in the owner's words, by kind of message, with placeholders.
	Intros map[string]Note `json:"intros,omitempty"`
}

// Note is a plain text that the owner adds to a kind of message. The
// text is in the default language, with translations by language.
type Note struct {
	Text         string            `json:"text"`
	Translations map[string]string `json:"translations,omitempty"`
}

// Privacy holds the retention time of customers' data.
type Privacy struct {
	KeepCustomersDays int `json:"keep_customers_days"` // number of days after the end of a booking (lifecycle.md §6)
}

// Page describes the appearance of the business's booking page, and the websites that may embed the page (pages.md).
type Page struct {
	Accent       string   `json:"accent"`        // #rrggbb, dark enough for white text on it; "": the default
	EmbedOrigins []string `json:"embed_origins"` // origins of the web pages that may embed the booking page
	AboutHTML    string   `json:"about_html"`    // text about the business, sanitized; may be ""
	// AboutTranslations are the translations of AboutHTML by language, sanitized.
	AboutTranslations map[string]string `json:"about_translations,omitempty"`
	// Cover is the wide picture at the top of the page, or nil. Gallery holds further pictures of the business.
	Cover   *Picture  `json:"cover,omitempty"`
	Gallery []Picture `json:"gallery,omitempty"`
}

// DayOverride replaces the opening windows that start on one date. If Hours is empty, no window starts on the date.
type DayOverride struct {
	Date  timespan.Date     `json:"date"`
	Hours []timespan.Window `json:"hours"`
}

// Block is a span of blocked time in the business's local time. From is included, To is excluded.
type Block struct {
	From     timespan.LocalDateTime `json:"from"`
	To       timespan.LocalDateTime `json:"to"`
	StaffIDs []uuid.UUID            `json:"staff_ids"`        // blocked staff members; empty: the whole business
	Reason   string                 `json:"reason,omitempty"` // note of the owner; never shown to customers
}

// Staff is one staff member.
type Staff struct {
	ID     uuid.UUID `json:"id"`
	Key    string    `json:"key"`
	Name   string    `json:"name"`
	Active bool      `json:"active"`
	Order  int       `json:"order"`
	// Hours are the working hours. Null means the hours of the
	// business. An empty value means that only Overrides apply.
	Hours     *WeekHours    `json:"hours"`
	Overrides []DayOverride `json:"overrides"`
	// At holds the working hours at single locations. If At is not empty, Hours is null,
	// and the staff member works only at these locations; see [Snapshot.StaffWindows].
	At []StaffLocation `json:"at,omitempty"`
	// NameTranslations are the translations of Name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	Photo            *Picture          `json:"photo,omitempty"` // uploaded photo, or nil
}

// The payment requirements: which part of a price the customer pays online (semantics.md §3).
const (
	RequirementNone           = "none"
	RequirementFull           = "full"
	RequirementDepositPercent = "deposit_percent"
	RequirementDepositFixed   = "deposit_fixed"
)

// Service is one service that customers can book.
type Service struct {
	ID                  uuid.UUID `json:"id"`
	Key                 string    `json:"key"`
	Name                string    `json:"name"`
	Active              bool      `json:"active"`
	DurationMinutes     int       `json:"duration_minutes"`
	BufferBeforeMinutes int       `json:"buffer_before_minutes"`
	BufferAfterMinutes  int       `json:"buffer_after_minutes"`
	// SlotIntervalMinutes is the step between two starts. The default is the interval of the business.
	SlotIntervalMinutes int              `json:"slot_interval_minutes"`
	Price               int64            `json:"price"`                // in minor units; 0 means free
	PerPerson           bool             `json:"per_person,omitempty"` // Price is for one person, not for one booking
	PaymentRequirement  string           `json:"payment_requirement"`
	DepositValue        *decimal.Decimal `json:"deposit_value"`
	Capacity            int              `json:"capacity"` // number of capacity units, if the service needs no staff
	// StaffIDs are the ids of the staff members who perform the service,
	// including inactive ones. The list is empty if the service needs no staff.
	StaffIDs []uuid.UUID `json:"staff_ids"`
	// LocationIDs are the locations at which the service is offered, in the order of preference. An
	// empty list means the locations that [Snapshot.LocationsOf] returns by default.
	LocationIDs []uuid.UUID    `json:"location_ids,omitempty"`
	Variants    []Variant      `json:"variants"`
	Classes     []ClassSession `json:"classes"` // if the list is not empty, customers can book only these sessions
	// NameTranslations are the translations of Name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Category is the heading under which pages list the service; "" for none.
	Category Label `json:"category,omitzero"`
	// Picture is the uploaded picture, or nil.
	Picture *Picture `json:"picture,omitempty"`
}

// Variant is an alternative to the duration and price of a service.
type Variant struct {
	ID              uuid.UUID `json:"id"`
	Key             string    `json:"key"`
	Name            string    `json:"name"`
	DurationMinutes int       `json:"duration_minutes"`
	Price           int64     `json:"price"`
	// NameTranslations are the translations of Name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// ClassSession is a class session of a service. The session takes place once, on
// Date, or on every Weekday from the date From to the date To, both included.
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
	// LocationID is the location of the session; see [Snapshot.SessionLocation].
	LocationID *uuid.UUID `json:"location_id,omitempty"`
}

// Event is an event for which tickets are sold.
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
	// PaymentRequirement determines the part of a ticket's price that the customer
	// pays online with the order. DepositValue is set if the requirement is a deposit.
	PaymentRequirement string           `json:"payment_requirement"`
	DepositValue       *decimal.Decimal `json:"deposit_value"`
	Tiers              []Tier           `json:"tiers"`
	// LocationID is the location of the event; see [Snapshot.EventLocation].
	LocationID *uuid.UUID `json:"location_id,omitempty"`
	// NameTranslations are the translations of Name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Picture is the uploaded picture, or nil.
	Picture *Picture `json:"picture,omitempty"`
}

// Tier is a price category of the tickets of an event.
type Tier struct {
	ID       uuid.UUID `json:"id"`
	Key      string    `json:"key"`
	Name     string    `json:"name"`
	Price    int64     `json:"price"`
	Capacity int       `json:"capacity"`
	// NameTranslations are the translations of Name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
}

// The price types of rentals.
const (
	PriceHourly = "hourly"
	PriceDaily  = "daily"
)

// Rental is a thing that customers can rent by the hour or by the day.
type Rental struct {
	ID             uuid.UUID    `json:"id"`
	Key            string       `json:"key"`
	Name           string       `json:"name"`
	Active         bool         `json:"active"`
	Price          int64        `json:"price"`
	PriceType      string       `json:"price_type"`
	Quantity       *int         `json:"quantity"` // null: cannot be reserved online
	Units          []RentalUnit `json:"units"`
	MinRentalHours *int         `json:"min_rental_hours"`
	MaxRentalHours *int         `json:"max_rental_hours"`
	MinRentalDays  *int         `json:"min_rental_days"`
	MaxRentalDays  *int         `json:"max_rental_days"`
	OutsideHours   bool         `json:"outside_hours"` // pick-up and return are possible outside opening hours
	// PaymentRequirement determines the part of a reservation's price that the customer pays
	// online with the reservation. DepositValue is set if the requirement is a deposit.
	PaymentRequirement string           `json:"payment_requirement"`
	DepositValue       *decimal.Decimal `json:"deposit_value"`
	Upsells            []Upsell         `json:"upsells"` // offered with this rental, in the owner's order
	// LocationID is the location where customers pick up and return the rental; see [Snapshot.RentalLocation].
	LocationID *uuid.UUID `json:"location_id,omitempty"`
	// NameTranslations are the translations of Name by language.
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Picture is the uploaded picture, or nil.
	Picture *Picture `json:"picture,omitempty"`
}

// Upsell is another rental that is offered together with a rental. If the upsell
// is required, one unit of the upsell is reserved with each unit of the rental.
type Upsell struct {
	RentalID uuid.UUID `json:"rental_id"`
	Required bool      `json:"required"`
}

// RentalUnit is one physical unit of a rental, such as one bicycle.
type RentalUnit struct {
	Key         string        `json:"key"`
	InService   bool          `json:"in_service"`
	Maintenance []Maintenance `json:"maintenance"`
}

// Maintenance is a range of dates, both included, on which a unit cannot be rented.
type Maintenance struct {
	From timespan.Date `json:"from"`
	To   timespan.Date `json:"to"`
}

// Rule is one pricing rule. Exactly one of Percent, Amount and Set is
// set. The embedded When is the condition under which the rule applies.
type Rule struct {
	Key       string           `json:"key"`
	Kind      rule.Kind        `json:"kind"`
	Priority  int              `json:"priority"`
	Percent   *decimal.Decimal `json:"percent,omitempty"`
	Amount    *int64           `json:"amount,omitempty"` // in minor units
	Set       *int64           `json:"set,omitempty"`    // in minor units
	Stop      bool             `json:"stop,omitempty"`
	AppliesTo AppliesTo        `json:"applies_to"`
	Label     Label            `json:"label,omitzero"` // "": the standard text of the kind (libs/sale/pricelabel)

	rule.When
}

// AppliesTo selects the services, events and rentals whose prices a pricing rule changes. The fields All… select
// all services, events or rentals. If nothing is selected, the rule applies to everything that has a price.
type AppliesTo struct {
	AllServices bool        `json:"all_services,omitempty"`
	AllEvents   bool        `json:"all_events,omitempty"`
	AllRentals  bool        `json:"all_rentals,omitempty"`
	Services    []uuid.UUID `json:"services,omitempty"`
	Events      []uuid.UUID `json:"events,omitempty"`
	Rentals     []uuid.UUID `json:"rentals,omitempty"`
}

// IsEverything reports whether nothing is selected, so that the rule applies to everything.
func (a AppliesTo) IsEverything() bool {
	return !a.AllServices && !a.AllEvents && !a.AllRentals && len(a.Services)+len(a.Events)+len(a.Rentals) == 0
}

// Prepare makes a snapshot that was decoded from JSON ready for use: it loads the time zone, reduces the memory
// of the lists and builds the indexes. It must be called once, before several goroutines use the snapshot.
//
// It returns an error if the time zone or the currency is unknown.
func (o *Snapshot) Prepare() error {
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

// Location returns the time zone of the business.
func (o *Snapshot) Location() *time.Location { return o.location }

// Money returns the currency of the business, which includes its number of decimals.
func (o *Snapshot) Money() money.Currency { return o.money }

// NameIn returns the name of the business in one of its languages. If
// there is no translation, it returns the name in the default language.
func (o *Snapshot) NameIn(language string) string {
	return Label{Text: o.Name, Translations: o.NameTranslations}.In(language)
}

// Today returns the local date of the business at the instant `now` (semantics.md §1).
func (o *Snapshot) Today(now time.Time) timespan.Date { return timespan.DateOf(now, o.location) }

// IsPaused reports whether online bookings are paused at the instant `now`.
func (o *Snapshot) IsPaused(now time.Time) bool {
	return o.Bookings.PausedUntil != nil && o.Today(now) < *o.Bookings.PausedUntil
}

// Service returns the service with this id, whether active or not. It returns nil if no service has the id.
func (o *Snapshot) Service(id uuid.UUID) *Service { return find[Service](o.Services, o.services, id) }

// StaffMember returns the staff member with this id, whether
// active or not. It returns nil if no staff member has the id.
func (o *Snapshot) StaffMember(id uuid.UUID) *Staff { return find[Staff](o.Staff, o.staff, id) }

// Event returns the event with this id, or nil if no event has the id.
func (o *Snapshot) Event(id uuid.UUID) *Event { return find[Event](o.Events, o.events, id) }

// Rental returns the rental with this id, or nil if no rental has the id.
func (o *Snapshot) Rental(id uuid.UUID) *Rental { return find[Rental](o.Rentals, o.rentals, id) }
