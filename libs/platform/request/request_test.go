package request_test

import (
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

const someID = "6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b"

func newQuery(t *testing.T, raw string) request.Query {
	t.Helper()
	sent, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) []string { return sent[name] }
}

func checkRefused(t *testing.T, err error, sentence string) {
	t.Helper()
	if !fault.Is(err, fault.InvalidParameter) || fault.Of(err).Sentence != sentence {
		t.Errorf("%v, want %q", err, sentence)
	}
}

func TestParametersAreParsedOrRejectedByName(t *testing.T) {
	t.Parallel()
	text := func(q request.Query) error { _, err := q.Text("x"); return err }
	dates := func(q request.Query) error { _, _, err := q.Dates("x", "y"); return err }
	between := func(q request.Query) error { _, _, err := q.OptionalDates("x", "y"); return err }
	at := func(q request.Query) error { _, err := q.OptionalTime("x"); return err }
	id := func(q request.Query) error { _, err := q.OptionalID("x"); return err }
	ids := func(q request.Query) error { _, err := q.IDs("x", "a rental"); return err }
	number := func(q request.Query) error { _, err := q.OptionalNumber("x", 10, 1); return err }
	flag := func(q request.Query) error { _, err := q.Flag("x"); return err }
	for _, c := range []struct {
		read            func(request.Query) error
		query, sentence string
	}{
		{text, "x=1&x=2", "x: is given 2 times; give it once."},
		{text, "x=%ff", "x: is no text; write it in UTF-8 without NUL bytes."},
		{text, "x=%00", "x: is no text; write it in UTF-8 without NUL bytes."},
		{dates, "y=2027-03-01", "x: is missing; write YYYY-MM-DD, such as 2027-03-01."},
		{dates, "x=2027-02-29", `x: "2027-02-29" is not a real calendar date; write YYYY-MM-DD, such as 2027-03-01.`},
		{dates, "x=2027-03-02&y=2027-03-01", "y: 2027-03-01 lies before x, 2027-03-02; give a date on or after it."},
		{between, "x=2027-03-02&y=2027-03-01", "y: 2027-03-01 lies before x, 2027-03-02; give a date on or after it."},
		{between, "y=tomorrow", `y: "tomorrow" is not a date; write YYYY-MM-DD, such as 2027-03-01.`},
		{at, "x=9", `x: "9" is not a time of day; write HH:MM in 24 hours, such as 09:30.`},
		{id, "x={" + someID + "}", `x: "{` + someID + `}" is not a UUID; write one such as ` + someID + "."},
		{ids, "x=" + someID + ",", `x: "" is not a UUID; write one such as ` + someID + "."},
		{ids, "", "x: is missing; write a rental's id, or several separated by commas."},
		{number, "x=11", `x: "11" is not right; write a whole number from 1 to 10.`},
		{number, "x=" + strings.Repeat("é", 30), `x: "` + strings.Repeat("é", 20) + `…" is not right; write a whole number from 1 to 10.`},
		{flag, "x=yes", "x: write true or false, or leave it out."},
	} {
		checkRefused(t, c.read(newQuery(t, c.query)), c.sentence)
	}
	for _, good := range []string{"x=", "", "x=&y="} {
		for name, read := range map[string]func(request.Query) error{"text": text, "between": between, "at": at, "id": id, "number": number, "flag": flag} {
			if err := read(newQuery(t, good)); err != nil {
				t.Errorf("%s of %q: %v", name, good, err)
			}
		}
	}
}

func TestLineAcceptsPlainText(t *testing.T) {
	t.Parallel()
	if s, err := request.Line("name", "  Zoë ", 3); err != nil || s != "Zoë" {
		t.Errorf("%q, %v", s, err)
	}
	for _, bad := range []string{"", " ", "Zoë B", "a\nb", "a\x00b", "\xff"} {
		_, err := request.Line("name", bad, 3)
		checkRefused(t, err, "name: write 1 to 3 characters on one line.")
	}
	for _, hidden := range []string{"a\u202e", "\u200e", "\u3164"} {
		_, err := request.Line("name", hidden, 3)
		checkRefused(t, err, "name: the text contains an invisible character or a direction mark; write it without.")
	}
	phone := "\u202a+1\u202c"
	if s, err := request.OptionalLine("phone", &phone, 3); err != nil || *s != "+1" {
		t.Errorf("%v, %v", s, err)
	}
}

func TestSlugRejectsInvalidForm(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "Harbor", "harbor.studio", "hárbor", strings.Repeat("a", 64)} {
		if _, err := request.Slug(bad); !fault.Is(err, fault.BusinessNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if slug, err := request.Slug("harbor-studio-2"); err != nil || slug != "harbor-studio-2" {
		t.Errorf("%q, %v", slug, err)
	}
}

func TestPageCursorRoundTrip(t *testing.T) {
	t.Parallel()
	want := request.Cursor{At: -7, ID: uuid.MustParse(someID)}
	sent := request.Page{Limit: 3, Cursor: want.String()}
	page, err := newQuery(t, sent.Values().Encode()).Page()
	if diff := cmp.Diff(sent, page); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if got, err := page.After(math.MinInt64, 0); err != nil || *got != want {
		t.Errorf("%v, %v", got, err)
	}
	if first, err := (request.Page{}).After(0, 0); first != nil || err != nil {
		t.Errorf("the first page: %v, %v", first, err)
	}
	const sentence = "cursor: this is not one; send next_cursor of the page before, or leave it out for the first."
	for _, bad := range []request.Page{{Cursor: "x"}, {Cursor: "é"}, {Cursor: sent.Cursor + "AA"}} {
		_, err := bad.After(math.MinInt64, math.MaxInt64)
		checkRefused(t, err, sentence)
	}
	_, err = page.After(-6, 0)
	checkRefused(t, err, sentence)
	if page, err := newQuery(t, "").Page(); err != nil || page != (request.Page{Limit: 100}) {
		t.Errorf("without parameters: %+v, %v", page, err)
	}
	_, err = newQuery(t, "limit=1001").Page()
	checkRefused(t, err, `limit: "1001" is not right; write a whole number from 1 to 1000.`)
}

// A list returns no cursor with a time outside PostgreSQL's range, so such a cursor is invalid.
func TestTimeCursorHasMicrosecondsAndBoundedYears(t *testing.T) {
	t.Parallel()
	at, id := time.Date(2027, 3, 2, 9, 30, 0, 123_456_789, time.UTC), uuid.MustParse(someID)
	got, gotID, err := (request.Page{Cursor: request.ByTime(at, id)}).AfterTime()
	if err != nil || !got.Equal(at.Truncate(time.Microsecond)) || gotID != id {
		t.Errorf("%v, %v, %v", got, gotID, err)
	}
	if got, _, err := (request.Page{}).AfterTime(); got != nil || err != nil {
		t.Errorf("the first page: %v, %v", got, err)
	}
	for _, year := range []int{0, 10_000} {
		_, _, err := (request.Page{Cursor: request.ByTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), id)}).AfterTime()
		checkRefused(t, err, "cursor: this is not one; send next_cursor of the page before, or leave it out for the first.")
	}
}

func TestCutShortensListToLimit(t *testing.T) {
	t.Parallel()
	after := func(s string) string { return "after " + s }
	for _, c := range []struct {
		list []string
		next string
	}{{nil, ""}, {[]string{"a", "b"}, ""}, {[]string{"a", "b", "c"}, "after b"}} {
		if got, next := request.Cut(c.list, 2, after); len(got) > 2 || next != c.next {
			t.Errorf("%v: %v, %q", c.list, got, next)
		}
	}
}

func TestJSONIsStrict(t *testing.T) {
	t.Parallel()
	for body, sentence := range map[string]string{
		`{"quantity": "two"}`:     "quantity: text is not right here; write a whole number.",
		`{"colour": 1}`:           "colour: unknown field; leave it out.",
		`{"quantity": 1} {}`:      "The request body goes on after its JSON object; send one object.",
		"{\"quantity\": \"\xff\"": "The request body is not valid UTF-8; send JSON in UTF-8.",
		"{":                       "The request body is not a JSON object of the right shape; the description of the API shows one.",
	} {
		var into struct {
			Quantity int `json:"quantity"`
		}
		checkRefused(t, request.JSON([]byte(body), &into), sentence)
	}
	var kinds struct {
		List  []int          `json:"list"`
		Flag  bool           `json:"flag"`
		Share float64        `json:"share"`
		Map   map[string]int `json:"map"`
		ID    uuid.UUID      `json:"id"`
		Small *int           `json:"small"`
	}
	for body, sentence := range map[string]string{
		`{"list": true}`: "list: true or false is not right here; write a list.",
		`{"flag": []}`:   "flag: a list is not right here; write true or false.",
		`{"share": {}}`:  "share: an object is not right here; write a number.",
		`{"map": 1}`:     "map: a number is not right here; write an object.",
		`{"id": 7}`:      "id: a number is not right here; write text.",
		`{"small": 1.5}`: "small: 1.5 is not right here; write a whole number.",
	} {
		checkRefused(t, request.JSON([]byte(body), &kinds), sentence)
	}
	type Order struct {
		Tiers []struct {
			Quantity int `json:"quantity"`
		} `json:"tiers"`
	}
	var embedding struct{ Order }
	checkRefused(t, request.JSON([]byte(`{"tiers": [{"quantity": "two"}]}`), &embedding), "tiers.quantity: text is not right here; write a whole number.")
	var into struct {
		Quantity int `json:"quantity"`
	}
	if err := request.JSON([]byte(`{"quantity": 2}`), &into); err != nil || into.Quantity != 2 {
		t.Errorf("%+v, %v", into, err)
	}
}
