// Package publicapi holds the types of the answers of the public API, as the OpenAPI document of the catalog service
// describes them. Each type has the name of its schema there, and its fields are in the order of the answer.
//
// The services that answer encode these types, and the services that read the public paths (pages, mcp) decode them.
// A jsonschema tag describes a field to a language model.
package publicapi

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// BusinessInfo is the answer of /info (interface.md §2).
type BusinessInfo struct {
	Name                 string             `json:"name"`
	Slug                 string             `json:"slug"`
	LogoURL              string             `json:"logo_url"`
	Currency             string             `json:"currency" jsonschema:"ISO 4217"`
	Timezone             string             `json:"timezone" jsonschema:"IANA name; every date and time of this server is local time there"`
	DefaultLanguage      string             `json:"default_language"`
	Languages            []string           `json:"languages" jsonschema:"what locale can be"`
	ModulesEnabled       Modules            `json:"modules_enabled"`
	SocialLinks          map[string]string  `json:"social_links"`
	ActionButtons        []ActionButton     `json:"action_buttons"`
	HasPaymentProviders  bool               `json:"has_payment_providers"`
	PaymentProviders     []string           `json:"payment_providers"`
	PaymentModes         PaymentModes       `json:"payment_modes"`
	CancellationPolicy   []CancellationStep `json:"cancellation_policy"`
	CoolingOffHours      int                `json:"cooling_off_hours"`
	OnlineBookingsPaused bool               `json:"online_bookings_paused" jsonschema:"while true, book_appointment is refused"`
	// Open is false until the business opens for bookings. Until then, nothing is listed and nothing can be booked.
	Open bool `json:"open" jsonschema:"false: the business is not open yet; nothing is listed, and book_appointment is refused"`
	// NameTranslations are by language code; left out if there are none.
	// The interface does not resolve this name (§2, Localization 6).
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Form holds the questions of the booking page, without consents,
	// which only the page asks for. It is left out if there are none.
	Form []Question `json:"form,omitempty"`
}

// Modules holds the kinds of things that a business offers.
type Modules struct {
	Services bool `json:"services"`
	Events   bool `json:"events"`
	Rentals  bool `json:"rentals"`
}

// ActionButton is a button on the business's page.
type ActionButton struct {
	Type    string `json:"type"`
	Label   string `json:"label"`
	Icon    string `json:"icon"`
	Content string `json:"content"`
	Order   int    `json:"order"`
}

// PaymentModes holds the payment mode of each module: online, at_door or customer_choice.
type PaymentModes struct {
	Services string `json:"services" jsonschema:"online, at_door or customer_choice"`
	Rentals  string `json:"rentals"`
	Events   string `json:"events"`
}

// CancellationStep is the percentage that is refunded if the
// customer cancels at least HoursBefore hours before the start.
type CancellationStep struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

// Question is one question of the booking page. A booking gives its answer in form_data under the question's key.
type Question struct {
	Key               string            `json:"key"`
	Label             string            `json:"label"`
	LabelTranslations map[string]string `json:"label_translations,omitempty"`
	Type              string            `json:"type" jsonschema:"text, textarea, number, select, checkbox, date or phone"`
	Required          bool              `json:"required"`
	MaxLength         int               `json:"max_length,omitempty" jsonschema:"of an answer of type text or textarea, in characters"`
	Options           []QuestionOption  `json:"options,omitempty" jsonschema:"of select; the answer is the key of one"`
	// ServiceIDs, EventIDs and RentalIDs select what the question is asked for. All three are left out if it is
	// always asked.
	ServiceIDs []uuid.UUID `json:"service_ids,omitempty" jsonschema:"the services that it is asked for; without service_ids, event_ids and rental_ids it is asked for everything"`
	EventIDs   []uuid.UUID `json:"event_ids,omitempty"`
	RentalIDs  []uuid.UUID `json:"rental_ids,omitempty"`
}

// QuestionOption is one possible answer of a select question.
type QuestionOption struct {
	Key               string            `json:"key"`
	Label             string            `json:"label"`
	LabelTranslations map[string]string `json:"label_translations,omitempty"`
}

// Quote describes what the quoted prices of a list assume.
type Quote struct {
	Date                timespan.Date `json:"date"`
	AppliesPricingRules bool          `json:"applies_pricing_rules"`
	Basis               string        `json:"basis"`
}

// ServiceList is the answer of /services.
type ServiceList struct {
	Services []Service `json:"services"`
	Currency string    `json:"currency"`
	Quote    Quote     `json:"quote"`
}

// Service is an element of services[]. Its category is not resolved (interface.md §2, Localization 6).
type Service struct {
	ID                 uuid.UUID    `json:"id" jsonschema:"what find_slots and book_appointment take"`
	Name               string       `json:"name"`
	Description        string       `json:"description" jsonschema:"plain text; a long one is cut and ends with …"`
	DescriptionHTML    string       `json:"description_html"`
	Category           string       `json:"category"`
	DurationMinutes    int          `json:"duration_minutes"`
	Price              json.Number  `json:"price" jsonschema:"before pricing rules; 0 is free"`
	PricePer           string       `json:"price_per" jsonschema:"person: each of the party pays the price; booking: the party pays it once"`
	QuotedPrice        *json.Number `json:"quoted_price" jsonschema:"after the rules that hold for quote.date; null for free services or where the rules could not be applied"`
	Currency           string       `json:"currency"`
	ImageURL           string       `json:"image_url"`
	AllowMultiple      bool         `json:"allow_multiple"`
	HasClassSchedule   bool         `json:"has_class_schedule" jsonschema:"true: booked at class sessions only, alone, which find_slots lists with the places that are left"`
	PaymentRequirement string       `json:"payment_requirement"`
	DepositValue       *json.Number `json:"deposit_value"`
	Variants           []Variant    `json:"variants,omitempty" jsonschema:"other lengths and prices that it comes in; empty: only as it is"`

	*ServiceTranslations
}

// ServiceTranslations are shown in answers without a locale. Each is null if there are no translations.
type ServiceTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
	Category        map[string]string `json:"category_translations"`
}

// Variant is an alternative duration and price of a service. The calendars and POST /book accept its id.
type Variant struct {
	ID              uuid.UUID    `json:"id" jsonschema:"variants of find_slots and book_appointment take it, as serviceId:variantId"`
	Name            string       `json:"name"`
	DurationMinutes int          `json:"duration_minutes"`
	Price           json.Number  `json:"price"`
	QuotedPrice     *json.Number `json:"quoted_price"`

	*NameTranslations
}

// NameTranslations are shown in answers without a locale; null if there are no translations.
type NameTranslations struct {
	Name map[string]string `json:"name_translations"`
}

// StaffList is the answer of /staff.
type StaffList struct {
	Staff []StaffMember `json:"staff"`
}

// StaffMember is an element of staff[].
type StaffMember struct {
	ID              uuid.UUID `json:"id" jsonschema:"what staff_id takes"`
	Name            string    `json:"name"`
	Description     string    `json:"description" jsonschema:"plain text; a long one is cut and ends with …"`
	DescriptionHTML string    `json:"description_html"`
	Category        string    `json:"category"`
	ImageURL        string    `json:"image_url"`

	*StaffTranslations
}

// StaffTranslations are the translations of a staff member's texts, in answers without a locale. The
// API requires an object: without translations, each field is {} and not null.
type StaffTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Category        map[string]string `json:"category_translations"`
	Bio             map[string]string `json:"bio_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// EventList is the answer of /events.
type EventList struct {
	Events   []Event `json:"events"`
	Currency string  `json:"currency"`
	Quote    Quote   `json:"quote"`
}

// Event is an element of events[]. SpotsRemaining is null if the number of tickets sold is unknown.
type Event struct {
	ID                 uuid.UUID     `json:"id"`
	Name               string        `json:"name"`
	Description        string        `json:"description" jsonschema:"plain text; a long one is cut and ends with …"`
	DescriptionHTML    string        `json:"description_html"`
	Date               timespan.Date `json:"date"`
	StartTime          string        `json:"start_time" jsonschema:"HH:MM:SS"`
	EndTime            string        `json:"end_time" jsonschema:"HH:MM:SS, on the next day where it is not after start_time"`
	ImageURL           string        `json:"image_url"`
	TotalCapacity      int           `json:"total_capacity"`
	SpotsRemaining     *int          `json:"spots_remaining" jsonschema:"0: sold out; null: could not be counted just now"`
	Inventory          []TicketTier  `json:"inventory" jsonschema:"the kinds of tickets"`
	PaymentRequirement string        `json:"payment_requirement"`
	DepositValue       *json.Number  `json:"deposit_value"`

	*EventTranslations
}

// EventTranslations are shown in answers without a locale. Each is null if there are no translations.
type EventTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// TicketTier is an element of inventory[]: a kind of ticket. SpotsRemaining is null if the event's is.
type TicketTier struct {
	ID             uuid.UUID    `json:"id"`
	Name           string       `json:"name"`
	Price          json.Number  `json:"price" jsonschema:"before pricing rules"`
	QuotedPrice    *json.Number `json:"quoted_price" jsonschema:"after them, for a purchase now; null for free tickets or where the rules could not be applied"`
	TotalCapacity  int          `json:"total_capacity"`
	SpotsRemaining *int         `json:"spots_remaining"`

	*NameTranslations
}

// RentalList is the answer of /rentals.
type RentalList struct {
	Rentals       []Rental       `json:"rentals"`
	AddOnRentals  []Rental       `json:"add_on_rentals" jsonschema:"what is offered along with other rentals"`
	RentalUpsells []RentalUpsell `json:"rental_upsells"`
	Currency      string         `json:"currency"`
	Quote         Quote          `json:"quote"`
}

// Rental is an element of rentals[] and add_on_rentals[]. Its category is not translated.
type Rental struct {
	ID                 uuid.UUID    `json:"id"`
	Name               string       `json:"name"`
	Description        string       `json:"description" jsonschema:"plain text; a long one is cut and ends with …"`
	DescriptionHTML    string       `json:"description_html"`
	Category           string       `json:"category"`
	Price              json.Number  `json:"price" jsonschema:"of one unit for an hour or a day, as price_type says, before pricing rules"`
	QuotedPrice        *json.Number `json:"quoted_price" jsonschema:"the same after the rules that hold for quote.date; null for free rentals or where the rules could not be applied"`
	PriceType          string       `json:"price_type" jsonschema:"hourly or daily"`
	Quantity           int          `json:"quantity" jsonschema:"how many units the business lists"`
	MaxBookableOnline  *int         `json:"max_bookable_online" jsonschema:"at most so many units can be had at once, before reservations and maintenance; 0: none; null: could not be determined"`
	ImageURL           string       `json:"image_url"`
	MinRentalDays      *int         `json:"min_rental_days"`
	MaxRentalDays      *int         `json:"max_rental_days"`
	MinRentalHours     *int         `json:"min_rental_hours"`
	MaxRentalHours     *int         `json:"max_rental_hours"`
	PaymentRequirement string       `json:"payment_requirement"`
	DepositValue       *json.Number `json:"deposit_value"`

	*RentalTranslations
}

// RentalTranslations are shown in answers without a locale. Each is null if there are no translations.
type RentalTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// RentalUpsell is an element of rental_upsells[]: a rental to offer together with another.
type RentalUpsell struct {
	RentalID       uuid.UUID `json:"rental_id"`
	UpsellRentalID uuid.UUID `json:"upsell_rental_id"`
	IsRequired     bool      `json:"is_required"`
	SortOrder      int       `json:"sort_order"`
}
