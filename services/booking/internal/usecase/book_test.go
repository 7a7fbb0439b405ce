package usecase_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

func pause(o *catalog.Snapshot) { o.Bookings.PausedUntil = new(timespan.NewDate(2027, 3, 2)) }

// chargeOnline lets the business take payment online.
func chargeOnline(o *catalog.Snapshot) { o.Payments.Modes.Services = catalog.ModeOnline }

func payOnline(r *request.Request)     { r.PaymentChoice = request.PayOnline }
func chooseBen(r *request.Request)     { r.StaffID = &benID }
func takeSauna(r *request.Request)     { r.ServiceIDs = []uuid.UUID{saunaID} }
func override(r *request.Request)      { r.Override = true }
func startLater(r *request.Request)    { r.Time += 2 * 60 }
func preferOther(r *request.Request)   { r.PreferredProvider = "other" }
func takeUnknown(r *request.Request)   { r.ServiceIDs = []uuid.UUID{uuid.New()} }
func takeSession(r *request.Request)   { r.ClassScheduleID = new(uuid.New()) }
func setOldAddress(r *request.Request) { r.CustomerEmail = "old@example.com" }

// compete makes another booking of a member or a unit at the time of the request.
func compete(f *fixture, changes ...func(*request.Request)) {
	f.t.Helper()
	if _, err := f.book(byOwner, "", newRequest(append(changes, setOldAddress)...)); err != nil {
		f.t.Error(err)
	}
}

// TestBookDecides is the decision table of Book. Each case makes one request.
func TestBookDecides(t *testing.T) {
	t.Parallel()
	away := fault.New(fault.PeerUnavailable, "away")
	for _, c := range []struct {
		name    string
		given   func(*fixture)
		by      actor.Actor // the zero value means an API key
		request *request.Request
		want    string // see describe
		other   int    // number of bookings that other requests made
	}{
		{name: "booked", want: "confirmed 4000"},
		{name: "confirmed by hand", want: "pending 4000",
			given: func(f *fixture) { f.publish(func(o *catalog.Snapshot) { o.Bookings.AutoConfirm = false }) }},
		{name: "by the owner, confirmed by hand otherwise", by: byOwner, want: "confirmed 4000",
			given: func(f *fixture) { f.publish(func(o *catalog.Snapshot) { o.Bookings.AutoConfirm = false }) }},
		{name: "several services", want: "confirmed 4000", request: newRequest(func(r *request.Request) {
			r.ServiceIDs = []uuid.UUID{cutID, freeID}
		})},

		{name: "no subscription", want: "subscription_inactive",
			given: func(f *fixture) {
				f.publish(func(o *catalog.Snapshot) { o.Account.SubscriptionActive = false })
			}},
		{name: "paused", given: func(f *fixture) { f.publish(pause) }, want: "not_accepting_bookings"},
		{name: "paused, by the owner", given: func(f *fixture) { f.publish(pause) }, by: byOwner,
			request: newRequest(override), want: "confirmed 4000"},
		{name: "paused during the attempt", want: "not_accepting_bookings",
			given: func(f *fixture) { f.before["Book"] = func() { f.publish(pause) } }},
		{name: "a provider that the business does not have", request: newRequest(preferOther), want: "invalid_parameter"},
		{name: "any provider where the business has none", request: newRequest(preferOther), want: "confirmed 4000",
			given: func(f *fixture) { f.publish(func(o *catalog.Snapshot) { o.Payments.Providers = nil }) }},
		{name: "an unknown service", request: newRequest(takeUnknown), want: "service_not_found"},
		{name: "a session of a service without classes", request: newRequest(takeSession), want: "invalid_parameter"},

		{name: "services without a common location", want: "invalid_parameter",
			given: func(f *fixture) {
				f.publish(func(o *catalog.Snapshot) {
					here, there := uuid.New(), uuid.New()
					o.Locations = []catalog.Location{{ID: here, Kind: catalog.KindPlace}, {ID: there, Kind: catalog.KindPlace}}
					o.Services[0].LocationIDs, o.Services[2].LocationIDs = []uuid.UUID{here}, []uuid.UUID{there}
				})
			},
			request: newRequest(func(r *request.Request) { r.ServiceIDs = []uuid.UUID{cutID, freeID} })},

		{name: "the store is away", want: "availability_unverified",
			given: func(f *fixture) { f.fail["Snapshot"] = errAway }},
		{name: "availability is away", want: "availability_unverified",
			given: func(f *fixture) { f.fail["Bookable"] = away }},
		{name: "pricing is away", given: func(f *fixture) { f.fail["Quotes"] = away }, want: "availability_unverified"},
		{name: "availability refuses, pricing is away", want: "closed", given: func(f *fixture) {
			f.rule, f.fail["Quotes"] = availability.RuleClosed, away
		}},
		{name: "availability refuses a parameter", want: "invalid_parameter", given: func(f *fixture) {
			f.fail["Bookable"] = fault.New(fault.InvalidParameter, "service_ids: …")
		}},
		{name: "catalog is away after a new offer", want: "availability_unverified", given: func(f *fixture) {
			f.before["Book"], f.fail["Fresh"] = func() { f.newest++ }, away
		}},

		{name: "the chosen member is booked", request: newRequest(chooseBen), want: "slot_unavailable", other: 1,
			given: func(f *fixture) { compete(f, chooseBen) }},
		{name: "one member is booked", want: "confirmed 4000", other: 1, given: func(f *fixture) { compete(f) }},
		{name: "all members are booked", want: "no_staff_available", other: 2,
			given: func(f *fixture) { compete(f); compete(f) }},
		{name: "all units are booked", request: newRequest(takeSauna), want: "slot_unavailable", other: 2,
			given: func(f *fixture) { compete(f, takeSauna); compete(f, takeSauna) }},
		{name: "the first member is booked during the attempt", want: "confirmed 4000", other: 1,
			given: func(f *fixture) { f.before["Book"] = func() { compete(f) } }},
		{name: "all members are booked during the attempt", want: "no_staff_available", other: 2,
			given: func(f *fixture) { f.before["Book"] = func() { compete(f); compete(f) } }},
		{name: "the store is away after a lost race", want: "availability_unverified", other: 1,
			given: func(f *fixture) {
				f.before["Book"] = func() { compete(f); f.fail["Snapshot"] = errAway }
			}},

		{name: "a new price during the attempt", want: "confirmed 5000", given: func(f *fixture) {
			f.before["Book"] = func() { f.publish(func(o *catalog.Snapshot) { o.Services[0].Price = 5000 }) }
		}},
		{name: "a new price after the read", want: "confirmed 5000", given: func(f *fixture) {
			f.before["Bookable"] = func() { f.newest++ }
			f.before["Fresh"] = func() { f.publish(func(o *catalog.Snapshot) { o.Services[0].Price = 5000 }) }
		}},
		{name: "the first booking", want: "confirmed 3600", given: func(f *fixture) {
			f.publish(func(o *catalog.Snapshot) { o.PriceNeeds = []rule.Input{rule.NewCustomer} })
		}},
		{name: "a first booking is made during the attempt", want: "confirmed 4000", other: 1,
			given: func(f *fixture) {
				f.publish(func(o *catalog.Snapshot) { o.PriceNeeds = []rule.Input{rule.NewCustomer} })
				f.before["Book"] = func() {
					if _, err := f.book(byOwner, "", newRequest(takeSauna)); err != nil {
						f.t.Error(err)
					}
				}
			}},
		{name: "a revoked key", given: func(f *fixture) { f.revoked = byKey.ID }, want: "invalid_api_key"},
		{name: "too many open bookings", by: byPage, want: "too_many_open_bookings", other: 1, given: func(f *fixture) {
			if _, err := f.book(byPage, "", newRequest(takeSauna)); err != nil {
				f.t.Error(err)
			}
		}},
		{name: "the write may still commit", want: "outcome_unknown",
			given: func(f *fixture) { f.fail["Book"] = fault.Unknown(errAway) }},

		{name: "paid online", given: func(f *fixture) { f.publish(chargeOnline) }, want: "pending 4000, card 4000"},
		{name: "online is chosen without a provider", request: newRequest(payOnline), want: "payment_not_offered",
			given: func(f *fixture) { f.publish(func(o *catalog.Snapshot) { o.Payments.Providers = nil }) }},
		{name: "the business has no account", want: "payment_not_offered", given: func(f *fixture) {
			f.publish(func(o *catalog.Snapshot) { chargeOnline(o); o.Payments.Accounts = nil })
		}},
		{name: "the provider is not connected", want: "payment_not_offered", given: func(f *fixture) {
			f.publish(func(o *catalog.Snapshot) {
				chargeOnline(o)
				o.Payments.Providers, o.Payments.Accounts = []string{"other"}, map[string]string{"other": "x"}
			})
		}},
		{name: "a business that is no sandbox", want: "payment_not_offered", given: func(f *fixture) {
			f.publish(func(o *catalog.Snapshot) {
				chargeOnline(o)
				o.Payments.Providers = []string{payment.Sandbox}
				o.Payments.Accounts = map[string]string{payment.Sandbox: payment.Sandbox}
			})
		}},
		{name: "a sandbox", want: "pending 4000, sandbox 4000", given: func(f *fixture) {
			f.publish(func(o *catalog.Snapshot) { chargeOnline(o); o.Account.Sandbox = true })
		}},
		{name: "the provider is away", want: "payment_unavailable",
			given: func(f *fixture) { f.publish(chargeOnline); f.chargeErr = errAway }},
		{name: "the provider refuses", want: "payment_unavailable",
			given: func(f *fixture) { f.publish(chargeOnline); f.chargeErr = payment.ErrRefused }},
		{name: "the payment cannot be stored", want: "payment_unavailable",
			given: func(f *fixture) { f.publish(chargeOnline); f.fail["OpenPayment"] = errAway }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if c.given != nil {
				c.given(f)
			}
			if c.by.Kind == "" {
				c.by = byKey
			}
			if c.request == nil {
				c.request = newRequest()
			}
			got, err := f.book(c.by, "", c.request)
			if describe(got, err) != c.want {
				t.Errorf("got %s (%v), want %s", describe(got, err), err, c.want)
			}
			want := c.other
			if err == nil {
				want++
			}
			if len(f.bookings) != want {
				t.Errorf("%d bookings are stored, want %d", len(f.bookings), want)
			}
		})
	}
}

// TestBookChecksInOrder makes every check fail, and then makes them succeed one by one in their order
// (semantics.md §3).
func TestBookChecksInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.book(byPage, "", newRequest(takeSauna)); err != nil {
		t.Fatal(err)
	}
	f.publish(pause)
	f.fail["Bookable"], f.rule = errAway, availability.RuleClosed
	r := newRequest(preferOther, takeUnknown)
	for _, step := range []struct {
		want string
		mend func()
	}{
		{"not_accepting_bookings", func() { f.publish(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = nil }) }},
		{"invalid_parameter", func() { r.PreferredProvider = "" }},
		{"service_not_found", func() { r.ServiceIDs = []uuid.UUID{cutID} }},
		{"availability_unverified", func() { delete(f.fail, "Bookable") }},
		{"closed", func() { f.rule = "" }},
		{"too_many_open_bookings", func() { f.offer.Bookings.MaxOpenPerCustomer = 2 }},
		{"confirmed 4000", func() {}},
	} {
		if got, err := f.book(byPage, "", r); describe(got, err) != step.want {
			t.Errorf("got %s (%v), want %s", describe(got, err), err, step.want)
		}
		step.mend()
	}
}

func TestBookNamesRefusingRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, code, sentence string }{
		{availability.RulePast, "date_in_past",
			"2027-03-02 09:30 is in the past; choose a start that lies ahead from /slots."},
		{availability.RuleAdvanceLimit, "beyond_advance_limit",
			"Bookings are taken up to 2027-03-31; choose an earlier date from /slots."},
		{availability.RuleNotice, "too_soon",
			"Bookings are taken at least 90 minutes before the start; choose a later one from /slots."},
		{availability.RuleClosed, "closed", "The business is closed, or whoever performs this does not work, for a part " +
			"of that time; choose another from /slots."},
		{availability.RuleGrid, "not_a_start", "Starts lie 0 minutes apart, counted from when working hours begin, and " +
			"09:30 is not one of them; choose another from /slots."},
		{availability.RuleNoSession, "not_a_start",
			"No session of this class starts then; choose another from /slots."},
		{availability.RuleNotPerformed, "staff_not_found", "staff_id: no active staff member with this id performs all " +
			"of these services; leave it out, or choose another from /slots."},
	} {
		f := newFixture(t)
		f.rule = c.rule
		if _, err := f.book(byKey, "", newRequest()); describe(store.Confirmation{}, err) != c.code ||
			fault.Of(err).Sentence != c.sentence {
			t.Errorf("%s: got %v", c.rule, err)
		}
	}
}

// TestBookRequiresPaymentByRules checks all combinations of the conditions in semantics.md §3. Payment is
// required if there is a provider, the total is above 0 and the requirement is not none. The mode must be online, or
// customer_choice with the choice online.
// TestBookNamesRefusalOfExcludedLocation shows that a customer without an address is asked for it if the start is not
// possible at the other locations.
func TestBookNamesRefusalOfExcludedLocation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(func(o *catalog.Snapshot) {
		o.Locations = []catalog.Location{{ID: uuid.New(), Kind: catalog.KindPlace},
			{ID: uuid.New(), Kind: catalog.KindCustomerAddress}}
		o.Services[0].LocationIDs = []uuid.UUID{o.Locations[0].ID, o.Locations[1].ID}
	})
	for _, c := range []struct {
		rule, address string
		want          fault.Kind
	}{
		{availability.RuleClosed, "", fault.InvalidParameter},
		{availability.RuleBooking, "", fault.InvalidParameter},
		{availability.RulePast, "", fault.DateInPast},
		{availability.RuleClosed, `{"street": "Rua 1", "postal_code": "1100-001", "city": "Lisboa", "country": "PT"}`,
			fault.Closed},
	} {
		f.rule = c.rule
		_, err := f.book(byKey, "", newRequest(func(r *request.Request) {
			r.Address = []byte(c.address)
		}))
		if !fault.Is(err, c.want) || strings.Contains(err.Error(), "customer_address") != (c.address == "" &&
			c.want == fault.InvalidParameter) {
			t.Errorf("%s with the address %q: %v", c.rule, c.address, err)
		}
	}
}

func TestBookRequiresPaymentByRules(t *testing.T) {
	t.Parallel()
	check := func(providers []string, mode, choice, requirement string, price int64) {
		f := newFixture(t)
		f.publish(func(o *catalog.Snapshot) {
			o.Payments.Providers, o.Payments.Modes.Services = providers, mode
			o.Services[0].PaymentRequirement, o.Services[0].Price = requirement, price
		})
		got, err := f.book(byKey, "", newRequest(func(r *request.Request) { r.PaymentChoice = choice }))
		want := fmt.Sprint("confirmed ", price)
		switch {
		case len(providers) == 0 && price > 0 && choice == request.PayOnline:
			want = "payment_not_offered"
		case len(providers) > 0 && price > 0 && requirement != catalog.RequirementNone &&
			(mode == catalog.ModeOnline || mode == catalog.ModeCustomerChoice && choice == request.PayOnline):
			want = fmt.Sprintf("pending %d, card %[1]d", price)
		}
		if describe(got, err) != want {
			t.Errorf("providers %v, %s, choice %q, %s, price %d: %s (%v), want %s", providers, mode, choice, requirement,
				price, describe(got, err), err, want)
		}
	}
	for _, providers := range [][]string{nil, {"card"}} {
		for _, mode := range []string{catalog.ModeOnline, catalog.ModeAtDoor, catalog.ModeCustomerChoice} {
			for _, choice := range []string{"", request.PayOnline, request.PayAtDoor} {
				for _, requirement := range []string{catalog.RequirementNone, catalog.RequirementFull} {
					for _, price := range []int64{0, 4000} {
						check(providers, mode, choice, requirement, price)
					}
				}
			}
		}
	}
}

func TestBookChargesServiceRequirements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		requirement, deposit string
		hasSecond            bool // with a second service for 15.00, to be paid in full
		amount               int64
	}{
		{catalog.RequirementFull, "0", false, 4000},
		{"deposit_percent", "20", false, 800},
		{"deposit_percent", "0.0125", false, 1}, // 0.005, rounded half up
		{"deposit_fixed", "12.5", false, 1250},
		{"deposit_fixed", "99", false, 4000}, // never more than the price
		{"deposit_percent", "20", true, 2300},
	} {
		f := newFixture(t)
		f.publish(func(o *catalog.Snapshot) {
			chargeOnline(o)
			deposit := decimal.RequireFromString(c.deposit)
			o.Services[0].PaymentRequirement, o.Services[0].DepositValue = c.requirement, &deposit
			o.Services[2].Price = 1500
		})
		r := newRequest()
		if c.hasSecond {
			r.ServiceIDs = append(r.ServiceIDs, freeID)
		}
		got, err := f.book(byKey, "", r)
		if err != nil || got.Payment == nil || got.Payment.Amount != c.amount {
			t.Errorf("%s %s: %s (%v), want %d to pay", c.requirement, c.deposit, describe(got, err), err, c.amount)
			continue
		}
		if charge := f.charges[0]; charge.Amount != c.amount || charge.Account != "acct_harbor" ||
			charge.Currency.Code != "EUR" || charge.ID != got.ID {
			t.Errorf("%s %s: the provider has %+v", c.requirement, c.deposit, charge)
		}
	}
}

// TestBookTriesPreferredProviderFirst has three providers, of which all, one or none can
// charge. The preferred provider is asked first, then the others in their order.
func TestBookTriesPreferredProviderFirst(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c"}
	for _, c := range []struct{ preferred, able, asked string }{
		{"", "abc", "a"}, {"a", "abc", "a"}, {"b", "abc", "b"}, {"c", "abc", "c"},
		{"", "c", "abc"}, {"a", "c", "abc"}, {"b", "c", "bac"}, {"c", "b", "cab"}, {"c", "", "cab"},
	} {
		f := newFixture(t)
		f.publish(func(o *catalog.Snapshot) {
			chargeOnline(o)
			o.Payments.Providers, o.Payments.Accounts = names, map[string]string{"a": "x", "b": "x", "c": "x"}
		})
		var asked []string
		f.booker.Payments.Providers = payment.Providers{}
		for _, name := range names {
			f.booker.Payments.Providers[name] = provider{fixture: f, name: name,
				isUnable: !strings.Contains(c.able, name), asked: &asked}
		}
		got, err := f.book(byKey, "", newRequest(func(r *request.Request) { r.PreferredProvider = c.preferred }))
		want := "payment_not_offered"
		if c.able != "" {
			want = fmt.Sprintf("pending 4000, %s 4000", c.asked[len(c.asked)-1:])
		}
		if describe(got, err) != want || strings.Join(asked, "") != c.asked {
			t.Errorf("%q preferred, %q can charge: %s, %v were asked", c.preferred, c.able, describe(got, err), asked)
		}
	}
}

// TestBookAbandonsUnopenedPayment shows that a booking whose payment is not open frees its time, and that a retry
// is suggested only if it can succeed.
func TestBookAbandonsUnopenedPayment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status string
		retry  time.Duration
	}{{errAway, store.PaymentCancelling, time.Second}, {payment.ErrRefused, store.PaymentCancelled, 0}} {
		f := newFixture(t)
		f.publish(chargeOnline)
		f.chargeErr = c.err
		_, err := f.book(byKey, "k", newRequest())
		if got := fault.Of(err); got.Kind != fault.PaymentUnavailable || got.RetryAfter != c.retry ||
			strings.Contains(got.Sentence, "try again") != (c.retry > 0) {
			t.Errorf("%v: got %v", c.err, err)
		}
		if got := f.payments[f.charges[0].ID]; got != c.status {
			t.Errorf("%v: the payment is %s", c.err, got)
		}
		f.chargeErr = nil
		if got, err := f.bookAt(now.Add(time.Second), f.offer, byKey, "k", newRequest()); err != nil {
			t.Errorf("%v: the same key again: %s (%v)", c.err, describe(got, err), err)
		}
	}
}

func TestBookAsksPeersForRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.book(byKey, "", newRequest(chooseBen, func(r *request.Request) { r.PartySize = 5 })); err != nil {
		t.Fatal(err)
	}
	want := availability.Question{ServiceIDs: []uuid.UUID{cutID}, StaffID: &benID, Date: timespan.NewDate(2027, 3, 2),
		Time: 9*60 + 30}
	if diff := cmp.Diff(want, f.question); diff != "" {
		t.Errorf("the question to availability (-want +got):\n%s", diff)
	}
	item := f.quotes[0].Items[0]
	if f.quotes[0].OfferVersion != f.offer.Version || !f.quotes[0].PurchaseAt.Equal(now) || item.ID != cutID ||
		item.Date != want.Date || *item.Start != want.Time || *item.PartySize != 5 || *item.FirstBooking {
		t.Errorf("the question for prices is %+v", f.quotes[0])
	}
}

// TestBookKeepsCustomerLanguage shows how a booking gets its language (semantics.md §6). The requested BCP 47
// tag is matched with the business's languages, whatever its case.
func TestBookKeepsCustomerLanguage(t *testing.T) {
	t.Parallel()
	for requested, want := range map[string]string{"": "en", "pt": "pt", "PT-br": "pt", "de": "en",
		"no language": "en"} {
		f := newFixture(t)
		_, err := f.book(byKey, "", newRequest(func(r *request.Request) { r.Locale = requested }))
		if err != nil || f.bookings[0].Locale != want {
			t.Errorf("%q: %v, got %+v", requested, err, f.bookings)
		}
	}
}

func TestBookWarnsOwner(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(pause)
	got, err := f.book(byOwner, "", newRequest(override))
	want := []booking.Warning{{Code: "not_accepting_bookings", Message: "Online bookings are paused until 2027-03-02."}}
	if diff := cmp.Diff(want, got.Warnings); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestBookOncePerKey makes two requests with idempotency keys. The second one arrives a second after the first.
func TestBookOncePerKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		between     func(*fixture)
		by          actor.Actor // of the second request; the zero value means the same API key
		second      *request.Request
		first, want string
		bookings    int
	}{
		{name: "the same request", first: "confirmed 4000", want: "confirmed 4000, repeated", bookings: 1},
		{name: "another request", second: newRequest(startLater), first: "confirmed 4000", want: "idempotency_mismatch",
			bookings: 1},
		{name: "another request that is refused", second: newRequest(takeUnknown), first: "confirmed 4000",
			want: "idempotency_mismatch", bookings: 1},
		{name: "another principal", by: actor.Actor{Kind: actor.APIKey, ID: uuid.New()}, first: "confirmed 4000",
			want: "confirmed 4000", bookings: 2},
		{name: "the business has paused since", between: func(f *fixture) { f.publish(pause) }, first: "confirmed 4000",
			want: "confirmed 4000, repeated", bookings: 1},
		{name: "another request while paused", between: func(f *fixture) { f.publish(pause) },
			second: newRequest(startLater), first: "confirmed 4000", want: "not_accepting_bookings", bookings: 1},
		{name: "the store is away", between: func(f *fixture) { f.fail["Snapshot"] = errAway }, first: "confirmed 4000",
			want: "confirmed 4000, repeated", bookings: 1},
		{name: "the key cannot be looked up", first: "confirmed 4000", want: "outcome_unknown", bookings: 1,
			between: func(f *fixture) { f.fail["Snapshot"], f.fail["FindConfirmation"] = errAway, errAway }},
	} {
		f := newFixture(t)
		first, err := f.book(byKey, "k", newRequest())
		if got := describe(first, err); got != c.first {
			t.Errorf("%s: the first request got %s (%v), want %s", c.name, got, err, c.first)
		}
		if c.between != nil {
			c.between(f)
		}
		if c.by.Kind == "" {
			c.by = byKey
		}
		if c.second == nil {
			c.second = newRequest()
		}
		second, err := f.bookAt(now.Add(time.Second), f.offer, c.by, "k", c.second)
		if got := describe(second, err); got != c.want || len(f.bookings) != c.bookings {
			t.Errorf("%s: got %s (%v) and %d bookings, want %s and %d", c.name, got, err, len(f.bookings), c.want,
				c.bookings)
		}
		if second.IsRepeated && !cmp.Equal(first.Details, second.Details) {
			t.Errorf("%s: the repeated answer differs (-want +got):\n%s", c.name, cmp.Diff(first, second))
		}
	}
}

// TestBookReleasesLockOfRefusedRequest shows that a refusal is not stored as the answer for a key.
func TestBookReleasesLockOfRefusedRequest(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{"refused by availability": availability.RuleClosed, "lost a race": ""} {
		f := newFixture(t)
		f.rule = rule
		if rule == "" {
			f.before["Book"] = func() { compete(f); compete(f) }
		}
		if _, err := f.book(byKey, "k", newRequest()); err == nil {
			t.Fatalf("%s: booked", name)
		}
		f.rule, f.bookings = "", nil
		got, err := f.bookAt(now.Add(time.Second), f.offer, byKey, "k", newRequest())
		if describe(got, err) != "confirmed 4000" {
			t.Errorf("%s: the retry got %s (%v)", name, describe(got, err), err)
		}
	}
	f := newFixture(t)
	f.rule, f.fail["Refuse"] = availability.RuleClosed, errAway
	if _, err := f.book(byKey, "k", newRequest()); !fault.Is(err, fault.OutcomeUnknown) {
		t.Errorf("a refusal that cannot be stored: %v", err)
	}
}

// TestBookAnswersRetryInFlight makes a second request with the key of a request that is in progress.
func TestBookAnswersRetryInFlight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		by            time.Duration // by which the clock has advanced
		method        string        // before which the second request arrives
		second        func(*fixture) (store.Confirmation, error)
		want, wantOld string // the answers to the second and to the first request
	}{
		{name: "the same request", method: "Book", want: "idempotency_in_progress", wantOld: "confirmed 4000"},
		{name: "another request", method: "Book", want: "idempotency_mismatch", wantOld: "confirmed 4000",
			second: func(f *fixture) (store.Confirmation, error) { return f.book(byKey, "k", newRequest(startLater)) }},
		{name: "after the lock expired", by: time.Minute, method: "Book", want: "confirmed 4000",
			wantOld: "no_staff_available"},
		{name: "refused without a lock", method: "Book", want: "not_accepting_bookings",
			wantOld: "idempotency_in_progress", second: func(f *fixture) (store.Confirmation, error) {
				paused := *f.offer
				pause(&paused)
				return f.bookAt(now.Add(time.Second), &paused, byKey, "k", newRequest())
			}},
		{name: "refused without an offer", method: "Book", want: "availability_unverified",
			wantOld: "idempotency_in_progress", second: refuseWithoutOffer},
		{name: "refused while the payment opens", method: "OpenPayment", want: "availability_unverified",
			wantOld: "idempotency_in_progress", second: refuseWithoutOffer},
	} {
		f := newFixture(t)
		if c.method == "OpenPayment" {
			f.publish(chargeOnline)
		}
		if c.second == nil {
			c.second = func(f *fixture) (store.Confirmation, error) {
				return f.bookAt(now.Add(time.Second), f.offer, byKey, "k", newRequest())
			}
		}
		f.before[c.method] = func() {
			f.clock.Advance(c.by)
			got, err := c.second(f)
			if describe(got, err) != c.want {
				t.Errorf("%s: the second request got %s (%v), want %s", c.name, describe(got, err), err, c.want)
			}
			if c.by > 0 { // the first request then finds no other member free
				compete(f)
			}
		}
		got, err := f.book(byKey, "k", newRequest())
		if describe(got, err) != c.wantOld {
			t.Errorf("%s: the first request got %s (%v), want %s", c.name, describe(got, err), err, c.wantOld)
		}
	}
}

// refuseWithoutOffer makes a request at the time when catalog is away.
func refuseWithoutOffer(f *fixture) (store.Confirmation, error) {
	return f.refuse(now.Add(time.Second), "k", errors.New("away"))
}

func TestRefuseWithoutOfferLooksUpKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.book(byKey, "k", newRequest()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    string
		reason error
		isLost bool // the key cannot be looked up
		want   string
	}{
		{"k", errAway, false, "confirmed 4000, repeated"},
		{"other", errAway, false, "availability_unverified"},
		{"", errAway, true, "availability_unverified"},
		{"k", errAway, true, "outcome_unknown"},
		{"k", fault.New(fault.BusinessNotFound, "Business not found"), true, "business_not_found"},
	} {
		delete(f.fail, "FindConfirmation")
		if c.isLost {
			f.fail["FindConfirmation"] = errAway
		}
		if got, err := f.refuse(now, c.key, c.reason); describe(got, err) != c.want {
			t.Errorf("key %q, %v, lost %t: got %s (%v), want %s", c.key, c.reason, c.isLost, describe(got, err), err, c.want)
		}
	}
}

func TestBookChecksAnswersOfPage(t *testing.T) {
	t.Parallel()
	label := func(text string) catalog.Label { return catalog.Label{Text: text} }
	form := []catalog.Question{
		{Key: "level", Label: label("Your level"), Type: catalog.QuestionSelect, Required: true,
			Options: []catalog.QuestionOption{{Key: "new"}, {Key: "old"}}, ServiceIDs: []uuid.UUID{cutID}},
		{Key: "notes", Label: label("Notes"), Type: catalog.QuestionText, MaxLength: 10},
		{Key: "towel", Label: label("Towel?"), Type: catalog.QuestionCheckbox, Required: true,
			ServiceIDs: []uuid.UUID{saunaID}},
	}
	for _, c := range []struct {
		by       actor.Actor
		service  uuid.UUID
		answers  map[string]any
		sentence string // "" if the request books
	}{
		{byPage, cutID, nil, `form_data.level: "Your level" needs an answer.`},
		{byPage, cutID, map[string]any{"level": " "}, `form_data.level: "Your level" needs an answer.`},
		{byPage, cutID, map[string]any{"level": "both"},
			`form_data.level: "Your level" takes one of its options by key: new, old.`},
		{byPage, cutID, map[string]any{"level": map[string]any{"a": 1}}, `form_data.level: "Your level" takes text.`},
		{byPage, cutID, map[string]any{"level": "new", "notes": "12345678901"},
			`form_data.notes: "Notes" takes at most 10 characters.`},
		{byPage, saunaID, map[string]any{"towel": false}, `form_data.towel: "Towel?" must be ticked.`},
		{byPage, saunaID, map[string]any{"towel": true, "level": 7}, ""}, // no question about another service
		{byKey, cutID, nil, ""},
		{byOwner, cutID, nil, ""},
	} {
		f := newFixture(t)
		f.publish(func(o *catalog.Snapshot) { o.Form = form })
		_, err := f.book(c.by, "", newRequest(func(r *request.Request) {
			r.ServiceIDs, r.FormData = []uuid.UUID{c.service}, c.answers
		}))
		if (err == nil) != (c.sentence == "") || err != nil && fault.Of(err).Sentence != c.sentence {
			t.Errorf("%s, %v: got %v, want %s", c.by.Kind, c.answers, err, c.sentence)
		}
	}
}
