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

// eventList is the answer of list_events.
type eventList struct {
	Events     []event         `json:"events"`
	Currency   string          `json:"currency"`
	Quote      publicapi.Quote `json:"quote"`
	Total      int             `json:"total" jsonschema:"how many events there are, on all pages"`
	NextOffset *int            `json:"next_offset" jsonschema:"offset of the next page; null on the last"`
}

// event is an event as /events describes it, without HTML, images and translations.
type event struct {
	publicapi.Event
	DescriptionHTML hiddenFields `json:"description_html,omitzero"`
	ImageURL        hiddenFields `json:"image_url,omitzero"`
	InventoryTotal  int          `json:"inventory_total,omitzero" jsonschema:"only where they are more than are shown here: how many kinds of tickets there are; the business's own page has them all"`
}

func (b *Toolbox) eventsTool() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "list_events",
			Title: "Events",
			Description: "The coming public events: name, description, date, start and end, kinds of tickets with " +
				"prices, and how many places are left. Dates and times are local time of the business's time zone. " +
				"Tickets cannot be bought with these tools. Long lists come in pages.",
			InputSchema:  inputSchema(localeProperty(), offsetProperty()),
			OutputSchema: outputSchema[eventList](),
			Annotations:  readAnnotations("Events"),
		},
		scopes: readScopes,
		call:   b.listEvents,
	}
}

func (b *Toolbox) listEvents(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	query := url.Values{}
	offset, err := args.listQuery(query)
	if err != nil {
		return result{}, err
	}
	all, err := readCached(ctx, b.Catalog, who.Slug, "events", query, newEventList)
	if err != nil {
		return result{}, err
	}
	p := pageOf(all.Events, offset, 0)
	all.Events, all.Total, all.NextOffset = p.items, p.total, p.next
	return result{structured: all, text: all.text(p.note())}, nil
}

// newEventList converts the answer of /events to the answer of list_events. It shortens long texts and
// lists that the owner wrote, so that the answer fits into its limit. It also removes the translations.
func newEventList(answer *publicapi.EventList) eventList {
	l := eventList{Events: make([]event, len(answer.Events)), Currency: answer.Currency, Quote: answer.Quote}
	for i := range answer.Events {
		e := &l.Events[i]
		e.Event = answer.Events[i]
		e.Name, e.Description, e.EventTranslations = clipText(e.Name, maxName), clipText(e.Description, maxDescription),
			nil
		e.Inventory, e.InventoryTotal = cutList(e.Inventory, maxTiers)
		for j := range e.Inventory {
			e.Inventory[j].Name, e.Inventory[j].NameTranslations = clipText(e.Inventory[j].Name, maxName), nil
		}
	}
	return l
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

// write writes a line for an event and a line for each kind of ticket to b. The argument
// `listed` is the number of events in the text; it determines the length of the description.
func (e *event) write(b *strings.Builder, currency string, listed int) {
	minute := func(t string) string { return strings.TrimSuffix(t, ":00") }
	fmt.Fprintf(b, "\n%s %s–%s %s%s%s", withWeekday(e.Date.String()), minute(e.StartTime), minute(e.EndTime), e.Name,
		leftText(e.SpotsRemaining),
		paymentNote(e.PaymentRequirement, e.DepositValue, currency))
	b.WriteString(shortDescription(e.Description, listed))
	for _, t := range e.Inventory {
		fmt.Fprintf(b, "\n  %s: %s%s", t.Name, costText(t.Price, t.QuotedPrice, currency), leftText(t.SpotsRemaining))
	}
	if e.InventoryTotal > 0 {
		fmt.Fprintf(b, "\n  and %d more kinds of tickets, which are not shown", e.InventoryTotal-len(e.Inventory))
	}
}

// leftText returns a text with the number of places that are left. It returns "" if the number is unknown.
func leftText(places *int) string {
	switch {
	case places == nil:
		return ""
	case *places == 0:
		return ", sold out"
	}
	return fmt.Sprintf(", %d left", *places)
}
