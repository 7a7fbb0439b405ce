package tools

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// rentalList is the answer of list_rentals.
type rentalList struct {
	Rentals      []rental        `json:"rentals"`
	AddOnRentals []rental        `json:"add_on_rentals" jsonschema:"what is offered along with other rentals"`
	Currency     string          `json:"currency"`
	Quote        publicapi.Quote `json:"quote"`
	Computed     bool            `json:"computed" jsonschema:"false: the availability of some rentals could not be read just now, so it is unknown. That is neither free nor fully booked; call again shortly"`
	Total        int             `json:"total" jsonschema:"how many rentals and add-ons there are, on all pages"`
	NextOffset   *int            `json:"next_offset" jsonschema:"offset of the next page; null on the last"`
}

// rental is a rental as /rentals describes it, without HTML, images and translations.
type rental struct {
	publicapi.Rental
	DescriptionHTML hiddenFields        `json:"description_html,omitzero"`
	ImageURL        hiddenFields        `json:"image_url,omitzero"`
	Upsells         []upsell            `json:"upsells" jsonschema:"what is offered along with it"`
	UpsellsTotal    int                 `json:"upsells_total,omitzero" jsonschema:"only where they are more than are shown here: how many upsells it has; the business's own page has them all"`
	Availability    *rentalAvailability `json:"availability" jsonschema:"for start_date to end_date; null where no dates were sent"`
}

// upsell is a rental that the business offers together with another one.
type upsell struct {
	RentalID   uuid.UUID `json:"rental_id"`
	IsRequired bool      `json:"is_required" jsonschema:"true: not to be had without it"`
}

func rentalSchema() *jsonschema.Schema {
	return inputSchema(
		optionalProperty("start_date",
			dateSchema("First date of the rental; with end_date each rental says whether it is "+
				"available. Prices are quoted for it.")),
		optionalProperty("end_date",
			dateSchema("Last date of the rental, included; on or after start_date, at most 730 days "+
				"with both ends. The same as start_date for one day.")),
		optionalProperty("start_time",
			clockSchema("Rentals by the hour: when the rental begins on start_date. Send it "+
				"together with end_time; without both, whole days.")),
		optionalProperty("end_time", clockSchema("Rentals by the hour: when it ends on end_date.")),
		optionalProperty("quantity",
			wholeSchema("How many units are wanted of each; 1 where it is left out. Needs dates.", 1,
				maxQuantity)),
		localeProperty(), offsetProperty())
}

func (b *Toolbox) rentalsTool() *tool {
	return &tool{
		Tool: mcp.Tool{
			Name:  "list_rentals",
			Title: "Rentals",
			Description: "What can be rented by the hour or the day, and add-ons: id, name, description, price, how " +
				"many units. With start_date and end_date each has its availability for that time: available, " +
				"unavailable with the reason, or unknown where it could not be read just now (never take unknown for " +
				"free or full). All dates and times are local time of the business's time zone. Rentals cannot be " +
				"reserved with these tools. Long lists come in pages.",
			InputSchema:  rentalSchema(),
			OutputSchema: outputSchema[rentalList](),
			Annotations:  readAnnotations("Rentals"),
		},
		scopes: readScopes,
		call:   b.listRentals,
	}
}

func (b *Toolbox) listRentals(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	period, err := args.period()
	if err != nil {
		return result{}, err
	}
	query := url.Values{}
	offset, err := args.listQuery(query)
	if err != nil {
		return result{}, err
	}
	if period != nil {
		query.Set("date", period.Get("startDate"))
	}
	var answer publicapi.RentalList
	if err := b.Catalog.Read(ctx, who.Slug, "rentals", query, &answer); err != nil {
		return result{}, err
	}
	all := limitRentals(&answer)
	p := pageOf(all, offset, maxAvailability)
	unknown := 0
	if period != nil {
		period.Set("lang", query.Get("locale"))
		if unknown, err = b.addAvailability(ctx, who.Slug, period, p.items); err != nil {
			return result{}, err
		}
	}
	addOns := max(0, min(len(p.items), len(answer.Rentals)-offset)) // index of the first add-on on this page
	shown := rentalList{
		Rentals: p.items[:addOns], AddOnRentals: p.items[addOns:], Currency: answer.Currency, Quote: answer.Quote,
		Computed: unknown == 0, Total: p.total, NextOffset: p.next,
	}
	return result{structured: shown, text: shown.text(unknown, len(answer.AddOnRentals)) + p.note() +
		rentalLines(p.items, rentalNames(all), answer.Currency)}, nil
}

// limitRentals returns the rentals, followed by the add-ons, each with its upsells. It shortens long texts
// and lists that the owner wrote, so that the answer fits into its limit. It also removes the translations.
func limitRentals(answer *publicapi.RentalList) []rental {
	upsells := make(map[uuid.UUID][]upsell)
	for _, u := range answer.RentalUpsells {
		upsells[u.RentalID] = append(upsells[u.RentalID], upsell{u.UpsellRentalID, u.IsRequired})
	}
	all := make([]rental, 0, len(answer.Rentals)+len(answer.AddOnRentals))
	for _, listed := range slices.Concat(answer.Rentals, answer.AddOnRentals) {
		r := rental{Rental: listed}
		r.Name, r.Category, r.Description = clipText(r.Name, maxName), clipText(r.Category, maxName),
			clipText(r.Description, maxDescription)
		r.RentalTranslations = nil
		r.Upsells, r.UpsellsTotal = cutList(append([]upsell{}, upsells[r.ID]...), maxUpsells)
		all = append(all, r)
	}
	return all
}

func rentalNames(rentals []rental) map[uuid.UUID]string {
	names := make(map[uuid.UUID]string, len(rentals))
	for i := range rentals {
		names[rentals[i].ID] = rentals[i].Name
	}
	return names
}

func (l *rentalList) text(unknown, addOns int) string {
	text := fmt.Sprintf("%d rentals, %d of them add-ons; prices in %s for %s. These tools cannot reserve them: the "+
		"business's own page does.",
		l.Total, addOns, l.Currency, withWeekday(l.Quote.Date.String()))
	if unknown > 0 {
		text += fmt.Sprintf(" The availability of %d could not be read just now: that is neither free nor fully "+
			"booked. Call again in a few seconds.", unknown)
	}
	return text
}

// rentalLines returns a line of text for each rental, followed by lines for its
// upsells. The argument `names` contains the names of all rentals by id.
func rentalLines(rentals []rental, names map[uuid.UUID]string, currency string) string {
	var b strings.Builder
	for i := range rentals {
		r := &rentals[i]
		fmt.Fprintf(&b, "\n%s: %s%s%s%s", r.Name, r.price(currency), r.limitsText(),
			paymentNote(r.PaymentRequirement, r.DepositValue, currency), r.availabilityText())
		fmt.Fprintf(&b, ", id %s%s", r.ID, shortDescription(r.Description, len(rentals)))
		for _, upsells := range r.Upsells {
			how := "can be added"
			if upsells.IsRequired {
				how = "is required with it"
			}
			fmt.Fprintf(&b, "\n  %s %s", cmp.Or(names[upsells.RentalID], upsells.RentalID.String()), how)
		}
	}
	return b.String()
}

// price returns the text for the price of one unit for an hour or a day.
func (r *rental) price(currency string) string {
	unit := " a day"
	if r.PriceType == "hourly" {
		unit = " an hour"
	}
	if isZero(r.Price) {
		unit = ""
	}
	return costText(r.Price, r.QuotedPrice, currency) + unit
}

// limitsText returns a text with the maximum number of units and the limits of the length of a rental.
func (r *rental) limitsText() string {
	text := ""
	if r.MaxBookableOnline != nil {
		text = fmt.Sprintf(", at most %d at once", *r.MaxBookableOnline)
	}
	for _, b := range []struct {
		word  string
		value *int
		unit  string
	}{
		{"at least", r.MinRentalDays, "days"}, {"at most", r.MaxRentalDays, "days"},
		{"at least", r.MinRentalHours, "hours"}, {"at most", r.MaxRentalHours, "hours"},
	} {
		if b.value != nil {
			text += fmt.Sprintf(", %s %d %s", b.word, *b.value, b.unit)
		}
	}
	return text
}

// availabilityText returns a text with the availability for the requested time. It returns "" if the agent requested no
// time.
func (r *rental) availabilityText() string {
	switch {
	case r.Availability == nil:
		return ""
	case r.Availability.Reason != nil:
		return fmt.Sprintf(", %s (%s)", r.Availability.Status, *r.Availability.Reason)
	}
	return ", " + string(r.Availability.Status)
}
