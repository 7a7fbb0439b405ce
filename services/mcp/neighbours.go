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
	"github.com/slotmesh/slotmesh/libs/peer/availability"
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

// decode reads JSON. The texts of out are parts of body, which nobody else has.
func (r reads) decode(body []byte, out any) error {
	if _, err := json.Parse(body, out, json.ZeroCopy|json.DontMatchCaseInsensitiveStructFields); err != nil {
		return r.unreadable(err)
	}
	return nil
}

func (r reads) unreadable(err error) error {
	return fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: unreadable answer: %w", r.name, err),
		"The "+r.name+" service gave an unreadable answer; try again shortly.")
}

// calendars are the public paths of availability.
type calendars struct{ reads }

// Slots reads /slots in columns, or as everyone does from a replica that does not write them yet.
func (c calendars) Slots(ctx context.Context, slug string, query url.Values) (*availability.Slots, error) {
	answer, err := catalogclient.Read(ctx, c.peer, slug, "slots", query, availability.SlotsType)
	if err != nil {
		return nil, err
	}
	slots := spacious()
	if answer.Header.Get("Content-Type") == availability.SlotsType {
		err = c.decode(answer.Body, slots)
	} else {
		var listed listedSlots
		err = c.decode(answer.Body, &listed)
		slots = listed.columns()
	}
	if err != nil {
		return nil, err
	}
	if err := slots.Check(); err != nil {
		return nil, c.unreadable(err)
	}
	return slots, nil
}

// spacious has room for the columns of most dates, so that they need not grow.
func spacious() *availability.Slots {
	const usual = 256
	room := make([]int32, 3*usual)
	return &availability.Slots{
		Starts: room[:0:usual], Ends: room[usual : usual : 2*usual], Members: room[2*usual : 2*usual], Staff: make([]availability.Member, 0, 16),
	}
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
	_ tools.Reader    = reads{}
	_ tools.Calendars = calendars{}
	_ gate.Names      = (*names)(nil)
)
