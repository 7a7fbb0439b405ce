package api

import "testing"

// TestRenderAllocatesIndependentlyOfSlotCount renders 20 and 2,800 slots into existing memory. Both must need the same
// number of allocations. The test is not parallel, because it counts the allocations of the whole process.
func TestRenderAllocatesIndependentlyOfSlotCount(t *testing.T) {
	few, many := newSalonAnswer(t, 2), newSalonAnswer(t, 280)
	l := newList()
	var body []byte
	render := func(a answer) {
		l.slots = a.openings.AppendSlots(l.slots[:0], firstOfWeek)
		body = l.append(body[:0], nil)
	}
	render(few)
	render(many)
	allocs := func(a answer) float64 { return testing.AllocsPerRun(100, func() { render(a) }) }
	if one, other := allocs(few), allocs(many); other > one {
		t.Errorf("20 slots take %v allocations, 2,800 take %v", one, other)
	}
}
