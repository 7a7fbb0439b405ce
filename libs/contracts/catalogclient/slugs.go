package catalogclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// rememberedSlugs is the maximal number of entries in [Slugs]. When
// the cache exceeds it, the cache drops the least recently used entry.
const rememberedSlugs = 65_536

// Slugs caches the slugs of businesses by their ids. A cached slug is outdated only
// after the removal of its business. A request with an outdated slug returns no snapshot or
// the snapshot of another business. The caller detects the latter by the id of the business.
type Slugs struct {
	catalog *peer.Client
	known   *lru.Cache[uuid.UUID, string]
}

// NewSlugs returns an empty cache, which reads slugs through the argument `p`.
func NewSlugs(p *peer.Client) *Slugs {
	return &Slugs{catalog: p, known: lru.New[uuid.UUID](rememberedSlugs, func(string) int { return 1 })}
}

// Slug returns the slug of the business with this id. Faults: business_not_found.
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

// ByID reads snapshots by the ids of their businesses.
type ByID struct {
	slugs  *Slugs
	offers *Client
}

// NewByID returns a reader that finds slugs through the argument `p` and reads snapshots through the argument `offers`.
func NewByID(p *peer.Client, offers *Client) *ByID { return &ByID{slugs: NewSlugs(p), offers: offers} }

// Offer returns the snapshot of the business with this id as [Client.Get] does. Faults:
// the faults of Get; business_not_found also if another business now has the slug.
func (b *ByID) Offer(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error) {
	return b.read(ctx, id, b.offers.Get)
}

// Uncached returns the snapshot of the business with this id as
// [Client.Uncached] does. Faults: the faults of [ByID.Offer].
func (b *ByID) Uncached(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error) {
	return b.read(ctx, id, b.offers.Uncached)
}

func (b *ByID) read(
	ctx context.Context, id uuid.UUID, bySlug func(context.Context, string) (*catalog.Snapshot, error),
) (*catalog.Snapshot, error) {
	slug, err := b.slugs.Slug(ctx, id)
	if err != nil {
		return nil, err
	}
	snapshot, err := bySlug(ctx, slug)
	if err != nil {
		return nil, err
	}
	if snapshot.ID != id {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return snapshot, nil
}
