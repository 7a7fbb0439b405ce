// Package ready turns a version's manifest into everything that is served of it.
package ready

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/slotmesh/slotmesh/libs/etag"
	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/catalog/internal/compile"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Version is one version of a business, ready to be served. It is shared by readers and never changed.
type Version struct {
	Offer    *catalog.Offer
	OfferTag string // strong entity tag of the offer as the peers read it, [Version.OfferJSON]

	// Public is what the public paths say. It is made when it is first asked for: the visible text of descriptions takes
	// longer than all the rest, and a peer that reads the offer need not wait for it.
	Public func() *public.Business
}

// Decode makes a version from its stored text.
func Decode(text store.Text, number int64) (*Version, error) {
	var m manifest.Manifest
	if err := json.Unmarshal(text.JSON, &m); err != nil {
		return nil, fmt.Errorf("decode manifest: %w", err)
	}
	if text.Sanitized {
		return of(&m, number, func() *manifest.Manifest { return &m })
	}
	return New(&m, number)
}

// New makes a version from a manifest that is not sanitized yet.
func New(m *manifest.Manifest, number int64) (*Version, error) {
	return of(public.SanitizePage(m), number, func() *manifest.Manifest { return public.Sanitize(m) })
}

// of makes a version from a manifest and, once the public paths are asked, the same sanitized.
func of(m *manifest.Manifest, number int64, sanitized func() *manifest.Manifest) (*Version, error) {
	offer, err := compile.Offer(m, number)
	if err != nil {
		return nil, fmt.Errorf("compile offer: %w", err)
	}
	if err := offer.Prepare(); err != nil {
		return nil, fmt.Errorf("prepare offer: %w", err)
	}
	v := &Version{
		Offer:  offer,
		Public: sync.OnceValue(func() *public.Business { return public.New(sanitized(), offer) }),
	}
	body, err := v.OfferJSON()
	if err != nil {
		return nil, err
	}
	v.OfferTag = etag.Of(body)
	return v, nil
}

// OfferJSON is the offer as the peers read it. Each of them does so once for a version and then only compares the tag, so
// that it is not kept.
func (v *Version) OfferJSON() ([]byte, error) {
	body, err := json.Marshal(v.Offer)
	if err != nil {
		return nil, fmt.Errorf("encode offer: %w", err)
	}
	return body, nil
}
