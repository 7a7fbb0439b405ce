package reference_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/reference"
)

func TestReferencesAreShort(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("01a21c6f-eeca-7d6c-9518-1aabe0d800fc")
	if got := reference.OfTicket(id, 12); got != "01A2-1C6F/12" || reference.Of(id) != "01A2-1C6F" {
		t.Errorf("got %s and %s", reference.Of(id), got)
	}
}

// TestTicketCodesDiffer shows that each ticket has its own code, and that the codes of one order have one size.
func TestTicketCodesDiffer(t *testing.T) {
	t.Parallel()
	id, seen := uuid.New(), map[string]int{}
	for n := 1; n <= 50; n++ {
		code, err := reference.TicketCode(id, n)
		if err != nil {
			t.Fatal(err)
		}
		size, modules := code.Bounds().Dx(), ""
		for y := range size {
			for x := range size {
				r, _, _, _ := code.At(x, y).RGBA()
				modules += string('0' + rune(r&1))
			}
		}
		if other, exists := seen[modules]; exists || size != 29 {
			t.Errorf("the code of ticket %d has %d modules, like ticket %d", n, size, other)
		}
		seen[modules] = n
	}
}
