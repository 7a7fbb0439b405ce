// Package usecase implements the actions of the pages as functions that do not use HTTP or
// HTML. Each function calls the services that own the data. All returned errors are faults.
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

// Reader reads the public paths of one service through the internal port of that service. It caches decoded answers
// together with their entity tags. The next request for the same answer contains the entity tag. If the answer has not
// changed, the service responds with status 304 and no body.
type Reader struct {
	peer  *peer.Client
	cache *lru.Cache[string, *cachedAnswer]
}

const maxCacheBytes = 32 << 20 // the maximum total size of the cached answers

// cachedAnswer is a decoded answer with its entity tag and its size.
type cachedAnswer struct {
	tag   string
	value any // shared by all requests, so it must not be changed
	bytes int
}

// NewReader returns a Reader for the public paths of the service `p`.
func NewReader(p *peer.Client) *Reader {
	return &Reader{p, lru.New[string](maxCacheBytes, func(k *cachedAnswer) int { return k.bytes })}
}

// read returns the decoded answer of one public path of a business. All callers share the returned value and must not
// change it. Faults: the faults of the public path; service_unavailable if the answer cannot be decoded.
func read[T any](ctx context.Context, r *Reader, slug, path string, query url.Values) (*T, error) {
	key := slug + "/" + path + "?" + query.Encode()
	cached, isCached := r.cache.Get(key)
	tag := ""
	if isCached {
		tag = cached.tag
	}
	answer, err := catalogclient.Read(ctx, r.peer, slug, path, query, tag)
	if err != nil {
		return nil, err
	}
	if value, ok := readCachedValue[T](cached); ok && answer.Status == http.StatusNotModified {
		return value, nil
	}
	value := new(T)
	if err := json.Unmarshal(answer.Body, value); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: unreadable answer: %w", path, err),
			"A part of the platform gave an unreadable answer; try again shortly.")
	}
	if tag := answer.Header.Get("ETag"); tag != "" {
		r.cache.Put(key, &cachedAnswer{tag: tag, value: value, bytes: len(answer.Body)})
	}
	return value, nil
}

func readCachedValue[T any](k *cachedAnswer) (*T, bool) {
	if k == nil {
		return nil, false
	}
	value, ok := k.value.(*T)
	return value, ok
}
