package mcp

import (
	"context"
	"fmt"
	"net/url"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/segmentio/encoding/json"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/services/mcp/internal/gate"
	"github.com/slotmesh/slotmesh/services/mcp/internal/tools"
)

// reads are the public paths of one service, on its internal port.
type reads struct {
	name string
	peer *peer.Client
	kept *keptAnswers
}

// Read reads one path.
func (r reads) Read(ctx context.Context, slug, path string, query url.Values, out any) error {
	answer, err := catalogclient.Read(ctx, r.peer, slug, path, query, "")
	if err != nil {
		return err
	}
	return r.decode(answer.Body, out)
}

// decode reads JSON as encoding/json does, long lists in a third of its time.
func (r reads) decode(body []byte, out any) error {
	if err := json.Unmarshal(body, out); err != nil {
		return fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: unreadable answer: %w", r.name, err),
			"The "+r.name+" service gave an unreadable answer; try again shortly.")
	}
	return nil
}

// names remembers under which slug a business is read. That changes only when the business is removed, and then its keys are
// revoked before: nobody asks under its name again.
type names struct {
	catalog *peer.Client
	known   *lru.Cache[uuid.UUID, string]
}

// knownNames bounds what is remembered; the least recently used goes first.
const knownNames = 65536

func newNames(p *peer.Client) *names {
	known, err := lru.New[uuid.UUID, string](knownNames)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &names{catalog: p, known: known}
}

// Slug returns the slug of a business.
func (n *names) Slug(ctx context.Context, id uuid.UUID) (string, error) {
	if slug, ok := n.known.Get(id); ok {
		return slug, nil
	}
	slug, err := catalogclient.Slug(ctx, n.catalog, id)
	if err == nil {
		n.known.Add(id, slug)
	}
	return slug, err
}

var (
	_ tools.Reader = reads{}
	_ gate.Names   = (*names)(nil)
)
