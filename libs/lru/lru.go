// Package lru keeps values in memory up to a size of them all together, mostly in bytes, where github.com/hashicorp/golang-lru
// bounds their number.
package lru

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps values of up to a size together; the least recently used goes first. It is safe for use by many goroutines.
type Cache[K comparable, V any] struct {
	most int
	size func(V) int

	mu     sync.Mutex
	values *simplelru.LRU[K, V]
	total  int // of the sizes
}

// New returns an empty cache of up to most; 0 keeps nothing. size is the size of a value, the same each time.
func New[K comparable, V any](most int, size func(V) int) *Cache[K, V] {
	c := &Cache[K, V]{most: most, size: size}
	c.values, _ = simplelru.NewLRU(1<<30, func(_ K, v V) { c.total -= size(v) }) // by number the bound is out of reach
	return c
}

// Get returns the value kept for key.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values.Get(key)
}

// Put keeps a value in place of an older one of the same key. One that would take more than a quarter of the memory is not
// kept: it would push out what many others ask for.
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

// Remove forgets what is kept for key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(key)
}
