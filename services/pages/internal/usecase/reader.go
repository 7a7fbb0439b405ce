// Package usecase implements the actions of the pages as functions without HTTP and HTML. Each
// function calls the services that own the data. All returned errors are faults.
package usecase

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Reader reads the public paths of one service from its internal port. It caches decoded answers with
// their entity tag, so that the service can answer 304 if nothing changed.
type Reader struct {
	peer  *peer.Client
	cache *lru.Cache[string, *kept]
}

const keptBytes = 32 << 20 // size of the cached answers

type kept struct {
	tag   string
	value any // shared by readers, never changed
	bytes int
}

// NewReader returns a reader of a peer's public paths.
func NewReader(p *peer.Client) *Reader {
	return &Reader{p, lru.New[string](keptBytes, func(k *kept) int { return k.bytes })}
}

// read returns the decoded answer of one path of a business. Callers share the value and must not
// change it. Faults: those of the public path; service_unavailable if the answer cannot be decoded.
func read[T any](ctx context.Context, r *Reader, slug, path string, query url.Values) (*T, error) {
	key := slug + "/" + path + "?" + query.Encode()
	before, known := r.cache.Get(key)
	tag := ""
	if known {
		tag = before.tag
	}
	answer, err := catalogclient.Read(ctx, r.peer, slug, path, query, tag)
	if err != nil {
		return nil, err
	}
	if value, ok := valueOf[T](before); ok && answer.Status == http.StatusNotModified {
		return value, nil
	}
	value := new(T)
	if err := json.Unmarshal(answer.Body, value); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: unreadable answer: %w", path, err),
			"A part of the platform gave an unreadable answer; try again shortly.")
	}
	if tag := answer.Header.Get("ETag"); tag != "" {
		r.cache.Put(key, &kept{tag: tag, value: value, bytes: len(answer.Body)})
	}
	return value, nil
}

func valueOf[T any](k *kept) (*T, bool) {
	if k == nil {
		return nil, false
	}
	value, ok := k.value.(*T)
	return value, ok
}
