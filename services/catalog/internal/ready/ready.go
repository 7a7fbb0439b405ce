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
	Offer     *catalog.Offer
	OfferJSON []byte // the offer as the peers read it
	OfferTag  string // strong entity tag of OfferJSON

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
	body, err := json.Marshal(offer)
	if err != nil {
		return nil, fmt.Errorf("encode offer: %w", err)
	}
	return &Version{
		Offer: offer, OfferJSON: body, OfferTag: etag.Of(body),
		Public: sync.OnceValue(func() *public.Business { return public.New(m, offer) }),
	}, nil
}
