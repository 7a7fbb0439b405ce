package catalogclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// Answers reads public paths of one service with [Read], and caches decoded answers with their entity
// tags. While an answer has not changed, the service responds with status 304 and no body.
type Answers struct {
	peer     *peer.Client
	minBytes int
	cache    *lru.Cache[string, taggedAnswer]
}

// taggedAnswer is a decoded answer with its entity tag and its size.
type taggedAnswer struct {
	tag   string
	value any // shared by all requests, so it must not be changed
	bytes int
}

const maxAnswerBytes = 32 << 20 // maximum total size of the cached answers

// NewAnswers returns an empty cache for the public paths of the service `p`. It does not cache answers shorter than
// `minBytes`, because they are fast to decode.
func NewAnswers(p *peer.Client, minBytes int) *Answers {
	return &Answers{p, minBytes, lru.New[string](maxAnswerBytes, func(a taggedAnswer) int { return a.bytes })}
}

// ReadCached returns an answer of a public path of a business, decoded by the function `decode`. All callers share the
// value and must not change it. Faults: those of [Read] and of `decode`.
func ReadCached[T any](ctx context.Context, a *Answers, slug, path string, query url.Values,
	decode func(body []byte) (T, error)) (T, error) {
	key := slug + "/" + path + "?" + query.Encode()
	cached, _ := a.cache.Get(key)
	value, isCached := cached.value.(T)
	if !isCached {
		cached.tag = ""
	}
	answer, err := Read(ctx, a.peer, slug, path, query, cached.tag)
	if err != nil {
		return *new(T), err
	}
	if isCached && answer.Status == http.StatusNotModified {
		return value, nil
	}
	if value, err = decode(answer.Body); err != nil {
		return *new(T), err
	}
	if tag := answer.Header.Get("ETag"); tag != "" && len(answer.Body) >= a.minBytes {
		a.cache.Put(key, taggedAnswer{tag: tag, value: value, bytes: len(answer.Body)})
	}
	return value, nil
}
