package view

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestMenusRenderChangedList shows that a cached menu is shown only for the same business, language, version and
// services.
func TestMenusRenderChangedList(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	menus, id := NewMenus(), uuid.New()
	render := func(slug, language, chosen string, version int64, groups []usecase.Group) string {
		t.Helper()
		offer := &catalog.Snapshot{Slug: slug, Version: version, Name: "Salon", Currency: "EUR", Timezone: "UTC",
			DefaultLanguage: "en", Languages: []string{"en", "ja"}}
		if version > 1 {
			offer.Page.AboutHTML = "<p>New</p>"
		}
		if err := offer.Prepare(); err != nil {
			t.Fatal(err)
		}
		p := &Page{Words: words.In(sentences, language), Language: chosen, Business: &usecase.Business{Snapshot: offer}}
		var out strings.Builder
		if err := menus.Services(p, groups).Body.Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	list := func() []usecase.Group {
		return []usecase.Group{{Services: []*usecase.Service{{ID: id, Name: "Cut", DurationMinutes: 90,
			Price: "40.00"}}}, {Services: []*usecase.Service{{ID: id, Name: "Wash", Price: "10.00"}}}}
	}
	groups := list()
	first := render("harbor", "en", "", 1, groups)
	if second := render("harbor", "en", "", 1, groups); second != first || !strings.Contains(first, "1 h 30 min") {
		t.Errorf("the same menu is shown as %s", second)
	}
	for name, c := range map[string]struct{ got, has string }{
		"another business":       {render("other", "en", "", 1, groups), "/b/other/"},
		"another language":       {render("harbor", "ja", "", 1, groups), "1時間"},
		"a language by name":     {render("harbor", "en", "en", 1, groups), "lang=en"},
		"one not the business's": {render("harbor", "en", "xx", 1, groups), "lang=xx"},
		"a newer offer":          {render("harbor", "en", "", 2, groups), "New"},
	} {
		if c.got == first || !strings.Contains(c.got, c.has) {
			t.Errorf("%s: no %q in %s", name, c.has, c.got)
		}
	}
	changed := list()
	changed[0].Services[0].Name = "Trim"
	if got := render("harbor", "en", "", 1, changed); !strings.Contains(got, "Trim") {
		t.Errorf("a changed list is shown as %s", got)
	}
}
