package usecase_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// unwritable is a store on which Publish panics.
type unwritable struct{ usecase.Store }

func (unwritable) Predecessors(context.Context, string) (int, error) { return 0, nil }

const harbor = `{"apiVersion": "slotmesh/v1", "kind": "Business", "slug": "harbor", "name": "Harbor", "currency": "EUR",
	"timezone": "Europe/Lisbon", "default_language": "en", "languages": ["en"]}`

// TestPublishStopsCheckAfterRequestEnds shows that the check of a manifest stops when its request ends. A check
// may take long.
func TestPublishStopsCheckAfterRequestEnds(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	owner := usecase.Owner{Store: unwritable{}, Telemetry: telemetry.Discard()}
	_, err := owner.Publish(over, "harbor", []byte(harbor), nil, false)
	if !fault.Is(err, fault.PeerUnavailable) || !strings.Contains(err.Error(), "could not be checked in time") {
		t.Error(err)
	}
}

// removedMeanwhile is a store from which the business is removed while its manifest is checked. Publish returns the
// error `refuses`.
type removedMeanwhile struct {
	usecase.Store
	removed int
	refuses error
}

func (s *removedMeanwhile) Predecessors(context.Context, string) (int, error) {
	s.removed++
	return s.removed, nil
}

func (s *removedMeanwhile) Publish(context.Context, string, store.Content, *int64,
	bool, time.Time) (store.Published, error) {
	return store.Published{}, s.refuses
}

// TestPublishReportsRemovalOnlyIfItIsTheCause shows that a removal gives a conflict only if the store reports
// that the id is taken or has changed. Other errors keep their meaning. After an unknown outcome, the version may be
// published, even if the business was removed.
func TestPublishReportsRemovalOnlyIfItIsTheCause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuses error
		want    fault.Kind
	}{
		"the id is a removed business's": {store.ErrIDTaken, fault.Conflict},
		"published anew meanwhile":       {store.IDChangedError{}, fault.Conflict},
		"the outcome is unknown": {fault.Wrap(fault.OutcomeUnknown, errors.New("no answer"),
			"It is not known."), fault.OutcomeUnknown},
		"If-Match names another": {store.NotNewestError{Known: 3}, fault.PreconditionFailed},
	} {
		owner := usecase.Owner{Store: &removedMeanwhile{refuses: c.refuses}, Clock: clock.System(),
			Telemetry: telemetry.Discard()}
		if _, err := owner.Publish(t.Context(), "harbor", []byte(harbor), nil, false); !fault.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
