package view

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
)

// TestFailureNoticesHaveWrongClass shows that notices of failures have the class for failures. Other notices have the
// colour of the business, which may be green.
func TestFailureNoticesHaveWrongClass(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{Words: words.In(sentences, "en"), Notice: "Someone just took 4:00 pm."}
	refused := &booking.Payment{Refund: &booking.Refund{Status: booking.RefundRefused}}
	var page strings.Builder
	for _, part := range []templ.Component{notice(p), unpaidNotice(p, true), refundNotice(p, true, refused)} {
		if err := part.Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(page.String(), `<p class="notice wrong"`); n != 3 {
		t.Errorf("%d of 3 notices are marked: %s", n, page.String())
	}
}

// TestAlertsHaveWrongClass shows that each notice with the role alert has the class for failures, on these pages and on
// the owner's.
func TestAlertsHaveWrongClass(t *testing.T) {
	t.Parallel()
	inputs.Checkout("services") // the owner's pages are in another module
	alert := regexp.MustCompile(`<\w+[^>]*class="notice([^"]*)"[^>]*role="alert"`)
	var files []string
	for _, folder := range []string{".", "../../../console/internal/pages/view",
		"../../../console/internal/identity/signin/view"} {
		found, err := filepath.Glob(folder + "/*.templ")
		if err != nil || len(found) == 0 {
			t.Fatal(folder, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range alert.FindAllStringSubmatch(string(content), -1) {
			if !strings.Contains(found[1], "wrong") {
				t.Errorf("%s: %s is not marked as wrong", file, found[0])
			}
		}
	}
}
