// Package manifest defines the manifest: the document in which a business publishes everything that it
// offers. The package holds the types, the parser, the validation, and the ids that are derived from keys.
//
// [Parse] reads YAML or JSON strictly and reports all problems at once. The result
// holds the values as they are written. Methods such as [Service.CapacityUnits]
// apply the defaults, so that the fields themselves show which values were omitted.
//
// A field is required if its json tag has neither omitzero nor omitempty. The limits of values are in
// jsonschema tags. The decoder follows these tags, and manifest.schema.json is generated from them.
package manifest

import (
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

//go:generate go test . -run "^(TestSchemaMatchesTypes|TestReferenceMatchesSchema)$" -update

// The values of the fields apiVersion and kind, which identify the format of the document.
const (
	APIVersion = "slotmesh/v1"
	Kind       = "Business"
)

// PerPerson is the value of price_per for a price per person. The other possible value is "booking".
const PerPerson = "person"

// Manifest is everything a business offers: one document, which is published completely or not at all.
type Manifest struct {
	// Format of the document; always slotmesh/v1.
	APIVersion string `json:"apiVersion" jsonschema:"enum=slotmesh/v1"`
	// What the document describes; always Business.
	Kind string `json:"kind" jsonschema:"enum=Business"`
	// Public id of the business. The default follows from the slug.
	ID *ID `json:"id,omitzero"`
	// The {slug} of every public path.
	Slug Key `json:"slug"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Address of the logo.
	LogoURL URL `json:"logo_url,omitzero"`
	// Id of an uploaded picture: the logo. It replaces logo_url.
	Logo PictureID `json:"logo,omitzero"`
	// ISO 4217 code. Prices are rounded to its minor unit.
	Currency Currency `json:"currency"`
	// IANA time zone of every date and time in this document.
	Timezone Timezone `json:"timezone"`
	// Language of the texts outside "translations".
	DefaultLanguage Language `json:"default_language"`
	// Languages offered, default_language among them. The default is default_language alone.
	Languages []Language `json:"languages,omitzero" jsonschema:"minItems=1,maxItems=100"`
	// Parts of the platform in use. A part left out is in use if the manifest lists something of its kind.
	Modules *Modules `json:"modules,omitzero"`
	// Addresses by the name of the network.
	SocialLinks map[string]URL `json:"social_links,omitzero" jsonschema:"maxProperties=50"`
	// Buttons on the business's page.
	ActionButtons []ActionButton `json:"action_buttons,omitzero" jsonschema:"maxItems=50"`
	// Where bookings take place. The first location is the default.
	Locations []Location `json:"locations,omitzero" jsonschema:"maxItems=200"`
	// How customers reach the business.
	Contact *Contact `json:"contact,omitzero"`
	// Imprint, privacy notice and terms.
	Legal *Legal `json:"legal,omitzero"`
	// Rules for customers in plain text, such as being on time. They are shown with the cancellation policy.
	PolicyText string `json:"policy_text,omitzero" jsonschema:"maxLength=5000"`
	// How the business is paid.
	Payments *Payments `json:"payments,omitzero"`
	// How much is refunded when a customer cancels.
	CancellationPolicy []CancellationStep `json:"cancellation_policy,omitzero" jsonschema:"maxItems=50"`
	// Hours after booking within which cancelling is free.
	CoolingOffHours int `json:"cooling_off_hours,omitzero" jsonschema:"minimum=0,maximum=8760"`
	// The business's account with the platform.
	Account *Account `json:"account,omitzero"`
	// Booking settings.
	Bookings *Bookings `json:"bookings,omitzero"`
	// Actions that the link of a booking allows its customer; null: none.
	SelfService *SelfService `json:"self_service,omitzero"`
	// Recipients of messages, and the owner's additions to them.
	Notifications *Notifications `json:"notifications,omitzero"`
	// How long customers' data is kept.
	Privacy *Privacy `json:"privacy,omitzero"`
	// The business's booking page.
	Page *Page `json:"page,omitzero"`
	// Questions of the booking page. form_data holds the answers under their keys.
	Form []Question `json:"form,omitzero" jsonschema:"maxItems=50"`
	// True: the API and the MCP server, too, refuse bookings without answers to the required questions. Default false.
	FormEnforceAPI bool `json:"form_enforce_api,omitzero"`
	// Whether customers can book; default true. A business set up on the owner's pages has false until
	// "Open for bookings".
	Open *bool `json:"open,omitzero"`
	// Where the manifest is written, such as a GitOps repository. If set, the owner's pages are read-only and show it.
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
	// Services that are sold together at one price on the booking page.
	Packages []Package `json:"packages,omitzero" jsonschema:"maxItems=1000"`
	// Ticketed events.
	Events []Event `json:"events,omitzero" jsonschema:"maxItems=10000"`
	// Things for rent.
	Rentals []Rental `json:"rentals,omitzero" jsonschema:"maxItems=10000"`
	// Rules that change prices. They apply in order of priority (lowest first), then key.
	PricingRules []PricingRule `json:"pricing_rules,omitzero" jsonschema:"maxItems=1000"`
	// The business's name and policy_text in other languages, by language.
	Translations map[Language]BusinessTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// BusinessTranslation holds the business's name and policy_text in one language. Other texts have translations in their
// own objects.
type BusinessTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Rules for customers in plain text.
	PolicyText string `json:"policy_text,omitzero" jsonschema:"maxLength=5000"`
}

// Modules lists the parts of the platform that the business uses.
type Modules struct {
	// Whether services can be booked.
	Services *bool `json:"services,omitzero"`
	// Whether tickets of events are sold.
	Events *bool `json:"events,omitzero"`
	// Whether things are rented out.
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
	// Address that the button opens: http, https, mailto: or tel:. Required for type link.
	Content string `json:"content,omitzero" jsonschema:"maxLength=2000"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
}

// Payments holds how customers pay the business.
type Payments struct {
	// Connected providers; empty means none.
	Providers []string `json:"providers,omitzero" jsonschema:"enum=stripe,maxItems=10"`
	// Mode for each kind of bookable thing.
	Modes *PaymentModes `json:"modes,omitzero"`
	// The business's account with each provider.
	Accounts map[string]Line `json:"accounts,omitzero" jsonschema:"maxProperties=10"`
}

// PaymentModes holds a payment mode for each kind of bookable thing. The default of each is at_door.
type PaymentModes struct {
	// How services are paid.
	Services string `json:"services,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
	// How rentals are paid.
	Rentals string `json:"rentals,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
	// How tickets are paid.
	Events string `json:"events,omitzero" jsonschema:"enum=online,enum=at_door,enum=customer_choice"`
}

// CancellationStep is one step of the cancellation policy: the refund if the customer cancels early enough.
type CancellationStep struct {
	// Minimum number of hours before the start at which the step applies.
	HoursBefore int `json:"hours_before" jsonschema:"minimum=0,maximum=87600"`
	// Percentage of the amount paid that is refunded.
	RefundPercent int `json:"refund_percent" jsonschema:"minimum=0,maximum=100"`
}

// Account is the state of the business's account with the platform. Only operators change it. It holds
// the subscription, the date of removal, and whether the business is a sandbox.
type Account struct {
	// Default active. An inactive business accepts no bookings.
	Subscription string `json:"subscription,omitzero" jsonschema:"enum=active,enum=inactive"`
	// Date on which the account is scheduled for removal. A business with this date accepts no bookings.
	RemovalOn *timespan.Date `json:"removal_on,omitzero"`
	// A sandbox is for tests: payments are simulated by their amount, and messages are stored but never sent.
	Sandbox bool `json:"sandbox,omitzero"`
}

// Bookings are the business's booking settings.
type Bookings struct {
	// Online bookings are paused while today, in business time, is before this date.
	PausedUntil *timespan.Date `json:"paused_until,omitzero"`
	// Step of the start times; default 15.
	SlotIntervalMinutes *int `json:"slot_interval_minutes,omitzero" jsonschema:"minimum=1,maximum=1440"`
	// Minimum minutes between booking and start; default 0.
	MinNoticeMinutes int `json:"min_notice_minutes,omitzero" jsonschema:"minimum=0,maximum=525600"`
	// The last bookable day is today plus this many days; default 365.
	AdvanceDays *int `json:"advance_days,omitzero" jsonschema:"minimum=0,maximum=3650"`
	// manual: a booking is pending until the owner confirms it. auto: it is confirmed at once or when
	// paid. Default manual.
	Confirm string `json:"confirm,omitzero" jsonschema:"enum=manual,enum=auto"`
	// Maximum of open bookings, orders and reservations of one e-mail address on the booking page; default 20.
	MaxOpenPerCustomer *int `json:"max_open_per_customer,omitzero" jsonschema:"minimum=1,maximum=1000"`
	// Minimum minutes between two bookings of a staff member at different locations; default 0. Only the longer of this
	// time and the buffers counts.
	LocationChangeMinutes int `json:"location_change_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
}

// SelfService holds what customers may do with the link of their booking, and until when.
type SelfService struct {
	// Hours before the start until which a customer may cancel; default 0, null: never.
	CancelUntilHours Until `json:"cancel_until_hours,omitzero" jsonschema:"minimum=0,maximum=87600"`
	// Hours before the start until which a customer may reschedule; default 0, null: never.
	RescheduleUntilHours Until `json:"reschedule_until_hours,omitzero" jsonschema:"minimum=0,maximum=87600"`
}

// Notifications holds the recipients of messages, the reminders and the owner's additions.
type Notifications struct {
	// Addresses that are notified when customers book, change or cancel.
	OwnerEmails []Email `json:"owner_emails,omitzero" jsonschema:"maxItems=10"`
	// Address for customers' replies. The default is the first of owner_emails.
	ReplyTo Email `json:"reply_to,omitzero"`
	// Hours before the start at which customers are reminded; default 24. []: no reminders.
	RemindersHoursBefore []int `json:"reminders_hours_before,omitzero" jsonschema:"minimum=1,maximum=8760,maxItems=10"`
	// Texts of the owner that are added to the platform's text, by kind of message.
	Notes map[MessageKind]Note `json:"notes,omitzero" jsonschema:"maxProperties=20"`
	// First sentences of messages in the owner's words, by kind of message. They may contain {customer_name}, {service},
	// {staff}, {date}, {time}, {business}, {location}, {price}, {reference} and {manage_link}.
	Intros map[MessageKind]Note `json:"intros,omitzero" jsonschema:"maxProperties=20"`
}

// Note is a plain text of the owner in the default language, with translations.
type Note struct {
	// The text, without markup.
	Text string `json:"text" jsonschema:"minLength=1,maxLength=2000"`
	// The texts in other languages, by language.
	Translations map[Language]NoteTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// NoteTranslation holds a note in one language.
type NoteTranslation struct {
	// The text, without markup.
	Text string `json:"text" jsonschema:"minLength=1,maxLength=2000"`
}

// Privacy holds how long customers' data is kept.
type Privacy struct {
	// Days after the end of a booking, reservation or order until the customer's data is removed from it; default 730.
	KeepCustomersDays *int `json:"keep_customers_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
}

// Page holds the appearance of the business's booking page, and the sites that may embed it.
type Page struct {
	// Colour of buttons and selected items. White text on it must have a contrast of at least 4.5 : 1.
	Accent Color `json:"accent,omitzero"`
	// Web pages that may embed the booking page.
	EmbedOrigins []Origin `json:"embed_origins,omitzero" jsonschema:"maxItems=50"`
	// Text about the business, in simple HTML.
	AboutHTML string `json:"about_html,omitzero" jsonschema:"maxLength=10000"`
	// Id of an uploaded picture: the wide picture at the top of the page.
	Cover PictureID `json:"cover,omitzero"`
	// Ids of uploaded pictures of the business.
	Gallery []PictureID `json:"gallery,omitzero" jsonschema:"maxItems=20"`
	// The texts in other languages, by language.
	Translations map[Language]PageTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// PageTranslation holds the page's texts in one language. A text left out falls back to the default language.
type PageTranslation struct {
	// Text about the business, in simple HTML.
	AboutHTML string `json:"about_html,omitzero" jsonschema:"maxLength=10000"`
}

// Question is a question that the booking page asks customers who book a service, buy tickets or reserve a rental.
type Question struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// The question, as customers read it.
	Label Line `json:"label" jsonschema:"minLength=1,maxLength=200"`
	// Kind of the input field.
	Type string `json:"type" jsonschema:"enum=text,enum=textarea,enum=number,enum=select,enum=checkbox,enum=date,enum=phone"`
	// Whether a booking requires an answer. A required checkbox must be ticked.
	Required bool `json:"required,omitzero"`
	// Maximum length of an answer in characters, for text (default 200) and textarea (default 2000).
	MaxLength *int `json:"max_length,omitzero" jsonschema:"minimum=1,maximum=5000"`
	// The possible answers, for select.
	Options []QuestionOption `json:"options,omitzero" jsonschema:"maxItems=100"`
	// Services with this question. If services, events and rentals are all left out, every booking has the question.
	Services []Key `json:"services,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Events with this question.
	Events []Key `json:"events,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Rentals with this question, also when they are rented as an upsell.
	Rentals []Key `json:"rentals,omitzero" jsonschema:"minItems=1,maxItems=10000"`
	// Makes a checkbox a consent, such as to receive a newsletter. Its answer is stored under _consent.
	Consent bool `json:"consent,omitzero"`
	// The texts in other languages, by language.
	Translations map[Language]QuestionTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// QuestionTranslation holds the text of a question or an option in one language.
type QuestionTranslation struct {
	// The question or the option, as customers read it.
	Label Line `json:"label,omitzero" jsonschema:"maxLength=200"`
}

// QuestionOption is one possible answer of a select. form_data holds its key.
type QuestionOption struct {
	// The value in form_data: a-z, 0-9 and -.
	Key Key `json:"key"`
	// The option, as customers read it.
	Label Line `json:"label" jsonschema:"minLength=1,maxLength=200"`
	// The texts in other languages, by language.
	Translations map[Language]QuestionTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// WeekHours holds the windows that begin on each weekday; a day left out has none. The windows of a
// day may be in any order and may overlap.
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
	// The windows that begin on this date instead; [] for none.
	Hours []timespan.Window `json:"hours" jsonschema:"maxItems=100"`
}

// Block is blocked time, from (included) to (excluded).
type Block struct {
	// When the blocked time begins, in business time.
	From timespan.LocalDateTime `json:"from"`
	// When it ends, in business time. A booking may start at this moment.
	To timespan.LocalDateTime `json:"to"`
	// Staff members whose time is blocked. The default is the whole business.
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
	// Role or profession of the member.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	// Address of a picture, https or http.
	ImageURL URL `json:"image_url,omitzero"`
	// Id of an uploaded picture. It replaces image_url.
	Photo PictureID `json:"photo,omitzero"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Order for display and automatic assignment, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// Default: the opening hours of the location. {}: only the hours of overrides. They count at every location.
	Hours *WeekHours `json:"hours,omitzero"`
	// Hours at single locations, by key of the location; they replace hours. The member works only at these.
	At map[Key]WeekHours `json:"at,omitzero" jsonschema:"maxProperties=200"`
	// Dates on which the hours differ. With `at`, an override applies where the member works on that weekday or, if
	// that is nowhere, at every location in `at`. An override with hours [] applies everywhere.
	Overrides []DayOverride `json:"overrides,omitzero" jsonschema:"maxItems=10000"`
	// The texts in other languages, by language.
	Translations map[Language]StaffTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// StaffTranslation holds a staff member's texts in one language. A text left out falls back to the default language.
type StaffTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Role or profession of the member.
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
	// Heading of the service in the list of services.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
	// How long it takes.
	DurationMinutes int `json:"duration_minutes" jsonschema:"minimum=1,maximum=10080"`
	// Time kept free before a booking.
	BufferBeforeMinutes int `json:"buffer_before_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
	// Time kept free after a booking.
	BufferAfterMinutes int `json:"buffer_after_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
	// Step of the start times; default: the business's.
	SlotIntervalMinutes *int `json:"slot_interval_minutes,omitzero" jsonschema:"minimum=1,maximum=1440"`
	// List price. A service with price 0 is free and has no quoted price; default 0.
	Price Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	// The unit of the price: a person or a booking. The default is person for a class, otherwise booking.
	PricePer string `json:"price_per,omitzero" jsonschema:"enum=person,enum=booking"`
	// Address of a picture, https or http.
	ImageURL URL `json:"image_url,omitzero"`
	// Id of an uploaded picture. It replaces image_url.
	Picture PictureID `json:"picture,omitzero"`
	// Whether customers may book it several times in one booking.
	AllowMultiple bool `json:"allow_multiple,omitzero"`
	// Part of the price that is paid when booking; default none.
	PaymentRequirement string `json:"payment_requirement,omitzero" jsonschema:"enum=full,enum=deposit_percent,enum=deposit_fixed,enum=none"`
	// Percentage or amount, for the two deposit requirements.
	DepositValue *Decimal `json:"deposit_value,omitempty" jsonschema:"minimum=0"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// Staff members who perform it. Without any, the service needs no staff and `capacity` limits parallel bookings.
	Staff []Key `json:"staff,omitzero" jsonschema:"maxItems=10000"`
	// Maximum number of bookings at the same time, for a service without staff; default 1.
	// All locations of the service share it.
	Capacity *int `json:"capacity,omitzero" jsonschema:"minimum=1,maximum=1000"`
	// Keys of the locations that offer it; the preferred one comes first. Default: all of kind place or, without
	// any, all locations.
	Locations []Key `json:"locations,omitzero" jsonschema:"minItems=1,maxItems=200"`
	// Other lengths and prices of the service.
	Variants []Variant `json:"variants,omitzero" jsonschema:"maxItems=1000"`
	// Sessions. A service with sessions is a class: customers can book it only at these.
	Classes []ClassSession `json:"classes,omitzero" jsonschema:"maxItems=10000"`
	// The texts in other languages, by language.
	Translations map[Language]ServiceTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// ServiceTranslation holds a service's texts in one language. A text left out falls back to the default language.
type ServiceTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
	// Heading of the service in the list of services.
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
	// Default: the service's duration.
	DurationMinutes *int `json:"duration_minutes,omitzero" jsonschema:"minimum=1,maximum=10080"`
	// Default: the service's price.
	Price *Decimal `json:"price,omitempty" jsonschema:"minimum=0"`
	// The texts in other languages, by language.
	Translations map[Language]VariantTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// VariantTranslation holds a variant's name in one language.
type VariantTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
}

// ClassSession is a session of a class: on every `weekday` between from and to, or once on `date`.
type ClassSession struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// The day of a weekly session. A session has either weekday or date.
	Weekday *timespan.Weekday `json:"weekday,omitzero"`
	// The date of a single session.
	Date *timespan.Date `json:"date,omitzero"`
	// When it begins, in business time.
	Time timespan.TimeOfDay `json:"time"`
	// Number of seats.
	Capacity int `json:"capacity" jsonschema:"minimum=1,maximum=100000"`
	// The staff member who gives it, who is then busy. Without it, the session needs no staff.
	Staff *Key `json:"staff,omitzero"`
	// Key of its location, one of the service's. Default: the first of the service's locations.
	Location Key `json:"location,omitzero"`
	// First date of a weekly session; default: no limit.
	From *timespan.Date `json:"from,omitzero"`
	// Last date of a weekly session; default: no limit.
	To *timespan.Date `json:"to,omitzero"`
}

// Package is a set of services that are booked as one appointment, at a price of its own. It has
// either price or percent.
type Package struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Name shown to customers.
	Name Line `json:"name" jsonschema:"minLength=1,maxLength=200"`
	// Description on the booking page, in plain text.
	Description string `json:"description,omitzero" jsonschema:"maxLength=2000"`
	// Keys of its services in the order of performance, without variants. Two packages must not have the same services.
	Services []Key `json:"services" jsonschema:"minItems=2,maxItems=20"`
	// Price of all services together. The sum of the services' prices after price rules is charged if it is lower.
	Price *Decimal `json:"price,omitempty" jsonschema:"minimum=0"`
	// Discount on the sum of the services' prices after price rules: 10 takes 10 percent off.
	Percent *Decimal `json:"percent,omitempty" jsonschema:"minimum=0,maximum=100"`
	// The texts in other languages, by language.
	Translations map[Language]PackageTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// PackageTranslation holds a package's texts in one language. A text left out falls back to the default language.
type PackageTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Description on the booking page, in plain text.
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
	// Id of an uploaded picture. It replaces image_url.
	Picture PictureID `json:"picture,omitzero"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Whether everyone sees it in the list of events; default true.
	Public *bool `json:"public,omitzero"`
	// Seats of all tiers together.
	TotalCapacity int `json:"total_capacity" jsonschema:"minimum=0,maximum=1000000"`
	// Part of the price that is paid when booking; default none.
	PaymentRequirement string `json:"payment_requirement,omitzero" jsonschema:"enum=full,enum=deposit_percent,enum=deposit_fixed,enum=none"`
	// Percentage or amount, for the two deposit requirements.
	DepositValue *Decimal `json:"deposit_value,omitempty" jsonschema:"minimum=0"`
	// Key of its location; default: the first location of the business.
	Location Key `json:"location,omitzero"`
	// Kinds of ticket.
	Tiers []Tier `json:"tiers,omitzero" jsonschema:"maxItems=1000"`
	// The texts in other languages, by language.
	Translations map[Language]EventTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// EventTranslation holds an event's texts in one language. A text left out falls back to the default language.
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
	// Price of a ticket. A tier with price 0 is free and has no quoted price; default 0.
	Price Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	// Number of tickets.
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
	// Heading of the rental in the list of rentals.
	Category Line `json:"category,omitzero" jsonschema:"maxLength=200"`
	// Price per hour or day. A rental with price 0 is free and has no quoted price; default 0.
	Price Decimal `json:"price,omitzero" jsonschema:"minimum=0"`
	// The unit of the price: an hour or a day.
	PriceType string `json:"price_type" jsonschema:"enum=hourly,enum=daily"`
	// Number of units that customers can book online. Without it, customers can book none.
	Quantity *int `json:"quantity,omitzero" jsonschema:"minimum=0,maximum=10000"`
	// The physical units.
	Units []RentalUnit `json:"units,omitzero" jsonschema:"maxItems=10000"`
	// Short form for this number of units that are in service and have no maintenance.
	UnitsCount *int `json:"units_count,omitzero" jsonschema:"minimum=0,maximum=10000"`
	// Address of a picture, https or http.
	ImageURL URL `json:"image_url,omitzero"`
	// Id of an uploaded picture. It replaces image_url.
	Picture PictureID `json:"picture,omitzero"`
	// Minimum hours of a rental by the hour; default: no limit.
	MinRentalHours *int `json:"min_rental_hours,omitzero" jsonschema:"minimum=1,maximum=8760"`
	// Maximum hours of a rental by the hour; default: no limit.
	MaxRentalHours *int `json:"max_rental_hours,omitzero" jsonschema:"minimum=1,maximum=8760"`
	// Minimum days of a rental by the day; default: no limit.
	MinRentalDays *int `json:"min_rental_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
	// Maximum days of a rental by the day; default: no limit.
	MaxRentalDays *int `json:"max_rental_days,omitzero" jsonschema:"minimum=1,maximum=3650"`
	// Whether customers may pick up and return outside the business hours; default false.
	OutsideHours bool `json:"outside_hours,omitzero"`
	// Part of the price that is paid when booking; default none.
	PaymentRequirement string `json:"payment_requirement,omitzero" jsonschema:"enum=full,enum=deposit_percent,enum=deposit_fixed,enum=none"`
	// Percentage or amount, for the two deposit requirements.
	DepositValue *Decimal `json:"deposit_value,omitempty" jsonschema:"minimum=0"`
	// Default true.
	Active *bool `json:"active,omitzero"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// Whether it is listed as an add-on of other rentals.
	AddOn bool `json:"add_on,omitzero"`
	// Key of the location where customers pick up and return it; default: the first location of the business.
	Location Key `json:"location,omitzero"`
	// Rentals that are offered together with this one.
	Upsells []Upsell `json:"upsells,omitzero" jsonschema:"maxItems=1000"`
	// The texts in other languages, by language.
	Translations map[Language]RentalTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// RentalTranslation holds a rental's texts in one language. The category has no translations.
type RentalTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Description shown to customers, in simple HTML.
	DescriptionHTML string `json:"description_html,omitzero" jsonschema:"maxLength=100000"`
}

// RentalUnit is one physical unit of a rental.
type RentalUnit struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Whether the unit can be rented; default true.
	InService *bool `json:"in_service,omitzero"`
	// Spans of dates on which the unit is not available.
	Maintenance []Maintenance `json:"maintenance,omitzero" jsonschema:"maxItems=1000"`
}

// Maintenance is a span of whole dates on which a unit is not available.
type Maintenance struct {
	// The first date, included.
	From timespan.Date `json:"from"`
	// The last date, included.
	To timespan.Date `json:"to"`
}

// Upsell offers another rental together with one.
type Upsell struct {
	// Key of the other rental.
	Rental Key `json:"rental"`
	// Whether the other rental is added to every reservation of this one.
	Required bool `json:"required,omitzero"`
	// Display order, lowest first.
	Order int `json:"order,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
}

// PricingRule changes the current price by exactly one of percent, amount and set, if the condition of its kind holds.
type PricingRule struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// Kind of the condition. It decides which fields of the condition the rule has.
	Kind rule.Kind `json:"kind"`
	// Rules apply from the lowest priority to the highest, then by key; default 0.
	Priority int `json:"priority,omitzero" jsonschema:"minimum=-1000000,maximum=1000000"`
	// Percentage added to the price: -20 takes 20 percent off.
	Percent *Decimal `json:"percent,omitempty" jsonschema:"minimum=-100,maximum=10000"`
	// Amount added to the price, in the business's currency.
	Amount *Decimal `json:"amount,omitempty"`
	// The new price.
	Set *Decimal `json:"set,omitempty" jsonschema:"minimum=0"`
	// Whether later rules are skipped after this rule has applied.
	Stop bool `json:"stop,omitzero"`
	// Prices that the rule changes; default: every price.
	AppliesTo *AppliesTo `json:"applies_to,omitzero"`
	// Text beside a price that the rule changed. The default is a text for the kind of rule.
	Label Line `json:"label,omitzero" jsonschema:"maxLength=200"`
	// The label in other languages, by language.
	Translations map[Language]RuleTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`

	rule.When
}

// RuleTranslation holds the label of a pricing rule in one language.
type RuleTranslation struct {
	// Text beside a price that the rule changed.
	Label Line `json:"label,omitzero" jsonschema:"maxLength=200"`
}

// AppliesTo lists the services, events and rentals whose prices a rule changes. A kind left out is not changed.
type AppliesTo struct {
	// Keys of services, or all.
	Services *Selection `json:"services,omitzero"`
	// Keys of events, or all.
	Events *Selection `json:"events,omitzero"`
	// Keys of rentals, or all.
	Rentals *Selection `json:"rentals,omitzero"`
}
