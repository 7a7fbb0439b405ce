package request_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
)

const (
	cut  = "6f1c1d9e-0b0a-4a63-9a56-0d6f4a3c2b10"
	anna = "7a1c1d9e-0b0a-4a63-9a56-0d6f4a3c2b11"
)

// server is an actor that uses an API key.
var server = actor.Actor{Kind: actor.APIKey, ID: uuid.MustParse(anna)}

// body returns a valid body with the members in `changes` replaced. A nil value removes the member.
func body(t testing.TB, changes map[string]any) []byte {
	t.Helper()
	members := map[string]any{
		"service_ids": []string{cut}, "date": "2027-03-01", "time": "09:30",
		"customer_name": "Zoë", "customer_email": "zoe@example.com",
	}
	for name, value := range changes {
		if value == nil {
			delete(members, name)
			continue
		}
		members[name] = value
	}
	b, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseSetsDefaults(t *testing.T) {
	t.Parallel()
	got, err := request.Parse(body(t, nil), server)
	if err != nil {
		t.Fatal(err)
	}
	want := &request.Request{
		ServiceIDs: []uuid.UUID{uuid.MustParse(cut)}, Date: timespan.NewDate(2027, 3, 1), Time: 9*60 + 30,
		CustomerName: "Zoë", CustomerEmail: "zoe@example.com", PartySize: 1, Source: "api", FormData: map[string]any{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseReadsEveryField(t *testing.T) {
	t.Parallel()
	got, err := request.Parse(body(t, map[string]any{
		"service_ids": []string{cut, cut}, "staff_id": anna, "customer_phone": " +351 1 ", "party_size": 4,
		"payment_choice":    "at_door",
		"class_schedule_id": anna, "source": "widget", "locale": " pt-BR ", "preferred_provider": "stripe",
		"is_package": "true", "staffing_mode": "per_service",
		"variants": cut + ":" + anna + "," + cut + ":" + anna,
		"form_data": map[string]any{"notes": "x", "_consent": true, "n": 12345678901234567890.0,
			"nested": map[string]any{"_kept": 1}},
		"unknown": "a newer client's",
	}), server)
	if err != nil {
		t.Fatal(err)
	}
	staff, phone := uuid.MustParse(anna), "+351 1"
	want := &request.Request{
		ServiceIDs: []uuid.UUID{uuid.MustParse(cut), uuid.MustParse(cut)}, StaffID: &staff,
		Date: timespan.NewDate(2027, 3, 1), Time: 9*60 + 30, CustomerName: "Zoë", CustomerEmail: "zoe@example.com",
		CustomerPhone: &phone, PartySize: 4, PaymentChoice: "at_door", ClassScheduleID: &staff, Source: "widget",
		Locale:            "pt-BR",
		PreferredProvider: "stripe", IsPackage: true, StaffingMode: "per_service",
		Variants: map[uuid.UUID]uuid.UUID{uuid.MustParse(cut): staff},
		FormData: map[string]any{"n": json.Number("12345678901234567000"),
			"nested": map[string]any{"_kept": json.Number("1")}, "notes": "x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseReadsConsentOnlyFromPage(t *testing.T) {
	t.Parallel()
	sent := body(t, map[string]any{"form_data": map[string]any{"notes": "x", "_consent": true}})
	for kind, want := range map[actor.Kind]map[string]any{
		actor.APIKey: {"notes": "x"},
		actor.Owner:  {"notes": "x"},
		actor.System: {"notes": "x"},
		actor.Page:   {"notes": "x", "_consent": true},
	} {
		got, err := request.Parse(sent, actor.Actor{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.FormData); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

func TestParseLimitsNumbersOfForm(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"0", "-0", "1e39", "-1E+39", "1e-40", "12345678901234567890.125",
		strings.Repeat("9", 40), "0.001e-37"} {
		if _, err := request.Parse(body(t, map[string]any{"form_data": map[string]any{"n": json.RawMessage(number)}}),
			server); err != nil {
			t.Errorf("%s: %v", number, err)
		}
	}
}

func TestParseTreatsNullAsMissing(t *testing.T) {
	t.Parallel()
	const optional = `"staff_id":null,"customer_phone":null,"form_data":null,"party_size":null,"payment_choice":null,` +
		`"class_schedule_id":null,"source":null,"preferred_provider":null,"is_package":null,"staffing_mode":null,"variants":null,`
	plain := body(t, nil)
	got, err := request.Parse([]byte("{"+optional+string(plain[1:])), server)
	if err != nil {
		t.Fatal(err)
	}
	want, err := request.Parse(plain, server)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-left out +null):\n%s", diff)
	}
}

func TestParseNamesInvalidField(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 20) + strings.Repeat(`]`, 20)
	for field, values := range map[string][]any{
		"service_ids": {nil, "x", cut, []string{}, make([]string, 21), 7, map[string]any{}},
		"service_ids[0]": {[]any{7}, []any{nil}, []string{"x"}, []string{""}, []string{"{" + cut + "}"},
			[]string{strings.ReplaceAll(cut, "-", "")}, []any{[]any{}}},
		"service_ids[1]": {[]any{cut, "urn:uuid:" + cut}},
		"date": {nil, "", "2027-02-29", "2026-13-01", "2027-3-1", 20270301, "2027-03-01T09:00", []any{},
			true},
		"time": {nil, "", "9:30", "24:00", "25:00", "09:60", 930, "09:30:00", "0930"},
		"customer_name": {nil, "", "   ", 7, strings.Repeat("ö", 201), "a\nb", "a\x00b", []string{"x"}, "a\u202eb",
			"\u200eAna", "\u3164", "\u200b\u200d"},
		"locale": {7, strings.Repeat("x", 101), "p\nt"},
		"customer_email": {nil, "", "zoe", "@example.com", "zoe@", "zoe@localhost", "a b@example.com",
			"zoe@exa mple.com", "zoe@example..com", "zoe@-x.com", "<zoe@example.com>", "a@b@c.com", strings.Repeat("a",
				65) + "@example.com", "zoe@" + strings.Repeat("a", 250) + ".com", 7, "zoe@example.com\x00"},
		"staff_id":       {"", "x", 7, []string{anna}, anna + " ", map[string]any{}},
		"customer_phone": {7, strings.Repeat("1", 51), "1\x002"},
		"form_data": {"x", []any{}, 7, true, map[string]any{"a\x00": 1},
			map[string]any{"a": strings.Repeat("x", 65<<10)}, map[string]any{"deep": json.RawMessage(deep)},
			map[string]any{strings.Repeat("k", 101): 1}, map[string]any{"many": make([]int, 1001)}},
		"form_data.a": {map[string]any{"a": "x\x00"}, map[string]any{"a": json.RawMessage("1e999999")},
			map[string]any{"a": json.RawMessage("1e-20000")}, map[string]any{"a": json.RawMessage("1e40")},
			map[string]any{"a": json.RawMessage("-0.1e-40")},
			map[string]any{"a": json.RawMessage("1e99999999999999999999")},
			map[string]any{"a": json.RawMessage("0." + strings.Repeat("1", 41))}},
		"form_data.a.b[1]": {map[string]any{"a": map[string]any{"b": []any{1, "\x00"}}}},
		"party_size": {0, -1, 1001, 1.5, "2", true, []int{2}, json.RawMessage("1e400"),
			json.RawMessage("1e18")},
		"payment_choice":     {"", "cash", "Online", 7, true},
		"class_schedule_id":  {"x", 7},
		"source":             {7, strings.Repeat("x", 101), "a\tb", "page", " Page ", "dashboard", "DASHBOARD"},
		"preferred_provider": {7, strings.Repeat("x", 101)},
		"is_package":         {"yes", 1, []any{}},
		"staffing_mode":      {7},
		"variants": {"x", cut, cut + ":", cut + ":" + anna + ",", "{" + cut + "}:" + anna,
			cut + ":" + anna + "," + cut + ":" + cut, []any{"x"}, []any{7}, 7, map[string]any{cut: anna},
			strings.Split(strings.Repeat(cut+":"+anna+" ", 21), " ")},
	} {
		name, _, _ := strings.Cut(field, "[")
		name, _, _ = strings.Cut(name, ".")
		for _, value := range values {
			b := body(t, map[string]any{name: value})
			_, err := request.Parse(b, server)
			if !fault.Is(err, fault.InvalidParameter) {
				t.Errorf("%.200s: got %v, want invalid_parameter", b, err)
				continue
			}
			sentence := fault.Of(err).Sentence
			if !strings.HasPrefix(sentence, field+": ") || !strings.HasSuffix(sentence, ".") || len(sentence) > 300 {
				t.Errorf("%.200s: the sentence is %q, want one about %s", b, sentence, field)
			}
		}
	}
}

func TestParseNamesLookalikeField(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]string{"staffId": "staff_id", "PARTY_SIZE": "party_size",
		"isPackage": "is_package"} {
		_, err := request.Parse(body(t, map[string]any{name: 1}), server)
		if want := fmt.Sprintf("%q: there is no such field; write %s.", name, known); fault.Of(err).Sentence != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := request.Parse(body(t, map[string]any{"gift_note": 1}), server); err != nil {
		t.Errorf("a field of a newer version: %v", err)
	}
}

func TestParseRejectsOtherJSON(t *testing.T) {
	t.Parallel()
	for _, b := range []string{
		"", " ", "null", "[]", `"x"`, "7", "{", `{"date": }`, "{}x", "{} {}",
		string([]byte{'{', '"', 0xff, '"', ':', '1', '}'}), "\x00",
		strings.Repeat("[", 200_000), `{"a":` + strings.Repeat(`{"a":`, 50_000),
	} {
		if r, err := request.Parse([]byte(b), server); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%.40q gives %v, %v", b, r, err)
		}
	}
}

func TestParseAcceptsAnyIntegerNotation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"1": 1, "2.0": 2, "20e-1": 2, "1e3": 1000, "1000": 1000} {
		r, err := request.Parse(body(t, map[string]any{"party_size": json.RawMessage(text)}), server)
		if err != nil || r.PartySize != want {
			t.Errorf("%s is read as %+v, %v; want %d", text, r, err, want)
		}
	}
}

func TestHashIgnoresSpelling(t *testing.T) {
	t.Parallel()
	same := []string{`{"a":1,"b":"ö"}`, "{ \"b\" : \"\\u00f6\",\n\"a\":1}"}
	for _, b := range same {
		if request.Hash([]byte(b)) != request.Hash([]byte(same[0])) {
			t.Errorf("%s differs", b)
		}
	}
	for _, b := range []string{`{"a":2,"b":"ö"}`, `{"a":1}`, `{"a":"1","b":"ö"}`, `{"a":10000000000000000000000001}`,
		`{"a":10000000000000000000000002}`} {
		if request.Hash([]byte(b)) == request.Hash([]byte(same[0])) {
			t.Errorf("%s does not differ", b)
		}
	}
	if request.Hash([]byte(`{"a":10000000000000000000000001}`)) == request.Hash([]byte(`{"a":10000000000000000000000002}`)) {
		t.Error("large numbers are rounded")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(body(f, nil))
	f.Add(body(f, map[string]any{"form_data": map[string]any{"_a": 1, "b": []any{nil, 1.5, "x"}}, "party_size": 2,
		"staff_id": anna}))
	f.Add([]byte(`{"service_ids":["` + cut + `"],"date":"2027-03-01","time":"24:00"}`))
	f.Add([]byte(`{"form_data":{"a":1e999}}`))
	f.Add([]byte("{\"customer_name\":\"\x00\"}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := request.Parse(b, server)
		if err != nil {
			sentence := fault.Of(err).Sentence
			if !fault.Is(err, fault.InvalidParameter) || r != nil || sentence == "" || !utf8.ValidString(sentence) ||
				len(sentence) > 1000 {
				t.Fatalf("refused with %v, but also returned %v", err, r)
			}
			return
		}
		checkAccepted(t, r)
		if request.Hash(b) != request.Hash(append([]byte(" "), b...)) {
			t.Error("white space changes the hash")
		}
	})
}

// checkAccepted fails the test unless the parsed request has the properties on which the rest of the service relies.
func checkAccepted(t *testing.T, r *request.Request) {
	t.Helper()
	if n := len(r.ServiceIDs); n < 1 || n > 20 {
		t.Errorf("%d services", n)
	}
	if r.PartySize < 1 || r.PartySize > 1000 || r.Time < 0 || r.Time >= 1440 || r.Source == "" {
		t.Errorf("out of bounds: %+v", r)
	}
	phone := ""
	if r.CustomerPhone != nil {
		phone = *r.CustomerPhone
	}
	stored, err := json.Marshal(r.FormData)
	if err != nil || r.FormData == nil {
		t.Errorf("form_data is %v, %v", r.FormData, err)
	}
	for _, s := range []string{r.CustomerName, r.CustomerEmail, phone, r.Source, r.PreferredProvider, string(stored)} {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) || strings.Contains(s, `\u0000`) && !strings.Contains(s,
			`\\u0000`) {
			t.Errorf("%q cannot be stored", s)
		}
	}
	for key := range r.FormData {
		if strings.HasPrefix(key, "_") {
			t.Errorf("form_data keeps %q", key)
		}
	}
}
