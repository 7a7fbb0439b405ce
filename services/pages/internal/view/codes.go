package view

import (
	"image/color"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// ticketCode is the code of one ticket of an order.
type ticketCode struct {
	tier   string
	label  string // the number of the ticket with the short reference of the order, for people
	box    string // the view box of the SVG
	ground string // the white square below the QR code as the path of the SVG
	square string // the QR code as the path of the SVG
}

// quietZone is the width of the empty border that scanners need around a QR code, in modules.
const quietZone = 4

// ticketCodes returns the codes of all tickets of an order. The content of a code is the id of the order and the number
// of the ticket, such as 01a21c6f-eeca-7d6c-9518-1aabe0d800fc/2. It returns nil if the tickets are not valid now.
func ticketCodes(t *booking.CustomerTicket) []ticketCode {
	if t.Status == booking.StatusPending || t.Status == booking.StatusCancelled || t.CanPay {
		return nil
	}
	var codes []ticketCode
	for _, tier := range t.Tiers {
		for range tier.Quantity {
			n := strconv.Itoa(len(codes) + 1)
			square, size := drawQR(ticketCodeText(t.ID, n))
			width := strconv.Itoa(size)
			codes = append(codes, ticketCode{tier.TierName, reference(t.ID) + "/" + n, "0 0 " + width + " " + width,
				"M0 0h" + width + "v" + width + "H0z", square})
		}
	}
	return codes
}

func ticketCodeText(order uuid.UUID, ticket string) string { return order.String() + "/" + ticket }

// drawQR returns the QR code of a text as the path of an SVG, and the width of the SVG. Each row of adjacent dark modules
// is one rectangle of the path.
func drawQR(text string) (string, int) {
	code, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		return "", 0 // cannot happen, because the text is short
	}
	var path strings.Builder
	size := code.Bounds().Dx()
	isDark := func(x, y int) bool { return x < size && code.At(x, y) == color.Black }
	for y := range size {
		for x := 0; x < size; x++ {
			if !isDark(x, y) {
				continue
			}
			from := x
			for isDark(x, y) {
				x++
			}
			width := strconv.Itoa(x - from)
			path.WriteString("M" + strconv.Itoa(from+quietZone) + " " + strconv.Itoa(y+quietZone) + "h" + width +
				"v1h-" + width + "z")
		}
	}
	return path.String(), size + 2*quietZone
}
