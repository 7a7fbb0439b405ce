package api

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// FuzzSlotsQuery and FuzzDatesQuery feed raw query strings to the parsers: whatever comes, either the question keeps
// the bounds of the interface, or the answer is one clean sentence.

func FuzzSlotsQuery(f *testing.F) { fuzzQuery(f, parseSlots) }

func FuzzDatesQuery(f *testing.F) { fuzzQuery(f, parseDates) }

func fuzzQuery(f *testing.F, parse func(request.Query) (query, error)) {
	const id = "11111111-1111-4111-8111-111111111111"
	for _, seed := range []string{
		"", "date=2027-03-01&start=2027-03-01&end=2027-03-31&service_id=" + id,
		"date=2027-02-29&start=2027-03-02&end=2027-03-01&service_id=x",
		"date=9999-12-31&start=0000-01-01&end=0000-03-02&service_id=" + id + "," + id + "&staff_id=" + id,
		"date=%00&start=%ff&service_id=,", "is_package=true&staffing_mode=per_service&variants=" + id + ":" + id,
		"date=2027-03-01&service_id=" + id + "&variants=" + id + ":" + id + "," + id +
			":11111111-1111-4111-8111-111111111112",
		"date=2027-03-01&service_id=" + id + "&variants=" + strings.Repeat(id+":"+id+",", 21) + ":",
		"date=2027-03-01&date=2027-03-01", "service_id=" + strings.Repeat(id+",", 30),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		sent, _ := url.ParseQuery(raw)
		q, err := parse(func(name string) []string { return sent[name] })
		if err != nil {
			sentence := fault.Of(err).Sentence
			if !fault.Is(err, fault.InvalidParameter) || !utf8.ValidString(sentence) || len(sentence) > 400 ||
				strings.ContainsRune(sentence, 0) {
				t.Errorf("%q is refused by %q", raw, sentence)
			}
			return
		}
		if q.To < q.From || q.To-q.From > 61 || len(q.Services) < 1 || len(q.Services) > 20 || len(q.Variants) > 20 {
			t.Errorf("%q was read as %+v", raw, q)
		}
	})
}

func FuzzBookableBody(f *testing.F) {
	f.Add([]byte(`{"slug":"harbor","offer_version":3,"question":{"service_ids":["11111111-1111-4111-8111-111111111111"],` +
		`"date":"2027-03-01","time":"09:00"},"occupied":"AQEBERERERERQRGBEREREREREQABAgIA"}`))
	f.Add([]byte(`{"question":{"service_ids":[],"time":"24:00"}}`))
	f.Add([]byte(`{"question":{"service_ids":["11111111-1111-4111-8111-111111111111"],"date":"2027-03-01","time":"09:00","is_package":true,` +
		`"staffing_mode":"per_service","variants":{"11111111-1111-4111-8111-111111111111":"88888888-8888-4888-8888-888888888888"},` +
		`"class_schedule_id":"66666666-6666-4666-8666-666666666666"},"occupied":"AQEBERERERERQRGBEREREREREQEBAgIBZmZmZmZmRmaGZmZmZmZmZgIC"}`))
	f.Add([]byte("\x00{\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var r availability.BookableRequest
		err := request.JSON(body, &r)
		if err == nil {
			err = checkQuestion(r.Question)
		}
		if err != nil {
			if !fault.Is(err, fault.InvalidParameter) {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		if n := len(r.Question.ServiceIDs); n < 1 || n > 20 || len(r.Question.Variants) > 20 || r.Question.Time < 0 ||
			r.Question.Time > 1439 {
			t.Errorf("%q was read as %+v", body, r)
		}
	})
}
