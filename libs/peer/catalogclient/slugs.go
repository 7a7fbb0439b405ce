package catalogclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/lru"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// rememberedSlugs bounds [Slugs]; the least recently asked for is dropped first.
const rememberedSlugs = 65_536

// Slugs remembers under which slug a business is read. That changes only when the business is removed: whoever asks under it then
// gets no offer, or that of another business.
type Slugs struct {
	catalog *peer.Client
	known   *lru.Cache[uuid.UUID, string]
}

// NewSlugs returns slugs of whom nothing is known yet.
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

// ByID reads offers of businesses that are known by their id.
type ByID struct {
	slugs  *Slugs
	offers *Client
}

// NewByID returns a reader of the offers of this client, which asks p for slugs.
func NewByID(p *peer.Client, offers *Client) *ByID { return &ByID{slugs: NewSlugs(p), offers: offers} }

// Offer returns the offer of a business as [Client.Get] does. Faults: business_not_found, also where another business has the slug now.
func (b *ByID) Offer(ctx context.Context, id uuid.UUID) (*catalog.Offer, error) {
	return b.read(ctx, id, b.offers.Get)
}

// Uncached returns the offer of a business as [Client.Uncached] does. Faults as of Offer.
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
