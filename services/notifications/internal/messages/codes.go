package messages

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/reference"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
)

// modulePixels is the width of a module of a QR code in a picture, in pixels.
const modulePixels = 8

// addCodes adds the pictures of the QR codes that the HTML of a message shows. A stored message has only their names.
func addCodes(message mail.Message, order uuid.UUID) (mail.Message, error) {
	for n := 1; strings.Contains(message.HTML, letter.CodeSource(n)); n++ {
		content, err := drawCode(order, n)
		if err != nil {
			return message, err
		}
		message.Pictures = append(message.Pictures, mail.Picture{ID: letter.CodeID(n), Type: "image/png",
			Name: "ticket-" + strconv.Itoa(n) + ".png", Content: content})
	}
	return message, nil
}

// ShowCodes returns the HTML of a message about an order of tickets with the pictures of its QR codes, which the HTML
// contains. If a code cannot be drawn, its picture has only the text that describes it.
func ShowCodes(html string, order uuid.UUID) string {
	for n := 1; strings.Contains(html, letter.CodeSource(n)); n++ {
		content, err := drawCode(order, n)
		if err != nil {
			return html
		}
		html = strings.Replace(html, letter.CodeSource(n),
			"data:image/png;base64,"+base64.StdEncoding.EncodeToString(content), 1)
	}
	return html
}

// drawCode returns the QR code of a ticket as a PNG file. The file has a white border, so that scanners can read the
// code on a dark background, too.
func drawCode(order uuid.UUID, n int) ([]byte, error) {
	code, err := reference.TicketCode(order, n)
	if err != nil {
		return nil, err
	}
	size := (code.Bounds().Dx() + 2*reference.QuietZone) * modulePixels
	picture := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	for y := range size {
		for x := range size {
			module := image.Pt(x/modulePixels-reference.QuietZone, y/modulePixels-reference.QuietZone)
			if module.In(code.Bounds()) && code.At(module.X, module.Y) == color.Black {
				picture.SetColorIndex(x, y, 1)
			}
		}
	}
	var file bytes.Buffer
	err = png.Encode(&file, picture)
	return file.Bytes(), err
}
