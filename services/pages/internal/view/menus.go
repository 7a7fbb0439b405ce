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
type Menus struct {
	cache *lru.Cache[string, cachedMenu]
}

// cachedMenu is the cached HTML of a list of services, with the values from which the HTML was rendered.
type cachedMenu struct {
	html    string
	version int64            // the version of the snapshot
	first   *usecase.Service // the first service; another pointer means that the list has changed
	logo    string
}

const (
	maxMenuBytes = 16 << 20 // maximum total size of the cached HTML, in bytes
	maxKeyBytes  = 128      // maximum length of a key in bytes; readers can send long language tags
)

// NewMenus returns an empty cache of lists of services.
func NewMenus() *Menus {
	return &Menus{lru.New[string](maxMenuBytes, func(k cachedMenu) int { return len(k.html) + maxKeyBytes })}
}

// list returns a component that writes the list of services. If the values
// from which the list was rendered are unchanged, it writes the cached HTML.
func (m *Menus) list(p *Page, groups []usecase.Group) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
		key := p.Business.Snapshot.Slug + " " + p.Words.Requested + " " + p.Words.Region() + " " + p.Language
		current := cachedMenu{version: p.Business.Snapshot.Version, first: groups[0].Services[0], logo: p.Business.LogoURL}
		if cached, ok := m.cache.Get(key); ok && cached.version == current.version && cached.first == current.first &&
			cached.logo == current.logo {
			_, err := io.WriteString(out, cached.html)
			return err
		}
		var rendered strings.Builder
		if err := menu(p, groups).Render(ctx, &rendered); err != nil {
			return err
		}
		current.html = rendered.String()
		hasLanguage := p.Language == "" || slices.Contains(p.Business.Snapshot.Languages, p.Language)
		if hasLanguage && len(key) <= maxKeyBytes && p.Words.Fault() == nil {
			m.cache.Put(key, current)
		}
		_, err := io.WriteString(out, current.html)
		return err
	})
}
