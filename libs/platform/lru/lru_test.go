package lru_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/platform/lru"
)

func TestPutEvictsLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	c := lru.New[string](12, func(s string) int { return len(s) })
	has := func(want string) {
		t.Helper()
		var got string
		for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
			if _, ok := c.Get(key); ok {
				got += key
			}
		}
		if got != want {
			t.Errorf("the cache contains %s, want %s", got, want)
		}
	}
	for _, key := range []string{"a", "b", "c", "d"} {
		c.Put(key, "123")
	}
	has("abcd")
	c.Put("d", "12") // in place of the longer one: a byte is free
	c.Put("e", "1")
	has("abcde")
	c.Put("f", "1")
	has("bcdef")
	c.Put("c", "1234") // more than a quarter: the older one goes all the same
	has("bdef")
}

func TestPutKeepsMaxSize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const maxSize, keys = 100, 20
		c := lru.New[int](maxSize, func(v int) int { return v })
		for _, size := range rapid.SliceOfN(rapid.IntRange(1, 30), 1, 100).Draw(t, "sizes") {
			key := rapid.IntRange(0, keys-1).Draw(t, "key")
			c.Put(key, size)
			if got, ok := c.Get(key); ok != (size <= maxSize/4) || ok && got != size {
				t.Fatalf("a value of %d bytes: got %d, found %v", size, got, ok)
			}
			total := 0
			for key := range keys {
				kept, _ := c.Get(key)
				total += kept
			}
			if total > maxSize {
				t.Fatalf("the cache contains %d bytes, the maximum is %d", total, maxSize)
			}
		}
	})
}

func TestZeroMaxSizeStoresNothing(t *testing.T) {
	t.Parallel()
	c := lru.New[int](0, func(s string) int { return len(s) })
	c.Put(1, "x")
	if v, ok := c.Get(1); ok {
		t.Error(strings.TrimSpace(v))
	}
}
