package mcp

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
)

// A long list is shown in many pages, and read for each of them: what was read for one is kept, and the service that has the
// list only says that it is still the same.
const (
	keptFrom  = 32 << 10 // bytes of an answer; smaller ones are read in no time
	keptBytes = 32 << 20 // of all answers together; the least recently used goes first
)

// keptAnswers are safe for use by many goroutines.
type keptAnswers struct {
	mu    sync.Mutex
	lists *simplelru.LRU[string, keptAnswer]
	bytes int
}

// keptAnswer is what was made of an answer with this tag. It is shared by readers and never changed.
type keptAnswer struct {
	tag   string
	value any
	bytes int
}

func newKeptAnswers() *keptAnswers {
	k := &keptAnswers{}
	// The bound is kept by bytes; by number it is out of reach.
	k.lists, _ = simplelru.NewLRU(1<<30, func(_ string, a keptAnswer) { k.bytes -= a.bytes })
	return k
}

func (k *keptAnswers) get(key string) keptAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, _ := k.lists.Get(key)
	return a
}

func (k *keptAnswers) put(key string, a keptAnswer) {
	if a.tag == "" || a.bytes < keptFrom || a.bytes > keptBytes/4 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lists.Remove(key)
	k.lists.Add(key, a)
	for k.bytes += a.bytes; k.bytes > keptBytes; {
		k.lists.RemoveOldest()
	}
}

// Kept reads one path into what empty makes, which prepare then brings into the form that is kept; the same value is given
// to all who read it as long as the service says that its answer is the same.
func (r reads) Kept(ctx context.Context, slug, path string, query url.Values, empty func() any, prepare func(any)) (any, error) {
	key := slug + "/" + path + "?" + query.Encode()
	held := r.kept.get(key)
	answer, err := catalogclient.Read(ctx, r.peer, slug, path, query, held.tag)
	if err != nil {
		return nil, err
	}
	if answer.Status == http.StatusNotModified && held.value != nil {
		return held.value, nil
	}
	value := empty()
	if err := r.decode(answer.Body, value); err != nil {
		return nil, err
	}
	prepare(value)
	r.kept.put(key, keptAnswer{tag: answer.Header.Get("ETag"), value: value, bytes: len(answer.Body)})
	return value, nil
}
