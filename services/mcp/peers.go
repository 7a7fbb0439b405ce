package mcp

import (
	"context"
	"fmt"
	"net/url"

	"github.com/segmentio/encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/mcp/internal/gate"
	"github.com/slotmesh/slotmesh/services/mcp/internal/tools"
)

// minCachedBytes is the minimum size of a cached answer in bytes. A long list is shown in many pages, and the tool reads
// the whole list for each page. The cache keeps the decoded list, so that the service only confirms that the list is
// unchanged.
const minCachedBytes = 32 << 10

// reader reads the public paths of one service through the internal port of this service.
type reader struct {
	service string
	peer    *peer.Client
	answers *catalogclient.Answers
}

func newReader(service string, p *peer.Client) reader {
	return reader{service, p, catalogclient.NewAnswers(p, minCachedBytes)}
}

// Read reads one public path of a business and decodes the answer into `out`.
func (r reader) Read(ctx context.Context, slug, path string, query url.Values, out any) error {
	answer, err := catalogclient.Read(ctx, r.peer, slug, path, query, "")
	if err != nil {
		return err
	}
	return r.decode(answer.Body, out)
}

// decode parses the JSON in `body` into `out`. It does not use encoding/json, which takes four times as long
// for long lists. The strings in `out` share memory with `body`, so the caller must not use `body` afterwards.
func (r reader) decode(body []byte, out any) error {
	if _, err := json.Parse(body, out, json.ZeroCopy|json.DontMatchCaseInsensitiveStructFields); err != nil {
		return fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: unreadable answer: %w", r.service, err),
			"The "+r.service+" service gave an unreadable answer; try again shortly.")
	}
	return nil
}

// ReadCached reads a public path of a business. The function `empty` creates the value into which the
// answer is decoded. The function `prepare` converts this value to the form that ReadCached caches
// and returns. While the service answers with the same ETag, all calls return the same cached value.
func (r reader) ReadCached(ctx context.Context, slug, path string, query url.Values, empty func() any,
	prepare func(any) any) (any, error) {
	return catalogclient.ReadCached(ctx, r.answers, slug, path, query, func(body []byte) (any, error) {
		decoded := empty()
		if err := r.decode(body, decoded); err != nil {
			return nil, err
		}
		return prepare(decoded), nil
	})
}

var (
	_ tools.Reader = reader{}
	_ gate.Slugs   = (*catalogclient.Slugs)(nil)
)
