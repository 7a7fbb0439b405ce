// Package manifest is the document in which a business states its whole offer: its types, how it is read, what makes it
// valid, and the ids that follow from it.
//
// [Parse] reads YAML or JSON strictly and reports every fault at once. What it returns holds the values as written;
// defaults are applied by the accessors (such as [Service.Lanes]), so that "left out" stays distinguishable wherever
// it means something. A field whose json tag has no omitzero is required; bounds stand in jsonschema tags, which both
// the decoder and the generated manifest.schema.json follow.
package manifest

import (
	"github.com/slotmesh/slotmesh/libs/rule"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

//go:generate go test . -run ^TestSchemaIsInStepWithTheTypes$ -update

// Values of the two fields that say what a document is.
const (
	APIVersion = "slotmesh/v1"
	Kind       = "Business"
)

// Manifest is everything a business offers: one document, published whole or not at all.
type Manifest struct {
	// Format of the document; always slotmesh/v1.
	APIVersion string `json:"apiVersion" jsonschema:"enum=slotmesh/v1"`
	// What the document describes; always Business.
	Kind string `json:"kind" jsonschema:"enum=Business"`
	// Public id of the business; left out, it follows from the slug.
	ID *ID `json:"id,omitzero"`
	// The {slug} of every public path.
	Slug Key `json:"slug"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Address of the logo.
	LogoURL URL `json:"logo_url,omitzero"`
	// ISO 4217 code; its minor unit says how prices are rounded.
	Currency Currency `json:"currency"`
	// IANA time zone in which every date and time here is meant.
	Timezone Timezone `json:"timezone"`
	// Language of the texts that are not translations.
	DefaultLanguage Language `json:"default_language"`
	// Languages offered, default_language among them; left out, only that one.
	Languages []Language `json:"languages,omitzero" jsonschema:"minItems=1,maxItems=100"`
	// Parts of the platform in use; a part left out is used when something of its kind is listed.
	Modules *Modules `json:"modules,omitzero"`
	// Network name to address.
	SocialLinks map[string]URL `json:"social_links,omitzero" jsonschema:"maxProperties=50"`
	// Buttons on the business's page.
	ActionButtons []ActionButton `json:"action_buttons,omitzero" jsonschema:"maxItems=50"`
	// How the business is paid.
	Payments *Payments `json:"payments,omitzero"`
	// What is refunded when a customer cancels.
	CancellationPolicy []CancellationStep `json:"cancellation_policy,omitzero" jsonschema:"maxItems=50"`
	// Hours after booking within which cancelling is free.
	CoolingOffHours int `json:"cooling_off_hours,omitzero" jsonschema:"minimum=0,maximum=8760"`
	// The business's account with the platform.
	Account *Account `json:"account,omitzero"`
	// Booking settings.
	Bookings *Bookings `json:"bookings,omitzero"`
	// What customers may do by the link of their booking; null: nothing.
	SelfService *SelfService `json:"self_service,omitzero"`
	// Whom messages go to, and what the owner adds to them.
	Notifications *Notifications `json:"notifications,omitzero"`
	// How long customers are remembered.
	Privacy *Privacy `json:"privacy,omitzero"`
	// The business's booking page.
	Page *Page `json:"page,omitzero"`
	// Questions of the booking page; answers arrive as form_data under their keys.
	Form []Question `json:"form,omitzero" jsonschema:"maxItems=50"`
	// Business hours; a day left out is closed.
	Hours WeekHours `json:"hours,omitzero"`
	// Dates whose business hours differ.
	Overrides []DayOverride `json:"overrides,omitzero" jsonschema:"maxItems=10000"`
	// Blocked time of staff or of the whole business.
	Blocks []Block `json:"blocks,omitzero" jsonschema:"maxItems=100000"`
	// Staff members.
	Staff []Staff `json:"staff,omitzero" jsonschema:"maxItems=10000"`
	// Bookable services.
	Services []Service `json:"services,omitzero" jsonschema:"maxItems=10000"`
	// Ticketed events.
	Events []Event `json:"events,omitzero" jsonschema:"maxItems=10000"`
	// Things for rent.
	Rentals []Rental `json:"rentals,omitzero" jsonschema:"maxItems=10000"`
	// Rules that change prices, applied in order of priority (lowest first), then key.
	PricingRules []PricingRule `json:"pricing_rules,omitzero" jsonschema:"maxItems=1000"`
}

// Modules says which parts of the platform the business uses.
type Modules struct {
	Services *bool `json:"services,omitzero"`
	Events   *bool `json:"events,omitzero"`
	Rentals  *bool `json:"rentals,omitzero"`
}

// ActionButton is a button on the business's page.
type ActionButton struct {
	// What the button does, such as link.
	Type Line `json:"type" jsonschema:"minLength=1,maxLength=50"`
	// Text on the button.
	Label Line `json:"label" jsonschema:"minLength=1,maxLength=200"`
	// Name of its icon.
	Icon Line `json:"icon,omitzero" jsonschema:"maxLength=100"`
	// Where it leads: an http or https address, mailto: or tel:. A link has one.
	Content string `json:"content,omitzero" jsonschema:"maxLength=2000"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
}

// Payments says how the business is paid.
type Payments struct {
	// Connected providers; empty means none.
	Providers []string `json:"providers,omitzero" jsonschema:"enum=stripe,maxItems=10"`
	// Mode for each kind of bookable thing.
	Modes *PaymentModes `json:"modes,omitzero"`
	// The business's account with each provider.
	Accounts map[string]Line `json:"accounts,omitzero" jsonschema:"maxProperties=10"`
}

// PaymentModes holds a payment mode for each kind of bookable thing; one left out is at_door.
type PaymentModes struct {
	Services string `json:"services,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
	Rentals  string `json:"rentals,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
	Events   string `json:"events,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
}

// CancellationStep says what is refunded when a customer cancels at least so many hours before.
type CancellationStep struct {
	HoursBefore   int `json:"hours_before" jsonschema:"minimum=0,maximum=87600"`
	RefundPercent int `json:"refund_percent" jsonschema:"minimum=0,maximum=100"`
}

// Account is how the business stands with the platform: its subscription, and when it leaves.
type Account struct {
	// Left out: active. Inactive refuses bookings.
	Subscription string `json:"subscription,omitzero" jsonschema:"enum=active,enum=inactive"`
	// Set once the account is scheduled for removal: bookings are refused from then on.
	RemovalOn *timespan.Date `json:"removal_on,omitzero"`
}

// Bookings are the business's booking settings.
type Bookings struct {
	// Online bookings are paused while today, in business time, is before this date.
	PausedUntil *timespan.Date `json:"paused_until,omitzero"`
	// Step of the start times; default 15.
	SlotIntervalMinutes *int `json:"slot_interval_minutes,omitzero" jsonschema:"minimum=1,maximum=1440"`
	// A start is at least this far ahead of now; default 0.
	MinNoticeMinutes int `json:"min_notice_minutes,omitzero" jsonschema:"minimum=0,maximum=525600"`
	// The last bookable day is today plus this many days; default 365.
	AdvanceDays *int `json:"advance_days,omitzero" jsonschema:"minimum=0,maximum=3650"`
	// manual: a booking waits as pending until the owner confirms it. auto: it is confirmed at once, one that is paid online when it is paid. Default manual.
	Confirm string `json:"confirm,omitzero" jsonschema:"enum=manual,enum=auto"`
	// Open bookings that one e-mail address may have made on the booking page; default 20.
	MaxOpenPerCustomer *int `json:"max_open_per_customer,omitzero" jsonschema:"minimum=1,maximum=1000"`
}

// SelfService says what customers may do themselves by the link of their booking, and until when.
type SelfService struct {
	// Hours before the start until which a customer may cancel; default 0, null: never.
	CancelUntilHours Until `json:"cancel_until_hours,omitzero" jsonschema:"minimum=0,maximum=87600"`
	// Hours before the start until which a customer may move; default 0, null: never.
	RescheduleUntilHours Until `json:"reschedule_until_hours,omitzero" jsonschema:"minimum=0,maximum=87600"`
}

// Notifications says whom messages go to, and what the owner adds to them.
type Notifications struct {
	// Who is told of what customers do.
	OwnerEmails []Email `json:"owner_emails,omitzero" jsonschema:"maxItems=10"`
	// Where customers' answers go; left out, the first of owner_emails.
	ReplyTo Email `json:"reply_to,omitzero"`
	// Hours before the start at which customers are reminded; left out: 24. []: no reminders.
	RemindersHoursBefore []int `json:"reminders_hours_before,omitzero" jsonschema:"minimum=1,maximum=8760,maxItems=10"`
	// The owner's own words under the platform's, by kind of message.
	Notes map[MessageKind]Note `json:"notes,omitzero" jsonschema:"maxProperties=20"`
}

// Note is plain text of the owner's in the default language, and in others.
type Note struct {
	Text         string                       `json:"text" jsonschema:"minLength=1,maxLength=2000"`
	Translations map[Language]NoteTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// NoteTranslation holds a note in one language.
type NoteTranslation struct {
	Text string `json:"text" jsonschema:"minLength=1,maxLength=2000"`
}

// Privacy says how long customers are remembered.
type Privacy struct {
	// Days after its end for which a booking, a reservation or an order of tickets keeps who made it; default 730.
	KeepCustomersDays *int `json:"keep_customers_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
}

// Page is how the business's booking page looks, and where else it may be shown.
type Page struct {
	// The page's one colour, for what can be pressed and what is chosen; white text on it has a contrast of at least 4.5 : 1.
	Accent Color `json:"accent,omitzero"`
	// Web pages that may embed the booking page.
	EmbedOrigins []Origin `json:"embed_origins,omitzero" jsonschema:"maxItems=50"`
	// What the page says of the business.
	AboutHTML    string                       `json:"about_html,omitzero" jsonschema:"maxLength=10000"`
	Translations map[Language]PageTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// PageTranslation holds the page's texts in one language; one left out falls back to the default.
type PageTranslation struct {
	AboutHTML string `json:"about_html,omitzero" jsonschema:"maxLength=10000"`
}

// Question is one question of the booking page to who books a service.
type Question struct {
	Key   Key  `json:"key"`
	Label Line `json:"label" jsonschema:"minLength=1,maxLength=200"`
	// How it is answered.
	Type string `json:"type" jsonschema:"enum=text,enum=textarea,enum=number,enum=select,enum=checkbox,enum=date,enum=phone"`
	// Nothing is booked without an answer; of a checkbox: unless it is ticked.
	Required bool `json:"required,omitzero"`
	// Characters that an answer may have, of text and textarea; default 200 and 2000.
	MaxLength *int `json:"max_length,omitzero" jsonschema:"minimum=1,maximum=5000"`
	// What can be chosen, of select.
	Options []QuestionOption `json:"options,omitzero" jsonschema:"maxItems=100"`
	// Services that it is asked for; left out, all.
	Services []Key `json:"services,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Makes a checkbox a consent, such as to be written to: its answer is kept under _consent.
	Consent      bool                             `json:"consent,omitzero"`
	Translations map[Language]QuestionTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// QuestionTranslation holds a question or an option in one language.
type QuestionTranslation struct {
	Label Line `json:"label,omitzero" jsonschema:"maxLength=200"`
}

// QuestionOption is one answer of a select; its key is what form_data holds.
type QuestionOption struct {
	Key          Key                              `json:"key"`
	Label        Line                             `json:"label" jsonschema:"minLength=1,maxLength=200"`
	Translations map[Language]QuestionTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// WeekHours holds the windows that begin on each weekday; a day left out has none. Windows of a day may come in any
// order and overlap.
type WeekHours struct {
	Mon []timespan.Window `json:"mon,omitzero" jsonschema:"maxItems=100"`
	Tue []timespan.Window `json:"tue,omitzero" jsonschema:"maxItems=100"`
	Wed []timespan.Window `json:"wed,omitzero" jsonschema:"maxItems=100"`
	Thu []timespan.Window `json:"thu,omitzero" jsonschema:"maxItems=100"`
	Fri []timespan.Window `json:"fri,omitzero" jsonschema:"maxItems=100"`
	Sat []timespan.Window `json:"sat,omitzero" jsonschema:"maxItems=100"`
	Sun []timespan.Window `json:"sun,omitzero" jsonschema:"maxItems=100"`
}

// DayOverride replaces the windows that begin on one date; [] closes the day.
type DayOverride struct {
	Date  timespan.Date     `json:"date"`
	Hours []timespan.Window `json:"hours" jsonschema:"maxItems=100"`
}

// Block is blocked time, from (included) to (excluded).
type Block struct {
	From timespan.LocalDateTime `json:"from"`
	To   timespan.LocalDateTime `json:"to"`
	// Whose time is blocked; left out, the whole business's.
	Staff []Key `json:"staff,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Note for the owner, never shown to customers.
	Reason string `json:"reason,omitzero" jsonschema:"maxLength=1000"`
}

// Staff is one staff member.
type Staff struct {
	Key             Key    `json:"key"`
	ID              *ID    `json:"id,omitzero"`
	Name            Line   `json:"name" jsonschema:"minLength=1,maxLength=200"`
	Category        Line   `json:"category,omitzero" jsonschema:"maxLength=200"`
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	ImageURL        URL    `json:"image_url,omitzero"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Display and Auto-Assign order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// Left out: the business's hours. {}: none but those of overrides.
	Hours *WeekHours `json:"hours,omitzero"`
	// Dates on which the hours differ.
	Overrides    []DayOverride                 `json:"overrides,omitzero" jsonschema:"maxItems=10000"`
	Translations map[Language]StaffTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// StaffTranslation holds a staff member's texts in one language; one left out falls back to the default.
type StaffTranslation struct {
	Name            Line   `json:"name,omitzero" jsonschema:"maxLength=200"`
	Category        Line   `json:"category,omitzero" jsonschema:"maxLength=200"`
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
}

// Service is one bookable service.
type Service struct {
	Key             Key    `json:"key"`
	ID              *ID    `json:"id,omitzero"`
	Name            Line   `json:"name" jsonschema:"minLength=1,maxLength=200"`
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	Category        Line   `json:"category,omitzero" jsonschema:"maxLength=200"`
	DurationMinutes int    `json:"duration_minutes" jsonschema:"minimum=1,maximum=10080"`
	// Time kept free before a booking.
	BufferBeforeMinutes int `json:"buffer_before_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
	// Time kept free after a booking.
	BufferAfterMinutes int `json:"buffer_after_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
	// Step of the start times; left out, the business's.
	SlotIntervalMinutes *int `json:"slot_interval_minutes,omitzero" jsonschema:"minimum=1,maximum=1440"`
	// List price; 0 or left out is free and never quoted.
	Price         Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	ImageURL      URL     `json:"image_url,omitzero"`
	AllowMultiple bool    `json:"allow_multiple,omitzero"`
	// What is paid when booking; left out: none.
	PaymentRequirement string `json:"payment_requirement,omitzero" jsonschema:"enum=full,enum=deposit_percent,enum=deposit_fixed,enum=none"`
	// Percent or amount, for the two deposit kinds.
	DepositValue *Decimal `json:"deposit_value,omitempty" jsonschema:"minimum=0"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// Who performs it; left out or []: no staff member, `capacity` at a time.
	Staff []Key `json:"staff,omitzero" jsonschema:"maxItems=10000"`
	// Bookings at the same time of a service without staff; default 1.
	Capacity *int `json:"capacity,omitzero" jsonschema:"minimum=1,maximum=1000"`
	// Other lengths and prices of the service.
	Variants []Variant `json:"variants,omitzero" jsonschema:"maxItems=1000"`
	// Sessions; with any, the service can be booked at these only.
	Classes      []ClassSession                  `json:"classes,omitzero" jsonschema:"maxItems=10000"`
	Translations map[Language]ServiceTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// ServiceTranslation holds a service's texts in one language; one left out falls back to the default.
type ServiceTranslation struct {
	Name            Line   `json:"name,omitzero" jsonschema:"maxLength=200"`
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	Category        Line   `json:"category,omitzero" jsonschema:"maxLength=200"`
}

// Variant is another length and price of a service.
type Variant struct {
	Key  Key  `json:"key"`
	ID   *ID  `json:"id,omitzero"`
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Left out: the service's.
	DurationMinutes *int `json:"duration_minutes,omitzero" jsonschema:"minimum=1,maximum=10080"`
	// Left out: the service's.
	Price *Decimal `json:"price,omitempty" jsonschema:"minimum=0"`
}

// ClassSession is a session of a class-based service: on every `weekday` (within from and to), or once on `date`.
type ClassSession struct {
	Key     Key                `json:"key"`
	ID      *ID                `json:"id,omitzero"`
	Weekday *timespan.Weekday  `json:"weekday,omitzero"`
	Date    *timespan.Date     `json:"date,omitzero"`
	Time    timespan.TimeOfDay `json:"time"`
	// Seats.
	Capacity int `json:"capacity" jsonschema:"minimum=1,maximum=100000"`
	// Who gives it; left out, nobody's time is taken.
	Staff *Key `json:"staff,omitzero"`
	// First date of a weekly session; left out, no limit.
	From *timespan.Date `json:"from,omitzero"`
	// Last date of a weekly session; left out, no limit.
	To *timespan.Date `json:"to,omitzero"`
}

// Event is a ticketed event.
type Event struct {
	Key             Key                `json:"key"`
	ID              *ID                `json:"id,omitzero"`
	Name            Line               `json:"name" jsonschema:"minLength=1,maxLength=200"`
	DescriptionHTML string             `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	Date            timespan.Date      `json:"date"`
	StartTime       timespan.TimeOfDay `json:"start_time"`
	// An end at or before the start lies on the next day.
	EndTime  timespan.TimeOfDay `json:"end_time"`
	ImageURL URL                `json:"image_url,omitzero"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Listed for everyone; default true.
	Public *bool `json:"public,omitzero"`
	// Seats over all tiers.
	TotalCapacity int `json:"total_capacity" jsonschema:"minimum=0,maximum=1000000"`
	// What is paid when booking; left out: none.
	PaymentRequirement string `json:"payment_requirement,omitzero" jsonschema:"enum=full,enum=deposit_percent,enum=deposit_fixed,enum=none"`
	// Percent or amount, for the two deposit kinds.
	DepositValue *Decimal `json:"deposit_value,omitempty" jsonschema:"minimum=0"`
	// Kinds of tickets.
	Tiers        []Tier                        `json:"tiers,omitzero" jsonschema:"maxItems=1000"`
	Translations map[Language]EventTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// EventTranslation holds an event's texts in one language; one left out falls back to the default.
type EventTranslation struct {
	Name            Line   `json:"name,omitzero" jsonschema:"maxLength=200"`
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
}

// Tier is a kind of ticket of an event.
type Tier struct {
	Key  Key  `json:"key"`
	ID   *ID  `json:"id,omitzero"`
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// 0 or left out is free and never quoted.
	Price        Decimal                      `json:"price,omitzero" jsonschema:"minimum=0"`
	Capacity     int                          `json:"capacity" jsonschema:"minimum=0,maximum=1000000"`
	Translations map[Language]TierTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// TierTranslation holds a tier's name in one language.
type TierTranslation struct {
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
}

// Rental is a thing rented by the hour or the day.
type Rental struct {
	Key             Key    `json:"key"`
	ID              *ID    `json:"id,omitzero"`
	Name            Line   `json:"name" jsonschema:"minLength=1,maxLength=200"`
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	Category        Line   `json:"category,omitzero" jsonschema:"maxLength=200"`
	// Rate of an hour or a day; 0 or left out is free and never quoted.
	Price     Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	PriceType string  `json:"price_type" jsonschema:"enum=hourly,enum=daily"`
	// The offer listed online; left out, nothing is offered.
	Quantity *int `json:"quantity,omitzero" jsonschema:"minimum=0,maximum=10000"`
	// The physical units.
	Units []RentalUnit `json:"units,omitzero" jsonschema:"maxItems=10000"`
	// Short for so many units in service with no maintenance.
	UnitsCount     *int `json:"units_count,omitzero" jsonschema:"minimum=0,maximum=10000"`
	ImageURL       URL  `json:"image_url,omitzero"`
	MinRentalHours *int `json:"min_rental_hours,omitzero" jsonschema:"minimum=1,maximum=8760"`
	MaxRentalHours *int `json:"max_rental_hours,omitzero" jsonschema:"minimum=1,maximum=8760"`
	MinRentalDays  *int `json:"min_rental_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
	MaxRentalDays  *int `json:"max_rental_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
	// What is paid when booking; left out: none.
	PaymentRequirement string `json:"payment_requirement,omitzero" jsonschema:"enum=full,enum=deposit_percent,enum=deposit_fixed,enum=none"`
	// Percent or amount, for the two deposit kinds.
	DepositValue *Decimal `json:"deposit_value,omitempty" jsonschema:"minimum=0"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// True: listed as an add-on of others.
	AddOn bool `json:"add_on,omitzero"`
	// Rentals offered along with this one.
	Upsells      []Upsell                       `json:"upsells,omitzero" jsonschema:"maxItems=1000"`
	Translations map[Language]RentalTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// RentalTranslation holds a rental's texts in one language; its category is never translated.
type RentalTranslation struct {
	Name            Line   `json:"name,omitzero" jsonschema:"maxLength=200"`
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
}

// RentalUnit is one physical unit.
type RentalUnit struct {
	Key Key `json:"key"`
	ID  *ID `json:"id,omitzero"`
	// Default true.
	InService *bool `json:"in_service,omitzero"`
	// Spans of dates, both included, on which the unit is away.
	Maintenance []Maintenance `json:"maintenance,omitzero" jsonschema:"maxItems=1000"`
}

// Maintenance covers whole dates, both included.
type Maintenance struct {
	From timespan.Date `json:"from"`
	To   timespan.Date `json:"to"`
}

// Upsell offers another rental along with one.
type Upsell struct {
	Rental   Key  `json:"rental"`
	Required bool `json:"required,omitzero"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
}

// PricingRule changes the running price by exactly one of percent, amount and set, when the condition of its kind holds.
type PricingRule struct {
	Key  Key       `json:"key"`
	ID   *ID       `json:"id,omitzero"`
	Kind rule.Kind `json:"kind"`
	// Rules apply from the lowest priority to the highest, then by key; default 0.
	Priority int `json:"priority,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// -20 takes a fifth off.
	Percent *Decimal `json:"percent,omitempty" jsonschema:"minimum=-100,maximum=10000"`
	// Added to the price, in the business's currency.
	Amount *Decimal `json:"amount,omitempty"`
	// The new price.
	Set *Decimal `json:"set,omitempty" jsonschema:"minimum=0"`
	// Ends the list once the rule has applied.
	Stop bool `json:"stop,omitzero"`
	// What the rule changes; left out, everything priced.
	AppliesTo *AppliesTo `json:"applies_to,omitzero"`

	rule.When
}

// AppliesTo names what a rule changes. A kind left out is not changed.
type AppliesTo struct {
	Services *Selection `json:"services,omitzero"`
	Events   *Selection `json:"events,omitzero"`
	Rentals  *Selection `json:"rentals,omitzero"`
}
