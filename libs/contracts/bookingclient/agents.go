package bookingclient

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Doer sends one request to a peer service and returns the response
// unchanged. Its errors are faults. *peer.Client implements it.
type Doer interface {
	Do(ctx context.Context, request peer.Request) (*peer.Response, error)
}

// Agents is the client of the booking service that the MCP server uses. Every
// call forwards the Authorization header of the agent's request unchanged.
type Agents struct{ peer Doer }

// NewAgents returns a client that sends its requests through the argument `p`.
func NewAgents(p Doer) *Agents { return &Agents{peer: p} }

// CheckKey returns the API key in the argument `authorization`, which is an Authorization
// header, and records the use of the key. Faults: missing_api_key, invalid_api_key.
func (a *Agents) CheckKey(ctx context.Context, authorization string) (*booking.CheckedKey, error) {
	response, err := a.peer.Do(ctx, peer.Request{
		Method: http.MethodPost, Path: CheckKey.Path, Header: http.Header{"Authorization": {authorization}},
		Repeatable: true, ReadOnly: true,
	})
	if err != nil {
		return nil, err
	}
	key := new(booking.CheckedKey)
	if err := json.Unmarshal(response.Body, key); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The booking service gave an unreadable answer; try again "+
			"shortly.")
	}
	return key, nil
}

// Confirmation is a response 201 to POST /book. Body is the body of the response. Replayed reports that an earlier
// request with the same idempotency key made the booking, and that Body is the stored response to that request.
type Confirmation struct {
	Body     []byte
	Replayed bool
}

// Book sends POST /book. Before it calls Book, the caller must call CheckKey, which counts
// the use of the API key. The argument `body` is a JSON object. If `idempotencyKey` is "",
// the request has no Idempotency-Key. Checks, response and faults are those of POST /book.
func (a *Agents) Book(ctx context.Context, slug, authorization, idempotencyKey string,
	body []byte) (*Confirmation, error) {
	header := http.Header{"Authorization": {authorization}, "Content-Type": {"application/json"}}
	if idempotencyKey != "" {
		header["Idempotency-Key"] = []string{idempotencyKey}
	}
	ctx = actor.With(ctx, actor.Actor{Kind: actor.APIKey})
	response, err := a.peer.Do(ctx, peer.Request{
		Method: http.MethodPost, Path: BookForAgent.URL(&endpoints.OfSlug{Slug: slug}), Header: header,
		Body:       body,
		Repeatable: idempotencyKey != "",
	})
	if err != nil {
		return nil, err
	}
	return &Confirmation{Body: response.Body, Replayed: response.Header.Get("Idempotent-Replayed") == "true"}, nil
}
