package offer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

const shop = `apiVersion: slotmesh/v1
kind: Business
slug: shop
name: Shop
currency: EUR
timezone: Europe/Lisbon
default_language: en
hours: {mon: ["09:00-12:00", "11:00-13:00"]}
`

// TestParsingStopsAfterRequestEnds shows that no function reads a manifest after its request has ended. Each
// returns a fault that asks the caller to retry after one second.
func TestParsingStopsAfterRequestEnds(t *testing.T) {
	t.Parallel()
	read, problems, err := readDocument(t.Context(), "shop", []byte(shop))
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	fields, err := read.Fields()
	if err != nil {
		t.Fatal(err)
	}
	fields["name"] = "Store"
	for name, work := range map[string]func(context.Context) error{
		"parsed": func(ctx context.Context) error { _, err := parseManifest(ctx, "shop", []byte(shop)); return err },
		"read": func(ctx context.Context) error {
			_, _, err := readDocument(ctx, "shop", []byte(shop))
			return err
		},
		"rewritten": func(ctx context.Context) error {
			_, _, err := rewriteFields(ctx, "shop", read, fields)
			return err
		},
		"warnings": func(ctx context.Context) error {
			_, err := FindWarnings(ctx, "shop", []byte(shop), time.Time{})
			return err
		},
	} {
		if err := work(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		over, end := context.WithCancel(t.Context())
		end()
		if err := work(over); !fault.Is(err, fault.PeerUnavailable) || fault.Of(err).RetrySeconds() != 1 {
			t.Errorf("%s after its end: %v", name, err)
		}
	}
}

func TestParsingReportsProblemsAndWarnings(t *testing.T) {
	t.Parallel()
	if m, err := parseManifest(t.Context(), "shop", []byte(shop)); err != nil || m.Name != "Shop" {
		t.Errorf("parsed: %+v, %v", m, err)
	}
	wrong := []byte(strings.Replace(shop, "EUR", "EURO", 1))
	if _, err := parseManifest(t.Context(), "shop", wrong); !fault.Is(err, fault.InvalidParameter) ||
		len(manifest.ProblemsOf(err)) != 1 {
		t.Errorf("parsing an invalid manifest: %v", err)
	}
	if d, problems, err := readDocument(t.Context(), "shop", wrong); d != nil || len(problems) != 1 || err != nil {
		t.Errorf("reading an invalid document: %v, %v", problems, err)
	}
	if found, err := FindWarnings(t.Context(), "shop", []byte(shop), time.Time{}); len(found) != 1 || err != nil {
		t.Errorf("warnings: %v, %v", found, err)
	}
	if found, err := FindWarnings(t.Context(), "shop", wrong, time.Time{}); found == nil || len(found) > 0 ||
		err != nil {
		t.Errorf("warnings about an invalid manifest: %v, %v", found, err)
	}
	d, _, err := readDocument(t.Context(), "shop", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	changed, problems, err := rewriteFields(t.Context(), "shop", d, document.Fields{"name": ""})
	if changed != nil || len(problems) == 0 || err != nil {
		t.Errorf("wrong fields: %v, %v", problems, err)
	}
}
