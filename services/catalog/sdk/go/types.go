package slotmesh

import "encoding/json"

// PaymentMode is where customers pay.
type PaymentMode string

// Where customers pay. A booking's PaymentChoice is one of the first two.
const (
	PayOnline         PaymentMode = "online"
	PayAtDoor         PaymentMode = "at_door"
	PayCustomerChoice PaymentMode = "customer_choice"
)

// PaymentRequirement is how much is paid ahead.
type PaymentRequirement string

// How much is paid ahead.
const (
	RequireFull           PaymentRequirement = "full"
	RequireDepositPercent PaymentRequirement = "deposit_percent"
	RequireDepositFixed   PaymentRequirement = "deposit_fixed"
	RequireNone           PaymentRequirement = "none"
)

// BookingStatus is what became of a booking.
type BookingStatus string

// What became of a booking.
const (
	BookingPending   BookingStatus = "pending"
	BookingConfirmed BookingStatus = "confirmed"
	BookingCompleted BookingStatus = "completed"
	BookingNoShow    BookingStatus = "no_show"
	BookingCancelled BookingStatus = "cancelled"
)

// Translations are language codes to texts. They are nil where there is none, and where a locale was asked for.
type Translations map[string]string

// BusinessInfo is the business.
type BusinessInfo struct {
	Name                 string             `json:"name"`
	Slug                 string             `json:"slug"`
	LogoURL              string             `json:"logo_url"`
	Currency             string             `json:"currency"`
	Timezone             string             `json:"timezone"`
	DefaultLanguage      string             `json:"default_language"`
	Languages            []string           `json:"languages"`
	ModulesEnabled       ModulesEnabled     `json:"modules_enabled"`
	SocialLinks          map[string]string  `json:"social_links"`
	ActionButtons        []ActionButton     `json:"action_buttons"`
	HasPaymentProviders  bool               `json:"has_payment_providers"`
	PaymentProviders     []string           `json:"payment_providers"`
	PaymentModes         PaymentModes       `json:"payment_modes"`
	CancellationPolicy   []CancellationRule `json:"cancellation_policy"`
	CoolingOffHours      int                `json:"cooling_off_hours"`
	OnlineBookingsPaused bool               `json:"online_bookings_paused"`
	Open                 bool               `json:"open"`                        // false until it opens for bookings
	NameTranslations     Translations       `json:"name_translations,omitempty"` // nil where the name has none
	Form                 []Question         `json:"form,omitempty"`              // of the booking page, without consents
}

// Question is a question to customers. Its answer stands in form_data under its key. Without ServiceIDs, EventIDs and RentalIDs it is asked
// for everything.
type Question struct {
	Key               string           `json:"key"`
	Label             string           `json:"label"`
	LabelTranslations Translations     `json:"label_translations,omitempty"`
	Type              string           `json:"type"`
	Required          bool             `json:"required"`
	MaxLength         int              `json:"max_length,omitempty"`
	Options           []QuestionOption `json:"options,omitempty"`
	ServiceIDs        []string         `json:"service_ids,omitempty"`
	EventIDs          []string         `json:"event_ids,omitempty"`
	RentalIDs         []string         `json:"rental_ids,omitempty"`
}

// QuestionOption is one answer of a question that takes the key of one.
type QuestionOption struct {
	Key               string       `json:"key"`
	Label             string       `json:"label"`
	LabelTranslations Translations `json:"label_translations,omitempty"`
}

// ModulesEnabled are the kinds of things that a business offers.
type ModulesEnabled struct {
	Services bool `json:"services"`
	Events   bool `json:"events"`
	Rentals  bool `json:"rentals"`
}

// ActionButton is a link that the business shows.
type ActionButton struct {
	Type    string `json:"type"`
	Label   string `json:"label"`
	Icon    string `json:"icon"`
	Content string `json:"content"`
	Order   int    `json:"order"`
}

// PaymentModes are where customers pay, by kind.
type PaymentModes struct {
	Services PaymentMode `json:"services"`
	Rentals  PaymentMode `json:"rentals"`
	Events   PaymentMode `json:"events"`
}

// CancellationRule is what is given back of a booking that is cancelled at least so many hours before its start.
type CancellationRule struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

// Quote is what quoted prices assume. Where AppliesPricingRules is false every quoted price is nil.
type Quote struct {
	Date                string `json:"date"`
	AppliesPricingRules bool   `json:"applies_pricing_rules"`
	Basis               string `json:"basis"`
}

// ServiceList is what can be booked by the appointment.
type ServiceList struct {
	Services []Service `json:"services"`
	Currency string    `json:"currency"`
	Quote    Quote     `json:"quote"`
}

// Service is a service of a business. QuotedPrice is the price after the rules, nil if it is unknown. HasClassSchedule is
// true for a class. PricePer is person or booking, the unit of both prices.
type Service struct {
	ID                          string             `json:"id"`
	Name                        string             `json:"name"`
	Description                 string             `json:"description"`
	DescriptionHTML             string             `json:"description_html"`
	Category                    string             `json:"category"`
	DurationMinutes             int                `json:"duration_minutes"`
	Price                       float64            `json:"price"`
	PricePer                    string             `json:"price_per"`
	QuotedPrice                 *float64           `json:"quoted_price"`
	Currency                    string             `json:"currency"`
	ImageURL                    string             `json:"image_url"`
	AllowMultiple               bool               `json:"allow_multiple"`
	HasClassSchedule            bool               `json:"has_class_schedule"`
	PaymentRequirement          PaymentRequirement `json:"payment_requirement"`
	DepositValue                *float64           `json:"deposit_value"`
	Variants                    []Variant          `json:"variants"`
	NameTranslations            Translations       `json:"name_translations"`
	DescriptionTranslations     Translations       `json:"description_translations"`
	DescriptionHTMLTranslations Translations       `json:"description_html_translations"`
	CategoryTranslations        Translations       `json:"category_translations"`
}

// Variant is another length and price to book a service with.
type Variant struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	DurationMinutes int      `json:"duration_minutes"`
	Price           float64  `json:"price"`
	QuotedPrice     *float64 `json:"quoted_price"`

	NameTranslations Translations `json:"name_translations"`
}

// StaffList is who works there.
type StaffList struct {
	Staff []StaffMember `json:"staff"`
}

// StaffMember is one of them.
type StaffMember struct {
	ID                          string       `json:"id"`
	Name                        string       `json:"name"`
	Description                 string       `json:"description"`
	DescriptionHTML             string       `json:"description_html"`
	Category                    string       `json:"category"`
	ImageURL                    string       `json:"image_url"`
	NameTranslations            Translations `json:"name_translations"`
	CategoryTranslations        Translations `json:"category_translations"`
	BioTranslations             Translations `json:"bio_translations"`
	DescriptionHTMLTranslations Translations `json:"description_html_translations"`
}

// EventList is what tickets can be had for.
type EventList struct {
	Events   []Event `json:"events"`
	Currency string  `json:"currency"`
	Quote    Quote   `json:"quote"`
}

// Event is one of them. SpotsRemaining is nil while the tickets sold cannot be counted.
type Event struct {
	ID                          string             `json:"id"`
	Name                        string             `json:"name"`
	Description                 string             `json:"description"`
	DescriptionHTML             string             `json:"description_html"`
	Date                        string             `json:"date"`
	StartTime                   string             `json:"start_time"`
	EndTime                     string             `json:"end_time"`
	ImageURL                    string             `json:"image_url"`
	TotalCapacity               int                `json:"total_capacity"`
	SpotsRemaining              *int               `json:"spots_remaining"`
	Inventory                   []TicketTier       `json:"inventory"`
	PaymentRequirement          PaymentRequirement `json:"payment_requirement"`
	DepositValue                *float64           `json:"deposit_value"`
	NameTranslations            Translations       `json:"name_translations"`
	DescriptionTranslations     Translations       `json:"description_translations"`
	DescriptionHTMLTranslations Translations       `json:"description_html_translations"`
}

// TicketTier is a kind of ticket of an event.
type TicketTier struct {
	ID               string       `json:"id"`
	Name             string       `json:"name"`
	Price            float64      `json:"price"`
	QuotedPrice      *float64     `json:"quoted_price"`
	TotalCapacity    int          `json:"total_capacity"`
	SpotsRemaining   *int         `json:"spots_remaining"`
	NameTranslations Translations `json:"name_translations"`
}

// RentalList is what can be rented, and what is offered along with it.
type RentalList struct {
	Rentals       []Rental       `json:"rentals"`
	AddOnRentals  []Rental       `json:"add_on_rentals"`
	RentalUpsells []RentalUpsell `json:"rental_upsells"`
	Currency      string         `json:"currency"`
	Quote         Quote          `json:"quote"`
}

// Rental is one of them. MaxBookableOnline, the most that can be booked, is nil where it could not be determined; PriceType is hourly or daily.
type Rental struct {
	ID                          string             `json:"id"`
	Name                        string             `json:"name"`
	Description                 string             `json:"description"`
	DescriptionHTML             string             `json:"description_html"`
	Category                    string             `json:"category"`
	Price                       float64            `json:"price"`
	QuotedPrice                 *float64           `json:"quoted_price"`
	PriceType                   string             `json:"price_type"`
	Quantity                    int                `json:"quantity"`
	MaxBookableOnline           *int               `json:"max_bookable_online"`
	ImageURL                    string             `json:"image_url"`
	MinRentalDays               *int               `json:"min_rental_days"`
	MaxRentalDays               *int               `json:"max_rental_days"`
	MinRentalHours              *int               `json:"min_rental_hours"`
	MaxRentalHours              *int               `json:"max_rental_hours"`
	PaymentRequirement          PaymentRequirement `json:"payment_requirement"`
	DepositValue                *float64           `json:"deposit_value"`
	NameTranslations            Translations       `json:"name_translations"`
	DescriptionTranslations     Translations       `json:"description_translations"`
	DescriptionHTMLTranslations Translations       `json:"description_html_translations"`
}

// RentalUpsell offers one rental along with another.
type RentalUpsell struct {
	RentalID       string `json:"rental_id"`
	UpsellRentalID string `json:"upsell_rental_id"`
	IsRequired     bool   `json:"is_required"`
	SortOrder      int    `json:"sort_order"`
}

// SlotList are the bookable starts of a date. Where Computed is false they could not be read.
type SlotList struct {
	Slots    []Slot `json:"slots"`
	Computed bool   `json:"computed"`
	Timezone string `json:"timezone"`
}

// Slot is one of them. StaffID is empty for services that no member performs; RemainingCapacity and ClassScheduleID are of classes.
type Slot struct {
	Time              string `json:"time"`
	EndTime           string `json:"endTime"`
	StaffID           string `json:"staffId"`
	StaffName         string `json:"staffName"`
	Date              string `json:"date"`
	DateOffset        int    `json:"dateOffset"`
	RemainingCapacity int    `json:"remainingCapacity"`
	ClassScheduleID   string `json:"classScheduleId"`
}

// AvailableDates are dates to numbers of bookable starts. Where Computed is false they could not be read.
type AvailableDates struct {
	Days     map[string]int `json:"days"`
	Computed bool           `json:"computed"`
	Timezone string         `json:"timezone"`
}

// RentalAvailability is whether units are free; where they are not, ConflictReason says why for people and MessageCode for programs.
type RentalAvailability struct {
	Available      bool   `json:"available"`
	ConflictReason string `json:"conflictReason"`
	MessageCode    string `json:"messageCode"`
}

// RentalDates are dates to ids of rentals to free units. Where Computed is false they could not be read.
type RentalDates struct {
	Days     map[string]map[string]int `json:"days"`
	Computed bool                      `json:"computed"`
	Timezone string                    `json:"timezone"`
}

// BookingRequest is an order. What is empty is not sent.
type BookingRequest struct {
	// IdempotencyKey makes it safe to order again, also after this program has ended: keep a new random value with each order that a customer
	// makes. Left out, there is one for the attempts of one call.
	IdempotencyKey string `json:"-"`
	// ServiceIDs are 1 to 20 services, one after another. A class is booked alone.
	ServiceIDs []string `json:"service_ids"`
	// Date and Time are those of a slot.
	Date          string `json:"date"`
	Time          string `json:"time"`
	CustomerName  string `json:"customer_name"`
	CustomerEmail string `json:"customer_email"`
	// StaffID is that of the slot.
	StaffID       string `json:"staff_id,omitempty"`
	CustomerPhone string `json:"customer_phone,omitempty"`
	// Locale is the customer's language, for messages.
	Locale string `json:"locale,omitempty"`
	// FormData answers the business's own questions.
	FormData map[string]any `json:"form_data,omitempty"`
	// PartySize are the guests; a class takes that many seats. 1 when it is 0.
	PartySize int `json:"party_size,omitempty"`
	// ClassScheduleID is a session of a class, where two of it start together.
	ClassScheduleID string `json:"class_schedule_id,omitempty"`
	IsPackage       bool   `json:"is_package,omitempty"`
	// StaffingMode is [StaffingPerService] where each service of a package may have a member of its own.
	StaffingMode string   `json:"staffing_mode,omitempty"`
	Variants     Variants `json:"variants,omitempty"`
	// PaymentChoice decides where the business leaves it to the customer.
	PaymentChoice PaymentMode `json:"payment_choice,omitempty"`
	// Source is where the booking comes from.
	Source            string `json:"source,omitempty"`
	PreferredProvider string `json:"preferred_provider,omitempty"`
}

// MarshalJSON writes the pairs as a list.
func (v Variants) MarshalJSON() ([]byte, error) { return json.Marshal(v.pairs()) }

// BookingConfirmation is what was booked. Where PaymentRequired is true the booking stays pending until its Payment succeeds.
type BookingConfirmation struct {
	Success         bool     `json:"success"`
	Booking         Booking  `json:"booking"`
	PaymentRequired bool     `json:"paymentRequired"`
	Payment         *Payment `json:"payment"`
	// ManageURL is the customer's own page of this booking: hand it to the customer, and to nobody else.
	ManageURL string `json:"manage_url"`
	// Replayed says that an earlier request with the same IdempotencyKey made this booking.
	Replayed bool `json:"-"`
}

// Payment is what the customer pays by: hand ClientSecret to the provider's code in the customer's browser, and to nobody else.
type Payment struct {
	Provider     string  `json:"provider"`
	Amount       float64 `json:"amount"`
	Currency     string  `json:"currency"`
	Reference    string  `json:"reference"`
	ClientSecret string  `json:"client_secret"`
}

// Booking is a booking. StaffID is empty for services that no member performs, ClassScheduleID for an appointment.
type Booking struct {
	ID              string          `json:"id"`
	Date            string          `json:"date"`
	StartTime       string          `json:"start_time"`
	EndTime         string          `json:"end_time"`
	Status          BookingStatus   `json:"status"`
	Source          string          `json:"source"`
	Services        []BookedService `json:"services"`
	Total           float64         `json:"total"`
	Currency        string          `json:"currency"`
	PartySize       int             `json:"party_size"`
	StaffID         string          `json:"staff_id"`
	StaffName       string          `json:"staff_name"`
	ClassScheduleID string          `json:"class_schedule_id"`
}

// BookedService is a part of a booking. VariantName is empty for the service itself.
type BookedService struct {
	Name            string  `json:"name"`
	VariantName     string  `json:"variant_name"`
	DurationMinutes int     `json:"duration_minutes"`
	Price           float64 `json:"price"`
	// Quantity is how many people Price is of, where it is per person and there are several; 0 otherwise.
	Quantity int `json:"quantity"`
	// UnitPrice is the price of one of them; 0 without a Quantity.
	UnitPrice float64 `json:"unit_price"`
	// PriceChanges are the pricing rules that changed the price.
	PriceChanges []PriceChange `json:"price_changes"`
}

// PriceChange is a pricing rule that changed a price. Label is what the customer reads.
type PriceChange struct {
	Rule  string `json:"rule"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
}
