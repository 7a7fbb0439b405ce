package sale_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestRetryChangedReadsNewestOffer(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for _, c := range []struct {
		name    string
		given   *catalog.Snapshot
		results []error // one for each attempt
		want    error
		offers  []int64 // the version of each attempt
	}{
		{"the first attempt succeeds", &catalog.Snapshot{Version: 7}, []error{nil}, nil, []int64{7}},
		{"no offer is given", nil, []error{refused}, refused, []int64{101}},
		{"the offer changes twice", &catalog.Snapshot{Version: 7}, []error{sale.ErrChanged, sale.ErrChanged, nil}, nil,
			[]int64{7, 101, 102}},
	} {
		version := int64(100)
		read := func() (*catalog.Snapshot, error) {
			version++
			return &catalog.Snapshot{Version: version}, nil
		}
		var offers []int64
		got, err := sale.RetryChanged(c.given, read, func(offer *catalog.Snapshot) (int, error) {
			offers = append(offers, offer.Version)
			return len(offers), c.results[len(offers)-1]
		})
		if got != len(c.offers) || !errors.Is(err, c.want) || !slices.Equal(offers, c.offers) {
			t.Errorf("%s: result %d of the offers %v, %v", c.name, got, offers, err)
		}
	}
}

func TestRetryChangedGivesUp(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	attempts := 0
	changed := func(*catalog.Snapshot) (int, error) { attempts++; return 0, sale.ErrChanged }
	read := func() (*catalog.Snapshot, error) { return &catalog.Snapshot{}, nil }
	if _, err := sale.RetryChanged(nil, read, changed); !fault.Is(err, fault.AvailabilityUnverified) ||
		!strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
	attempts, read = 0, func() (*catalog.Snapshot, error) { return nil, away }
	if _, err := sale.RetryChanged(&catalog.Snapshot{}, read, changed); !errors.Is(err, away) || attempts != 1 {
		t.Errorf("without a newer offer, after %d attempts: %v", attempts, err)
	}
}
