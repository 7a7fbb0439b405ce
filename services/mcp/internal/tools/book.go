package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
)

// confirmation contains the fields of the answer of POST /book that the
// output schema describes. The tool returns all fields of the answer.
type confirmation struct {
	publicapi.BookingConfirmation
	IsRepeat bool `json:"replayed" jsonschema:"true: this booking was made before with the same idempotency_key, and nothing was booked now"`
}

// reasons returns, in brackets, the explanation of the total: the prices per person, and the
// pricing rules that changed a price. It returns "" if the total is only the sum of the prices.
func (c *confirmation) reasons() string {
	var parts []string
	for _, s := range c.Booking.Services {
		if s.Quantity > 1 {
			parts = append(parts, fmt.Sprintf("%d × %s", s.Quantity, s.UnitPrice))
		}
		for _, change := range s.PriceChanges {
			parts = append(parts, clipText(change.Label, maxName))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// bookSchema returns the schema of the arguments of book_appointment. The maximum lengths are those of POST /book.
func bookSchema() *jsonschema.Schema {
	return inputSchema(append([]property{
		requiredProperty("service_ids",
			idsSchema("Ids from list_services, in the order in which the services are performed.",
				maxServices)),
		requiredProperty("date", dateSchema("The date of the start, as find_slots gave it.")),
		requiredProperty("time", clockSchema("Start time, as find_slots gave it.")),
		requiredProperty("customer_name", textSchema("Full name of the customer.", 200)),
		requiredProperty("customer_email", &jsonschema.Schema{Type: "string", Format: "email",
			Description: "E-mail address of the customer."}),
		optionalProperty("customer_phone", textSchema("Phone number of the customer.", 50)),
		optionalProperty("staff_id",
			idSchema("Whom to book: the staff_id of the slot. Left out: the first who is free is "+
				"assigned.")),
		optionalProperty("location_id",
			idSchema("Where the business has several locations: the id of one of them, from get_business_info. Left "+
				"out: the first location at which the staff member can be.")),
		optionalProperty("customer_address", addressSchema()),
		optionalProperty("party_size",
			wholeSchema("Number of people; 1 if left out. A class booking takes that many places "+
				"and, unless it is priced per booking, costs the price of each. "+
				"For any other service it reserves nothing more: the business sees it, and it can change the price.", 1,
				1000)),
		optionalProperty("payment_choice",
			oneOfSchema("Where payment_modes.services of get_business_info is customer_choice: pay now, or on the "+
				"spot "+
				"(also when left out).", "online", "at_door")),
		optionalProperty("class_schedule_id",
			idSchema("For a class: the session, as find_slots gave it. Needed only where two sessions of the class "+
				"start together.")),
		optionalProperty("preferred_provider", textSchema("One of payment_providers of get_business_info.", 100)),
		optionalProperty("form_data", &jsonschema.Schema{Type: "object", Description: "Answers to the business's own " +
			"questions, by field."}),
		optionalProperty("source",
			textSchema("Where the booking comes from, for the business's statistics; api where it is "+
				"left out.", 100)),
		optionalProperty("locale",
			textSchema("The customer's language as a BCP 47 tag, such as pt-BR, for the messages that "+
				"the customer gets; "+
				"the business's default language where it is left out or not among the business's languages.", 100)),
		optionalProperty("idempotency_key",
			textSchema("A new random value, such as a UUID, for each booking that the customer wants. When a call "+
				"fails without "+
				"a clear answer, repeat it with the same key and the same arguments: nothing is booked twice.", 255)),
	}, combinedProperties()...)...)
}

// addressSchema returns the schema of the customer's address. The maximum lengths are those of POST /book.
func addressSchema() *jsonschema.Schema {
	schema := inputSchema(
		requiredProperty("street", textSchema("Street and house number.", 200)),
		optionalProperty("postal_code", textSchema("Postal code.", 200)),
		requiredProperty("city", textSchema("City.", 200)),
		optionalProperty("country", textSchema("Country as a code of ISO 3166-1, such as PT.", 200)),
		optionalProperty("note", textSchema("How to find the customer, for example the floor.", 200)),
	)
	schema.Description = "The customer's address, if the business comes to the customer (locations of kind " +
		"customer_address). Omitted for other locations."
	return schema
}

func (b *Toolbox) bookTool() *tool {
	no := false
	return &tool{
		Tool: mcp.Tool{
			Name:  "book_appointment",
			Title: "Book an appointment",
			Description: "Books an appointment for a customer, for real: agree on the service, date, time and price " +
				"with the customer before. Take service_ids from list_services, and date, time and staff_id from a " +
				"slot of find_slots; both are local time of the business's time zone. Send an idempotency_key. When " +
				"the start has been taken meanwhile, the refusal lists other free starts of the same date.",
			InputSchema:  bookSchema(),
			OutputSchema: outputSchema[confirmation](),
			Annotations: &mcp.ToolAnnotations{
				Title: "Book an appointment", ReadOnlyHint: false, DestructiveHint: &no, IdempotentHint: false,
				OpenWorldHint: &no,
			},
		},
		scopes: writeScopes,
		call:   b.bookAppointment,
	}
}

// bookAppointment calls POST /book with the arguments as the body. POST /book checks the arguments, except the ids.
// bookAppointment checks the ids itself, because the messages of POST /book do not name the tools that return them.
func (b *Toolbox) bookAppointment(ctx context.Context, who caller.Caller, args arguments) (result, error) {
	idempotencyKey, err := args.idempotencyKey()
	if err != nil {
		return result{}, err
	}
	_, errIDs := args.ids("service_ids", maxServices)
	_, errStaff := args.id("staff_id")
	_, errSession := args.id("class_schedule_id")
	_, errLocation := args.id("location_id")
	if err := cmp.Or(errIDs, errStaff, errSession, errLocation); err != nil {
		return result{}, err
	}
	delete(args, "idempotency_key")
	body, err := json.Marshal(args)
	if err != nil {
		return result{}, fmt.Errorf("encode the body: %w", err)
	}
	answer, err := b.Booking.Book(ctx, who.Slug, who.Authorization, idempotencyKey, body)
	if fault.RefusesStart(err) {
		return result{}, b.suggestSlots(ctx, who, args, err)
	}
	if err != nil {
		return result{}, err
	}
	return newConfirmation(answer.Body, answer.Replayed)
}

// maxIdempotencyKey is the maximum length of an idempotency key, as in POST /book.
const maxIdempotencyKey = 255

// idempotencyKey reads the argument `idempotency_key`, which must be valid
// as the value of a header. It returns "" if the argument is left out.
func (a arguments) idempotencyKey() (string, error) {
	s, err := a.text("idempotency_key")
	if _, given := a["idempotency_key"]; err != nil || !given {
		return "", err
	}
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	if s == "" || len(s) > maxIdempotencyKey || strings.ContainsFunc(s, unprintable) {
		return "", request.Invalid("idempotency_key: send 1 to %d printable ASCII characters without spaces, such as "+
			"a UUID.", maxIdempotencyKey)
	}
	return s, nil
}

// newConfirmation returns the tool's answer for the body of an answer of POST /book.
// The argument `isRepeat` is true if an earlier call made the booking.
func newConfirmation(body []byte, isRepeat bool) (result, error) {
	var shown confirmation
	structured := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	if err := errors.Join(decoder.Decode(&structured), json.Unmarshal(body, &shown)); err != nil {
		return result{}, fmt.Errorf("read the confirmation: %w", err)
	}
	structured["replayed"] = isRepeat
	clipNames(structured["booking"])
	return result{structured: structured, text: shown.text()}, nil
}

// clipNames shortens the names in a booking, because a booking can contain many long names.
func clipNames(booking any) {
	fields, _ := booking.(map[string]any)
	services, _ := fields["services"].([]any)
	for _, of := range append(services, booking) {
		element, _ := of.(map[string]any)
		for _, field := range []string{"name", "variant_name", "staff_name"} {
			if name, ok := element[field].(string); ok {
				element[field] = clipText(name, maxName)
			}
		}
	}
}

func (c *confirmation) text() string {
	var names []string
	for _, s := range c.Booking.Services {
		names = append(names, clipText(s.Name, maxName))
	}
	with := ""
	if c.Booking.StaffName != nil {
		with = " with " + clipText(*c.Booking.StaffName, maxName)
	}
	if c.Booking.PartySize > 1 {
		with += fmt.Sprintf(" for %d people", c.Booking.PartySize)
	}
	text := fmt.Sprintf("Booked (%s): %s%s on %s from %s to %s, %s %s%s. Booking id %s.", c.Booking.Status,
		strings.Join(names, ", "),
		with, withWeekday(c.Booking.Date), c.Booking.StartTime, c.Booking.EndTime, c.Booking.Total, c.Booking.Currency,
		c.reasons(), c.Booking.ID)
	if c.PaymentRequired {
		text += fmt.Sprintf(" %s %s must be paid online now: on the customer's page, or as payment in the structured "+
			"content says.",
			c.Payment.Amount, c.Payment.Currency)
	}
	if c.ManageURL != "" {
		text += " The customer sees, moves and cancels it here, give the link to nobody else: " + c.ManageURL
	}
	return text
}

// maxOtherSlots is the maximum number of other free starts in a refusal.
const maxOtherSlots = 10

// suggestSlots adds the other free starts of the date to the error `refusal`, which reports that the requested
// start cannot be booked. If the free starts cannot be read, suggestSlots returns `refusal` unchanged.
func (b *Toolbox) suggestSlots(ctx context.Context, who caller.Caller, args arguments, refusal error) error {
	ids, errIDs := args.ids("service_ids", maxServices)
	at, errTime := args.text("time")
	query := url.Values{"service_id": {strings.Join(ids, ",")}}
	if cmp.Or(errIDs, errTime, args.addCombined(query), copyArgument(query, "date", args.date, "date"),
		copyArgument(query, "staff_id", args.id, "staff_id"),
		copyArgument(query, "location_id", args.id, "location_id")) != nil {
		return refusal
	}
	free, err := b.readSlots(ctx, who.Slug, query)
	if err != nil || !free.Computed {
		return refusal
	}
	others := nearestSlots(free.Slots, dateOf(query), at)
	next := "Also free on that date:"
	for _, s := range others {
		next += s.line()
	}
	if len(others) == 0 {
		next = "Nothing else is free on that date; call find_slots with start_date and end_date for another."
	}
	return &slotTaken{error: refusal, otherSlots: others, next: next}
}

// nearestSlots returns up to [maxOtherSlots] slots whose starts are nearest to the time
// `at` on a date, the nearest slot first. Slots after midnight have the next date.
func nearestSlots(slots []slot, date timespan.Date, at string) []slot {
	target, err := timespan.ParseTimeOfDay(at)
	if err != nil {
		return nil
	}
	distance := func(s slot) timespan.TimeOfDay { return max(s.start(date)-target, target-s.start(date)) }
	slices.SortStableFunc(slots, func(a, b slot) int { return cmp.Compare(distance(a), distance(b)) })
	return slots[:min(len(slots), maxOtherSlots)]
}
