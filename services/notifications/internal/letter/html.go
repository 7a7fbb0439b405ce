package letter

import "github.com/slotmesh/slotmesh/libs/values/color"

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// accent is the colour of a business. The field `On` is a text colour that is readable on the colour in the field
// `Colour`.
type accent struct{ Colour, On string }

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
	return accent{colour, on.String()}
}
