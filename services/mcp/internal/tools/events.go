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

// eventList is the answer of list_events.
type eventList struct {
	Events     []event `json:"events"`
	Currency   string  `json:"currency"`
	Quote      quote   `json:"quote"`
	Total      int     `json:"total" jsonschema:"how many events there are, on all pages"`
	NextOffset *int    `json:"next_offset" jsonschema:"offset of the next page; null on the last"`
}

// event is an event of /events, without HTML and translations.
type event struct {
	ID                 string       `json:"id"`
	Name               string       `json:"name"`
	Description        string       `json:"description" jsonschema:"plain text; a long one is cut and ends with …"`
	Date               string       `json:"date"`
	StartTime          string       `json:"start_time" jsonschema:"HH:MM:SS"`
	EndTime            string       `json:"end_time" jsonschema:"HH:MM:SS, on the next day where it is not after start_time"`
	TotalCapacity      int          `json:"total_capacity"`
	SpotsRemaining     *int         `json:"spots_remaining" jsonschema:"0: sold out; null: could not be counted just now"`
	Inventory          []tier       `json:"inventory" jsonschema:"the kinds of tickets"`
	InventoryTotal     int          `json:"inventory_total,omitzero" jsonschema:"only where they are more than are shown here: how many kinds of tickets there are; the business's own page has them all"`
	PaymentRequirement string       `json:"payment_requirement"`
	DepositValue       *json.Number `json:"deposit_value"`
}

// tier is one kind of ticket.
type tier struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	Price          json.Number  `json:"price" jsonschema:"before pricing rules"`
	QuotedPrice    *json.Number `json:"quoted_price" jsonschema:"after them, for a purchase now; null for free tickets or where the rules could not be applied"`
	TotalCapacity  int          `json:"total_capacity"`
	SpotsRemaining *int         `json:"spots_remaining"`
}

func (b *Toolbox) events() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "list_events",
			Title: "Events",
			Description: "The coming public events: name, description, date, start and end, kinds of tickets with " +
				"prices, and how many places are left. Dates and times are local time of the business's time zone. " +
				"Tickets cannot be bought with these tools. Long lists come in pages.",
			InputSchema:  input(localeProperty(), offsetProperty()),
			OutputSchema: output[eventList](),
			Annotations:  reading("Events"),
		},
		scopes: readers,
		call:   b.listEvents,
	}
}

func (b *Toolbox) listEvents(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	query := url.Values{}
	offset, err := args.listing(query)
	if err != nil {
		return result{}, err
	}
	all, err := readCached(ctx, b.Catalog, who.Slug, "events", query, (*eventList).bound)
	if err != nil {
		return result{}, err
	}
	p := pageOf(all.Events, offset, 0)
	all.Events, all.Total, all.NextOffset = p.items, p.total, p.next
	return result{structured: all, text: all.text(p.note())}, nil
}

// bound shortens long texts and lists that the owner wrote, so that the answer fits.
func (l *eventList) bound() {
	for i := range l.Events {
		e := &l.Events[i]
		e.Name, e.Description = clip(e.Name, maxName), clip(e.Description, maxDescription)
		e.Inventory, e.InventoryTotal = cut(e.Inventory, maxTiers)
		for j := range e.Inventory {
			e.Inventory[j].Name = clip(e.Inventory[j].Name, maxName)
		}
	}
}

func (l *eventList) text(note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d coming events; prices in %s for a purchase now. These tools cannot buy tickets: the "+
		"business's own page sells them.%s",
		l.Total, l.Currency, note)
	for i := range l.Events {
		l.Events[i].write(&b, l.Currency, len(l.Events))
	}
	return b.String()
}

// write writes a line for an event and one for each kind of ticket. The argument listed is the number
// of events in the text, which decides the length of descriptions.
func (e *event) write(b *strings.Builder, currency string, listed int) {
	minute := func(t string) string { return strings.TrimSuffix(t, ":00") }
	fmt.Fprintf(b, "\n%s %s–%s %s%s%s", withWeekday(e.Date), minute(e.StartTime), minute(e.EndTime), e.Name,
		left(e.SpotsRemaining),
		inAdvance(e.PaymentRequirement, e.DepositValue, currency))
	b.WriteString(brief(e.Description, listed))
	for _, t := range e.Inventory {
		fmt.Fprintf(b, "\n  %s: %s%s", t.Name, cost(t.Price, t.QuotedPrice, currency), left(t.SpotsRemaining))
	}
	if e.InventoryTotal > 0 {
		fmt.Fprintf(b, "\n  and %d more kinds of tickets, which are not shown", e.InventoryTotal-len(e.Inventory))
	}
}

// left returns how many places are left, or "" if that is unknown.
func left(places *int) string {
	switch {
	case places == nil:
		return ""
	case *places == 0:
		return ", sold out"
	}
	return fmt.Sprintf(", %d left", *places)
}
