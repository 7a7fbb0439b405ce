package catalog

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/google/uuid"
)

// identified is implemented by the elements of a snapshot that can be found by their id.
type identified[T any] interface {
	*T
	id() uuid.UUID
}

func (s *Service) id() uuid.UUID { return s.ID }
func (s *Staff) id() uuid.UUID   { return s.ID }
func (e *Event) id() uuid.UUID   { return e.ID }
func (r *Rental) id() uuid.UUID  { return r.ID }

// ShortestDays returns the minimal number of days of a rental. The default is 1.
func (r *Rental) ShortestDays() int {
	if r.MinRentalDays == nil {
		return 1
	}
	return max(1, *r.MinRentalDays)
}

// index finds the elements of a list by their id. It holds the positions of the
// elements in the list, in the order of the ids. An index is used instead of a map
// because it needs less memory, and every service keeps many snapshots in memory.
type index []int32

func newIndex[T any, P identified[T]](list []T) index {
	places := make(index, len(list))
	for i := range places {
		places[i] = int32(i) // the maximal size of a manifest limits the length of its lists
	}
	slices.SortFunc(places, func(i, j int32) int {
		a, b := P(&list[i]).id(), P(&list[j]).id()
		return bytes.Compare(a[:], b[:])
	})
	return places
}

// find returns the element of a list with the given id, or nil.
// The argument `places` is the index that newIndex made of the list.
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

// compact reduces the memory that a snapshot needs. It removes the unused capacity of lists,
// which decoding leaves, and lets services with the same staff members share one list.
func (o *Snapshot) compact() {
	o.Staff, o.Services, o.Events, o.Rentals = trimCapacity(o.Staff), trimCapacity(o.Services), trimCapacity(o.Events),
		trimCapacity(o.Rentals)
	shared := map[uint64][]uuid.UUID{} // by hash of the list
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
			s.StaffIDs = trimCapacity(s.StaffIDs)
			shared[hash.Sum64()] = s.StaffIDs
		case len(same) > 0:
			s.StaffIDs = same
		}
	}
}

// trimCapacity returns the list without unused capacity. A nil list stays
// nil, because JSON encodes nil and an empty list differently.
func trimCapacity[T any](list []T) []T {
	if list == nil || len(list) == cap(list) {
		return list
	}
	tight := make([]T, len(list))
	copy(tight, list)
	return tight
}
