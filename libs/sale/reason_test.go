package sale_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestWithReasonReplacesLineBreaks(t *testing.T) {
	t.Parallel()
	ctx, err := sale.WithReason(t.Context(), " One\r\ntwo\vthree\ffour\tfive\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := actor.Reason(ctx), "One\ntwo\nthree\nfour\tfive"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

func TestWithReasonRefusesOtherText(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"a\x00b", "a\xffb", strings.Repeat("ä", booking.MaxReason+1)} {
		if _, err := sale.WithReason(t.Context(), reason); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("reason %.10q: %v, want invalid_parameter", reason, err)
		}
	}
}
