package cancellation

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
)

// TestStepsMatchPreviews shows that the steps of a preview for a customer are true: at each instant until the deadline,
// the step that contains the instant has the percentage of the preview at this instant. Instants after the last step
// refund nothing.
func TestStepsMatchPreviews(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hours := rapid.IntRange(0, 72)
		now := time.Date(2027, 6, 1, 9, 0, 0, 0, time.UTC)
		cancelUntil := hours.Draw(t, "cancel until")
		of := Sale{IsCancellable: true, MadeAt: now.Add(-toHours(hours.Draw(t, "made before"))),
			StartsAt: now.Add(toHours(hours.Draw(t, "starts after"))), Payment: Payment{Amount: 4000, Left: 4000,
				Policy: refund.Policy{CoolingOffHours: hours.Draw(t, "cooling off")}}}
		for h, percent := range rapid.MapOfN(hours, rapid.IntRange(0, 100), 0, 3).Draw(t, "rules") {
			of.Payment.Policy.Rules = append(of.Payment.Policy.Rules,
				catalog.CancellationRule{HoursBefore: h, RefundPercent: percent})
		}
		offer := &catalog.Snapshot{SelfService: catalog.SelfService{CancelUntilHours: &cancelUntil}}
		p := of.PreviewForCustomer(offer, now)
		if !p.Allowed || len(of.Payment.Policy.Rules) == 0 {
			if len(p.Steps) > 0 {
				t.Fatalf("steps without a policy or a cancellation: %v", p.Steps)
			}
			return
		}
		for at := now; !at.After(p.Deadline); at = at.Add(30 * time.Minute) {
			percent := 0
			for _, s := range p.Steps {
				if !at.After(s.Until) && at.After(now.Add(-1)) {
					percent = s.Percent
					break
				}
			}
			want := of.PreviewForCustomer(offer, at).Percent
			if isBetweenSteps := percent != want && want == 0; percent != want && !isBetweenSteps {
				t.Fatalf("%s: the steps %v promise %d %%, a cancellation refunds %d %%", at, p.Steps, percent, want)
			}
		}
	})
}

func toHours(n int) time.Duration { return time.Duration(n) * time.Hour }
