package bookingclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
)

// Doer sends one request of a peer and leaves its answer as it is; *peer.Client is the one outside tests. Its errors are faults.
type Doer interface {
	Do(ctx context.Context, request peer.Request) (*peer.Response, error)
}

// Agents is what the MCP server asks of booking, with the Authorization header of the agent's request as it came.
type Agents struct{ peer Doer }

// NewAgents returns a client that speaks through p.
func NewAgents(p Doer) *Agents { return &Agents{peer: p} }

// CheckKey says whose key it is, and notes that it was used. Faults: missing_api_key, invalid_api_key.
func (a *Agents) CheckKey(ctx context.Context, authorization string) (*booking.CheckedKey, error) {
	response, err := a.peer.Do(ctx, peer.Request{
		Method: http.MethodPost, Path: "/internal/keys/check", Header: http.Header{"Authorization": {authorization}},
		Repeatable: true, Reads: true,
	})
	if err != nil {
		return nil, err
	}
	key := new(booking.CheckedKey)
	if err := json.Unmarshal(response.Body, key); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The booking service gave an unreadable answer; try again shortly.")
	}
	return key, nil
}

// Confirmation is a 201 of POST /book: its body as it is sent, and whether it was stored for the idempotency key.
type Confirmation struct {
	Body     []byte
	Replayed bool
}

// Book is POST /book for a request that CheckKey has counted: the same checks, answers and faults. body is a JSON
// object; idempotencyKey is "" without one.
func (a *Agents) Book(ctx context.Context, slug, authorization, idempotencyKey string, body []byte) (*Confirmation, error) {
	header := http.Header{"Authorization": {authorization}, "Content-Type": {"application/json"}}
	if idempotencyKey != "" {
		header["Idempotency-Key"] = []string{idempotencyKey}
	}
	ctx = actor.With(ctx, actor.Actor{Kind: actor.APIKey})
	response, err := a.peer.Do(ctx, peer.Request{
		Method: http.MethodPost, Path: "/internal/api/public/" + url.PathEscape(slug) + "/book", Header: header, Body: body,
		Repeatable: idempotencyKey != "",
	})
	if err != nil {
		return nil, err
	}
	return &Confirmation{Body: response.Body, Replayed: response.Header.Get("Idempotent-Replayed") == "true"}, nil
}
