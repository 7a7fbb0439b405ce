// Package lru provides a cache with a bounded total size, usually in bytes. When the cache is full, it evicts the least
// recently used values. The package github.com/hashicorp/golang-lru is not enough, because it bounds only the number of
// values.
package lru

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache holds values up to a total size and evicts the least recently used ones first. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	maxSize int
	size    func(V) int

	mu     sync.Mutex
	values *simplelru.LRU[K, V]
	total  int // sum of the sizes of all values
}

// New returns an empty cache. The argument `maxSize` is the maximal total size; with 0, the cache stores nothing.
// The function `size` returns the size of a value. It must return the same size at every call for the same value.
func New[K comparable, V any](maxSize int, size func(V) int) *Cache[K, V] {
	c := &Cache[K, V]{maxSize: maxSize, size: size}
	// the total size evicts values long before this number is reached
	c.values, _ = simplelru.NewLRU(1<<30, func(_ K, v V) { c.total -= size(v) })
	return c
}

// Get returns the value for `key`, and whether the cache holds a value for `key`.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values.Get(key)
}

// Put stores the value `v` for `key` and replaces a previous value. It does not store a value larger than a quarter of
// the cache, because that value would evict many others.
func (c *Cache[K, V]) Put(key K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(key)
	size := c.size(v)
	if size > c.maxSize/4 {
		return
	}
	c.values.Add(key, v)
	for c.total += size; c.total > c.maxSize; {
		c.values.RemoveOldest()
	}
}

// Remove removes the value for `key`.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(key)
}
