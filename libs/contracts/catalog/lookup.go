package catalog

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/google/uuid"
)

// identified is an element of an offer that is found by its id.
type identified[T any] interface {
	*T
	id() uuid.UUID
}

func (s *Service) id() uuid.UUID { return s.ID }
func (s *Staff) id() uuid.UUID   { return s.ID }
func (e *Event) id() uuid.UUID   { return e.ID }
func (r *Rental) id() uuid.UUID  { return r.ID }

// ShortestDays returns the minimal number of days of a rental, 1 by default.
func (r *Rental) ShortestDays() int {
	if r.MinRentalDays == nil {
		return 1
	}
	return max(1, *r.MinRentalDays)
}

// index finds the elements of a list by id. It holds their positions in the order of
// the ids. It is smaller than a map, and every service keeps many offers in memory.
type index []int32

func newIndex[T any, P identified[T]](list []T) index {
	places := make(index, len(list))
	for i := range places {
		places[i] = int32(i) // the limit on a manifest's size bounds its lists
	}
	slices.SortFunc(places, func(i, j int32) int {
		a, b := P(&list[i]).id(), P(&list[j]).id()
		return bytes.Compare(a[:], b[:])
	})
	return places
}

// find returns the element with this id, or nil.
func find[T any, P identified[T]](list []T, places index, id uuid.UUID) *T {
	at, ok := slices.BinarySearchFunc(places, id, func(i int32, id uuid.UUID) int {
		own := P(&list[i]).id()
		return bytes.Compare(own[:], id[:])
	})
	if !ok {
		return nil
	}
	return &list[places[at]]
}

// compact reduces the memory of an offer. It removes the unused capacity of
// lists after decoding, and lets services with the same members share one list.
func (o *Offer) compact() {
	o.Staff, o.Services, o.Events, o.Rentals = exact(o.Staff), exact(o.Services), exact(o.Events), exact(o.Rentals)
	shared := map[uint64][]uuid.UUID{} // by hash
	var hash maphash.Hash
	for i := range o.Services {
		s := &o.Services[i]
		hash.Reset()
		for _, id := range s.StaffIDs {
			_, _ = hash.Write(id[:])
		}
		same, known := shared[hash.Sum64()]
		switch {
		case !known || !slices.Equal(same, s.StaffIDs):
			s.StaffIDs = exact(s.StaffIDs)
			shared[hash.Sum64()] = s.StaffIDs
		case len(same) > 0:
			s.StaffIDs = same
		}
	}
}

// exact returns the list without spare capacity. nil stays nil, because JSON encodes it differently from an empty list.
func exact[T any](list []T) []T {
	if list == nil || len(list) == cap(list) {
		return list
	}
	tight := make([]T, len(list))
	copy(tight, list)
	return tight
}
