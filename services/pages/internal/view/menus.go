package view

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/lru"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// Menus keeps how the services of businesses look, by business and language: most of what their first pages cost is the same for every
// reader of one language. It is safe for use by many goroutines.
type Menus struct{ kept *lru.Cache[string, keptMenu] }

// keptMenu is how services look, with all that it was made of.
type keptMenu struct {
	html    string
	version int64            // of the offer
	first   *usecase.Service // of the list, which is another one where anything of it has changed
	logo    string
}

const (
	keptMenus  = 16 << 20 // bytes
	longestKey = 128      // bounds what a reader's own tags of languages can fill it with
)

// NewMenus returns what keeps none yet.
func NewMenus() *Menus {
	return &Menus{lru.New[string](keptMenus, func(k keptMenu) int { return len(k.html) + longestKey })}
}

// of writes the services as they were written before, where nothing of them has changed.
func (m *Menus) of(p *Page, groups []usecase.Group) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
		key := p.Business.Offer.Slug + " " + p.Words.Asked + " " + p.Words.Region() + " " + p.Chosen
		now := keptMenu{version: p.Business.Offer.Version, first: groups[0].Services[0], logo: p.Business.LogoURL}
		if kept, ok := m.kept.Get(key); ok && kept.version == now.version && kept.first == now.first && kept.logo == now.logo {
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
