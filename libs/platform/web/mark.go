package web

import (
	"net/url"

	"github.com/a-h/templ"
)

// markColor is the colour of Slotmesh's mark on pages that have no accent colour, such as in a browser's tab.
const markColor = "#1f4fd8"

// markShapes are the shapes of Slotmesh's mark inside a square of 64 units: three free places and one that is taken.
const markShapes = `<rect width="64" height="64" rx="14"/><g fill="none" stroke="#fff" stroke-width="4">` +
	`<rect x="15" y="15" width="14" height="14" rx="4"/><rect x="35" y="15" width="14" height="14" rx="4"/>` +
	`<rect x="15" y="35" width="14" height="14" rx="4"/></g><rect x="33" y="33" width="18" height="18" rx="5" ` +
	`fill="#fff"/>`

// MarkIcon is the URL of Slotmesh's mark as an icon of a page.
var MarkIcon = "data:image/svg+xml," + url.PathEscape(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" `+
	`fill="`+markColor+`">`+markShapes+`</svg>`)

// Mark shows Slotmesh's mark as a drawing without text. The style sheet sets its size and its colour.
func Mark() templ.Component {
	return templ.Raw(`<svg class="mark" viewBox="0 0 64 64" width="20" height="20" aria-hidden="true">` +
		markShapes + `</svg>`)
}
