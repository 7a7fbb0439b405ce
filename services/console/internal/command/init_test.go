package command_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/template"
)

func TestInitManifestsCanBePublished(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	for _, trade := range template.ListTrades() {
		s.in = s.mustRun("init", trade, "--slug", trade, "--name", "The "+trade, "--timezone", "Asia/Tokyo",
			"--currency",
			"JPY")
		if got := s.mustRun("apply", "-f", "-"); !strings.Contains(got, trade+": version 1 is published") {
			t.Errorf("%s: %s", trade, got)
		}
	}
	for _, wrong := range [][]string{{"init"}, {"init", "bakery"}, {"init", "salon", "--slug", "No Slug"},
		{"init", "salon", "--currency", "EURO\nkind: x"}} {
		if r := s.run(wrong...); r.code == 0 || r.out != "" {
			t.Errorf("%v prints %s", wrong, r.out)
		}
	}
}
