// Package ready turns a version's manifest into everything that is served of it.
package ready

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/catalog/internal/compile"
	"github.com/slotmesh/slotmesh/services/catalog/internal/etag"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
)

// Version is one version of a business, ready to be served. It is shared by readers and never changed.
type Version struct {
	Offer    *catalog.Offer
	OfferTag string // strong entity tag of the offer as the peers read it, [Version.OfferJSON]

	// Public is what the public paths say. It is made when it is first asked for: sanitizing texts takes far longer than
	// all the rest, and neither an owner who publishes nor a peer that reads the offer needs to wait for it.
	Public func() *public.Business
}

// Decode makes a version from its canonical JSON.
func Decode(canonical []byte, number int64) (*Version, error) {
	var m manifest.Manifest
	if err := json.Unmarshal(canonical, &m); err != nil {
		return nil, fmt.Errorf("decode manifest: %w", err)
	}
	return New(&m, number)
}

// New makes a version from its manifest.
func New(m *manifest.Manifest, number int64) (*Version, error) {
	offer, err := compile.Offer(m, number)
	if err != nil {
		return nil, fmt.Errorf("compile offer: %w", err)
	}
	if err := offer.Prepare(); err != nil {
		return nil, fmt.Errorf("prepare offer: %w", err)
	}
	v := &Version{
		Offer:  offer,
		Public: sync.OnceValue(func() *public.Business { return public.New(m, offer) }),
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
