package refund_test

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
)

// booked and start are the times of the booking in the table of TestPercentChangesAtDeadlines, three days apart.
var (
	booked = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	start  = booked.Add(72 * time.Hour)
)

func newRules(pairs ...int) []catalog.CancellationRule {
	var all []catalog.CancellationRule
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, catalog.CancellationRule{HoursBefore: pairs[i], RefundPercent: pairs[i+1]})
	}
	return all
}

// TestPercentChangesAtDeadlines checks each policy at instants close to its limits. The field `before` is the time from
// the instant to the start of the booking.
func TestPercentChangesAtDeadlines(t *testing.T) {
	t.Parallel()
	const h, ns = time.Hour, time.Nanosecond
	type moment struct {
		before  time.Duration
		percent int
		until   time.Duration // time before the start at which the percentage changes; never: it does not change
	}
	const never = -1000 * h
	for name, c := range map[string]struct {
		policy  refund.Policy
		moments []moment
	}{
		"none": {refund.Policy{}, []moment{{72 * h, 100, never}, {0, 100, never},
			{-5 * h, 100, never}}},
		"none but cooling off": {refund.Policy{CoolingOffHours: 2},
			[]moment{{71 * h, 100, never}, {1 * h, 100, never}}},
		"a day": {refund.Policy{Rules: newRules(24, 100)}, []moment{
			{72 * h, 100, 24 * h}, {24*h + ns, 100, 24 * h}, {24 * h, 100, 24 * h}, {24*h - ns, 0, never},
			{0, 0, never}, {-h, 0, never},
		}},
		"steps, in any order": {refund.Policy{Rules: newRules(2, 20, 48, 100, 24, 50)}, []moment{
			{72 * h, 100, 48 * h}, {48 * h, 100, 48 * h}, {48*h - ns, 50, 24 * h}, {24 * h, 50, 24 * h},
			{24*h - ns, 20, 2 * h},
			{2 * h, 20, 2 * h}, {2*h - ns, 0, never}, {-h, 0, never},
		}},
		"until the start": {refund.Policy{Rules: newRules(0, 30)},
			[]moment{{72 * h, 30, 0}, {0, 30, 0}, {-ns, 0, never}}},
		"never": {refund.Policy{Rules: newRules(0, 0)},
			[]moment{{72 * h, 0, never}, {-h, 0, never}}},
		"two steps of one percentage": {refund.Policy{Rules: newRules(48, 50, 24, 50)},
			[]moment{{60 * h, 50, 24 * h}, {30 * h, 50, 24 * h}}},
		"more than there is time for": {refund.Policy{Rules: newRules(100, 80)}, []moment{{72 * h, 0, never}}},
		"cooling off": {refund.Policy{CoolingOffHours: 24, Rules: newRules(60, 40)}, []moment{
			{72 * h, 100, 48 * h}, {60 * h, 100, 48 * h}, {48 * h, 100, 48 * h}, {48*h - ns, 0, never},
		}},
		"cooling off into a rule": {refund.Policy{CoolingOffHours: 1, Rules: newRules(24, 50)},
			[]moment{{72 * h, 100, 71 * h}, {71*h - ns, 50, 24 * h}}},
		"cooling off beyond the start": {refund.Policy{CoolingOffHours: 80, Rules: newRules(24, 50)},
			[]moment{{0, 100, -8 * h}, {-8 * h, 100, -8 * h}, {-8*h - ns, 0, never}}},
		"no cooling off, at once": {refund.Policy{Rules: newRules(100, 100)}, []moment{{72 * h, 0, never}}},
	} {
		for _, m := range c.moments {
			at := start.Add(-m.before)
			if got := c.policy.Percent(booked, start, at); got != m.percent {
				t.Errorf("%s, %v before the start: %d %%, want %d", name, m.before, got, m.percent)
			}
			var want time.Time
			if m.until != never {
				want = start.Add(-m.until)
			}
			if got := c.policy.Until(booked, start, at); !got.Equal(want) {
				t.Errorf("%s, %v before the start: the percentage is valid until %v, want %v", name, m.before, got, want)
			}
		}
	}
}

// percentBySpecification follows lifecycle.md §4 literally, sentence by sentence, in whole nanoseconds.
func percentBySpecification(p refund.Policy, booked, start, t time.Time) int {
	if len(p.Rules) == 0 { // "Without a policy: 100 %."
		return 100
	}
	since := t.Sub(booked)
	// "within cooling_off_hours after it was booked 100 %"
	if p.CoolingOffHours != 0 && since <= time.Duration(p.CoolingOffHours)*time.Hour {
		return 100
	}
	hoursToStart := new(big.Rat).SetFrac64(int64(start.Sub(t)), int64(time.Hour))
	// "the rule with the greatest hours_before that is not more than the hours from t to the start"
	var greatest *catalog.CancellationRule
	for i, r := range p.Rules {
		if new(big.Rat).SetInt64(int64(r.HoursBefore)).Cmp(hoursToStart) <= 0 &&
			(greatest == nil || r.HoursBefore > greatest.HoursBefore) {
			greatest = &p.Rules[i]
		}
	}
	if greatest == nil { // "else 0"
		return 0
	}
	return greatest.RefundPercent
}

func drawPolicy() *rapid.Generator[refund.Policy] {
	return rapid.Custom(func(t *rapid.T) refund.Policy {
		p := refund.Policy{CoolingOffHours: rapid.IntRange(0, 30).Draw(t, "cooling off")}
		for _, h := range rapid.SliceOfNDistinct(rapid.IntRange(0, 60), 0, 6, rapid.ID[int]).Draw(t, "hours before") {
			p.Rules = append(p.Rules,
				catalog.CancellationRule{HoursBefore: h, RefundPercent: rapid.IntRange(0, 100).Draw(t, "percent")})
		}
		return p
	})
}

func TestPercentFollowsSpecification(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy().Draw(t, "policy")
		start := booked.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "lead")) * time.Hour)
		// The instant is a whole number of hours after the booking, or a nanosecond off.
		at := booked.Add(time.Duration(rapid.IntRange(0, 70).Draw(t, "hours"))*time.Hour +
			time.Duration(rapid.IntRange(-1, 1).Draw(t, "off")))
		want := percentBySpecification(p, booked, start, at)
		if got := p.Percent(booked, start, at); got != want {
			t.Fatalf("%d %%, want %d", got, want)
		}
		until := p.Until(booked, start, at)
		last := until
		if until.IsZero() {
			last = booked.Add(1000 * time.Hour)
		} else if percentBySpecification(p, booked, start, until.Add(time.Nanosecond)) == want {
			t.Fatalf("the percentage is also valid after %v", until)
		}
		for i := range 50 { // the percentage is the same up to `last`
			between := at.Add(last.Sub(at) / 49 * time.Duration(i))
			if percentBySpecification(p, booked, start, between) != want {
				t.Fatalf("the percentage is not valid at %v, before %v", between, last)
			}
		}
	})
}

// TestStepsFollowSpecification shows that the steps have the percentages of percentBySpecification at each instant
// before the start. Each step is as long as possible.
func TestStepsFollowSpecification(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy().Draw(t, "policy")
		start := booked.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "lead")) * time.Hour)
		from := booked.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "hours"))*time.Hour +
			time.Duration(rapid.IntRange(-1, 1).Draw(t, "off")))
		steps := p.Steps(booked, start, from)
		if len(p.Rules) == 0 {
			if steps != nil {
				t.Fatalf("got %v without rules", steps)
			}
			return
		}
		for at := from; !at.After(start); at = at.Add(15 * time.Minute) {
			percent := 0
			if i := slices.IndexFunc(steps, func(s refund.Step) bool { return !at.After(s.Until) }); i >= 0 {
				percent = steps[i].Percent
			}
			want := percentBySpecification(p, booked, start, at)
			if want > 0 && percent != want {
				t.Fatalf("%d %% at %v, want %d", percent, at, want)
			}
		}
		for i, s := range steps {
			if s.Percent <= 0 || s.Until.After(start) || s.Percent != percentBySpecification(p, booked, start,
				s.Until) {
				t.Fatalf("step %d of %v is wrong", i, steps)
			}
			if s.Until.Before(start) && percentBySpecification(p, booked, start,
				s.Until.Add(time.Nanosecond)) == s.Percent {
				t.Fatalf("step %d of %v ends too early", i, steps)
			}
		}
	})
}

func TestShareRoundsHalfUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount  int64
		percent int
		want    int64
	}{{4000, 100, 4000}, {4000, 0, 0}, {1, 50, 1}, {3, 50, 2}, {1, 49, 0}, {999, 33, 330}, {150, 1, 2}, {149, 1, 1},
		{0, 50, 0}} {
		if got := refund.Share(c.amount, c.percent); got != c.want {
			t.Errorf("%d %% of %d is %d, want %d", c.percent, c.amount, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		amount, percent := rapid.Int64Range(0, 1e16).Draw(t, "amount"), rapid.IntRange(0, 100).Draw(t, "percent")
		exact := new(big.Rat).Mul(new(big.Rat).SetInt64(amount), big.NewRat(int64(percent), 100))
		difference := new(big.Rat).Sub(new(big.Rat).SetInt64(refund.Share(amount, percent)), exact)
		if half := big.NewRat(1, 2); difference.Cmp(half) > 0 || difference.Cmp(new(big.Rat).Neg(half)) <= 0 {
			t.Fatalf("%d %% of %d is %s, rounded by %s", percent, amount, exact.FloatString(2), difference.FloatString(2))
		}
	})
}

// TestLimitHoldsAfterAnyReschedules reschedules at random times to random starts. A cancellation after a
// reschedule refunds at most as much as a cancellation at the time of that reschedule.
func TestLimitHoldsAfterAnyReschedules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy().Draw(t, "policy")
		hours := func(label string) time.Duration {
			return time.Duration(rapid.IntRange(0, 40).Draw(t, label)) * time.Hour
		}
		at, start, least := booked, booked.Add(hours("lead")), 100
		for range rapid.IntRange(1, 6).Draw(t, "reschedules") {
			at = at.Add(hours("pause"))
			percent := p.Percent(booked, start, at)
			if percent > least {
				t.Fatalf("%d %% at %v, after a reschedule at %d %%", percent, at, least)
			}
			least = percent
			p, start = p.Limit(percent), at.Add(hours("new lead"))
		}
		for range 10 {
			at = at.Add(hours("wait"))
			if percent := p.Percent(booked, start, at); percent > least {
				t.Fatalf("%d %% in the end, after a reschedule at %d %%", percent, least)
			}
		}
	})
}
