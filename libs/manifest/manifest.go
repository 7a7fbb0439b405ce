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

//go:generate go test . -run "^(TestSchemaIsInStepWithTheTypes|TestTheReferenceIsInStepWithTheSchema)$" -update

// Values of the two fields that say what a document is.
const (
	APIVersion = "slotmesh/v1"
	Kind       = "Business"
)

// PerPerson is the value of price_per whose price is of one person; the other one is of a booking.
const PerPerson = "person"

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
	// Whether the interface and the MCP server refuse bookings without answers to the required questions, as the booking page does; default false.
	FormEnforceAPI bool `json:"form_enforce_api,omitzero"`
	// Whether customers can book; default true. A business that is set up on the owner's pages has false until "Open for bookings".
	Open *bool `json:"open,omitzero"`
	// Where the manifest is written, such as a repository of a GitOps tool: the owner's pages then only read, and name it. null: on the pages, too.
	ManagedBy Line `json:"managed_by,omitzero" jsonschema:"maxLength=200"`
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
	// Services that are sold together, at a price of their own, on the booking page.
	Packages []Package `json:"packages,omitzero" jsonschema:"maxItems=1000"`
	// Ticketed events.
	Events []Event `json:"events,omitzero" jsonschema:"maxItems=10000"`
	// Things for rent.
	Rentals []Rental `json:"rentals,omitzero" jsonschema:"maxItems=10000"`
	// Rules that change prices, applied in order of priority (lowest first), then key.
	PricingRules []PricingRule `json:"pricing_rules,omitzero" jsonschema:"maxItems=1000"`
	// The business's name in other languages, by language.
	Translations map[Language]BusinessTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// BusinessTranslation holds the business's name in one language. Its other texts have translations where they stand.
type BusinessTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
}

// Modules says which parts of the platform the business uses.
type Modules struct {
	// Services are booked.
	Services *bool `json:"services,omitzero"`
	// Tickets of events are sold.
	Events *bool `json:"events,omitzero"`
	// Things are rented.
	Rentals *bool `json:"rentals,omitzero"`
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
	// How services are paid.
	Services string `json:"services,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
	// How rentals are paid.
	Rentals string `json:"rentals,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
	// How tickets are paid.
	Events string `json:"events,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
}

// CancellationStep says what is refunded when a customer cancels at least so many hours before.
type CancellationStep struct {
	// Hours before the start from which on the step holds.
	HoursBefore int `json:"hours_before" jsonschema:"minimum=0,maximum=87600"`
	// How much of what was paid is given back.
	RefundPercent int `json:"refund_percent" jsonschema:"minimum=0,maximum=100"`
}

// Account is how the business stands with the platform: its subscription, when it leaves, and whether it is real. Operators alone change it.
type Account struct {
	// Left out: active. Inactive refuses bookings.
	Subscription string `json:"subscription,omitzero" jsonschema:"enum=active,enum=inactive"`
	// Set once the account is scheduled for removal: bookings are refused from then on.
	RemovalOn *timespan.Date `json:"removal_on,omitzero"`
	// A sandbox is for trying things out: payments are made up by their amount, and messages are kept and never sent.
	Sandbox bool `json:"sandbox,omitzero"`
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
	// Open bookings, ticket orders and reservations that one e-mail address may have made on the booking page; default 20.
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
	// The words, in plain text.
	Text string `json:"text" jsonschema:"minLength=1,maxLength=2000"`
	// The texts in other languages, by language.
	Translations map[Language]NoteTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// NoteTranslation holds a note in one language.
type NoteTranslation struct {
	// The words, in plain text.
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
	AboutHTML string `json:"about_html,omitzero" jsonschema:"maxLength=10000"`
	// The texts in other languages, by language.
	Translations map[Language]PageTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// PageTranslation holds the page's texts in one language; one left out falls back to the default.
type PageTranslation struct {
	// What the page says of the business, in simple HTML.
	AboutHTML string `json:"about_html,omitzero" jsonschema:"maxLength=10000"`
}

// Question is one question of the booking page to who books a service, buys tickets or reserves a rental.
type Question struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// The question, as customers read it.
	Label Line `json:"label" jsonschema:"minLength=1,maxLength=200"`
	// How it is answered.
	Type string `json:"type" jsonschema:"enum=text,enum=textarea,enum=number,enum=select,enum=checkbox,enum=date,enum=phone"`
	// Nothing is booked without an answer; of a checkbox: unless it is ticked.
	Required bool `json:"required,omitzero"`
	// Characters that an answer may have, of text and textarea; default 200 and 2000.
	MaxLength *int `json:"max_length,omitzero" jsonschema:"minimum=1,maximum=5000"`
	// What can be chosen, of select.
	Options []QuestionOption `json:"options,omitzero" jsonschema:"maxItems=100"`
	// Services that it is asked for. Where services, events and rentals are all left out, it is asked for everything.
	Services []Key `json:"services,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Events that it is asked for.
	Events []Key `json:"events,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Rentals that it is asked for, also where one goes along with another.
	Rentals []Key `json:"rentals,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Makes a checkbox a consent, such as to be written to: its answer is kept under _consent.
	Consent bool `json:"consent,omitzero"`
	// The texts in other languages, by language.
	Translations map[Language]QuestionTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// QuestionTranslation holds a question or an option in one language.
type QuestionTranslation struct {
	// The question or the option, as customers read it.
	Label Line `json:"label,omitzero" jsonschema:"maxLength=200"`
}

// QuestionOption is one answer of a select; its key is what form_data holds.
type QuestionOption struct {
	// What the answer holds: a-z, 0-9 and -.
	Key Key `json:"key"`
	// The option, as customers read it.
	Label Line `json:"label" jsonschema:"minLength=1,maxLength=200"`
	// The texts in other languages, by language.
	Translations map[Language]QuestionTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// WeekHours holds the windows that begin on each weekday; a day left out has none. Windows of a day may come in any
// order and overlap.
type WeekHours struct {
	// Windows that begin on Monday.
	Mon []timespan.Window `json:"mon,omitzero" jsonschema:"maxItems=100"`
	// Windows that begin on Tuesday.
	Tue []timespan.Window `json:"tue,omitzero" jsonschema:"maxItems=100"`
	// Windows that begin on Wednesday.
	Wed []timespan.Window `json:"wed,omitzero" jsonschema:"maxItems=100"`
	// Windows that begin on Thursday.
	Thu []timespan.Window `json:"thu,omitzero" jsonschema:"maxItems=100"`
	// Windows that begin on Friday.
	Fri []timespan.Window `json:"fri,omitzero" jsonschema:"maxItems=100"`
	// Windows that begin on Saturday.
	Sat []timespan.Window `json:"sat,omitzero" jsonschema:"maxItems=100"`
	// Windows that begin on Sunday.
	Sun []timespan.Window `json:"sun,omitzero" jsonschema:"maxItems=100"`
}

// DayOverride replaces the windows that begin on one date; [] closes the day.
type DayOverride struct {
	// The date whose windows are replaced.
	Date timespan.Date `json:"date"`
	// The windows that begin on it instead; [] for none.
	Hours []timespan.Window `json:"hours" jsonschema:"maxItems=100"`
}

// Block is blocked time, from (included) to (excluded).
type Block struct {
	// When the blocked time begins, in business time.
	From timespan.LocalDateTime `json:"from"`
	// When it ends, in business time; that moment is free again.
	To timespan.LocalDateTime `json:"to"`
	// Whose time is blocked; left out, the whole business's.
	Staff []Key `json:"staff,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Note for the owner, never shown to customers.
	Reason string `json:"reason,omitzero" jsonschema:"maxLength=1000"`
}

// Staff is one staff member.
type Staff struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// What the member is, such as a profession.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	// Address of a picture, https or http.
	ImageURL URL `json:"image_url,omitzero"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Display and Auto-Assign order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// Left out: the business's hours. {}: none but those of overrides.
	Hours *WeekHours `json:"hours,omitzero"`
	// Dates on which the hours differ.
	Overrides []DayOverride `json:"overrides,omitzero" jsonschema:"maxItems=10000"`
	// The texts in other languages, by language.
	Translations map[Language]StaffTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// StaffTranslation holds a staff member's texts in one language; one left out falls back to the default.
type StaffTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Heading under which it is listed.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
}

// Service is one bookable service.
type Service struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	// Heading under which it is listed.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
	// How long it takes.
	DurationMinutes int `json:"duration_minutes" jsonschema:"minimum=1,maximum=10080"`
	// Time kept free before a booking.
	BufferBeforeMinutes int `json:"buffer_before_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
	// Time kept free after a booking.
	BufferAfterMinutes int `json:"buffer_after_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
	// Step of the start times; left out, the business's.
	SlotIntervalMinutes *int `json:"slot_interval_minutes,omitzero" jsonschema:"minimum=1,maximum=1440"`
	// List price; 0 or left out is free and never quoted.
	Price Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	// The unit of the price: a person or a booking. The default is person for a class, otherwise booking.
	PricePer string `json:"price_per,omitzero" jsonschema:"enum=person,enum=booking"`
	// Address of a picture, https or http.
	ImageURL URL `json:"image_url,omitzero"`
	// Customers may take it several times in one booking.
	AllowMultiple bool `json:"allow_multiple,omitzero"`
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
	Classes []ClassSession `json:"classes,omitzero" jsonschema:"maxItems=10000"`
	// The texts in other languages, by language.
	Translations map[Language]ServiceTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// ServiceTranslation holds a service's texts in one language; one left out falls back to the default.
type ServiceTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	// Heading under which it is listed.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
}

// Variant is another length and price of a service.
type Variant struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Left out: the service's.
	DurationMinutes *int `json:"duration_minutes,omitzero" jsonschema:"minimum=1,maximum=10080"`
	// Left out: the service's.
	Price *Decimal `json:"price,omitempty" jsonschema:"minimum=0"`
	// The texts in other languages, by language.
	Translations map[Language]VariantTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// VariantTranslation holds a variant's name in one language.
type VariantTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
}

// ClassSession is a session of a class-based service: on every `weekday` (within from and to), or once on `date`.
type ClassSession struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// The day of a weekly session; a session has either weekday or date.
	Weekday *timespan.Weekday `json:"weekday,omitzero"`
	// The date of a single session.
	Date *timespan.Date `json:"date,omitzero"`
	// When it begins, in business time.
	Time timespan.TimeOfDay `json:"time"`
	// Seats.
	Capacity int `json:"capacity" jsonschema:"minimum=1,maximum=100000"`
	// Who gives it; left out, nobody's time is taken.
	Staff *Key `json:"staff,omitzero"`
	// First date of a weekly session; left out, no limit.
	From *timespan.Date `json:"from,omitzero"`
	// Last date of a weekly session; left out, no limit.
	To *timespan.Date `json:"to,omitzero"`
}

// Package is services that are booked as one appointment at a price of their own. Of price and percent it has exactly one.
type Package struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// What the booking page says of it, in plain text.
	Description string `json:"description,omitzero" jsonschema:"maxLength=2000"`
	// Keys of its services, in the order in which they are performed; each as itself, without a variant. No two packages are of the same ones.
	Services []Key `json:"services" jsonschema:"minItems=2,maxItems=20"`
	// What all of them cost together, whatever price rules make of each, unless that is less.
	Price *Decimal `json:"price,omitempty" jsonschema:"minimum=0"`
	// How much is taken off what they cost one by one, after price rules: 10 takes a tenth off.
	Percent *Decimal `json:"percent,omitempty" jsonschema:"minimum=0,maximum=100"`
	// The texts in other languages, by language.
	Translations map[Language]PackageTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// PackageTranslation holds a package's texts in one language; one left out falls back to the default.
type PackageTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// What the booking page says of it, in plain text.
	Description string `json:"description,omitzero" jsonschema:"maxLength=2000"`
}

// Event is a ticketed event.
type Event struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	// The date on which it begins.
	Date timespan.Date `json:"date"`
	// When it begins, in business time.
	StartTime timespan.TimeOfDay `json:"start_time"`
	// An end at or before the start lies on the next day.
	EndTime timespan.TimeOfDay `json:"end_time"`
	// Address of a picture, https or http.
	ImageURL URL `json:"image_url,omitzero"`
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
	Tiers []Tier `json:"tiers,omitzero" jsonschema:"maxItems=1000"`
	// The texts in other languages, by language.
	Translations map[Language]EventTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// EventTranslation holds an event's texts in one language; one left out falls back to the default.
type EventTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
}

// Tier is a kind of ticket of an event.
type Tier struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// 0 or left out is free and never quoted.
	Price Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	// How many tickets there are of it.
	Capacity int `json:"capacity" jsonschema:"minimum=0,maximum=1000000"`
	// The texts in other languages, by language.
	Translations map[Language]TierTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// TierTranslation holds a tier's name in one language.
type TierTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
}

// Rental is a thing rented by the hour or the day.
type Rental struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	// Heading under which it is listed.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
	// Rate of an hour or a day; 0 or left out is free and never quoted.
	Price Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	// What the price is of: an hour or a day.
	PriceType string `json:"price_type" jsonschema:"enum=hourly,enum=daily"`
	// The offer listed online; left out, nothing is offered.
	Quantity *int `json:"quantity,omitzero" jsonschema:"minimum=0,maximum=10000"`
	// The physical units.
	Units []RentalUnit `json:"units,omitzero" jsonschema:"maxItems=10000"`
	// Short for so many units in service with no maintenance.
	UnitsCount *int `json:"units_count,omitzero" jsonschema:"minimum=0,maximum=10000"`
	// Address of a picture, https or http.
	ImageURL URL `json:"image_url,omitzero"`
	// The shortest time it is rented for, by the hour; left out, no limit.
	MinRentalHours *int `json:"min_rental_hours,omitzero" jsonschema:"minimum=1,maximum=8760"`
	// The longest time it is rented for, by the hour; left out, no limit.
	MaxRentalHours *int `json:"max_rental_hours,omitzero" jsonschema:"minimum=1,maximum=8760"`
	// The shortest time it is rented for, by the day; left out, no limit.
	MinRentalDays *int `json:"min_rental_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
	// The longest time it is rented for, by the day; left out, no limit.
	MaxRentalDays *int `json:"max_rental_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
	// True: customers pick up and return also outside opening hours; left out: false.
	OutsideHours bool `json:"outside_hours,omitzero"`
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
	Upsells []Upsell `json:"upsells,omitzero" jsonschema:"maxItems=1000"`
	// The texts in other languages, by language.
	Translations map[Language]RentalTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// RentalTranslation holds a rental's texts in one language; its category is never translated.
type RentalTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
}

// RentalUnit is one physical unit.
type RentalUnit struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Default true.
	InService *bool `json:"in_service,omitzero"`
	// Spans of dates, both included, on which the unit is away.
	Maintenance []Maintenance `json:"maintenance,omitzero" jsonschema:"maxItems=1000"`
}

// Maintenance covers whole dates, both included.
type Maintenance struct {
	// The first date.
	From timespan.Date `json:"from"`
	// The last date.
	To timespan.Date `json:"to"`
}

// Upsell offers another rental along with one.
type Upsell struct {
	// Key of the other rental.
	Rental Key `json:"rental"`
	// It goes along whenever this one is rented.
	Required bool `json:"required,omitzero"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
}

// PricingRule changes the running price by exactly one of percent, amount and set, when the condition of its kind holds.
type PricingRule struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// What the condition is about; it says which of the fields of conditions the rule has.
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
	// The text beside a price that the rule changed. The default is a text for the kind of rule.
	Label Line `json:"label,omitzero" jsonschema:"maxLength=200"`
	// The label in other languages, by language.
	Translations map[Language]RuleTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`

	rule.When
}

// RuleTranslation holds the label of a pricing rule in one language.
type RuleTranslation struct {
	// The text beside a price that the rule changed.
	Label Line `json:"label,omitzero" jsonschema:"maxLength=200"`
}

// AppliesTo names what a rule changes. A kind left out is not changed.
type AppliesTo struct {
	// Keys of services, or all.
	Services *Selection `json:"services,omitzero"`
	// Keys of events, or all.
	Events *Selection `json:"events,omitzero"`
	// Keys of rentals, or all.
	Rentals *Selection `json:"rentals,omitzero"`
}
