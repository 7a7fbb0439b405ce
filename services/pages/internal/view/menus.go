package view

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// Menus caches the HTML of the list of services by business and language. Rendering the list takes most of the
// time of the first page, and all readers of one language get the same list. Menus is safe for concurrent use.
type Menus struct{ kept *lru.Cache[string, keptMenu] }

// keptMenu is the cached HTML of a list of services, with the values from which the HTML was rendered.
type keptMenu struct {
	html    string
	version int64            // the version of the offer
	first   *usecase.Service // the first service; another pointer means that the list has changed
	logo    string
}

const (
	keptMenus  = 16 << 20 // maximum total size of the cached HTML, in bytes
	longestKey = 128      // maximum length of a key in bytes; readers can send long language tags
)

// NewMenus returns an empty cache of lists of services.
func NewMenus() *Menus {
	return &Menus{lru.New[string](keptMenus, func(k keptMenu) int { return len(k.html) + longestKey })}
}

// of returns a component that writes the list of services. If the values
// from which the list was rendered are unchanged, it writes the cached HTML.
func (m *Menus) of(p *Page, groups []usecase.Group) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
		key := p.Business.Offer.Slug + " " + p.Words.Requested + " " + p.Words.Region() + " " + p.Chosen
		now := keptMenu{version: p.Business.Offer.Version, first: groups[0].Services[0], logo: p.Business.LogoURL}
		if kept, ok := m.kept.Get(key); ok && kept.version == now.version && kept.first == now.first &&
			kept.logo == now.logo {
			_, err := io.WriteString(out, kept.html)
			return err
		}
		var made strings.Builder
		if err := menu(p, groups).Render(ctx, &made); err != nil {
			return err
		}
		now.html = made.String()
		offered := p.Chosen == "" || slices.Contains(p.Business.Offer.Languages, p.Chosen)
		if offered && len(key) <= longestKey && p.Words.Fault() == nil {
			m.kept.Put(key, now)
		}
		_, err := io.WriteString(out, now.html)
		return err
	})
}
