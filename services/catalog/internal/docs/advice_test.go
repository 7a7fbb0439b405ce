package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/event/catalogue"
)

// sample is an example program in the guide. Run is the shell command that runs
// the program; File is its file name. The end-to-end tests run each program.
type sample struct{ Language, File, Run, Text string }

// advice describes what a client should do after an error.
type advice struct{ Status, Code, Do string }

// errorAdvice has an entry for every error code of the OpenAPI document. A test checks that no code is missing.
var errorAdvice = []advice{
	{"400, 408", "invalid_parameter",
		"The sentence names the field and what would be right. Correct the request. 408: send it again."},
	{"401", "missing_api_key", "Send Authorization: Bearer and a key."},
	{"401", "invalid_api_key", "The key is mistyped, revoked, expired or another business's. Ask the owner for one."},
	{"401, 429", "rate_limited", "Wait for the seconds in Retry-After. 401: the limit of the key."},
	{"403", "scope_forbidden", "The key may not book. Ask the owner for a key with the scope write or all."},
	{"403", "not_open_yet", "The business is not open for bookings yet; /info shows it, too. Try again on another day."},
	{"403", "not_accepting_bookings",
		"Online bookings are paused; /info shows it, too. Send the customer to the business."},
	{"403", "subscription_inactive", "The business takes no bookings on this site."},
	{"403", "account_closing", "The business leaves this site."},
	{"404", "business_not_found", "Check the name in the address."},
	{"404", "service_not_found", "Read /services again: the offer has changed."},
	{"404", "location_not_found", "Read locations in /info again: the services are not offered there."},
	{"404", "rental_not_found", "Read /rentals again: the offer has changed."},
	{"404", "not_found", "There is nothing at this path."},
	{"405", "method_not_allowed", "The header Allow lists the methods of this path."},
	{"409", "slot_unavailable", "Another customer was faster. Read /slots again and offer another time."},
	{"409", "no_staff_available", "No staff member is free at that time. Read /slots again and offer another time."},
	{"409", "date_in_past", "The start is in the past. Offer a later one."},
	{"409", "beyond_advance_limit", "The date is too far ahead. The sentence names the last one."},
	{"409", "too_soon", "The business asks for more notice. Offer a later time."},
	{"409", "closed",
		"The business is closed, or no staff member for the service works then. Read /slots for other times."},
	{"409", "not_a_start", "Starts have a fixed distance. Take the times of /slots as they are."},
	{"409", "staff_not_found", "Read /staff with the service's id, or leave staff_id out."},
	{"409", "payment_not_offered", "The business is not paid online. Leave payment_choice out."},
	{"409", "outside_area", "The business does not come to this address. Offer another location, or none."},
	{"409", "idempotency_in_progress", "The first request is still in progress. Send the same request again shortly."},
	{"413", "payload_too_large", "Send a smaller body."},
	{"415", "unsupported_media_type", "Send JSON, not compressed."},
	{"422", "idempotency_mismatch", "The key was used with another body. Use a new key for a new booking."},
	{"431", "headers_too_large", "Send fewer or shorter headers."},
	{"500", "internal", "An error of Slotmesh. Send the traceparent to the operator."},
	{"503", "availability_unverified", "Nothing was booked. Send the same again shortly."},
	{"503", "payment_unavailable", "Nothing was booked. Send the same again shortly."},
	{"503", "service_unavailable", "Nothing was done. Send the same again after Retry-After."},
	{"503", "outcome_unknown", "It may have been booked. Send the very same request again, with its Idempotency-Key."},
}

// payload is an event type with an example of its webhook body, for the guide.
type payload struct {
	Type          event.Type
	Summary, Text string
}

// loadPayloads returns the event types that Slotmesh sends to webhooks, each with one example body.
func loadPayloads() ([]payload, error) {
	var all []payload
	for _, entry := range catalogue.Entries {
		compact, err := entry.Payload()
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := json.Indent(&text, compact, "", "  "); err != nil {
			return nil, err
		}
		all = append(all, payload{entry.Type, entry.Summary, text.String()})
	}
	return all, nil
}

var languages = map[string]string{"sh": "curl", "mjs": "JavaScript", "ts": "TypeScript", "mts": "TypeScript",
	"py": "Python", "go": "Go"}

// runners maps a file extension to the command that runs a program with
// that extension. Node 22.18 and later run TypeScript without a compiler.
var runners = map[string]string{"sh": "sh", "mjs": "node", "mts": "node", "py": "python3", "go": "go run"}

// loadSamples returns the example programs with this base name, one for each file extension in endings.
func loadSamples(name string, endings ...string) ([]sample, error) {
	var all []sample
	for _, ending := range endings {
		text, err := os.ReadFile("samples/" + name + "." + ending)
		if err != nil {
			return nil, err
		}
		// The build tag keeps the Go samples out of this package.
		code := strings.TrimPrefix(string(text), "//go:build ignore\n\n")
		one := sample{Language: languages[ending], File: name + "." + ending, Text: strings.TrimSpace(code)}
		if runner := runners[ending]; runner != "" {
			one.Run = runner + " " + one.File
		}
		all = append(all, one)
	}
	return all, nil
}
