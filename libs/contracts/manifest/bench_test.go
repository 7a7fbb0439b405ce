package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// newLargeSource returns a manifest of about 5 MB: 500 staff members and 2,000 services, each performed by ten of them.
func newLargeSource() []byte {
	var b strings.Builder
	b.WriteString("apiVersion: slotmesh/v1\nkind: Business\nslug: large\nname: Large\ncurrency: EUR\ntimezone: Europe/Lisbon\n" +
		"default_language: en\nlanguages: [en, pt]\nhours: {mon: [\"09:00-18:00\"], tue: [\"09:00-18:00\"]}\nstaff:\n")
	text := strings.Repeat("Wash, cut &amp; dry; <b>colour</b> on request. ", 18)
	for i := range 500 {
		fmt.Fprintf(&b,
			"  - key: staff-%d\n    name: Member %d\n    category: Stylist\n    order: %d\n    description_html: %q\n"+
				"    hours: {mon: [\"10:00-18:00\"], wed: [\"10:00-12:00\", \"13:00-18:00\"]}\n    overrides: [{date: 2026-12-02, hours: [\"12:00-15:00\"]}]\n", i, i, i, text)
	}
	b.WriteString("services:\n")
	for i := range 2000 {
		fmt.Fprintf(&b,
			"  - key: service-%d\n    name: Service %d\n    description_html: %q\n    duration_minutes: 45\n    buffer_after_minutes: 10\n"+
				"    price: 40.00\n    payment_requirement: deposit_percent\n    deposit_value: 20\n    order: %d\n    staff: [", i, i, text, i)
		for j := range 10 {
			fmt.Fprintf(&b, "staff-%d, ", (i*7+j*53)%500)
		}
		fmt.Fprintf(&b,
			"]\n    variants: [{key: long, name: Long, duration_minutes: 60, price: 55.00}, {key: short, name: Short, duration_minutes: 30}]\n"+
				"    translations:\n      pt: {name: Corte, category: Cabelo, description_html: %q}\n", text)
	}
	return []byte(b.String())
}

func BenchmarkParseLargeYAML(b *testing.B) { benchmarkParse(b, newLargeSource()) }

func BenchmarkParseLargeJSON(b *testing.B) {
	src, err := json.Marshal(mustParse(b, newLargeSource()))
	if err != nil {
		b.Fatal(err)
	}
	benchmarkParse(b, src)
}

func benchmarkParse(b *testing.B, src []byte) {
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		mustParse(b, src)
	}
}
