package command_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

const (
	gala = "33333333-3333-4333-8333-333333333333"
	vip  = "44444444-4444-4444-8444-444444444444"
)

func TestTicketsSellListAndCancel(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.Call(t, "PUT", "/admin/businesses/harbor", consoletest.BuildManifest("harbor", "Harbor"))
	s := newShell(t, w)
	sell := []string{"tickets", "sell", "harbor", "--event", gala, "--tier", vip, "--customer", "Cara"}
	id := decode(t, s.mustRun(append(sell, "--quantity", "3", "-o", "json")...))["id"].(string)
	if answer := decode(t, s.mustRun(append(sell, "--email", "cara@example.com", "--locale", "pt", "-o",
		"json")...)); answer["customer_email"] != "cara@example.com" || answer["locale"] != "pt" {
		t.Errorf("sold: %v", answer)
	}
	for range 3 { // a page has three ticket orders
		s.mustRun(append(sell, "-o", "json")...)
	}
	lines := strings.Split(s.mustRun("tickets", "list", "harbor", "--event", gala), "\n")
	want := []string{
		"ID                                    EVENT           DATE        TIER  QUANTITY  STATUS  CUSTOMER",
		id + "  Gala of harbor  2026-12-31  VIP   3         sold    Cara",
	}
	if len(lines) != 7 || strings.Join(lines[:2], "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if found := s.mustRun("tickets", "list", "harbor", "--query", "nobody"); strings.Contains(found, "Cara") {
		t.Errorf("a search without a match lists\n%s", found)
	}
	if out := s.mustRun("tickets", "cancellation", "harbor", id); !strings.Contains(out, "yes      60.00 EUR  50 %") {
		t.Error(out)
	}
	s.expectFailure(2, "an amount such as 12.50", "tickets", "cancel", "harbor", id, "--refund", "half")
	s.expectFailure(1, "cancel it", "tickets", "refund", "harbor", id)
	if out := s.mustRun("tickets", "cancel", "harbor", id, "--refund", "none", "-o", "json"); decode(t,
		out)["status"] != "cancelled" {
		t.Error(out)
	}
	s.expectFailure(1, "cancelled", "tickets", "cancel", "harbor", id)
	if out := s.mustRun("tickets", "refund", "harbor", id, "--amount", "12.50"); !strings.Contains(out,
		"12.50 EUR pending") {
		t.Error(out)
	}
	s.expectFailure(1, "Sold out", append(sell, "--quantity", "11")...)
	s.expectFailure(1, "there is no event", "tickets", "list", "harbor", "--event", "x")
	s.expectFailure(2, "tier", "tickets", "sell", "harbor", "--event", gala, "--customer", "Cara")
}
