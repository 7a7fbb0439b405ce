package view

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/sale/reference"
)

// TestTicketsHaveCodes shows that each ticket of a sold order has a code of its own, and that an order without valid
// tickets has none.
func TestTicketsHaveCodes(t *testing.T) {
	t.Parallel()
	order := &booking.CustomerTicket{ID: uuid.MustParse("01a21c6f-eeca-7d6c-9518-1aabe0d800fc"), Status: "sold",
		Tiers: []booking.SoldTier{{TierName: "Stalls", Quantity: 2}, {TierName: "Balcony", Quantity: 1}}}
	var labels []string
	squares := map[string]bool{}
	for _, c := range ticketCodes(order) {
		labels = append(labels, c.tier+" "+c.label)
		squares[c.square] = true
	}
	if got, want := strings.Join(labels, ", "), "Stalls 01A2-1C6F/1, Stalls 01A2-1C6F/2, Balcony 01A2-1C6F/3"; got != want ||
		len(squares) != 3 {
		t.Errorf("%d different codes of %s, want %s", len(squares), got, want)
	}
	for _, status := range []string{booking.StatusPending, booking.StatusCancelled} {
		unpaid := *order
		if unpaid.Status = status; len(ticketCodes(&unpaid)) > 0 {
			t.Errorf("tickets that are %s have codes", status)
		}
	}
}

// TestDrawnCodeHasModulesOfQR shows that the path of the SVG covers exactly the dark modules of the QR code.
func TestDrawnCodeHasModulesOfQR(t *testing.T) {
	t.Parallel()
	order := uuid.New()
	path, size := drawQR(order, 17)
	code, err := reference.TicketCode(order, 17)
	if err != nil {
		t.Fatal(err)
	}
	dark := map[[2]int]bool{}
	for _, m := range regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`).FindAllStringSubmatch(path, -1) {
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1])
		}
		if n[2] != n[3] {
			t.Errorf("an open rectangle: %s", m[0])
		}
		for x := range n[2] {
			dark[[2]int{n[0] + x - reference.QuietZone, n[1] - reference.QuietZone}] = true
		}
	}
	width := code.Bounds().Dx()
	for x := range width {
		for y := range width {
			r, _, _, _ := code.At(x, y).RGBA()
			if (r == 0) != dark[[2]int{x, y}] {
				t.Fatalf("the module %d,%d is wrong", x, y)
			}
		}
	}
	if size != width+2*reference.QuietZone {
		t.Errorf("the width is %d for %d modules", size, width)
	}
}
