package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/rule"
)

// minimal is a valid manifest of 8 lines. The text that a case adds begins on line 9.
const minimal = `apiVersion: slotmesh/v1
kind: Business
slug: shop
name: Shop
currency: EUR
timezone: Europe/Lisbon
default_language: en
staff: [{key: anna, name: Anna}, {key: ben, name: Ben}]
`

func parseProblems(src string) []string {
	_, problems := Parse([]byte(src))
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return lines
}

func TestMinimalManifestIsValid(t *testing.T) {
	t.Parallel()
	mustParse(t, []byte(minimal))
}

// faults lists cases. Each case adds invalid text to a valid manifest, and has all expected problems.
var faults = []struct {
	name, add string
	want      []string
}{
	{
		"unknown field", "picture: x\n",
		[]string{"line 9: picture: is no field here; the fields are apiVersion, kind, id, slug, name, logo_url, logo, currency, timezone, default_language, languages, modules, social_links, action_buttons, locations, contact, legal, policy_text, payments, cancellation_policy, cooling_off_hours, account, bookings, self_service, notifications, privacy, page, form, form_enforce_api, open, managed_by, hours, overrides, blocks, staff, services, packages, events, rentals, pricing_rules, translations"},
	},
	{
		"part of a field", "cooling_off: x\n",
		[]string{"line 9: cooling_off: is no field here; did you mean cooling_off_hours?"},
	},
	{
		"misspelt field", "services:\n- {key: cut, name: Cut, duration_minutes: 30,\n   prise: 10}\n",
		[]string{"line 11: services[0].prise: is no field here; did you mean price?"},
	},
	{
		"duplicate field", "name: Other\n",
		[]string{"line 9: name: is written twice, first on line 4; keep one"},
	},
	{
		"missing fields", "services:\n- key: cut\nevents:\n- {key: gala}\n",
		[]string{
			"line 10: services[0].name: is missing; write text of at most 200 characters",
			"line 10: services[0].duration_minutes: is missing; write a whole number from 1 to 10080",
			"line 12: events[0].name: is missing; write text of at most 200 characters",
			"line 12: events[0].date: is missing; write a date, YYYY-MM-DD",
			"line 12: events[0].start_time: is missing; write a time, HH:MM",
			"line 12: events[0].end_time: is missing; write a time, HH:MM",
			"line 12: events[0].total_capacity: is missing; write a whole number from 0 to 1000000",
		},
	},
	{
		"null where a value is needed", "services:\n- {key: cut, name: ~, duration_minutes: 30}\n-\n",
		[]string{
			"line 10: services[0].name: is empty; write text of at most 200 characters",
			"line 11: services[1]: is empty; write a value or remove the item",
		},
	},
	{
		"wrong types",
		"services: 3\nhours: [mon]\nbookings: {advance_days: '10', min_notice_minutes: 1.5, slot_interval_minutes: 010}\n" +
			"rentals: [{key: kayak, name: 7, price: cheap, price_type: daily, add_on: 'yes', category: [x]}]\n",
		[]string{
			"line 9: services: is the number 3; write a list",
			"line 10: hours: is a list; write an object",
			`line 11: bookings.advance_days: is the text "10"; write a whole number from 0 to 3650`,
			"line 11: bookings.min_notice_minutes: is the number 1.5; write a whole number from 0 to 525600",
			"line 11: bookings.slot_interval_minutes: is the number 010; write a whole number from 1 to 1440",
			`line 12: rentals[0].name: is the number 7; write text, in quotes: "7"`,
			`line 12: rentals[0].price: is the text "cheap"; write a plain decimal number of at least 0`,
			`line 12: rentals[0].add_on: is the text "yes"; write true or false`,
			"line 12: rentals[0].category: is a list; write text of at most 200 characters",
		},
	},
	{
		"bad scalars",
		"logo_url: ftp://x\nid: 7f\noverrides: [{date: 2027-02-29, hours: []}]\nlanguages: [EN, xx-yyyyyyyyyyy]\n" +
			"hours:\n  mon: ['9-17', '09:00-09:00']\n  tue: ['25:00-26:00']\n",
		[]string{
			`line 9: logo_url: "ftp://x" is not a web address; write http:// or https:// and a host, at most 2000 characters, with %22 and the like for quotes, spaces, <, > and \`,
			`line 10: id: "7f" is not a UUID; write one such as 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10`,
			`line 11: overrides[0].date: "2027-02-29" is not a real calendar date; write YYYY-MM-DD, such as 2027-03-01`,
			`line 12: languages[0]: "EN" is not the usual form of the language tag; write en`,
			`line 12: languages[1]: "xx-yyyyyyyyyyy" is not a language; write a BCP 47 tag such as en or pt-BR`,
			`line 14: hours.mon[0]: "9-17" is not a window; write HH:MM-HH:MM, such as 09:00-17:00`,
			`line 14: hours.mon[1]: "09:00-09:00" is empty; end it after it starts, or write 00:00-24:00 for the whole day`,
			`line 15: hours.tue[0]: "25:00" is not a time of day; write HH:MM in 24 hours, such as 09:30`,
		},
	},
	{
		"number in place of text that has a form", "services: [{key: 5, name: Five, duration_minutes: 5}]\n",
		[]string{`line 9: services[0].key: is the number 5; write it in quotes, as "5"`},
	},
	{
		"keys",
		"services:\n- {key: Cut, name: Cut, duration_minutes: 30}\n- {key: a, name: A, duration_minutes: 30}\n- {key: a, name: B, duration_minutes: 30}\n",
		[]string{
			`line 10: services[0].key: "Cut" is not a key; write 1 to 63 of a-z, 0-9 and "-"`,
			`line 12: services[2].key: is "a", as in item 1 of the list; write each only once`,
		},
	},
	{
		"references", "blocks: [{from: 2026-12-01T12:00, to: 2026-12-01T12:00, staff: [ann]}]\nservices:\n" +
			"- {key: cut, name: Cut, duration_minutes: 30, staff: [anna, carla, anna]}\n" +
			"- {key: yoga, name: Yoga, duration_minutes: 30, classes: [{key: a, weekday: mon, time: '24:00', capacity: 3, staff: bem}]}\n",
		[]string{
			"line 9: blocks[0].to: is 2026-12-01T12:00, which is not after from (2026-12-01T12:00); end the block after it begins",
			`line 9: blocks[0].staff[0]: names "ann", but there is no such staff member; did you mean anna?`,
			`line 11: services[0].staff[2]: is "anna", as in item 0 of the list; write each only once`,
			`line 11: services[0].staff[1]: names "carla", but there is no such staff member; write the key of one that is listed`,
			"line 12: services[1].classes[0].time: is 24:00; write 00:00 of the next day",
			`line 12: services[1].classes[0].staff: names "bem", but there is no such staff member; did you mean ben?`,
		},
	},
	{
		"languages",
		"languages: [pt, pt]\nservices: [{key: cut, name: Cut, duration_minutes: 30, translations: {fr: {name: Coupe}, pt: {nome: Corte}}}]\n",
		[]string{
			`line 9: languages[1]: is "pt", as in item 0 of the list; write each only once`,
			"line 9: languages: lacks the default language en; add it",
			"line 10: services[0].translations.pt.nome: is no field here; did you mean name?",
			"line 10: services[0].translations.fr: is not among the languages of the business; add it there or remove the translation",
		},
	},
	{
		"translations of names",
		"translations: {fr: {name: Atelier}}\nservices: [{key: cut, name: Cut, duration_minutes: 30, variants: [{key: long, name: Long, translations: {fr: {name: Longue}, en: {nom: L}}}]}]\n",
		[]string{
			"line 9: translations.fr: is not among the languages of the business; add it there or remove the translation",
			"line 10: services[0].variants[0].translations.en.nom: is no field here; the fields are name",
			"line 10: services[0].variants[0].translations.fr: is not among the languages of the business; add it there or remove the translation",
		},
	},
	{
		"prices",
		"services:\n- {key: a, name: A, duration_minutes: 30, price: 1.005}\n- {key: b, name: B, duration_minutes: 30, price: -1}\n" +
			"- {key: c, name: C, duration_minutes: 30, price: 1e15}\n- {key: d, name: D, duration_minutes: 30, price: 1e999999999}\n- {key: e, name: E, duration_minutes: 30, price: .inf}\n",
		[]string{
			"line 10: services[0].price: 1.005 has more decimals than EUR allows; write at most 2",
			"line 11: services[1].price: is the number -1; write a plain decimal number of at least 0",
			"line 12: services[2].price: 1000000000000000 is too large; write an amount below 1000000000000",
			"line 13: services[3].price: is the text \"1e999999999\"; write a plain decimal number of at least 0",
			"line 14: services[4].price: is the number .inf; write a plain decimal number of at least 0",
		},
	},
	{
		"deposits", "services:\n- {key: a, name: A, duration_minutes: 30, payment_requirement: deposit_fixed}\n" +
			"- {key: b, name: B, duration_minutes: 30, payment_requirement: full, deposit_value: 5}\n" +
			"- {key: c, name: C, duration_minutes: 30, payment_requirement: deposit_percent, deposit_value: 101}\n" +
			"- {key: d, name: D, duration_minutes: 30, payment_requirement: deposit_fixed, deposit_value: 0.001}\n" +
			"- {key: e, name: E, duration_minutes: 30, payment_requirement: half}\n" +
			"- {key: f, name: F, duration_minutes: 30, payment_requirement: deposit_percent, deposit_value: 0}\n",
		[]string{
			"line 10: services[0].deposit_value: is missing; payment_requirement deposit_fixed needs it",
			"line 11: services[1].deposit_value: goes only with payment_requirement deposit_percent or deposit_fixed, not full; remove it or set one of them",
			"line 12: services[2].deposit_value: is 101 percent; write at most 100",
			"line 13: services[3].deposit_value: 0.001 has more decimals than EUR allows; write at most 2",
			`line 14: services[4].payment_requirement: is "half"; write full, deposit_percent, deposit_fixed or none`,
			"line 15: services[5].deposit_value: is 0; write a deposit above 0",
		},
	},
	{
		"classes", "services:\n- key: yoga\n  name: Yoga\n  duration_minutes: 60\n  classes:\n" +
			"  - {key: a, time: '10:00', capacity: 1}\n  - {key: b, weekday: mon, date: 2027-01-01, time: '10:00', capacity: 1}\n" +
			"  - {key: c, date: 2027-01-01, from: 2027-01-01, to: 2027-01-02, time: '10:00', capacity: 1}\n" +
			"  - {key: d, weekday: mon, from: 2027-01-02, to: 2027-01-01, time: '10:00', capacity: 0}\n  - {key: e, weekday: lundi, time: '10:00', capacity: 1}\n",
		[]string{
			"line 14: services[0].classes[0]: has neither weekday nor date; write weekday for a weekly session or date for a single one",
			"line 15: services[0].classes[1].date: stands beside weekday; write weekday for a weekly session or date for a single one",
			"line 16: services[0].classes[2].from: goes only with weekday; remove it",
			"line 16: services[0].classes[2].to: goes only with weekday; remove it",
			"line 17: services[0].classes[3].capacity: is the number 0; write a whole number from 1 to 100000",
			"line 17: services[0].classes[3].to: is 2027-01-01, before from (2027-01-02); end on that date or later",
			`line 18: services[0].classes[4].weekday: "lundi" is not a weekday; write mon, tue, wed, thu, fri, sat or sun`,
		},
	},
	{
		"events",
		"events:\n- {key: a, name: A, date: 2027-01-01, start_time: '20:00', end_time: '20:00', total_capacity: 10}\n" +
			"- {key: b, name: B, date: 2027-01-01, start_time: '24:00', end_time: '02:00', total_capacity: -1, tiers: [{key: x, name: X, price: 1.234, capacity: 1}, {key: x, name: Y, capacity: 1}]}\n",
		[]string{
			"line 10: events[0].end_time: is 20:00, when the event starts; write another time (one before the start lies on the next day)",
			"line 11: events[1].total_capacity: is the number -1; write a whole number from 0 to 1000000",
			"line 11: events[1].start_time: is 24:00; write 00:00 of the next day",
			`line 11: events[1].tiers[1].key: is "x", as in item 0 of the list; write each only once`,
			"line 11: events[1].tiers[0].price: 1.234 has more decimals than EUR allows; write at most 2",
		},
	},
	{
		"rentals", "rentals:\n- {key: a, name: A, price_type: weekly, units: [{key: u}, {key: u}], units_count: 2}\n" +
			"- {key: b, name: B, price_type: daily, min_rental_days: 3, max_rental_days: 2, units: [{key: u, maintenance: [{from: 2027-01-02, to: 2027-01-01}]}]}\n" +
			"- {key: c, name: C, price_type: daily, quantity: -1, upsells: [{rental: c}, {rental: d}, {rental: a}, {rental: a}]}\n",
		[]string{
			`line 10: rentals[0].price_type: is "weekly"; write hourly or daily`,
			"line 10: rentals[0].units_count: stands beside units; write one of the two",
			`line 10: rentals[0].units[1].key: is "u", as in item 0 of the list; write each only once`,
			"line 11: rentals[1].max_rental_days: is 2, below min_rental_days (3); write at least that",
			"line 11: rentals[1].units[0].maintenance[0].to: is 2027-01-01, before from (2027-01-02); end on that date or later",
			"line 12: rentals[2].quantity: is the number -1; write a whole number from 0 to 10000",
			`line 12: rentals[2].upsells[3].rental: is "a", as in item 2 of the list; write each only once`,
			"line 12: rentals[2].upsells[0].rental: names the rental itself; write the key of another rental",
			`line 12: rentals[2].upsells[1].rental: names "d", but there is no such rental; did you mean a?`,
		},
	},
	{
		"packages",
		"services:\n- {key: cut, name: Cut, duration_minutes: 30, price: 10}\n- {key: dry, name: Dry, duration_minutes: 30, price: 5}\n" +
			"- {key: yoga, name: Yoga, duration_minutes: 60, classes: [{key: a, weekday: mon, time: '18:30', capacity: 5}]}\npackages:\n" +
			"- {key: a, name: A, services: [cut], price: 5}\n- {key: a, name: A, services: [cut, cutt], price: 5}\n- {key: c, name: C, services: [cut, dry]}\n" +
			"- {key: d, name: D, services: [dry, cut], price: 5, percent: 5}\n- {key: e, name: E, services: [cut, yoga], price: 5.001}\n" +
			"- {key: f, name: F, services: [cut, cut], percent: 0}\n- {key: g, name: G, services: [yoga, dry], percent: -5}\n- {key: h, name: H, services: [], percent: 1.23456}\n" +
			"- {key: i, name: I, price: -1}\n- {key: j, name: J, services: [cut, dry, yoga], percent: 101, translations: {pt: {name: J}}}\n",
		[]string{
			"line 14: packages[0].services: has too few items (1); write at least 2",
			`line 15: packages[1].key: is "a", as in item 0 of the list; write each only once`,
			`line 15: packages[1].services[1]: names "cutt", but there is no such service; did you mean cut?`,
			"line 16: packages[2]: has no price; write price, what the services cost together, or percent, how much is taken off",
			"line 17: packages[3].percent: stands beside price; write what the services cost together, or how much is taken off, but not both",
			"line 17: packages[3].services: are those of packages[2], in whatever order, and a booking of them could be either; write each set of services only once",
			`line 18: packages[4].services[1]: names the class "yoga", and classes are booked alone; write services that have no sessions`,
			"line 18: packages[4].price: 5.001 has more decimals than EUR allows; write at most 2",
			`line 19: packages[5].services[1]: is "cut", as in item 0 of the list; write each only once`,
			"line 19: packages[5].percent: is 0, which takes nothing off; write how much is, such as 10",
			"line 20: packages[6].percent: is the number -5; write a plain decimal number from 0 to 100",
			`line 20: packages[6].services[0]: names the class "yoga", and classes are booked alone; write services that have no sessions`,
			"line 21: packages[7].services: has too few items (0); write at least 2",
			"line 21: packages[7].percent: is 1.23456; write a percentage of at most 4 decimals",
			"line 22: packages[8].price: is the number -1; write a plain decimal number of at least 0",
			"line 22: packages[8].services: is missing; write a list",
			"line 23: packages[9].percent: is the number 101; write a plain decimal number from 0 to 100",
			`line 23: packages[9].services[2]: names the class "yoga", and classes are booked alone; write services that have no sessions`,
			"line 23: packages[9].translations.pt: is not among the languages of the business; add it there or remove the translation",
		},
	},
	{
		"rule fields",
		"pricing_rules:\n- {key: a, kind: seasonal, percent: 5}\n- {key: b, kind: day_of_week, days: [sat, sat], percent: 5, amount: 1}\n" +
			"- {key: c, kind: first_booking, min: 2}\n- {key: d, kind: party_size, percent: -101}\n- {key: e, kind: early_bird, max_days_before: 2, set: 5.001}\n" +
			"- {key: f, kind: party_size, min: 5, max: 4, percent: 1.23456}\n- {key: g, kind: happy_hour, percent: 1}\n- {key: h, kind: day_of_week, days: [], percent: 1}\n",
		[]string{
			"line 10: pricing_rules[0].from: is missing; kind seasonal needs it",
			"line 10: pricing_rules[0].to: is missing; kind seasonal needs it",
			"line 11: pricing_rules[1].amount: stands beside percent; write exactly one of percent, amount and set",
			`line 11: pricing_rules[1].days[1]: is "sat", as in item 0 of the list; write each only once`,
			"line 12: pricing_rules[2]: changes no price; write one of percent, amount and set",
			"line 12: pricing_rules[2].min: goes not with kind first_booking; remove it",
			"line 13: pricing_rules[3].percent: is the number -101; write a plain decimal number from -100 to 10000",
			"line 13: pricing_rules[3]: has no min or max; kind party_size needs one of them",
			"line 14: pricing_rules[4].set: 5.001 has more decimals than EUR allows; write at most 2",
			"line 14: pricing_rules[4].min_days_before: is missing; kind early_bird needs it",
			"line 14: pricing_rules[4].max_days_before: goes not with kind early_bird; remove it and write min_days_before",
			"line 15: pricing_rules[5].percent: is 1.23456; write a percentage of at most 4 decimals",
			"line 15: pricing_rules[5].max: is 4, below min (5); write at least that",
			`line 16: pricing_rules[6].kind: is "happy_hour"; write ` + joinAlternatives(rule.Names()),
			"line 17: pricing_rules[7].days: is empty; write at least 1 of its items or leave it out",
		},
	},
	{
		"rule spans",
		"pricing_rules:\n- {key: a, kind: seasonal, from: '06-01', to: 2027-08-31, percent: 5}\n- {key: b, kind: seasonal, from: 2027-08-31, to: 2027-06-01, percent: 5}\n" +
			"- {key: c, kind: time_of_day, from: '18:00', to: '18:00', percent: 5}\n- {key: d, kind: time_of_day, from: '24:00', to: '06-01', percent: 5}\n" +
			"- {key: e, kind: flash_sale, from: 2027-06-01T10:00, to: 2027-06-01T10:00, percent: 5}\n- {key: f, kind: seasonal, from: '02-30', to: 6-1, percent: 5}\n" +
			"- {key: g, kind: time_of_day, from: '24:00', to: '06:00', percent: 5}\n",
		[]string{
			`line 10: pricing_rules[0].to: is "2027-08-31", but from is "06-01"; write both as MM-DD, or both as YYYY-MM-DD`,
			"line 11: pricing_rules[1].to: is 2027-06-01, before from (2027-08-31); end on that date or later",
			"line 12: pricing_rules[2].to: is 18:00, the same as from; write another time, or 00:00 to 24:00 for the whole day",
			`line 13: pricing_rules[3].to: is "06-01"; kind time_of_day needs a time, "HH:MM"`,
			"line 14: pricing_rules[4].to: is 2027-06-01T10:00, which is not after from (2027-06-01T10:00); end the sale after it begins",
			`line 15: pricing_rules[5].from: "02-30" is not a day of the year; write MM-DD, such as 06-01`,
			`line 15: pricing_rules[5].to: "6-1" is no date or time; write MM-DD, YYYY-MM-DD, HH:MM or YYYY-MM-DDTHH:MM, as the rule's kind needs it`,
			"line 16: pricing_rules[6].from: is 24:00; write 00:00 of the next day",
		},
	},
	{
		"what rules apply to",
		"pricing_rules:\n- {key: a, kind: first_booking, percent: 5, applies_to: {}}\n- {key: b, kind: first_booking, percent: 5, applies_to: {services: some}}\n" +
			"- {key: c, kind: first_booking, percent: 5, applies_to: {services: [cut], events: []}}\n- {key: d, kind: first_booking, percent: 5, applies_to: all}\n",
		[]string{
			"line 10: pricing_rules[0].applies_to: names nothing; write services, events or rentals, or leave it out for everything priced",
			`line 11: pricing_rules[1].applies_to.services: is the text "some"; write all, or a list of keys`,
			"line 12: pricing_rules[2].applies_to.events: is a list; write all, or a list of keys",
			`line 12: pricing_rules[2].applies_to.services[0]: names "cut", but there is no such service; write the key of one that is listed`,
			`line 13: pricing_rules[3].applies_to: is the text "all"; write an object`,
		},
	},
	{
		"payments",
		"payments:\n  providers: [stripe, paypal]\n  modes: {services: cash}\n  accounts: {adyen: x, stripe: ''}\ncancellation_policy: [{hours_before: 1, refund_percent: 101}]\n" +
			"action_buttons: [{type: link, label: Menu, content: menu}]\nsocial_links: {a b: x}\n",
		[]string{
			`line 10: payments.providers[1]: is "paypal"; write stripe`,
			`line 11: payments.modes.services: is "cash"; write online, at_door or customer_choice`,
			"line 12: payments.accounts.adyen: is no provider of the business; add it to providers or remove the account",
			"line 12: payments.accounts.stripe: is blank; write the account's identifier or remove it",
			"line 13: cancellation_policy[0].refund_percent: is the number 101; write a whole number from 0 to 100",
			`line 14: action_buttons[0].content: is "menu"; write where the button leads: an http:// or https:// address, mailto: or tel:, with %22 and the like for quotes, spaces, <, > and \`,
			`line 15: social_links["a b"]: "x" is not a web address; write http:// or https:// and a host, at most 2000 characters, with %22 and the like for quotes, spaces, <, > and \`,
		},
	},
	{
		"bookings and self-service",
		"bookings: {confirm: maybe, max_open_per_customer: 0}\nself_service: {cancel_until_hours: -1, reschedule_until_hours: soon}\n",
		[]string{
			`line 9: bookings.confirm: is "maybe"; write manual or auto`,
			"line 9: bookings.max_open_per_customer: is the number 0; write a whole number from 1 to 1000",
			"line 10: self_service.cancel_until_hours: is the number -1; write a whole number from 0 to 87600",
			`line 10: self_service.reschedule_until_hours: is the text "soon"; write a whole number from 0 to 87600`,
		},
	},
	{
		"intros of messages",
		"notifications:\n  intros:\n    reminder: {text: 'Dear {customer_name}, {staff} expects you at {time}.'}\n" +
			"    refunded: {text: 'Dear {name}'}\n    ticket: {text: Hello, translations: {en: {text: 'a } b'}, fr: {text: '{Staff}'}}}\n",
		[]string{
			`line 12: notifications.intros.refunded.text: contains "{name}"; the placeholders are ` + strings.Join(IntroPlaceholders(), ", "),
			"line 13: notifications.intros.ticket.translations.fr: is not among the languages of the business; add it there or remove the translation",
			`line 13: notifications.intros.ticket.translations.en.text: contains "}"; the placeholders are ` + strings.Join(IntroPlaceholders(), ", "),
			`line 13: notifications.intros.ticket.translations.fr.text: contains "{Staff}"; the placeholders are ` + strings.Join(IntroPlaceholders(), ", "),
		},
	},
	{
		"notifications",
		"notifications:\n  owner_emails: [a@b.example, a@b.example, \"a@b.example\\r\\nBcc: c@d.example\"]\n  reply_to: nobody\n  reminders_hours_before: [24, 24, 0]\n" +
			"  notes:\n    reminders: {text: Hello}\n    refunded: {text: ' '}\n    ticket: {translations: {en: {text: Hello}, fr: {text: Bonjour}}}\nprivacy: {keep_customers_days: 3651}\n",
		[]string{
			`line 10: notifications.owner_emails[2]: "a@b.example\r\nBcc: c@d.example" is not an e-mail address; write one such as hello@example.com`,
			`line 10: notifications.owner_emails[1]: is "a@b.example", as in item 0 of the list; write each only once`,
			`line 11: notifications.reply_to: "nobody" is not an e-mail address; write one such as hello@example.com`,
			"line 12: notifications.reminders_hours_before[2]: is the number 0; write a whole number from 1 to 8760",
			`line 12: notifications.reminders_hours_before[1]: is "24", as in item 0 of the list; write each only once`,
			`line 14: notifications.notes.reminders: "reminders" is no kind of message to customers; write ` +
				joinAlternatives(MessageKinds()),
			"line 15: notifications.notes.refunded.text: is blank; write text of at most 2000 characters",
			"line 16: notifications.notes.ticket.text: is missing; write text of at most 2000 characters",
			"line 16: notifications.notes.ticket.translations.fr: is not among the languages of the business; add it there or remove the translation",
			"line 17: privacy.keep_customers_days: is the number 3651; write a whole number from 1 to 3650",
		},
	},
	{
		"page",
		"page:\n  accent: \"#FFCC00\"\n  embed_origins: [https://a.example, 'https://a.example', https://a.example/, HTTPS://a.example, 'https://*.a.example', http://a.example, 'https://a.example:443', https://a..example, https://u@a.example, 'https://a.example;x', 'http://localhost:8080', 'http://127.0.0.1:1']\n" +
			"  translations: {fr: {about_html: x}}\n",
		append([]string{
			"line 10: page.accent: is #ffcc00, on which white text has a contrast of 1.5 : 1, below 4.5; write a darker one such as #907300",
		}, append(invalidOrigins(2, "https://a.example/", "HTTPS://a.example", "https://*.a.example",
			"http://a.example",
			"https://a.example:443", "https://a..example", "https://u@a.example", "https://a.example;x"),
			`line 11: page.embed_origins[1]: is "https://a.example", as in item 0 of the list; write each only once`,
			"line 12: page.translations.fr: is not among the languages of the business; add it there or remove the translation",
		)...),
	},
	{
		"a colour that is none", "page: {accent: green}\n",
		[]string{`line 9: page.accent: "green" is not a colour; write # and six hexadecimal digits, such as #0b6e4f`},
	},
	{
		"form",
		"services: [{key: cut, name: Cut, duration_minutes: 5}]\nform:\n- {key: a, label: A, type: text, options: [{key: x, label: X}], consent: true}\n- {key: a, label: A, type: select, max_length: 5}\n" +
			"- {key: b, label: B, type: select, options: [{key: x, label: X}, {key: x, label: Y, translations: {fr: {label: Z}}}], services: [cut, cuts], events: [gala], rentals: [kayak]}\n" +
			"- {key: _c, label: ' ', type: email, max_length: 0, translations: {fr: {label: C}}}\n",
		[]string{
			"line 11: form[0].options: goes only with type select, not text; remove it or set that",
			"line 11: form[0].consent: goes only with type checkbox, not text; remove it or set that",
			`line 12: form[1].key: is "a", as in item 0 of the list; write each only once`,
			"line 12: form[1].options: is missing; type select needs at least one",
			"line 12: form[1].max_length: goes only with type text or textarea, not select; remove it",
			`line 13: form[2].options[1].key: is "x", as in item 0 of the list; write each only once`,
			"line 13: form[2].options[1].translations.fr: is not among the languages of the business; add it there or remove the translation",
			`line 13: form[2].services[1]: names "cuts", but there is no such service; did you mean cut?`,
			`line 13: form[2].events[0]: names "gala", but there is no such event; write the key of one that is listed`,
			`line 13: form[2].rentals[0]: names "kayak", but there is no such rental; write the key of one that is listed`,
			`line 14: form[3].key: "_c" is not a key; write 1 to 63 of a-z, 0-9 and "-"`,
			"line 14: form[3].label: is blank; write text of at most 200 characters",
			`line 14: form[3].type: is "email"; write text, textarea, number, select, checkbox, date or phone`,
			"line 14: form[3].max_length: is the number 0; write a whole number from 1 to 5000",
			"line 14: form[3].translations.fr: is not among the languages of the business; add it there or remove the translation",
		},
	},
	{
		"ids",
		"services:\n- {key: a, name: A, duration_minutes: 5, id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10}\nevents:\n" +
			"- {key: b, id: 3F2C8A52-0C5E-4D5B-9A55-6F0F4A1F7D10, name: B, date: 2027-01-01, start_time: '20:00', end_time: '22:00', total_capacity: 1}\n",
		[]string{"line 12: events[0].id: is 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10, which is also the id of services[0]; write another or leave it out"},
	},
	{
		"override dates", "overrides: [{date: 2027-01-01, hours: []}, {date: 2027-01-01, hours: ['10:00-12:00']}]\n",
		[]string{`line 9: overrides[1].date: is "2027-01-01", as in item 0 of the list; write each only once`},
	},
	{
		"hidden characters",
		"services: [{key: a, name: \"A\\u202eb\", duration_minutes: 5, category: \"\\u200e\"},\n  {key: b, name: \"\\u2800\", duration_minutes: 5}]\n",
		[]string{
			"line 9: services[0].name: contains an invisible character or a direction mark; write the text without it",
			"line 9: services[0].category: contains an invisible character or a direction mark; write the text without it",
			"line 10: services[1].name: contains an invisible character or a direction mark; write the text without it",
		},
	},
	{
		"texts",
		"services: [{key: a, name: ' ', duration_minutes: 5, description_html: \"a\\0b\", category: \"a\\nb\"}]\nrentals: [{key: r, price_type: daily, name: " + strings.Repeat("ä", 201) + "}]\n",
		[]string{
			"line 9: services[0].name: is blank; write text of at most 200 characters",
			"line 9: services[0].description_html: contains a control character; write plain text",
			"line 9: services[0].category: contains a line break or control character; write one line of plain text",
			"line 10: rentals[0].name: has 201 characters; write at most 200",
		},
	},
	{
		"locations",
		"locations:\n- {key: b, kind: link, link: 'https://a.example', timezone: Asia/Tokyo}\n- {key: b, kind: place}\n- {key: c, kind: cafe}\n",
		[]string{
			"line 10: locations[0].timezone: is no field here; the fields are key, id, kind, name, address, geo, directions_html, phone, hours, overrides, link, calls, countries, postal_codes, travel_minutes, translations",
			`line 11: locations[1].key: is "b", as in item 0 of the list; write each only once`,
			`line 12: locations[2].kind: is "cafe"; write place, link, phone or customer_address`,
		},
	},
	{
		"kinds of locations",
		"locations:\n- {key: a, kind: link}\n- {key: b, kind: link, link: 'http://a.example'}\n" +
			"- {key: c, kind: link, link: 'https://a.example/{code}/{booking}', travel_minutes: 5}\n" +
			"- {key: d, kind: link, link: 'https://a.example/{room}', address: {city: Lisboa}, geo: {lat: 1, lon: 2}}\n" +
			"- {key: e, kind: link, link: 'https://a.example/" + strings.Repeat("x", 150) + "{booking}'}\n" +
			"- {key: f, kind: phone}\n- {key: g, kind: phone, calls: customer, link: 'https://a.example'}\n" +
			"- {key: h, kind: place, calls: business, countries: [PT], postal_codes: ['1']}\n" +
			"- {key: i, kind: customer_address, countries: [PT, PT, pt], postal_codes: ['10*', '1*0', '10*'], travel_minutes: 1441}\n",
		[]string{
			"line 10: locations[0].link: is missing; kind link needs the https:// address of the meeting",
			`line 11: locations[1].link: is "http://a.example"; write an https:// address`,
			"line 12: locations[2].travel_minutes: goes only with kind customer_address, not link; remove it",
			"line 12: locations[2].link: has 2 placeholders; write at most one of {code} and {booking}",
			"line 13: locations[3].address: goes only with kind place, not link; remove it",
			"line 13: locations[3].geo: goes only with kind place, not link; remove it",
			"line 13: locations[3].link: has an unknown placeholder; write {code} or {booking}, or none",
			"line 14: locations[4].link: is 204 characters long with its placeholder filled in; write at most 200",
			"line 15: locations[5].calls: is missing; write business or customer, whoever calls",
			"line 16: locations[6].link: goes only with kind link, not phone; remove it",
			"line 16: locations[6].phone: is missing; write the number that customers call, here or in contact",
			"line 17: locations[7].calls: goes only with kind phone, not place; remove it",
			"line 17: locations[7].countries: goes only with kind customer_address, not place; remove it",
			"line 17: locations[7].postal_codes: goes only with kind customer_address, not place; remove it",
			`line 18: locations[8].countries[2]: "pt" is not an ISO 3166-1 country code; did you mean PT?`,
			"line 18: locations[8].travel_minutes: is the number 1441; write a whole number from 0 to 1440",
			`line 18: locations[8].countries[1]: is "PT", as in item 0 of the list; write each only once`,
			`line 18: locations[8].postal_codes[2]: is "10*", as in item 0 of the list; write each only once`,
			`line 18: locations[8].postal_codes[1]: is "1*0"; write * only at the end, such as 10*`,
		},
	},
	{
		"uses of locations",
		"locations:\n- {key: a, kind: place, hours: {mon: ['9']}, overrides: [{date: 2027-01-01, hours: []}, {date: 2027-01-01, hours: []}]}\n" +
			"- {key: b, kind: place}\n- {key: v, kind: link, link: 'https://a.example/{code}'}\n" +
			"services:\n- {key: s, name: S, duration_minutes: 5, locations: [a, a, d]}\n" +
			"- {key: t, name: T, duration_minutes: 5, locations: [v], classes: [{key: k, weekday: mon, time: '10:00', capacity: 1, location: a}, {key: l, weekday: mon, time: '10:00', capacity: 1, location: w}]}\n" +
			"- {key: u, name: U, duration_minutes: 5, locations: []}\n- {key: w, name: W, duration_minutes: 5, locations: [v]}\n" +
			"packages: [{key: p, name: P, services: [s, w], percent: 1}]\n" +
			"events: [{key: e, name: E, date: 2027-01-01, start_time: '20:00', end_time: '22:00', total_capacity: 1, location: z}]\n" +
			"rentals: [{key: r, name: R, price_type: daily, location: b}, {key: r2, name: R, price_type: daily, location: y}]\n" +
			"bookings: {location_change_minutes: 1441}\n",
		[]string{
			`line 10: locations[0].hours.mon[0]: "9" is not a window; write HH:MM-HH:MM, such as 09:00-17:00`,
			`line 10: locations[0].overrides[1].date: is "2027-01-01", as in item 0 of the list; write each only once`,
			`line 14: services[0].locations[1]: is "a", as in item 0 of the list; write each only once`,
			`line 14: services[0].locations[2]: names "d", but there is no such location; did you mean a?`,
			`line 15: services[1].classes[0].location: is "a", which is not among the locations of the service; add it to its locations`,
			`line 15: services[1].classes[1].location: names "w", but there is no such location; did you mean a?`,
			"line 16: services[2].locations: is empty; write at least 1 of its items or leave it out",
			"line 18: packages[0].services: have no location in common, so they cannot be booked together; write services that are offered at one location",
			`line 19: events[0].location: names "z", but there is no such location; did you mean a?`,
			`line 20: rentals[1].location: names "y", but there is no such location; did you mean a?`,
			"line 21: bookings.location_change_minutes: is the number 1441; write a whole number from 0 to 1440",
		},
	},
	{
		"a location",
		"locations:\n- {key: Harbour, kind: places, name: \"a\\nb\", address: {stret: Rua 1}, geo: {lat: 91}, directions_html: " + strings.Repeat("x", 5001) +
			", phone: call us, translations: {fr: {name: Port}}}\n",
		[]string{
			`line 10: locations[0].key: "Harbour" is not a key; write 1 to 63 of a-z, 0-9 and "-"`,
			`line 10: locations[0].kind: is "places"; write place, link, phone or customer_address`,
			"line 10: locations[0].name: contains a line break or control character; write one line of plain text",
			"line 10: locations[0].address.stret: is no field here; did you mean street?",
			"line 10: locations[0].geo.lat: is the number 91; write a plain decimal number from -90 to 90",
			"line 10: locations[0].geo.lon: is missing; write a number",
			"line 10: locations[0].directions_html: has 5001 characters; write at most 5000",
			`line 10: locations[0].phone: "call us" is not a telephone number; write one such as +351 21 000 0000, at most 50 characters`,
			"line 10: locations[0].address: names nothing; write street, postal_code, city or country, or leave it out",
			"line 10: locations[0].translations.fr: is not among the languages of the business; add it there or remove the translation",
		},
	},
	{
		"countries and coordinates",
		"locations:\n- key: a\n  kind: place\n  address: {postal_code: 1100, country: pt}\n  geo: {lat: 38.71234567, lon: -180.5}\n",
		[]string{
			`line 12: locations[0].address.postal_code: is the number 1100; write text, in quotes: "1100"`,
			`line 12: locations[0].address.country: "pt" is not an ISO 3166-1 country code; did you mean PT?`,
			"line 13: locations[0].geo.lon: is the number -180.5; write a plain decimal number from -180 to 180",
			"line 13: locations[0].geo.lat: is 38.71234567; write at most 7 decimals",
		},
	},
	{
		"id of a location",
		"locations: [{key: a, kind: place, id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10, address: {country: UK}}]\n" +
			"services: [{key: a, name: A, duration_minutes: 5, id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10}]\n",
		[]string{
			`line 9: locations[0].address.country: "UK" is not an ISO 3166-1 country code; did you mean GB?`,
			"line 10: services[0].id: is 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10, which is also the id of locations[0]; write another or leave it out",
		},
	},
	{
		"contact and legal texts",
		"contact: {phone: '12', email: shop, website: shop.example, messenger: 'whatsapp://send', fax: '1'}\n" +
			"legal:\n  imprint: http://a.example/imprint\n  privacy: \"a\\0b\"\n  terms: 'javascript://x%0aalert(1)'\n  translations: {en: {imprint: https://, terms: 'See https:// there.'}, fr: {imprint: x}}\n" +
			"policy_text: " + strings.Repeat("x", 5001) + "\ntranslations: {en: {policy_text: [x]}}\n",
		[]string{
			`line 9: contact.phone: "12" is not a telephone number; write one such as +351 21 000 0000, at most 50 characters`,
			`line 9: contact.email: "shop" is not an e-mail address; write one such as hello@example.com`,
			`line 9: contact.website: "shop.example" is not a web address; write http:// or https:// and a host, at most 2000 characters, with %22 and the like for quotes, spaces, <, > and \`,
			`line 9: contact.messenger: "whatsapp://send" is not a web address; write http:// or https:// and a host, at most 2000 characters, with %22 and the like for quotes, spaces, <, > and \`,
			"line 9: contact.fax: is no field here; the fields are phone, email, website, messenger",
			`line 11: legal.imprint: is "http://a.example/imprint"; write an https:// address of at most 2000 characters, or the text itself`,
			"line 12: legal.privacy: contains a control character; write plain text",
			`line 13: legal.terms: is "javascript://x%0aalert(1)"; write an https:// address of at most 2000 characters, or the text itself`,
			"line 14: legal.translations.fr: is not among the languages of the business; add it there or remove the translation",
			`line 14: legal.translations.en.imprint: is "https://"; write an https:// address of at most 2000 characters, or the text itself`,
			"line 15: policy_text: has 5001 characters; write at most 5000",
			"line 16: translations.en.policy_text: is a list; write text of at most 5000 characters",
		},
	},
	{
		"tags", "cooling_off_hours: !!int 3\n",
		[]string{`line 9: cooling_off_hours: has the tag "!!int"; write the value without a tag`},
	},
}

// invalidOrigins returns the problems of a list of origins on line 11, beginning with the item of index `first`.
func invalidOrigins(first int, texts ...string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = fmt.Sprintf("line 11: page.embed_origins[%d]: %q is not an origin; write https://, a host in lower case and, where it has one, a port, such as https://example.com, and nothing after it; http:// only with localhost", first+i, text)
	}
	return list
}

func TestProblemsHavePathAndLine(t *testing.T) {
	t.Parallel()
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, parseProblems(minimal+c.add)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnreadableSourceIsOneProblem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, want string }{
		{"nothing", "", "line 1: the manifest is empty; write one, beginning with apiVersion: slotmesh/v1"},
		{"white space", " \n\t\n", "line 1: the manifest is empty; write one, beginning with apiVersion: slotmesh/v1"},
		{"a comment", "# nothing\n",
			"line 1: the manifest is empty; write one, beginning with apiVersion: slotmesh/v1"},
		{"an empty document", "---\n",
			"line 1: the manifest is empty; write one, beginning with apiVersion: slotmesh/v1"},
		{"NUL", "slug: a\nname: \x00\n", "line 2: the manifest contains a NUL byte; write plain UTF-8 text"},
		{"invalid UTF-8", "slug: a\nname: \xff\n",
			"line 2: the manifest is not valid UTF-8 here; save the file as UTF-8"},
		{"a list", "- a\n", "line 1: the manifest is a list; write fields, beginning with apiVersion: slotmesh/v1"},
		{"a word", "a\n", `line 1: the manifest is the text "a"; write fields, beginning with apiVersion: slotmesh/v1`},
		{"two documents", minimal + "---\n" + minimal,
			"line 9: a second YAML document begins here; write one document, without a further ---"},
		{"broken YAML", "slug: a\nname: 'x\n",
			"line 2: the YAML cannot be read (a quote that opens here is not closed); close it, or leave it out"},
		{"unknown anchor", "slug: *a\n",
			"line 1: the YAML cannot be read (there is no anchor &a); quote a text that begins with *"},
		{"JSON cut short", "{\"slug\":\n\"a\"", "line 2: the JSON ends too early; close every bracket and quote"},
		{"broken JSON", "{\n\"slug\":\n1,\n,}",
			"line 4: the JSON cannot be read (invalid character ',' looking for beginning of object key string); check the commas, quotes and brackets near this line"},
		{"two JSON values", "{}\n{}",
			"line 2: something follows the JSON object; write one object and nothing after it"},
		{"deep JSON", "{\"a\":" + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}",
			"line 1: the JSON cannot be read (it nests deeper than 32 levels); check the commas, quotes and brackets near this line"},
		{"too large", strings.Repeat("#", MaxBytes+1), "line 1: the manifest has 8388609 bytes; write at most 8388608"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{c.want}, parseProblems(c.src)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
