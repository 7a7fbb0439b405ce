package cli_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestDiffSaysWhatPublishingWouldChangeAndPublishesNothing(t *testing.T) {
	t.Parallel()
	s := shellAt(t, consoletest.Start(t))
	published := s.must("init", "salon", "--slug", "harbor", "--name", "Harbor")
	s.in = published
	if r := s.run("diff", "-f", "-"); r.code == 0 || !strings.Contains(r.err, "Business not found") {
		t.Errorf("of a business that is not published: %d %s%s", r.code, r.out, r.err)
	}
	s.must("apply", "-f", "-")
	if got := s.must("diff", "-f", "-"); got != "harbor: nothing would change\n" {
		t.Errorf("of the same manifest: %s", got)
	}
	s.in = strings.Replace(published, "price: 40.00", "price: 45.00", 1)
	got := strings.Join(strings.Fields(s.must("diff", "-f", "-")), " ")
	if want := "CHANGE FIELD BEFORE AFTER changed services[cut].price 40 45"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if list := decoded(t, s.must("diff", "-f", "-", "-o", "json"))["changes"].([]any); len(list) != 1 {
		t.Errorf("as JSON: %v", list)
	}
	if versions := s.must("history", "harbor"); strings.Count(versions, "\n") != 2 {
		t.Errorf("diff has published: %s", versions)
	}
	s.in = "kind: Business"
	if r := s.run("diff", "-f", "-"); r.code != 1 {
		t.Errorf("of what is no manifest: %d %s", r.code, r.err)
	}
}
