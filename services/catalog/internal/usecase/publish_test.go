package usecase_test

import (
	"context"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// unwritable is a store that publishes nothing: a publish that came so far would panic.
type unwritable struct{ usecase.Store }

func (unwritable) Predecessors(context.Context, string) (int, error) { return 0, nil }

// A manifest may take long to read. Nobody waits for it once the request has ended, so it is given up then.
func TestAManifestIsNotCheckedAfterItsRequestEnded(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	const source = `{"apiVersion": "slotmesh/v1", "kind": "Business", "slug": "harbor", "name": "Harbor", "currency": "EUR",
		"timezone": "Europe/Lisbon", "default_language": "en", "languages": ["en"]}`
	owner := usecase.Owner{Store: unwritable{}, Telemetry: telemetry.Discard()}
	_, err := owner.Publish(over, "harbor", []byte(source), nil)
	if !fault.Is(err, fault.PeerUnavailable) || !strings.Contains(err.Error(), "could not be checked in time") {
		t.Error(err)
	}
}
