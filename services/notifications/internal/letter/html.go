package letter

import (
	_ "embed"
	"html/template"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/color"
)

//go:embed layout.html
var layoutHTML string

var htmlLayout = template.Must(template.New("letter").Parse(layoutHTML))

// renderHTML renders the page as an HTML document that loads no external resources.
func (p *page) renderHTML() (string, error) {
	var b strings.Builder
	err := htmlLayout.Execute(&b, p)
	return b.String(), err
}

// accent is the colour of a business. The field `On` is a text colour that is readable on the colour in the field
// `Colour`.
type accent struct{ Colour, On template.CSS }

// platformColour is the colour of Slotmesh's mark. It is also the accent colour of letters if the business has no valid
// colour.
var platformColour = color.Color{R: 0x1f, G: 0x4f, B: 0xd8}

// newAccent returns the accent for the given colour. If the colour is invalid, it returns the accent of platformColour.
func newAccent(colour string) accent {
	c, err := color.Parse(colour)
	if err != nil {
		c, colour = platformColour, platformColour.String()
	}
	on := color.White
	if color.Contrast(color.Black, c) > color.Contrast(color.White, c) {
		on = color.Black
	}
	return accent{template.CSS(colour), template.CSS(on.String())}
}
