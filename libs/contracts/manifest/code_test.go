package manifest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const codeHead = `apiVersion: slotmesh/v1
kind: Business
slug: harbor
name: Harbor
currency: EUR
timezone: Europe/Lisbon
default_language: en
`

// codeService and codeRental are the first fields of a service and of a rental.
const (
	codeService = "services: [{key: cut, name: Cut, duration_minutes: 30"
	codeRental  = "rentals: [{key: boat, name: Boat, price: 5, price_type: daily"
)

// codeProblems are manifests with one problem each, and the code and parameters of that problem.
var codeProblems = []struct {
	add    string // text after codeHead; it replaces a field with the same name
	code   Code
	params map[string]string
}{
	{"name: ''", CodeMissing, nil},
	{"staff: [{key: ana}]", CodeMissing, nil},
	{codeService + ", price: 5, payment_requirement: deposit_fixed}]", CodeMissing, nil},
	{"pricing_rules: [{key: r, kind: first_booking, amount: much}]", CodeNumber, nil},
	{"bookings: {advance_days: 99999}", CodeNumberRange, map[string]string{"Min": "0", "Max": "3650"}},
	{codeService + ", price: -1}]", CodeNumberMin, map[string]string{"Min": "0"}},
	{codeRental + ", min_rental_days: 5, max_rental_days: 2}]", CodeNumberMin, map[string]string{"Min": "5"}},
	{codeService + ", price: 5, payment_requirement: deposit_fixed, deposit_value: 0}]", CodePositive, nil},
	{codeService + ", price: 1.234}]", CodeDecimals, map[string]string{"Max": "2"}},
	{codeService + ", price: 1e15}]", CodeAmountTooLarge, map[string]string{"Max": "1000000000000"}},
	{"name: " + strings.Repeat("x", 201), CodeTooLong, map[string]string{"Count": "201", "Max": "200"}},
	{
		"notifications: {reminders_hours_before: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}",
		CodeTooMany, map[string]string{"Count": "11", "Max": "10"},
	},
	{"name: \"a\\u200bb\"", CodeUnprintable, nil},
	{"name: \"a\\nb\"", CodeUnprintable, nil},
	{"currency: eur", CodeFormat, map[string]string{"Value": "eur", "Example": "EUR", "Meant": "EUR"}},
	{"default_language: EN", CodeFormat, map[string]string{"Value": "EN", "Example": "en, pt-BR", "Meant": "en"}},
	{"timezone: Narnia", CodeFormat, map[string]string{"Value": "Narnia", "Example": "Europe/Lisbon"}},
	{
		"pricing_rules: [{key: r, kind: time_of_day, from: 12-24, to: '18:30', percent: 5}]",
		CodeFormat, map[string]string{"Value": "12-24", "Example": "18:30"},
	},
	{"staff: [{key: Ana B, name: Ana}]", CodeKey, map[string]string{"Value": "Ana B"}},
	{"logo_url: harbor", CodeURL, map[string]string{"Value": "harbor"}},
	{"page: {embed_origins: [harbor]}", CodeOrigin, map[string]string{"Value": "harbor"}},
	{
		"notifications: {intros: {ticket: {text: 'Hi {name}'}}}",
		CodePlaceholder, map[string]string{"Value": "{name}", "Placeholders": strings.Join(IntroPlaceholders(), ", ")},
	},
	{"hours: {mon: ['09:00-09:00']}", CodeWindow, map[string]string{"Value": "09:00-09:00"}},
	{"page: {accent: '#ffff00'}", CodeContrast, map[string]string{"Color": "#7a7a00"}},
	{
		"cancellation_policy: [{hours_before: 1, refund_percent: 1}, {hours_before: 1, refund_percent: 2}]",
		CodeTwice, map[string]string{"Value": "1"},
	},
	{codeService + ", staff: [ana]}]", CodeUnknown, nil},
	{codeRental + ", upsells: [{rental: boat}]}]", CodeItself, nil},
	{"languages: [de]", CodeDefaultLanguage, map[string]string{"Language": "en"}},
	{"translations: {de: {name: Hafen}}", CodeForeignLanguage, map[string]string{"Language": "de"}},
	{"blocks: [{from: 2030-01-02T10:00, to: 2030-01-02T09:00}]", CodeOrder, nil},
	{codeService + ", deposit_value: 5}]", CodeExcludes, map[string]string{"With": "payment_requirement"}},
	{"pricing_rules: [{key: r, kind: first_booking}]", CodeOneOf, map[string]string{"Fields": "percent amount set"}},
	{codeService + ", classes: [{key: s, time: '18:00', capacity: 5}]}]", CodeSessionDay, nil},
}

func TestProblemsHaveCodes(t *testing.T) {
	t.Parallel()
	seen := map[Code]bool{CodeTooManyStarts: true} // see TestSlotsAnswerIsBounded
	for _, c := range codeProblems {
		field, _, _ := strings.Cut(c.add, ":")
		lines := slices.DeleteFunc(strings.Split(codeHead, "\n"), func(l string) bool {
			return strings.HasPrefix(l, field+":")
		})
		_, problems := Parse([]byte(strings.Join(lines, "\n") + c.add + "\n"))
		if len(problems) == 0 {
			t.Errorf("%s: no problem", c.add)
			continue
		}
		if got := problems[0]; got.Code != c.code || !maps.Equal(got.Params, c.params) {
			t.Errorf("%s: %s %s", c.add, got.Code, cmp.Diff(c.params, got.Params))
		}
		seen[c.code] = true
	}
	for _, code := range Codes() {
		if !seen[code] {
			t.Errorf("no manifest has a problem with the code %s", code)
		}
	}
}
