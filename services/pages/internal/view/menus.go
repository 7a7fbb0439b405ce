package view

import (
	"context"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// Menus caches the HTML of the list of services, for each business and language. Rendering the list takes most of the
// time of the first page, and all readers of one language get the same list. Menus is safe for concurrent use.
type Menus struct {
	cache *lru.Cache[string, cachedMenu]
}

// cachedMenu is the cached HTML of a business's first page: the list of services, and the other parts of the page. It
// also holds the values from which this HTML was rendered.
type cachedMenu struct {
	html    string
	version int64            // the version of the snapshot
	first   *usecase.Service // the first service; if the pointer differs, the list has changed
	logo    string
	info    *publicapi.BusinessInfo // the parts contain the links in this answer
	today   timespan.Date           // the parts contain the opening hours of today
	parts   frontParts
}

const (
	maxMenuBytes = 16 << 20 // maximum total size of the cached HTML, in bytes
	maxKeyBytes  = 128      // maximum length of a key in bytes; readers can send long language tags
)

// NewMenus returns an empty cache of lists of services.
func NewMenus() *Menus {
	return &Menus{lru.New[string](maxMenuBytes, func(k cachedMenu) int {
		return len(k.html) + len(k.parts.line) + len(k.parts.side) + maxKeyBytes
	})}
}

// load returns the rendered list of services and the other parts of the first page. If the values from which the cached
// HTML was rendered are unchanged and the cart is empty, load returns this HTML. The argument `all` contains all services, and the argument
// `groups` contains the services that are not classes.
func (m *Menus) load(ctx context.Context, p *Page, all, groups []usecase.Group) (cachedMenu, error) {
	key := p.Business.Snapshot.Slug + " " + p.Words.Requested + " " + p.Words.Region() + " " + p.Language
	current := cachedMenu{version: p.Business.Snapshot.Version, first: all[0].Services[0], logo: p.Business.LogoURL,
		info: p.Business.Info, today: p.Business.Today()}
	if cached, ok := m.cache.Get(key); ok && p.Cart == nil && cached.version == current.version && cached.first == current.first &&
		cached.logo == current.logo && cached.info == current.info && cached.today == current.today {
		return cached, nil
	}
	var rendered strings.Builder
	if err := menu(p, all, groups).Render(ctx, &rendered); err != nil {
		return current, err
	}
	var err error
	if current.parts, err = p.newFrontParts(ctx); err != nil {
		return current, err
	}
	current.html = rendered.String()
	hasLanguage := p.Language == "" || slices.Contains(p.Business.Snapshot.Languages, p.Language)
	if hasLanguage && p.Cart == nil && len(key) <= maxKeyBytes && p.Words.Fault() == nil {
		m.cache.Put(key, current)
	}
	return current, nil
}
