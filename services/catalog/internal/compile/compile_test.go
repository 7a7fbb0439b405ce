package compile

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

const head = `apiVersion: slotmesh/v1
kind: Business
slug: shop
name: Shop
currency: EUR
timezone: Europe/Lisbon
default_language: en
`

func parseManifest(t *testing.T, src string) *manifest.Manifest {
	t.Helper()
	m, problems := manifest.Parse([]byte(src))
	for _, p := range problems {
		t.Fatal(p)
	}
	return m
}

func compileManifest(t *testing.T, src string) *catalog.Snapshot {
	t.Helper()
	snapshot, err := Snapshot(parseManifest(t, src), nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func compileExample(t *testing.T) *catalog.Snapshot {
	t.Helper()
	inputs.Checkout("charts")
	src, err := os.ReadFile("../../../../charts/slotmesh/files/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return compileManifest(t, string(src))
}

// read parses a valid text.
func read[T any, P interface {
	*T
	UnmarshalText([]byte) error
}](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := P(&v).UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return v
}

func date(t *testing.T, text string) timespan.Date     { return read[timespan.Date](t, text) }
func window(t *testing.T, text string) timespan.Window { return read[timespan.Window](t, text) }
func moment(t *testing.T, text string) timespan.LocalDateTime {
	return read[timespan.LocalDateTime](t, text)
}
func clock(t *testing.T, text string) timespan.TimeOfDay { return read[timespan.TimeOfDay](t, text) }
func ptr[T any](v T) *T                                  { return &v }

// check compares two values. A nil list equals an empty list.
func check(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(catalog.Snapshot{})); diff != "" {
		t.Error(diff)
	}
}

// id returns the id of an element as the manifest's header defines it: a UUID v5 of the business id and the path.
func id(snapshot *catalog.Snapshot, path string) uuid.UUID {
	return uuid.NewSHA1(snapshot.ID, []byte(path))
}

func label(text, pt string) catalog.Label {
	return catalog.Label{Text: text, Translations: map[string]string{"pt": pt}}
}

func TestExampleBusiness(t *testing.T) {
	t.Parallel()
	o := compileExample(t)
	check(t, uuid.NewSHA1(manifest.Namespace, []byte("harbor-studio")), o.ID)
	want := &catalog.Snapshot{
		ID: o.ID, Slug: "harbor-studio", Version: 7, Name: "Harbor Studio", Currency: "EUR", Timezone: "Europe/Lisbon",
		DefaultLanguage: "en", Languages: []string{"en", "pt"},
		Modules: catalog.Modules{Services: true, Events: true, Rentals: true},
		Payments: catalog.Payments{
			Providers: []string{"stripe"},
			Modes: catalog.PaymentModes{Services: "customer_choice", Rentals: "customer_choice",
				Events: "customer_choice"},
		},
		Locations: []catalog.Location{{
			ID: id(o, "location/harbour"), Key: "harbour", Kind: "place",
			Name:    label("Studio at the harbour", "Estúdio no cais"),
			Address: postal.Address{Street: "Rua do Cais 12", PostalCode: "1100-001", City: "Lisboa", Country: "PT"},
			Geo:     &catalog.Geo{Lat: 38.7071, Lon: -9.1355}, Phone: "+351 21 000 0000",
			DirectionsHTML: label("<p>Second door, first floor. The ferry stops across the street.</p>",
				"<p>Segunda porta, primeiro andar. O barco para em frente.</p>"),
		}},
		Contact: catalog.Contact{Phone: "+351 21 000 0000", Email: "hello@harbor.example",
			Website: "https://harbor.example", Messenger: "https://chat.example/harbor"},
		Legal: o.Legal,
		PolicyText: label("Please arrive 5 minutes early. If you are late, we may have to shorten your appointment.",
			"Chegue 5 minutos antes. Se se atrasar, podemos ter de encurtar a sua marcação."),
		Account:            catalog.Account{SubscriptionActive: true},
		Bookings:           catalog.Bookings{SlotIntervalMinutes: 15, AdvanceDays: 365, MaxOpenPerCustomer: 20},
		CancellationPolicy: []catalog.CancellationRule{{HoursBefore: 24, RefundPercent: 100}},
		SelfService:        catalog.SelfService{CancelUntilHours: ptr(0), RescheduleUntilHours: ptr(12)},
		Notifications: catalog.Notifications{
			OwnerEmails: []string{"hello@harbor.example"}, ReplyTo: "hello@harbor.example",
			RemindersHoursBefore: []int{24, 2},
			Notes: map[string]catalog.Note{
				"reminder": {Text: "Please bring a towel.", Translations: map[string]string{"pt": "Traga uma toalha."}},
			},
		},
		Privacy: catalog.Privacy{KeepCustomersDays: 730},
		Page: catalog.Page{
			Accent: "#0b6e4f", EmbedOrigins: []string{"https://harbor.example"},
			AboutHTML:         "<p>By the old harbour.</p>",
			AboutTranslations: map[string]string{"pt": "<p>Junto ao velho porto.</p>"},
		},
		Form: []catalog.Question{
			{Key: "allergies", Label: label("Allergies", "Alergias"), Type: "text", MaxLength: 200,
				ServiceIDs: []uuid.UUID{id(o, "service/cut")}},
			{
				Key: "level", Label: label("Your level", "O seu nível"), Type: "select", Required: true,
				ServiceIDs: []uuid.UUID{id(o, "service/yoga")},
				Options: []catalog.QuestionOption{{Key: "new", Label: label("Beginner", "Principiante")},
					{Key: "old", Label: label("Advanced", "Com experiência")}},
			},
			{Key: "news", Label: label("Write to me about offers", "Quero receber ofertas"), Type: "checkbox",
				Consent: true},
			{Key: "diet", Label: label("What you do not eat", "O que não come"), Type: "text", MaxLength: 200,
				EventIDs: []uuid.UUID{id(o, "event/gala")}},
		},
		Hours: catalog.WeekHours{
			time.Monday:    {window(t, "09:00-13:00"), window(t, "14:00-18:00")},
			time.Tuesday:   {window(t, "09:00-18:00")},
			time.Wednesday: {window(t, "09:00-18:00")},
			time.Thursday:  {window(t, "09:00-18:00")},
			time.Friday:    {window(t, "09:00-18:00"), {From: 20 * 60, To: 26 * 60}},
		},
		Overrides: []catalog.DayOverride{
			{Date: date(t, "2026-12-24")},
			{Date: date(t, "2026-12-31"), Hours: []timespan.Window{window(t, "10:00-14:00")}},
		},
		Blocks: []catalog.Block{{
			From: moment(t, "2026-12-01T12:00"), To: moment(t, "2026-12-01T14:00"),
			StaffIDs: []uuid.UUID{id(o, "staff/anna")},
			Reason:   "dentist",
		}},
		Staff: o.Staff, Services: o.Services, Packages: o.Packages, Events: o.Events, Rentals: o.Rentals,
		Rules:      o.Rules,
		PriceNeeds: []rule.Input{rule.Start, rule.Guests, rule.NewCustomer, rule.Units},
	}
	check(t, want, o)
}

func TestExampleStaff(t *testing.T) {
	t.Parallel()
	o := compileExample(t)
	check(t, []catalog.Staff{
		{
			ID: id(o, "staff/anna"), Key: "anna", Name: "Anna", NameTranslations: map[string]string{"pt": "Ana"},
			Active: true, Order: 1,
			Hours: &catalog.WeekHours{
				time.Monday:  {window(t, "10:00-18:00")},
				time.Tuesday: {window(t, "10:00-18:00")},
			},
			Overrides: []catalog.DayOverride{{Date: date(t, "2026-12-02"),
				Hours: []timespan.Window{window(t, "12:00-15:00")}}},
		},
		{ID: id(o, "staff/ben"), Key: "ben", Name: "Ben", Active: true, Order: 2},
	}, o.Staff)
}

func TestExampleServices(t *testing.T) {
	t.Parallel()
	o := compileExample(t)
	anna, ben := id(o, "staff/anna"), id(o, "staff/ben")
	check(t, []catalog.Service{
		{
			ID: id(o, "service/cut"), Key: "cut", Name: "Haircut", NameTranslations: map[string]string{"pt": "Corte"},
			Category: label("Hair", "Cabelo"), Active: true, DurationMinutes: 45, BufferAfterMinutes: 10,
			SlotIntervalMinutes: 15, Price: 4000, PaymentRequirement: "full", Capacity: 1,
			StaffIDs: []uuid.UUID{anna, ben},
			Variants: []catalog.Variant{{ID: id(o, "service/cut/variant/long"), Key: "long", Name: "Long hair",
				NameTranslations: map[string]string{"pt": "Cabelo comprido"}, DurationMinutes: 60, Price: 5500}},
		},
		{
			ID: id(o, "service/sauna"), Key: "sauna", Name: "Sauna", Active: true, DurationMinutes: 60,
			SlotIntervalMinutes: 15,
			Price:               1500, PaymentRequirement: "none", Capacity: 4,
		},
		{
			ID: id(o, "service/yoga"), Key: "yoga", Name: "Yoga class", Active: true, DurationMinutes: 60,
			SlotIntervalMinutes: 15,
			Price:               1250, PerPerson: true, PaymentRequirement: "none", Capacity: 1,
			Classes: []catalog.ClassSession{
				{ID: id(o, "service/yoga/class/mon-evening"), Key: "mon-evening", Weekday: ptr(time.Monday),
					Time: clock(t, "18:30"), Capacity: 12, StaffID: &ben},
				{ID: id(o, "service/yoga/class/winter-camp"), Key: "winter-camp", Date: ptr(date(t, "2026-12-05")),
					Time: clock(t, "10:00"), Capacity: 20, StaffID: &anna},
				{
					ID: id(o, "service/yoga/class/spring"), Key: "spring", Weekday: ptr(time.Wednesday),
					Time: clock(t, "07:30"), Capacity: 8, StaffID: &ben,
					From: ptr(date(t, "2027-03-01")), To: ptr(date(t, "2027-05-31")),
				},
			},
		},
	}, o.Services)
}

func TestExampleEventsAndRentals(t *testing.T) {
	t.Parallel()
	o := compileExample(t)
	check(t, []catalog.Event{{
		ID: id(o, "event/gala"), Key: "gala", Name: "New Year Gala",
		NameTranslations: map[string]string{"pt": "Gala de Ano Novo"}, Date: date(t, "2026-12-31"),
		Start: clock(t, "20:00"), End: clock(t, "23:30"),
		Active: true, Public: true, TotalCapacity: 120, PaymentRequirement: "full",
		Tiers: []catalog.Tier{
			{ID: id(o, "event/gala/tier/standard"), Key: "standard", Name: "Standard",
				NameTranslations: map[string]string{"pt": "Normal"}, Price: 6000, Capacity: 100},
			{ID: id(o, "event/gala/tier/vip"), Key: "vip", Name: "VIP", Price: 12000, Capacity: 30},
		},
	}}, o.Events)
	var vests []catalog.RentalUnit
	for i := range 10 {
		vests = append(vests, catalog.RentalUnit{Key: fmt.Sprint(i + 1), InService: true})
	}
	// The vest has no order, which means 0, so it comes before the kayak with order 1.
	check(t, []catalog.Rental{
		{ID: id(o, "rental/vest"), Key: "vest", Name: "Life vest", Active: true, Price: 200, PriceType: "daily",
			Quantity: ptr(10), Units: vests, PaymentRequirement: "none"},
		{
			ID: id(o, "rental/kayak"), Key: "kayak", Name: "Kayak", Active: true, Price: 1200, PriceType: "hourly",
			Quantity: ptr(6),
			Units: []catalog.RentalUnit{
				{Key: "k1", InService: true}, {Key: "k2", InService: true}, {Key: "k3"},
				{Key: "k4", InService: true,
					Maintenance: []catalog.Maintenance{{From: date(t, "2026-12-01"), To: date(t, "2026-12-03")}}},
			},
			MinRentalHours: ptr(1), MaxRentalHours: ptr(8), PaymentRequirement: "deposit_percent",
			DepositValue: ptr(decimal.NewFromInt(20)),
			Upsells:      []catalog.Upsell{{RentalID: id(o, "rental/vest"), Required: true}},
		},
	}, o.Rentals)
}

func TestExampleRules(t *testing.T) {
	t.Parallel()
	o := compileExample(t)
	var got []string
	for _, r := range o.Rules {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	cut, kayak := id(o, "service/cut"), id(o, "rental/kayak")
	check(t, []string{
		`{"key":"flash","kind":"flash_sale","priority":-10,"percent":"-30","stop":true,"applies_to":{},"from":"2026-11-27T00:00","to":"2026-11-28T00:00"}`,
		`{"key":"early","kind":"early_bird","priority":0,"percent":"-15","applies_to":{"all_events":true},"min_days_before":30}`,
		`{"key":"evening","kind":"time_of_day","priority":0,"amount":500,"applies_to":{"all_services":true},"from":"18:00","to":"22:00"}`,
		`{"key":"group","kind":"party_size","priority":0,"percent":"-5","applies_to":{},"min":4}`,
		fmt.Sprintf(`{"key":"late","kind":"last_minute","priority":0,"percent":"-10","applies_to":{"services":["%s"]},"max_days_before":1}`, cut),
		fmt.Sprintf(`{"key":"long-hire","kind":"duration","priority":0,"percent":"-25","applies_to":{"rentals":["%s"]},"min_units":4}`, kayak),
		`{"key":"summer","kind":"seasonal","priority":0,"percent":"20","applies_to":{},"from":"06-01","to":"08-31"}`,
		fmt.Sprintf(`{"key":"weekend","kind":"day_of_week","priority":0,"percent":"10","applies_to":{"rentals":["%s"]},"days":["sat","sun"]}`, kayak),
		`{"key":"welcome","kind":"first_booking","priority":0,"percent":"-10","applies_to":{"all_services":true}}`,
	}, got)
}

func TestRuleForms(t *testing.T) {
	t.Parallel()
	o := compileManifest(t, head+`
staff: [{key: a, name: A, active: false}]
rentals: [{key: r, name: R, price_type: daily, active: false}]
pricing_rules:
- {key: a, kind: time_of_day, from: "22:00", to: "02:00", set: 0}
- {key: b, kind: seasonal, from: 2027-06-01, to: 2027-06-01, amount: -1.50, stop: true}
- {key: c, kind: seasonal, from: "12-01", to: "02-29", percent: 2.5, applies_to: {events: all, rentals: [r]}}
- {key: d, kind: party_size, min: 2, max: 4, percent: 1}
- {key: e, kind: duration, min_units: 2, max_units: 4, percent: 1}
`)
	if o.Staff[0].Active || o.Rentals[0].Active {
		t.Error("an inactive staff member or rental became active")
	}
	check(t, []catalog.Rule{
		{Key: "a", Kind: "time_of_day", Set: ptr(int64(0)), When: span(t, "22:00", "02:00")},
		{Key: "b", Kind: "seasonal", Amount: ptr(int64(-150)), Stop: true, When: span(t, "2027-06-01", "2027-06-01")},
		{
			Key: "c", Kind: "seasonal", Percent: ptr(decimal.New(25, -1)), AppliesTo: catalog.AppliesTo{AllEvents: true,
				Rentals: []uuid.UUID{id(o, "rental/r")}},
			When: span(t, "12-01", "02-29"),
		},
		{Key: "d", Kind: "party_size", Percent: ptr(decimal.New(1, 0)), When: rule.When{Min: ptr(2), Max: ptr(4)}},
		{Key: "e", Kind: "duration", Percent: ptr(decimal.New(1, 0)),
			When: rule.When{MinUnits: ptr(2), MaxUnits: ptr(4)}},
	}, o.Rules)
	check(t, []rule.Input{rule.Start, rule.Guests, rule.Units}, o.PriceNeeds)
}

// span returns the condition of a rule from one bound to another.
func span(t *testing.T, from, to string) rule.When {
	return rule.When{From: ptr(read[rule.Bound](t, from)), To: ptr(read[rule.Bound](t, to))}
}

func TestDefaultsApplyToMissingFields(t *testing.T) {
	t.Parallel()
	o := compileManifest(t,
		head+
			"services: [{key: a, name: A, duration_minutes: 30, variants: [{key: v, name: V}], price: 3.50}]\nrentals: [{key: r, name: R, price_type: daily}]\n")
	check(t, catalog.Modules{Services: true, Rentals: true}, o.Modules)
	check(t, []string{"en"}, o.Languages)
	check(t, catalog.Payments{Modes: catalog.PaymentModes{Services: "at_door", Rentals: "at_door", Events: "at_door"}},
		o.Payments)
	check(t, catalog.Account{SubscriptionActive: true}, o.Account)
	check(t, catalog.Bookings{SlotIntervalMinutes: 15, AdvanceDays: 365, MaxOpenPerCustomer: 20}, o.Bookings)
	check(t, catalog.SelfService{CancelUntilHours: ptr(0), RescheduleUntilHours: ptr(0)}, o.SelfService)
	check(t, catalog.Notifications{RemindersHoursBefore: []int{24}}, o.Notifications)
	check(t, catalog.Privacy{KeepCustomersDays: 730}, o.Privacy)
	check(t, catalog.Page{}, o.Page)
	check(t, 0, len(o.Form))
	check(t, catalog.WeekHours{}, o.Hours)
	check(t, []catalog.Variant{{ID: id(o, "service/a/variant/v"), Key: "v", Name: "V", DurationMinutes: 30,
		Price: 350}}, o.Services[0].Variants)
	if r := o.Rentals[0]; r.Quantity != nil || len(r.Units) != 0 || !r.Active {
		t.Errorf("got %+v", r)
	}
}

func TestFieldsReplaceDefaults(t *testing.T) {
	t.Parallel()
	o := compileManifest(t, head+`
modules: {services: false}
account: {subscription: inactive, removal_on: 2027-01-01}
bookings: {paused_until: 2027-01-02, slot_interval_minutes: 20, min_notice_minutes: 60, advance_days: 0, confirm: auto, max_open_per_customer: 3}
cancellation_policy: [{hours_before: 48, refund_percent: 100}, {hours_before: 24, refund_percent: 50}]
cooling_off_hours: 14
self_service: {cancel_until_hours: null, reschedule_until_hours: 6}
notifications: {owner_emails: [a@shop.example, b@shop.example], reminders_hours_before: []}
privacy: {keep_customers_days: 90}
payments: {providers: [stripe], accounts: {stripe: acct_1}}
services:
- {key: a, name: A, duration_minutes: 30, active: false, slot_interval_minutes: 5, payment_requirement: deposit_percent, deposit_value: 12.50}
- {key: b, name: B, duration_minutes: 30, variants: [{key: v, name: V, price: 0, duration_minutes: 10}], price: 1}
events: [{key: e, name: E, date: 2027-01-01, start_time: "22:00", end_time: "02:00", total_capacity: 5, active: false, public: false}]
`)
	check(t, catalog.Modules{Events: true}, o.Modules)
	check(t, catalog.Account{RemovalOn: ptr(date(t, "2027-01-01"))}, o.Account)
	check(t, catalog.Bookings{PausedUntil: ptr(date(t, "2027-01-02")), SlotIntervalMinutes: 20, MinNoticeMinutes: 60,
		AutoConfirm: true, MaxOpenPerCustomer: 3}, o.Bookings)
	check(t, []catalog.CancellationRule{{HoursBefore: 48, RefundPercent: 100}, {HoursBefore: 24, RefundPercent: 50}},
		o.CancellationPolicy)
	check(t, 14, o.CoolingOffHours)
	check(t, catalog.SelfService{RescheduleUntilHours: ptr(6)}, o.SelfService)
	check(t, catalog.Notifications{OwnerEmails: []string{"a@shop.example", "b@shop.example"},
		ReplyTo: "a@shop.example"}, o.Notifications)
	check(t, catalog.Privacy{KeepCustomersDays: 90}, o.Privacy)
	check(t, map[string]string{"stripe": "acct_1"}, o.Payments.Accounts)
	if a, b := o.Services[0], o.Services[1]; a.Active || a.SlotIntervalMinutes != 5 ||
		a.DepositValue.String() != "12.5" || b.SlotIntervalMinutes != 20 {
		t.Errorf("got %+v and %+v", a, b)
	}
	if v := o.Services[1].Variants[0]; v.Price != 0 || v.DurationMinutes != 10 {
		t.Errorf("got %+v", v)
	}
	if e := o.Events[0]; e.Active || e.Public || e.Start != 22*60 || e.End != 2*60 {
		t.Errorf("got %+v", e)
	}
}

func TestMissingAndEmptyStaffHoursDiffer(t *testing.T) {
	t.Parallel()
	o := compileManifest(t, head+"staff: [{key: a, name: A}, {key: b, name: B, hours: {}}]\n")
	if o.Staff[0].Hours != nil {
		t.Errorf("hours left out became %v, want the business's (nil)", o.Staff[0].Hours)
	}
	check(t, &catalog.WeekHours{}, o.Staff[1].Hours)
}

func TestListsAreSorted(t *testing.T) {
	t.Parallel()
	o := compileManifest(t, head+`
overrides: [{date: 2027-02-01, hours: []}, {date: 2027-01-01, hours: []}]
staff: [{key: c, name: Z, order: 1}, {key: b, name: M, order: 1}, {key: a, name: X, order: -1}, {key: d, name: M, order: 1}]
services: [{key: s, name: S, duration_minutes: 5, order: 1}, {key: r, name: Z, duration_minutes: 5}, {key: q, name: A, duration_minutes: 5}]
events:
- {key: e, name: E, date: 2027-01-02, start_time: "10:00", end_time: "11:00", total_capacity: 5}
- {key: f, name: F, date: 2027-01-01, start_time: "12:00", end_time: "13:00", total_capacity: 5}
- {key: g, name: G, date: 2027-01-01, start_time: "10:00", end_time: "13:00", total_capacity: 5}
pricing_rules:
- {key: z, kind: first_booking, percent: 1, priority: -1}
- {key: b, kind: first_booking, percent: 1}
- {key: a, kind: first_booking, percent: 1}
`)
	keys := func(o *catalog.Snapshot) []string {
		var all []string
		for _, d := range o.Overrides {
			all = append(all, d.Date.String())
		}
		for _, s := range o.Staff[1:] {
			all = append(all, s.Name)
		}
		for _, s := range o.Services {
			all = append(all, s.Key)
		}
		for _, e := range o.Events {
			all = append(all, e.Key)
		}
		for _, r := range o.Rules {
			all = append(all, r.Key)
		}
		return all
	}
	check(t, []string{"2027-01-01", "2027-02-01", "M", "M", "Z", "r", "q", "s", "g", "f", "e", "z", "a", "b"}, keys(o))
	if o.Staff[0].Key != "a" || o.Staff[1].ID.String() > o.Staff[2].ID.String() {
		t.Errorf("staff is not in the order of order, name, id: %+v", o.Staff)
	}
}

func TestExplicitIDsAreUsed(t *testing.T) {
	t.Parallel()
	business, member := "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	o := compileManifest(t, head+"id: "+business+"\nstaff: [{key: a, name: A, id: "+member+
		"}]\nservices: [{key: s, name: S, duration_minutes: 5, staff: [a]}]\n")
	check(t, business, o.ID.String())
	check(t, member, o.Staff[0].ID.String())
	check(t, []uuid.UUID{uuid.MustParse(member)}, o.Services[0].StaffIDs)
	check(t, id(o, "service/s"), o.Services[0].ID)
}

func TestSnapshotJSONRoundTrip(t *testing.T) {
	t.Parallel()
	o := compileExample(t)
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	decoded := new(catalog.Snapshot)
	if err := json.Unmarshal(text, decoded); err != nil {
		t.Fatal(err)
	}
	check(t, o, decoded)
	if err := decoded.Prepare(); err != nil {
		t.Error(err)
	}
}

func TestCompileRejectsUncheckedManifest(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*manifest.Manifest){
		"currency": func(m *manifest.Manifest) { m.Currency = "EURO" },
		"staff":    func(m *manifest.Manifest) { m.Services[0].Staff = []manifest.Key{"nobody"} },
		"price":    func(m *manifest.Manifest) { m.Currency = "JPY" },
		"upsell":   func(m *manifest.Manifest) { m.Rentals[0].Upsells = []manifest.Upsell{{Rental: "nothing"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := parseManifest(t, head+"services: [{key: s, name: S, duration_minutes: 5, price: 1.50}]\n"+
				"rentals: [{key: r, name: R, price_type: daily, quantity: 1, units_count: 1}]\n")
			spoil(m)
			if snapshot, err := Snapshot(m, nil, 1); err == nil {
				t.Errorf("compiled to %+v", snapshot)
			}
		})
	}
}

func TestPackages(t *testing.T) {
	t.Parallel()
	snapshot := compileExample(t)
	services := map[string]uuid.UUID{}
	for _, s := range snapshot.Services {
		services[s.Key] = s.ID
	}
	check(t, []catalog.Package{{
		ID: uuid.NewSHA1(snapshot.ID, []byte("package/day-off")), Key: "day-off", Price: ptr(int64(4900)),
		ServiceIDs: []uuid.UUID{services["cut"], services["sauna"]},
		Name:       catalog.Label{Text: "A day off", Translations: map[string]string{"pt": "Um dia de folga"}},
		Description: catalog.Label{Text: "A haircut, and the sauna after it.",
			Translations: map[string]string{"pt": "Um corte e, depois, a sauna."}},
	}}, snapshot.Packages)
}

func TestCompileReadsFormEnforceAPI(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{"": false, "form_enforce_api: true\n": true} {
		if got := compileManifest(t, head+line).FormEnforceAPI; got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// TestPlaceTakesDefaultsFromBusiness shows that a location without a name or phone has those of the business.
func TestPlaceTakesDefaultsFromBusiness(t *testing.T) {
	t.Parallel()
	o := compileManifest(t, head+`languages: [en, pt]
translations: {pt: {name: Loja, policy_text: Sem sapatos}}
contact: {phone: "+351 21 000 0000", email: a@b.example, website: https://b.example, messenger: https://chat.example/b}
legal: {imprint: https://b.example/imprint, privacy: We keep little., translations: {pt: {privacy: Guardamos pouco., terms: Termos}}}
policy_text: Shoes off
locations:
  - {key: quay, kind: place, address: {street: Rua 1, postal_code: "1100-001", city: Lisboa, country: PT}, geo: {lat: 38.71, lon: -9.13}}
`)
	check(t, []catalog.Location{{
		ID: id(o, "location/quay"), Key: "quay", Kind: "place", Name: label("Shop", "Loja"),
		Address: postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa", Country: "PT"},
		Geo:     &catalog.Geo{Lat: 38.71, Lon: -9.13}, Phone: "+351 21 000 0000",
	}}, o.Locations)
	check(t, catalog.Contact{Phone: "+351 21 000 0000", Email: "a@b.example", Website: "https://b.example",
		Messenger: "https://chat.example/b"}, o.Contact)
	check(t, catalog.Legal{
		Imprint: catalog.Label{Text: "https://b.example/imprint"}, Privacy: label("We keep little.", "Guardamos pouco."),
		Terms: label("", "Termos"),
	}, o.Legal)
	check(t, label("Shoes off", "Sem sapatos"), o.PolicyText)
}

func TestPlaceHasItsOwnNameAndPhone(t *testing.T) {
	t.Parallel()
	o := compileManifest(t, head+`languages: [en, pt]
contact: {phone: "+351 21 000 0000"}
locations:
  - {key: quay, kind: place, id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10, name: Quay, phone: "+351 22 000 0000", directions_html: <p>Door 2</p>,
     translations: {pt: {name: Cais, directions_html: <p>Porta 2</p>}}}
`)
	check(t, []catalog.Location{{
		ID: uuid.MustParse("3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10"), Key: "quay", Kind: "place", Name: label("Quay", "Cais"),
		DirectionsHTML: label("<p>Door 2</p>", "<p>Porta 2</p>"), Phone: "+351 22 000 0000",
	}}, o.Locations)
}

func TestLocationsKeepHoursAndUses(t *testing.T) {
	t.Parallel()
	m := parseManifest(t, head+`contact: {phone: "+351 21 000 0000"}
locations: [{key: harbour, kind: place, hours: {mon: ["09:00-12:00"]}, overrides: [{date: 2027-03-02, hours: []}, {date: 2027-03-01, hours: []}]}]
staff: [{key: anna, name: Anna, at: {harbour: {tue: ["10:00-11:00"]}}}]
services: [{key: yoga, name: Yoga, duration_minutes: 60, locations: [harbour], classes: [{key: k, weekday: mon, time: "10:00", capacity: 5, location: harbour}]}]
events: [{key: gala, name: Gala, date: 2027-03-01, start_time: "20:00", end_time: "22:00", total_capacity: 5, location: harbour}]
rentals: [{key: kayak, name: Kayak, price_type: daily, location: harbour}]
bookings: {location_change_minutes: 20}
`)
	// The parser does not permit these locations yet.
	m.Locations = append(m.Locations,
		manifest.Location{Key: "video", Kind: catalog.KindLink, Link: "https://meet.example.org/{code}"},
		manifest.Location{Key: "call", Kind: catalog.KindPhone, Calls: catalog.CallsCustomer},
		manifest.Location{Key: "home", Kind: catalog.KindCustomerAddress, Countries: []manifest.Country{"PT"},
			PostalCodes: []manifest.Line{"10*"}, TravelMinutes: 30})
	s, err := Snapshot(m, nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	harbour := m.Locations[0].ObjectID(s.ID)
	places, video, call, home := s.Locations[0], s.Locations[1], s.Locations[2], s.Locations[3]
	if len(places.Hours[time.Monday]) != 1 || len(places.Overrides) != 2 || places.Overrides[0].Date.String() != "2027-03-01" {
		t.Errorf("the place has the hours %v and the overrides %v", places.Hours, places.Overrides)
	}
	if video.Link != "https://meet.example.org/{code}" || video.Phone != "" || video.Hours != nil {
		t.Errorf("video: %+v", video)
	}
	if call.Calls != catalog.CallsCustomer || call.Phone != "+351 21 000 0000" {
		t.Errorf("call: %+v", call)
	}
	if home.TravelMinutes != 30 || home.Countries[0] != "PT" || home.PostalCodes[0] != "10*" {
		t.Errorf("home: %+v", home)
	}
	if s.Bookings.LocationChangeMinutes != 20 || s.Staff[0].HoursAt(harbour) == nil || s.Staff[0].Hours != nil {
		t.Errorf("staff: %+v", s.Staff[0])
	}
	for name, id := range map[string]*uuid.UUID{
		"service": &s.Services[0].LocationIDs[0], "session": s.Services[0].Classes[0].LocationID,
		"event": s.Events[0].LocationID, "rental": s.Rentals[0].LocationID,
	} {
		if id == nil || *id != harbour {
			t.Errorf("%s is at %v, not at %s", name, id, harbour)
		}
	}
}
