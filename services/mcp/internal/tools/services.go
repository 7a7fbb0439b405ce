package tools

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// serviceList is the answer of list_services.
type serviceList struct {
	Services   []service       `json:"services"`
	Currency   string          `json:"currency"`
	Quote      publicapi.Quote `json:"quote"`
	Total      int             `json:"total" jsonschema:"how many services there are, on all pages"`
	NextOffset *int            `json:"next_offset" jsonschema:"offset of the next page; null on the last"`
}

// service is a service as /services describes it, without HTML,
// images and translations. The field Variants is never null in JSON.
type service struct {
	publicapi.Service
	DescriptionHTML hiddenFields        `json:"description_html,omitzero"`
	ImageURL        hiddenFields        `json:"image_url,omitzero"`
	Variants        []publicapi.Variant `json:"variants" jsonschema:"other lengths and prices that it comes in; empty: only as it is"`
	VariantsTotal   int                 `json:"variants_total,omitzero" jsonschema:"only where they are more than are shown here: how many variants it has; the business's own page has them all"`
}

func (b *Toolbox) servicesTool() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "list_services",
			Title: "Services",
			Description: "The services that can be booked, in the business's order: id, name, description, duration " +
				"in minutes, and price. Call it before find_slots and book_appointment, which take the ids. With " +
				"date, quoted_price is the price for a booking on that date; the total that book_appointment gives " +
				"is what counts. Long lists come in pages.",
			InputSchema: inputSchema(
				optionalProperty("date", dateSchema("The date to quote prices for; left out: today.")),
				localeProperty(), offsetProperty()),
			OutputSchema: outputSchema[serviceList](),
			Annotations:  readAnnotations("Services"),
		},
		scopes: readScopes,
		call:   b.listServices,
	}
}

func (b *Toolbox) listServices(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	query := url.Values{}
	if err := copyArgument(query, "date", args.date, "date"); err != nil {
		return result{}, err
	}
	offset, err := args.listQuery(query)
	if err != nil {
		return result{}, err
	}
	all, err := readCached(ctx, b.Catalog, who.Slug, "services", query, newServiceList)
	if err != nil {
		return result{}, err
	}
	p := pageOf(all.Services, offset, 0)
	all.Services, all.Total, all.NextOffset = p.items, p.total, p.next
	return result{structured: all, text: all.text(p.note())}, nil
}

// newServiceList converts the answer of /services to the answer of list_services.
func newServiceList(answer *publicapi.ServiceList) serviceList {
	l := serviceList{Services: make([]service, len(answer.Services)), Currency: answer.Currency, Quote: answer.Quote}
	for i := range answer.Services {
		l.Services[i].Service = answer.Services[i]
		l.Services[i].limit()
	}
	return l
}

// limit shortens long texts and lists that the owner wrote, so that
// the answer fits into its limit. It also removes the translations.
func (s *service) limit() {
	s.Name, s.Category, s.Description = clipText(s.Name, maxName), clipText(s.Category, maxName),
		clipText(s.Description, maxDescription)
	s.ServiceTranslations = nil
	s.Variants, s.VariantsTotal = cutList(append([]publicapi.Variant{}, s.Service.Variants...), maxVariants)
	s.Service.Variants = nil
	for i := range s.Variants {
		s.Variants[i].Name, s.Variants[i].NameTranslations = clipText(s.Variants[i].Name, maxName), nil
	}
}

// listQuery reads the arguments that all tools for lists have. It sets locale in the query and returns the offset.
func (a arguments) listQuery(query url.Values) (int, error) {
	language, err := a.text("locale")
	if err != nil {
		return 0, err
	}
	if language != "" {
		query.Set("locale", clipText(language, maxLocale)) // any text is accepted; a shortened one matches no language
	}
	return a.offset()
}

func (l *serviceList) text(note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d services; prices in %s for a booking on %s.%s", l.Total, l.Currency,
		withWeekday(l.Quote.Date.String()),
		note)
	for i := range l.Services {
		l.Services[i].write(&b, l.Currency, len(l.Services))
	}
	b.WriteString("\nNext: find_slots with service_ids says when they are free.")
	return b.String()
}

// priceBasis returns " per person" if the price is per person and not zero. Otherwise it returns "".
func (s *service) priceBasis() string {
	if s.PricePer != "person" || s.Price.String() == "0" {
		return ""
	}
	return " per person"
}

// write writes the lines of a service to b. The argument `listed` is the number
// of services in the text; it determines the length of the descriptions.
func (s *service) write(b *strings.Builder, currency string, listed int) {
	b.WriteString("\n" + s.Name)
	if s.Category != "" {
		b.WriteString(" (" + s.Category + ")")
	}
	fmt.Fprintf(b, ": %d min, %s%s%s, id %s", s.DurationMinutes, costText(s.Price, s.QuotedPrice, currency),
		s.priceBasis(),
		paymentNote(s.PaymentRequirement, s.DepositValue, currency), s.ID)
	if s.HasClassSchedule {
		b.WriteString("; a class: booked alone, at the sessions that find_slots lists")
	}
	b.WriteString(shortDescription(s.Description, listed))
	if s.VariantsTotal > 0 { // written before the variants, because the end of a long text is cut off
		fmt.Fprintf(b, "\n  %d of its %d variants are shown", len(s.Variants), s.VariantsTotal)
	}
	for _, v := range s.Variants {
		fmt.Fprintf(b, "\n  variant %s: %d min, %s, variants [\"%s:%s\"]", v.Name, v.DurationMinutes,
			costText(v.Price, v.QuotedPrice, currency), s.ID, v.ID)
	}
}
