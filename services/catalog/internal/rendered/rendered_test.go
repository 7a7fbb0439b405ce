package rendered

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestCacheEvictsUnusedAnswers(t *testing.T) {
	t.Parallel()
	c := NewCache(20_000)
	wanted := Key{Slug: "wanted"}
	c.Put(wanted, New(make([]byte, 1000), 1, Numbers{}, time.Time{}, time.Time{}))
	for i := range 100 {
		c.Put(Key{Slug: fmt.Sprint(i)}, New(make([]byte, 1000), 1, Numbers{}, time.Time{}, time.Time{}))
		if c.Get(wanted, 1) == nil {
			t.Fatalf("the answer was evicted after %d other answers", i+1)
		}
	}
	if c.Get(Key{Slug: "0"}, 1) != nil {
		t.Error("the first of the others is still there")
	}
}

func TestPutSkipsTooLargeAnswer(t *testing.T) {
	t.Parallel()
	c := NewCache(10_000)
	key := Key{Slug: "large"}
	c.Put(key, New([]byte("small"), 1, Numbers{}, time.Time{}, time.Time{}))
	c.Put(key, New(make([]byte, 2500), 1, Numbers{}, time.Time{}, time.Time{}))
	if c.Get(key, 1) != nil {
		t.Error("the cache contains a too large answer, or the small one that it should replace")
	}
	none := NewCache(0)
	none.Put(key, New([]byte("small"), 1, Numbers{}, time.Time{}, time.Time{}))
	if none.Get(key, 1) != nil {
		t.Error("a cache of no bytes keeps something")
	}
}

func TestGetIgnoresOtherVersions(t *testing.T) {
	t.Parallel()
	c := NewCache(10_000)
	key := Key{Slug: "harbor"}
	c.Put(key, New([]byte("old"), 1, Numbers{}, time.Time{}, time.Time{}))
	if c.Get(key, 2) != nil {
		t.Error("the old version's bytes are found for the newer one")
	}
}

func TestHasNumbersComparesNumbers(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	a := New(nil, 1, Numbers{Prices: map[uuid.UUID]json.Number{id: "9.00"}, Counts: map[uuid.UUID]int{id: 3}},
		time.Time{}, time.Time{})
	for _, n := range []Numbers{
		{}, {Prices: a.Numbers.Prices}, {Prices: a.Numbers.Prices, Counts: map[uuid.UUID]int{id: 4}},
		{Prices: map[uuid.UUID]json.Number{id: "8.00"}, Counts: a.Numbers.Counts},
	} {
		if a.HasNumbers(n) {
			t.Errorf("the answer has the numbers %v", n)
		}
	}
	if !a.HasNumbers(Numbers{Prices: map[uuid.UUID]json.Number{id: "9.00"}, Counts: map[uuid.UUID]int{id: 3}}) {
		t.Error("HasNumbers returns false for the numbers of the answer")
	}
}
