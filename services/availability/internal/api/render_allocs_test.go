package api

import "testing"

// In memory that is there, 2,800 slots cost what 20 do: their counts by start. It does not run beside other tests, as
// it counts what the whole process allocates.
func TestRenderingAllocatesNothingForASlot(t *testing.T) {
	few, many := salon(t, 2), salon(t, 280)
	l := newList()
	var body []byte
	render := func(a answer) {
		l.slots = a.openings.AppendOn(l.slots[:0], firstOfWeek)
		body = l.append(body[:0])
	}
	render(few)
	render(many)
	allocs := func(a answer) float64 { return testing.AllocsPerRun(100, func() { render(a) }) }
	if one, other := allocs(few), allocs(many); other > one {
		t.Errorf("20 slots take %v allocations, 2,800 take %v", one, other)
	}
}
