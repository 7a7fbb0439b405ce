package catalogclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// rememberedSlugs is the capacity of [Slugs]; the least recently used entry is dropped first.
const rememberedSlugs = 65_536

// Slugs caches the slugs of businesses by id. A cached slug is wrong only after the removal of its business.
// Then a request with the slug gets no offer, or that of another business, which the caller detects.
type Slugs struct {
	catalog *peer.Client
	known   *lru.Cache[uuid.UUID, string]
}

// NewSlugs returns an empty cache.
func NewSlugs(p *peer.Client) *Slugs {
	return &Slugs{catalog: p, known: lru.New[uuid.UUID](rememberedSlugs, func(string) int { return 1 })}
}

// Slug returns the slug of a business. Faults: business_not_found.
func (s *Slugs) Slug(ctx context.Context, id uuid.UUID) (string, error) {
	if slug, ok := s.known.Get(id); ok {
		return slug, nil
	}
	slug, err := Slug(ctx, s.catalog, id)
	if err == nil {
		s.known.Put(id, slug)
	}
	return slug, err
}

// ByID reads offers by the id of the business.
type ByID struct {
	slugs  *Slugs
	offers *Client
}

// NewByID returns a reader of offers. It looks up slugs through p.
func NewByID(p *peer.Client, offers *Client) *ByID { return &ByID{slugs: NewSlugs(p), offers: offers} }

// Offer returns the offer of the business with this id, like [Client.Get].
// Faults: business_not_found, also if another business now has the slug.
func (b *ByID) Offer(ctx context.Context, id uuid.UUID) (*catalog.Offer, error) {
	return b.read(ctx, id, b.offers.Get)
}

// Uncached returns the offer of a business like [Client.Uncached]. Faults: those of Offer.
func (b *ByID) Uncached(ctx context.Context, id uuid.UUID) (*catalog.Offer, error) {
	return b.read(ctx, id, b.offers.Uncached)
}

func (b *ByID) read(
	ctx context.Context, id uuid.UUID, bySlug func(context.Context, string) (*catalog.Offer, error),
) (*catalog.Offer, error) {
	slug, err := b.slugs.Slug(ctx, id)
	if err != nil {
		return nil, err
	}
	offer, err := bySlug(ctx, slug)
	if err != nil {
		return nil, err
	}
	if offer.ID != id {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return offer, nil
}
