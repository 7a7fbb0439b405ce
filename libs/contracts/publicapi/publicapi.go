// Package publicapi holds the types of the responses of the public API. The OpenAPI
// document of the catalog service describes these responses. Each type has the name
// of its schema in that document. Its fields are in the order of the response.
//
// The services that answer public requests encode these types. The pages and mcp services read public paths
// and decode the responses into these types. A jsonschema tag describes its field to a language model.
package publicapi

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// BusinessInfo is the response of GET /info (interface.md §2).
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
	// Open is false until the owner opens the business for bookings.
	// Until then, lists are empty and nothing can be booked.
	Open bool `json:"open" jsonschema:"false: the business is not open yet; nothing is listed, and book_appointment is refused"`
	// NameTranslations are the translations of Name by language code. The field is omitted if there
	// are none. Name itself is always in the default language (interface.md §2, Localization 6).
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	// Form holds the questions of the booking page. It has no consents, because only
	// the booking page may ask for consents. It is omitted if there are no questions.
	Form []Question `json:"form,omitempty"`
	// Locations, Contact, Legal and PolicyText are omitted if the business does not have them.
	// Like Name, their texts are in the default language, with translations by language code.
	Locations              []Location        `json:"locations,omitempty" jsonschema:"where bookings take place"`
	Contact                *Contact          `json:"contact,omitempty"`
	Legal                  *Legal            `json:"legal,omitempty"`
	PolicyText             string            `json:"policy_text,omitempty" jsonschema:"rules of the business for customers"`
	PolicyTextTranslations map[string]string `json:"policy_text_translations,omitempty"`
}

// Modules reports what a business sells: services, tickets of events, rentals.
type Modules struct {
	Services bool `json:"services"`
	Events   bool `json:"events"`
	Rentals  bool `json:"rentals"`
}

// ActionButton is a button on the page of a business.
type ActionButton struct {
	Type    string `json:"type"`
	Label   string `json:"label"`
	Icon    string `json:"icon"`
	Content string `json:"content"`
	Order   int    `json:"order"`
}

// PaymentModes holds the payment modes for services, rentals and tickets: online, at_door or customer_choice.
type PaymentModes struct {
	Services string `json:"services" jsonschema:"online, at_door or customer_choice"`
	Rentals  string `json:"rentals"`
	Events   string `json:"events"`
}

// CancellationStep sets the percentage of the payment that is refunded
// if the customer cancels at least HoursBefore hours before the start.
type CancellationStep struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

// Question is one question of the booking page. A request to book
// sends the answer in form_data, in the member with the name Key.
type Question struct {
	Key               string            `json:"key"`
	Label             string            `json:"label"`
	LabelTranslations map[string]string `json:"label_translations,omitempty"`
	Type              string            `json:"type" jsonschema:"text, textarea, number, select, checkbox, date or phone"`
	Required          bool              `json:"required"`
	MaxLength         int               `json:"max_length,omitempty" jsonschema:"of an answer of type text or textarea, in characters"`
	Options           []QuestionOption  `json:"options,omitempty" jsonschema:"of select; the answer is the key of one"`
	// ServiceIDs, EventIDs and RentalIDs list the services, events and rentals for which
	// the question is asked. If it is asked for everything, all three are omitted.
	ServiceIDs []uuid.UUID `json:"service_ids,omitempty" jsonschema:"the services that it is asked for; without service_ids, event_ids and rental_ids it is asked for everything"`
	EventIDs   []uuid.UUID `json:"event_ids,omitempty"`
	RentalIDs  []uuid.UUID `json:"rental_ids,omitempty"`
}

// QuestionOption is one possible answer to a question of the type select.
type QuestionOption struct {
	Key               string            `json:"key"`
	Label             string            `json:"label"`
	LabelTranslations map[string]string `json:"label_translations,omitempty"`
}

// Quote describes the quoted prices in a list: the date for
// which they apply, and the basis on which they were computed.
type Quote struct {
	Date                timespan.Date `json:"date"`
	AppliesPricingRules bool          `json:"applies_pricing_rules"`
	Basis               string        `json:"basis"`
}

// ServiceList is the response of GET /services.
type ServiceList struct {
	Services []Service `json:"services"`
	Currency string    `json:"currency"`
	Quote    Quote     `json:"quote"`
}

// Service is one element of services[]. Its category is always
// in the default language (interface.md §2, Localization 6).
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

// ServiceTranslations are the translations of a service's texts, by language. They are
// present in responses to requests without a locale. A field without translations is null.
type ServiceTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
	Category        map[string]string `json:"category_translations"`
}

// Variant is an alternative to the duration and price of a service. Requests for slots and POST /book accept its id.
type Variant struct {
	ID              uuid.UUID    `json:"id" jsonschema:"variants of find_slots and book_appointment take it, as serviceId:variantId"`
	Name            string       `json:"name"`
	DurationMinutes int          `json:"duration_minutes"`
	Price           json.Number  `json:"price"`
	QuotedPrice     *json.Number `json:"quoted_price"`

	*NameTranslations
}

// NameTranslations are the translations of a name, by language. They are present in
// responses to requests without a locale. The field is null if there are no translations.
type NameTranslations struct {
	Name map[string]string `json:"name_translations"`
}

// StaffList is the response of GET /staff.
type StaffList struct {
	Staff []StaffMember `json:"staff"`
}

// StaffMember is one element of staff[].
type StaffMember struct {
	ID              uuid.UUID `json:"id" jsonschema:"what staff_id takes"`
	Name            string    `json:"name"`
	Description     string    `json:"description" jsonschema:"plain text; a long one is cut and ends with …"`
	DescriptionHTML string    `json:"description_html"`
	Category        string    `json:"category"`
	ImageURL        string    `json:"image_url"`

	*StaffTranslations
}

// StaffTranslations are the translations of a staff member's texts, by language. They are present in responses to
// requests without a locale. A field without translations is {}, not null, because the API requires an object.
type StaffTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Category        map[string]string `json:"category_translations"`
	Bio             map[string]string `json:"bio_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// EventList is the response of GET /events.
type EventList struct {
	Events   []Event `json:"events"`
	Currency string  `json:"currency"`
	Quote    Quote   `json:"quote"`
}

// Event is one element of events[]. SpotsRemaining is null if the number of sold tickets is unknown.
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

// EventTranslations are the translations of an event's texts, by language. They are
// present in responses to requests without a locale. A field without translations is null.
type EventTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// TicketTier is one element of inventory[]: a kind of ticket.
// SpotsRemaining is null if the SpotsRemaining of the event is null.
type TicketTier struct {
	ID             uuid.UUID    `json:"id"`
	Name           string       `json:"name"`
	Price          json.Number  `json:"price" jsonschema:"before pricing rules"`
	QuotedPrice    *json.Number `json:"quoted_price" jsonschema:"after them, for a purchase now; null for free tickets or where the rules could not be applied"`
	TotalCapacity  int          `json:"total_capacity"`
	SpotsRemaining *int         `json:"spots_remaining"`

	*NameTranslations
}

// RentalList is the response of GET /rentals.
type RentalList struct {
	Rentals       []Rental       `json:"rentals"`
	AddOnRentals  []Rental       `json:"add_on_rentals" jsonschema:"what is offered along with other rentals"`
	RentalUpsells []RentalUpsell `json:"rental_upsells"`
	Currency      string         `json:"currency"`
	Quote         Quote          `json:"quote"`
}

// Rental is one element of rentals[] or add_on_rentals[]. Its category is always in the default language.
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

// RentalTranslations are the translations of a rental's texts, by language. They are
// present in responses to requests without a locale. A field without translations is null.
type RentalTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Description     map[string]string `json:"description_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// RentalUpsell is one element of rental_upsells[]: another rental to offer together with a rental.
type RentalUpsell struct {
	RentalID       uuid.UUID `json:"rental_id"`
	UpsellRentalID uuid.UUID `json:"upsell_rental_id"`
	IsRequired     bool      `json:"is_required"`
	SortOrder      int       `json:"sort_order"`
}
