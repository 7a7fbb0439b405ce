package template_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/template"
)

func TestManifestsAreValidAndNameTheirTrade(t *testing.T) {
	t.Parallel()
	for _, trade := range template.ListTrades() {
		text, err := template.RenderManifest(trade, template.Business{
			Slug: "harbor", Name: `The "Harbor": nº 1 #best`, Currency: "EUR", Timezone: "Europe/Lisbon",
			Today: timespan.NewDate(2027, 2, 28),
		})
		if err != nil {
			t.Fatal(err)
		}
		m, problems := manifest.Parse([]byte(text))
		if len(problems) > 0 {
			t.Errorf("%s: %v", trade, problems)
			continue
		}
		if string(m.Name) != `The "Harbor": nº 1 #best` || m.Slug != "harbor" || !strings.HasPrefix(text, "# A ") {
			t.Errorf("%s is of %s (%s):\n%s", trade, m.Name, m.Slug, text)
		}
		if m, problems := manifest.Parse([]byte(removeComments(text))); len(problems) > 0 || m == nil {
			t.Errorf("%s with all its comments taken as lines: %v", trade, problems)
		}
	}
	if _, err := template.RenderManifest("bakery", template.Business{}); err == nil || !strings.Contains(err.Error(),
		"salon") {
		t.Errorf("an unknown trade: %v", err)
	}
}

// removeComments removes the comment signs from the manifest, except in its first lines, so that the commented examples
// become part of it.
func removeComments(text string) string {
	_, body, _ := strings.Cut(text, "apiVersion:")
	var out strings.Builder
	out.WriteString("apiVersion:")
	for line := range strings.Lines(body) {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "# owner_emails"):
			out.WriteString(strings.Replace(line, "# ", "", 1))
		case strings.HasPrefix(line, "# "):
			out.WriteString(line[2:])
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}
