// Package lru is a cache whose total size is bounded, mostly in bytes. It evicts the value that was
// not used for the longest time. github.com/hashicorp/golang-lru bounds the number of values instead.
package lru

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache holds values up to a total size and drops the least recently used ones first. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most int
	size func(V) int

	mu     sync.Mutex
	values *simplelru.LRU[K, V]
	total  int // sum of the sizes
}

// New returns an empty cache with the maximal total size most; a cache of size 0 stores
// nothing. The function size returns the size of a value, which must not change.
func New[K comparable, V any](most int, size func(V) int) *Cache[K, V] {
	c := &Cache[K, V]{most: most, size: size}
	c.values, _ = simplelru.NewLRU(1<<30, func(_ K, v V) { c.total -= size(v) }) // the limit by number is never reached
	return c
}

// Get returns the value for key.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values.Get(key)
}

// Put stores a value for key and replaces the previous one. It does not store a
// value larger than a quarter of the cache, because that would evict many others.
func (c *Cache[K, V]) Put(key K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(key)
	size := c.size(v)
	if size > c.most/4 {
		return
	}
	c.values.Add(key, v)
	for c.total += size; c.total > c.most; {
		c.values.RemoveOldest()
	}
}

// Remove removes the value for key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(key)
}
