package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

const public = "GET /internal/api/public/harbor/"

// callText calls a tool, which must succeed, and returns the text of the result.
func callText(t *testing.T, n *fakePeers, tool string, arguments map[string]any) string {
	t.Helper()
	got := call(t, startServer(t, n), "read", tool, arguments)
	if got.IsError {
		t.Fatalf("%s: %v", tool, got)
	}
	return got.Content[0].Text
}

// wantLines expects that a text consists of the given lines.
func wantLines(t *testing.T, got string, want ...string) {
	t.Helper()
	if whole := strings.Join(want, "\n"); got != whole {
		t.Errorf("got\n%s\nwant\n%s", got, whole)
	}
}

const frame = `"currency":"EUR","quote":{"date":"2027-03-01","applies_pricing_rules":true,"basis":"As of now."}`

// TestServicesText shows that the text of list_services is sufficient to sell without the structured
// content. It has prices, variants, classes, deposits and the next tool.
func TestServicesText(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[public+"services"] = json.RawMessage(`{"services":[
		{"id":"` + cutID + `","name":"Cut","category":"Hair","duration_minutes":45,"price":40.00,"quoted_price":36.00,"payment_requirement":"deposit_percent","deposit_value":20,
			"variants":[{"id":"` + annaID + `","name":"Long hair","duration_minutes":60,"price":55.00,"quoted_price":null}]},
		{"id":"00000000-0000-4000-8000-0000000000c1","name":"Yoga","category":"","duration_minutes":60,"price":0,"quoted_price":null,"has_class_schedule":true,"payment_requirement":"none","deposit_value":null},
		{"id":"00000000-0000-4000-8000-0000000000f1","name":"Film","category":"","duration_minutes":30,"price":90.00,"quoted_price":90.00,"payment_requirement":"full","deposit_value":null},
		{"id":"00000000-0000-4000-8000-0000000000d1","name":"Set","category":"","duration_minutes":30,"price":90.00,"quoted_price":null,"payment_requirement":"deposit_fixed","deposit_value":15.50}],` + frame + `}`)
	wantLines(t, callText(t, n, "list_services", nil),
		"4 services; prices in EUR for a booking on Mon 2027-03-01.",
		"Cut (Hair): 45 min, 36.00 EUR instead of 40.00, a deposit of 20 % when paid online, id "+cutID,
		`  variant Long hair: 60 min, 55.00 EUR, variants ["`+cutID+`:`+annaID+`"]`,
		"Yoga: 60 min, free, id 00000000-0000-4000-8000-0000000000c1; a class: booked alone, at the sessions that find_slots lists",
		"Film: 30 min, 90.00 EUR, paid in full when paid online, id 00000000-0000-4000-8000-0000000000f1",
		"Set: 30 min, 90.00 EUR, a deposit of 15.50 EUR when paid online, id 00000000-0000-4000-8000-0000000000d1",
		"Next: find_slots with service_ids says when they are free.")
}

func TestEventsText(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[public+
		"events"] = json.RawMessage(`{"events":[{"id":"00000000-0000-4000-8000-0000000000e1","name":"Gala","date":"2027-04-01","start_time":"20:00:00","end_time":"23:30:00",
		"total_capacity":150,"spots_remaining":12,"payment_requirement":"full","deposit_value":null,"inventory":[
		{"id":"00000000-0000-4000-8000-00000000000a","name":"Front","price":80.00,"quoted_price":72.00,"total_capacity":20,"spots_remaining":0},
		{"id":"00000000-0000-4000-8000-00000000000b","name":"Balcony","price":30.00,"quoted_price":30.00,"total_capacity":20,"spots_remaining":12},
		{"id":"00000000-0000-4000-8000-00000000000c","name":"Children","price":0,"quoted_price":null,"total_capacity":20,"spots_remaining":null}]}],` + frame + `}`)
	wantLines(t, callText(t, n, "list_events", nil),
		"1 coming events; prices in EUR for a purchase now. These tools cannot buy tickets: the business's own page sells them.",
		"Thu 2027-04-01 20:00–23:30 Gala, 12 left, paid in full when paid online",
		"  Front: 72.00 EUR instead of 80.00, sold out",
		"  Balcony: 30.00 EUR, 12 left",
		"  Children: free")
}

func TestRentalsText(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[public+
		"rentals"] = json.RawMessage(`{"rentals":[{"id":"00000000-0000-4000-8000-00000000001e","name":"Kayak","price":15.00,"quoted_price":12.00,"price_type":"hourly","max_bookable_online":3,
		"min_rental_hours":2,"max_rental_hours":8,"payment_requirement":"deposit_fixed","deposit_value":50.00}],
		"add_on_rentals":[{"id":"00000000-0000-4000-8000-00000000001f","name":"Vest","price":0,"quoted_price":null,"price_type":"daily","max_bookable_online":null,"payment_requirement":"none"}],
		"rental_upsells":[{"rental_id":"00000000-0000-4000-8000-00000000001e","upsell_rental_id":"00000000-0000-4000-8000-00000000001f","is_required":true}],` + frame + `}`)
	wantLines(t, callText(t, n, "list_rentals", nil),
		"2 rentals, 1 of them add-ons; prices in EUR for Mon 2027-03-01. These tools cannot reserve them: the business's own page does.",
		"Kayak: 12.00 EUR instead of 15.00 an hour, at most 3 at once, at least 2 hours, at most 8 hours, a deposit of 50.00 EUR when paid online, id 00000000-0000-4000-8000-00000000001e",
		"  Vest is required with it",
		"Vest: free, id 00000000-0000-4000-8000-00000000001f")
}

func TestBusinessText(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[public+
		"info"] = json.RawMessage(`{"name":"Harbor","slug":"harbor","currency":"EUR","timezone":"Europe/Lisbon","default_language":"pt","languages":["pt","en"],
		"modules_enabled":{"services":true,"events":true,"rentals":false},"has_payment_providers":true,"payment_providers":["stripe"],
		"payment_modes":{"services":"customer_choice","rentals":"online","events":"online"},"cooling_off_hours":2,
		"cancellation_policy":[{"hours_before":24,"refund_percent":50},{"hours_before":72,"refund_percent":100}],"online_bookings_paused":true,"open":true}`)
	wantLines(t, callText(t, n, "get_business_info", nil),
		"Harbor. Local time is 2027-03-01T06:00:00Z (Europe/Lisbon). Prices are in EUR. Languages: pt, en; without locale pt.",
		"It offers services (list_services), paid online or at the door, as the customer chooses (payment_choice).",
		"It offers events (list_events), paid online when it is booked.",
		"Cancelling: of what was paid online these parts are refunded: 100 % within 2 hours after booking, 100 % until 72 hours before the start, "+
			"50 % until 24 hours before the start, else nothing.",
		"Online bookings are paused: nothing can be booked now, and book_appointment is refused.")
}

func TestBusinessInfoListsQuestions(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[public+
		"info"] = json.RawMessage(`{"name":"Harbor","slug":"harbor","currency":"EUR","timezone":"Europe/Lisbon","default_language":"en","languages":["en","pt"],
		"form":[{"key":"level","label":"Level","label_translations":{"pt":"Nível"},"type":"select","required":true,"service_ids":["` + cutID + `"],
		"options":[{"key":"new","label":"Beginner","label_translations":{"pt":"Novo"}},{"key":"old","label":"Advanced"}]},{"key":"note","label":"Note","type":"text","required":false}]}`)
	want := "\nAsk the customer these questions, and send the answers as form_data of book_appointment, by their keys:" +
		"\n  level: Nível (select), one of new (Novo), old (Advanced), for the services " + cutID
	if got := callText(t, n, "get_business_info", map[string]any{"locale": "pt"}); !strings.Contains(got, want) ||
		strings.Contains(got, "Note") {
		t.Errorf("in Portuguese: %s", got)
	}
	if got := callText(t, n, "get_business_info", nil); strings.Contains(got, "Note") || !strings.Contains(got,
		"level: Level (select), one of new (Beginner)") {
		t.Errorf("without a language: %s", got)
	}
}

// TestBusinessInfoStatesPlace shows that get_business_info states where the business is, how customers reach it and
// what its rules are, in the requested language and without the translations.
func TestBusinessInfoStatesPlace(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[public+
		"info"] = json.RawMessage(`{"name":"Harbor","slug":"harbor","currency":"EUR","timezone":"Europe/Lisbon","default_language":"en","languages":["en","pt"],
		"locations":[{"id":"` + annaID + `","kind":"place","name":"Quay","name_translations":{"pt":"Cais"},"address":{"street":"Rua 1","postal_code":"1100-001","city":"Lisboa","country":"PT"},
		"geo":{"lat":38.71,"lon":-9.13},"phone":"+351 22 000 0000"}],
		"contact":{"phone":"+351 21 000 0000","email":"hello@harbor.example","website":"https://harbor.example/` + strings.Repeat("x", 600) + `"},
		"legal":{"imprint":"https://harbor.example/imprint","privacy":"` + strings.Repeat("We keep little. ", 100) + `","privacy_translations":{"pt":"Guardamos pouco."}},
		"policy_text":"Shoes off","policy_text_translations":{"pt":"Sem sapatos"}}`)
	address := startServer(t, n)
	got := call(t, address, "read", "get_business_info", map[string]any{"locale": "pt"})
	_, place, _ := strings.Cut(got.Content[0].Text, "\n")
	place, _, _ = strings.Cut(place, "\nCancelling")
	wantLines(t, place,
		"Bookings take place at Cais, Rua 1, 1100-001 Lisboa, PT, phone +351 22 000 0000.",
		"Contact: +351 21 000 0000, hello@harbor.example", "Rules for customers: Sem sapatos")
	want := map[string]any{
		"locations": []any{map[string]any{"id": annaID, "kind": "place", "name": "Cais", "phone": "+351 22 000 0000",
			"address": map[string]any{"street": "Rua 1", "postal_code": "1100-001", "city": "Lisboa", "country": "PT"},
			"geo":     map[string]any{"lat": 38.71, "lon": -9.13}}},
		"contact":     map[string]any{"phone": "+351 21 000 0000", "email": "hello@harbor.example"},
		"legal":       map[string]any{"imprint": "https://harbor.example/imprint", "privacy": "Guardamos pouco."},
		"policy_text": "Sem sapatos",
	}
	for field, value := range want {
		if diff := cmp.Diff(value, got.StructuredContent[field]); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
	english := call(t, address, "read", "get_business_info", nil)
	legal, _ := english.StructuredContent["legal"].(map[string]any)
	if text, _ := legal["privacy"].(string); len(text) > 603 || !strings.HasSuffix(text, "…") {
		t.Errorf("the privacy notice: %s", text)
	}
}

// TestBusinessNameUsesRequestedLanguage shows that get_business_info translates the name of the
// business to the requested language.
func TestBusinessNameUsesRequestedLanguage(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[public+
		"info"] = json.RawMessage(`{"name":"Harbor","slug":"harbor","currency":"EUR","timezone":"Europe/Lisbon","default_language":"en","languages":["en","pt","de"],
		"name_translations":{"pt":"Porto"}}`)
	for locale, want := range map[string]string{"pt-BR": "Porto. ", "de": "Harbor. ", "": "Harbor. ", "x": "Harbor. "} {
		if got := callText(t, n, "get_business_info", map[string]any{"locale": locale}); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", locale, got)
		}
	}
}

const day = `{"slots":[
	{"time":"09:00","endTime":"09:45","staffId":"00000000-0000-4000-8000-00000000000a","staffName":"Anna","date":"2027-03-01","dateOffset":0},
	{"time":"09:00","endTime":"09:45","staffId":"00000000-0000-4000-8000-00000000000b","staffName":"Bo","date":"2027-03-01","dateOffset":0},
	{"time":"23:30","endTime":"00:15","staffId":"00000000-0000-4000-8000-00000000000a","staffName":"Anna","date":"2027-03-01","dateOffset":0},
	{"time":"00:30","endTime":"01:15","staffId":"00000000-0000-4000-8000-00000000000a","staffName":"Anna","date":"2027-03-02","dateOffset":1}],"computed":true,"timezone":"Europe/Lisbon"}`

// dayArguments has the arguments of find_slots for one date.
var dayArguments = map[string]any{"service_ids": []string{cutID}, "date": "2027-03-01"}

func TestFindSlotsGroupsTimesByMember(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers[slotsPath] = json.RawMessage(day)
	wantLines(t, callText(t, n, "find_slots", dayArguments),
		"4 free starts on Mon 2027-03-01 (Europe/Lisbon), of 45 min each. Next: book_appointment with date, time and staff_id.",
		"Anna (staff_id 00000000-0000-4000-8000-00000000000a) at 09:00, 23:30",
		"Bo (staff_id 00000000-0000-4000-8000-00000000000b) at 09:00",
		"Anna (staff_id 00000000-0000-4000-8000-00000000000a) after midnight, with date Tue 2027-03-02, at 00:30")
}

// TestFindSlotsStatesPause shows that find_slots lists free times while bookings are paused, after a sentence
// about the pause.
func TestFindSlotsStatesPause(t *testing.T) {
	t.Parallel()
	const sentence = "Online bookings are paused: nothing can be booked now, and book_appointment is refused.\n"
	for _, paused := range []bool{true, false} {
		n := newPeers()
		n.answers[slotsPath] = json.RawMessage(day)
		n.answers[public+"info"] = json.RawMessage(fmt.Sprintf(`{"online_bookings_paused":%t}`, paused))
		address := startServer(t, n)
		for _, arguments := range []map[string]any{dayArguments,
			{"service_ids": []string{cutID}, "start_date": "2027-03-01",
				"end_date": "2027-03-02"}} {
			got := call(t, address, "read", "find_slots", arguments)
			if got.StructuredContent["online_bookings_paused"] != paused || strings.HasPrefix(got.Content[0].Text,
				sentence) != paused ||
				strings.Contains(got.Content[0].Text, "Next: ") == paused {
				t.Errorf("paused %t: %v", paused, got)
			}
		}
	}
	n := newPeers()
	n.answers[public+"info"] = fault.New(fault.PeerUnavailable, "Not now.")
	if text := callText(t, n, "find_slots", dayArguments); strings.Contains(text, "paused") {
		t.Errorf("without catalog: %s", text)
	}
}

// TestFindSlotsContinuesLongDay lists a day with more starts than one text may have. Each text names the offset of
// the next call.
func TestFindSlotsContinuesLongDay(t *testing.T) {
	t.Parallel()
	n := newPeers()
	var slots []string
	for i := range 1440 {
		slots = append(slots,
			fmt.Sprintf(`{"time":"%02d:%02d","endTime":"%02d:%02d","staffId":"00000000-0000-4000-8000-%012d","staffName":"Member","date":"2027-03-01","dateOffset":0}`,
				i/3/60, i/3%60, i/3/60+1, i/3%60, i%3))
	}
	n.answers[slotsPath] = json.RawMessage(`{"slots":[` + strings.Join(slots, ",") +
		`],"computed":true,"timezone":"Europe/Lisbon"}`)
	address := startServer(t, n)
	seen := 0
	for offset := 0; ; {
		text := call(t, address, "read", "find_slots", map[string]any{"service_ids": []string{cutID},
			"date": "2027-03-01", "offset": offset}).Content[0].Text
		if !utf8.ValidString(text) || len(text) > 5000 || strings.Contains(text, "…") {
			t.Fatalf("from %d: %s", offset, text)
		}
		for _, line := range strings.Split(text, "\n")[1:] {
			seen += 1 + strings.Count(line, ", ")
		}
		_, more, found := strings.Cut(text, "call again with offset ")
		if !found {
			break
		}
		if _, err := fmt.Sscanf(more, "%d", &offset); err != nil || offset != seen {
			t.Fatalf("%d starts were listed, but the next offset is %d, %v", seen, offset, err)
		}
	}
	if seen != 1440 {
		t.Errorf("%d of 1440 starts were listed", seen)
	}
}

// TestRefusalNamesNextTool shows that a fault names the next tool instead of a path of the REST API.
func TestRefusalNamesNextTool(t *testing.T) {
	t.Parallel()
	n := newPeers()
	n.answers["POST /internal/api/public/harbor/book"] = fault.New(fault.NoStaffAvailable,
		"No staff member is free at that time; choose another from /slots.")
	n.answers[slotsPath] = fault.New(fault.PeerUnavailable, "Not now.")
	got := call(t, startServer(t, n), "write", "book_appointment", map[string]any{"service_ids": []string{cutID},
		"date": "2027-03-01", "time": "10:00"})
	wantLines(t, got.Content[0].Text,
		"No staff member is free at that time; choose another of find_slots. (messageCode: no_staff_available)",
		"Call find_slots for the times that are free.")
}

// TestUnknownMethodIsJSONRPCError shows that a request with an unknown method gets the code -32601 and its
// own id (JSON-RPC 2.0 §5.1).
func TestUnknownMethodIsJSONRPCError(t *testing.T) {
	t.Parallel()
	address := startServer(t, newPeers())
	for message, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/sell"}`:                                      `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"\"tools/sell\" unsupported"}}`,
		`{"jsonrpc":"2.0","id":"00000000-0000-4000-8000-00000000000a","method":"tools/call"}`: `{"jsonrpc":"2.0","id":"00000000-0000-4000-8000-00000000000a","error":{"code":-32600,"message":"missing required \"params\""}}`,
		`{"jsonrpc":"2.0","id":1,"method":"notifications/other"}`:                             `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"\"notifications/other\" unsupported"}}`,
	} {
		got := post(t, address, http.MethodPost, message, nil)
		if got.status != http.StatusOK || strings.TrimSpace(got.body) != want {
			t.Errorf("%s: %d %s", message, got.status, got.body)
		}
	}
	post(t, address, http.MethodPost, `{"jsonrpc":"2.0","method":"tools/sell"}`, nil).want(t, "a notification",
		http.StatusBadRequest, "invalid_parameter")
}
