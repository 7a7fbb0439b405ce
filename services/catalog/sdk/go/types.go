package slotmesh

import "encoding/json"

// PaymentMode is how customers pay: online, or at the door.
type PaymentMode string

// The payment modes. A booking's PaymentChoice is PayOnline or PayAtDoor.
const (
	PayOnline         PaymentMode = "online"
	PayAtDoor         PaymentMode = "at_door"
	PayCustomerChoice PaymentMode = "customer_choice"
)

// PaymentRequirement is the part of the price that the customer pays when booking.
type PaymentRequirement string

// The payment requirements.
const (
	RequireFull           PaymentRequirement = "full"
	RequireDepositPercent PaymentRequirement = "deposit_percent"
	RequireDepositFixed   PaymentRequirement = "deposit_fixed"
	RequireNone           PaymentRequirement = "none"
)

// BookingStatus is the status of a booking.
type BookingStatus string

// The statuses of a booking.
const (
	BookingPending   BookingStatus = "pending"
	BookingConfirmed BookingStatus = "confirmed"
	BookingCompleted BookingStatus = "completed"
	BookingNoShow    BookingStatus = "no_show"
	BookingCancelled BookingStatus = "cancelled"
)

// Translations maps language codes to texts. It is nil if there are no translations, or if the request had a locale.
type Translations map[string]string

// BusinessInfo describes a business and its settings.
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
	// of the booking page, without consents
	Form []Question `json:"form,omitempty"`
}

// Question is a question to customers. Set the answer in form_data under its key. If ServiceIDs,
// EventIDs and RentalIDs are all empty, every booking has the question.
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

// QuestionOption is one possible answer of a question of type select. The answer in form_data is its key.
type QuestionOption struct {
	Key               string       `json:"key"`
	Label             string       `json:"label"`
	LabelTranslations Translations `json:"label_translations,omitempty"`
}

// ModulesEnabled holds the kinds of things that a business offers.
type ModulesEnabled struct {
	Services bool `json:"services"`
	Events   bool `json:"events"`
	Rentals  bool `json:"rentals"`
}

// ActionButton is a button on the page of the business.
type ActionButton struct {
	Type    string `json:"type"`
	Label   string `json:"label"`
	Icon    string `json:"icon"`
	Content string `json:"content"`
	Order   int    `json:"order"`
}

// PaymentModes holds the payment mode of each kind of bookable thing.
type PaymentModes struct {
	Services PaymentMode `json:"services"`
	Rentals  PaymentMode `json:"rentals"`
	Events   PaymentMode `json:"events"`
}

// CancellationRule is the refund for a cancellation at least HoursBefore hours before the start.
type CancellationRule struct {
	HoursBefore   int `json:"hours_before"`
	RefundPercent int `json:"refund_percent"`
}

// Quote holds the assumptions of quoted prices. If AppliesPricingRules is false, every quoted price is nil.
type Quote struct {
	Date                string `json:"date"`
	AppliesPricingRules bool   `json:"applies_pricing_rules"`
	Basis               string `json:"basis"`
}

// ServiceList is the list of services that customers can book.
type ServiceList struct {
	Services []Service `json:"services"`
	Currency string    `json:"currency"`
	Quote    Quote     `json:"quote"`
}

// Service is a service of a business. QuotedPrice is the price after the pricing rules, nil if it is
// unknown. HasClassSchedule is true for a class. PricePer is "person" or "booking", the unit of both prices.
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

// Variant is a variant of a service, with its own duration and price.
type Variant struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	DurationMinutes int      `json:"duration_minutes"`
	Price           float64  `json:"price"`
	QuotedPrice     *float64 `json:"quoted_price"`

	NameTranslations Translations `json:"name_translations"`
}

// StaffList is the list of staff members.
type StaffList struct {
	Staff []StaffMember `json:"staff"`
}

// StaffMember is a staff member.
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

// EventList is the list of events with tickets.
type EventList struct {
	Events   []Event `json:"events"`
	Currency string  `json:"currency"`
	Quote    Quote   `json:"quote"`
}

// Event is an event. SpotsRemaining is nil if the number of sold tickets is unknown at the moment.
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

// RentalList is the list of rentals, their add-ons and their upsells.
type RentalList struct {
	Rentals       []Rental       `json:"rentals"`
	AddOnRentals  []Rental       `json:"add_on_rentals"`
	RentalUpsells []RentalUpsell `json:"rental_upsells"`
	Currency      string         `json:"currency"`
	Quote         Quote          `json:"quote"`
}

// Rental is a rental. MaxBookableOnline is the maximum number of units in a reservation, nil if it
// could not be determined. PriceType is "hourly" or "daily".
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

// RentalUpsell offers one rental together with another.
type RentalUpsell struct {
	RentalID       string `json:"rental_id"`
	UpsellRentalID string `json:"upsell_rental_id"`
	IsRequired     bool   `json:"is_required"`
	SortOrder      int    `json:"sort_order"`
}

// SlotList is the list of slots of a date. If Computed is false, the slots could not be computed.
type SlotList struct {
	Slots    []Slot `json:"slots"`
	Computed bool   `json:"computed"`
	Timezone string `json:"timezone"`
}

// Slot is a start time that can be booked. StaffID is empty for a service without staff.
// RemainingCapacity and ClassScheduleID are set only for classes.
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

// AvailableDates holds the number of slots by date. If Computed is false, the slots could not be computed.
type AvailableDates struct {
	Days     map[string]int `json:"days"`
	Computed bool           `json:"computed"`
	Timezone string         `json:"timezone"`
}

// RentalAvailability reports whether units are free. If not, ConflictReason is the reason as a
// sentence, MessageCode the same for programs.
type RentalAvailability struct {
	Available      bool   `json:"available"`
	ConflictReason string `json:"conflictReason"`
	MessageCode    string `json:"messageCode"`
}

// RentalDates holds the number of free units by date and id of the rental. If Computed is false, they
// could not be computed.
type RentalDates struct {
	Days     map[string]map[string]int `json:"days"`
	Computed bool                      `json:"computed"`
	Timezone string                    `json:"timezone"`
}

// BookingRequest is a booking to make. Empty fields are not sent.
type BookingRequest struct {
	// IdempotencyKey makes a retry safe, also after a restart of the program. Store a new random value with each
	// booking that a customer makes. If it is empty, each call of [Client.Book] uses a new key for all its attempts.
	IdempotencyKey string `json:"-"`
	// ServiceIDs are the ids of 1 to 20 services, one after another. A class must be booked alone.
	ServiceIDs []string `json:"service_ids"`
	// Date and Time are the Date and Time of a [Slot].
	Date          string `json:"date"`
	Time          string `json:"time"`
	CustomerName  string `json:"customer_name"`
	CustomerEmail string `json:"customer_email"`
	// StaffID is the StaffID of the slot.
	StaffID       string `json:"staff_id,omitempty"`
	CustomerPhone string `json:"customer_phone,omitempty"`
	// Locale is the customer's language, for messages.
	Locale string `json:"locale,omitempty"`
	// FormData holds the answers to the business's questions by key.
	FormData map[string]any `json:"form_data,omitempty"`
	// PartySize is the number of guests, default 1. A booking of a class takes this number of seats.
	PartySize int `json:"party_size,omitempty"`
	// ClassScheduleID selects one of several sessions that start together. Default: the first one with enough seats.
	ClassScheduleID string `json:"class_schedule_id,omitempty"`
	IsPackage       bool   `json:"is_package,omitempty"`
	// StaffingMode is [StaffingPerService] if each service of a package may have its own staff member.
	StaffingMode string   `json:"staffing_mode,omitempty"`
	Variants     Variants `json:"variants,omitempty"`
	// PaymentChoice is PayOnline, or PayAtDoor by default. It applies only if the business lets customers choose.
	PaymentChoice PaymentMode `json:"payment_choice,omitempty"`
	// Source names where the booking comes from; default api.
	Source            string `json:"source,omitempty"`
	PreferredProvider string `json:"preferred_provider,omitempty"`
}

// MarshalJSON returns the pairs as a JSON list.
func (v Variants) MarshalJSON() ([]byte, error) { return json.Marshal(v.pairs()) }

// BookingConfirmation is a booking that was made. If PaymentRequired is true, it is pending until the Payment succeeds.
type BookingConfirmation struct {
	Success         bool     `json:"success"`
	Booking         Booking  `json:"booking"`
	PaymentRequired bool     `json:"paymentRequired"`
	Payment         *Payment `json:"payment"`
	// ManageURL is the customer's page of this booking. Give it only to the customer.
	ManageURL string `json:"manage_url"`
	// Replayed is true if an earlier request with the same IdempotencyKey made this booking.
	Replayed bool `json:"-"`
}

// Payment holds the data with which the customer pays. Give ClientSecret only to the provider's code
// in the customer's browser.
type Payment struct {
	Provider     string  `json:"provider"`
	Amount       float64 `json:"amount"`
	Currency     string  `json:"currency"`
	Reference    string  `json:"reference"`
	ClientSecret string  `json:"client_secret"`
}

// Booking is a booking. StaffID is empty for a service without staff, ClassScheduleID for an appointment.
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

// BookedService is a service of a booking. VariantName is empty if no variant was booked.
type BookedService struct {
	Name            string  `json:"name"`
	VariantName     string  `json:"variant_name"`
	DurationMinutes int     `json:"duration_minutes"`
	Price           float64 `json:"price"`
	// Quantity is the number of people that Price is for, if the price is per person and there are
	// several; otherwise 0.
	Quantity int `json:"quantity"`
	// UnitPrice is the price per person; 0 if Quantity is 0.
	UnitPrice float64 `json:"unit_price"`
	// PriceChanges are the pricing rules that changed the price.
	PriceChanges []PriceChange `json:"price_changes"`
}

// PriceChange is a pricing rule that changed a price. Label is the text for the customer.
type PriceChange struct {
	Rule  string `json:"rule"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
}
