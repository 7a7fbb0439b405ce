package limits_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestCustomerLinksAreLimitedByAddressNetworkAndBusiness(t *testing.T) {
	t.Parallel()
	g, manualClock := newGate(readSettings)
	harbor, other := uuid.New(), uuid.New()
	n := 0
	ask := func(business uuid.UUID, email string) (bool, error) {
		n++
		return g.CountCustomerLink(t.Context(), addressOf(n), business, email, http.Header{})
	}
	for i := range 4 {
		if mayMail, err := ask(harbor, "ana@example.com"); err != nil || mayMail != (i < 3) {
			t.Errorf("request %d for one address: %t, %v", i+1, mayMail, err)
		}
	}
	if mayMail, err := ask(other, "ana@example.com"); err != nil || !mayMail {
		t.Errorf("the same address at another business: %t, %v", mayMail, err)
	}
	manualClock.Advance(30 * time.Minute)
	if mayMail, err := ask(harbor, "ana@example.com"); err != nil || !mayMail {
		t.Errorf("half an hour later: %t, %v", mayMail, err)
	}
	manualClock.Advance(time.Hour)
	for i := range 200 {
		if _, err := ask(harbor, fmt.Sprintf("c%d@example.com", i)); err != nil {
			t.Fatalf("request %d for the business: %v", i+1, err)
		}
	}
	if _, err := ask(harbor, "last@example.com"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("more than the business may: %v", err)
	}
	for i := range 21 {
		_, err := g.CountCustomerLink(t.Context(), clientAddress, other, fmt.Sprintf("d%d@example.com", i), http.Header{})
		if fault.Is(err, fault.RateLimited) != (i == 20) {
			t.Errorf("request %d of one network: %v", i+1, err)
		}
	}
}
