package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// serviceList is the answer of list_services.
type serviceList struct {
	Services   []service `json:"services"`
	Currency   string    `json:"currency"`
	Quote      quote     `json:"quote"`
	Total      int       `json:"total" jsonschema:"how many services there are, on all pages"`
	NextOffset *int      `json:"next_offset" jsonschema:"offset of the next page; null on the last"`
}

// service is a service of /services, without HTML and translations.
type service struct {
	ID                 string       `json:"id" jsonschema:"what find_slots and book_appointment take"`
	Name               string       `json:"name"`
	Description        string       `json:"description" jsonschema:"plain text; a long one is cut and ends with …"`
	Category           string       `json:"category"`
	DurationMinutes    int          `json:"duration_minutes"`
	Price              json.Number  `json:"price" jsonschema:"before pricing rules; 0 is free"`
	PricePer           string       `json:"price_per" jsonschema:"person: each of the party pays the price; booking: the party pays it once"`
	QuotedPrice        *json.Number `json:"quoted_price" jsonschema:"after the rules that hold for quote.date; null for free services or where the rules could not be applied"`
	Currency           string       `json:"currency"`
	AllowMultiple      bool         `json:"allow_multiple"`
	HasClassSchedule   bool         `json:"has_class_schedule" jsonschema:"true: booked at class sessions only, alone, which find_slots lists with the places that are left"`
	PaymentRequirement string       `json:"payment_requirement"`
	DepositValue       *json.Number `json:"deposit_value"`
	Variants           []variant    `json:"variants" jsonschema:"other lengths and prices that it comes in; empty: only as it is"`
	VariantsTotal      int          `json:"variants_total,omitzero" jsonschema:"only where they are more than are shown here: how many variants it has; the business's own page has them all"`
}

// variant is a service with another duration and price.
type variant struct {
	ID              string       `json:"id" jsonschema:"variants of find_slots and book_appointment take it, as serviceId:variantId"`
	Name            string       `json:"name"`
	DurationMinutes int          `json:"duration_minutes"`
	Price           json.Number  `json:"price"`
	QuotedPrice     *json.Number `json:"quoted_price"`
}

// quote holds the assumptions of quoted prices.
type quote struct {
	Date                string `json:"date"`
	AppliesPricingRules bool   `json:"applies_pricing_rules"`
	Basis               string `json:"basis"`
}

func (b *Toolbox) services() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "list_services",
			Title: "Services",
			Description: "The services that can be booked, in the business's order: id, name, description, duration " +
				"in minutes, and price. Call it before find_slots and book_appointment, which take the ids. With " +
				"date, quoted_price is the price for a booking on that date; the total that book_appointment gives " +
				"is what counts. Long lists come in pages.",
			InputSchema: input(
				optional("date", dateSchema("The date to quote prices for; left out: today.")),
				localeProperty(), offsetProperty()),
			OutputSchema: output[serviceList](),
			Annotations:  reading("Services"),
		},
		scopes: readers,
		call:   b.listServices,
	}
}

func (b *Toolbox) listServices(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	query := url.Values{}
	if err := copyTo(query, "date", args.date, "date"); err != nil {
		return result{}, err
	}
	offset, err := args.listing(query)
	if err != nil {
		return result{}, err
	}
	all, err := readCached(ctx, b.Catalog, who.Slug, "services", query, (*serviceList).bound)
	if err != nil {
		return result{}, err
	}
	p := pageOf(all.Services, offset, 0)
	all.Services, all.Total, all.NextOffset = p.items, p.total, p.next
	return result{structured: all, text: all.text(p.note())}, nil
}

func (l *serviceList) bound() {
	for i := range l.Services {
		l.Services[i].bound()
	}
}

// bound shortens long texts and lists that the owner wrote, so that the answer fits.
func (s *service) bound() {
	s.Name, s.Category, s.Description = clip(s.Name, maxName), clip(s.Category, maxName),
		clip(s.Description, maxDescription)
	s.Variants, s.VariantsTotal = cut(append([]variant{}, s.Variants...), maxVariants)
	for i := range s.Variants {
		s.Variants[i].Name = clip(s.Variants[i].Name, maxName)
	}
}

// listing reads the arguments that the lists share. It sets locale in the query and returns the offset.
func (a arguments) listing(query url.Values) (int, error) {
	language, err := a.text("locale")
	if err != nil {
		return 0, err
	}
	if language != "" {
		query.Set("locale", clip(language, maxLocale)) // never refused; a cut one matches no language
	}
	return a.offset()
}

func (l *serviceList) text(note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d services; prices in %s for a booking on %s.%s", l.Total, l.Currency, withWeekday(l.Quote.Date),
		note)
	for i := range l.Services {
		l.Services[i].write(&b, l.Currency, len(l.Services))
	}
	b.WriteString("\nNext: find_slots with service_ids says when they are free.")
	return b.String()
}

// perPerson returns " per person" if each person pays the price, otherwise "".
func (s *service) perPerson() string {
	if s.PricePer != "person" || s.Price.String() == "0" {
		return ""
	}
	return " per person"
}

// write writes the lines of a service. The argument listed is the number of services in the text,
// which decides the length of descriptions.
func (s *service) write(b *strings.Builder, currency string, listed int) {
	b.WriteString("\n" + s.Name)
	if s.Category != "" {
		b.WriteString(" (" + s.Category + ")")
	}
	fmt.Fprintf(b, ": %d min, %s%s%s, id %s", s.DurationMinutes, cost(s.Price, s.QuotedPrice, currency), s.perPerson(),
		inAdvance(s.PaymentRequirement, s.DepositValue, currency), s.ID)
	if s.HasClassSchedule {
		b.WriteString("; a class: booked alone, at the sessions that find_slots lists")
	}
	b.WriteString(brief(s.Description, listed))
	for _, v := range s.Variants {
		fmt.Fprintf(b, "\n  variant %s: %d min, %s, variants [\"%s:%s\"]", v.Name, v.DurationMinutes,
			cost(v.Price, v.QuotedPrice, currency), s.ID, v.ID)
	}
	if s.VariantsTotal > 0 {
		fmt.Fprintf(b, "\n  and %d more variants, which are not shown", s.VariantsTotal-len(s.Variants))
	}
}
