package letter

import (
	"fmt"
	"html"
	"strings"
)

// The maximum size of a logo in a letter, in pixels.
const (
	maxLogoHeight = 40
	maxLogoWidth  = 160
)

// PlaceLogo replaces the initial of the business in the HTML of a letter with a picture. The argument `source` is
// the URL of the picture, and `width` and `height` are the picture's size, of which only the ratio counts. The
// second result is false if the HTML has no initial, because an older version wrote it.
func PlaceLogo(letterHTML, source string, width, height int) (string, bool) {
	before, rest, hasMark := strings.Cut(letterHTML, `<td class="mark"`)
	_, after, hasEnd := strings.Cut(rest, "</td>")
	if !hasMark || !hasEnd || width < 1 || height < 1 {
		return letterHTML, false
	}
	shownWidth, shownHeight := max(1, width*maxLogoHeight/height), maxLogoHeight
	if shownWidth > maxLogoWidth {
		shownWidth, shownHeight = maxLogoWidth, max(1, height*maxLogoWidth/width)
	}
	picture := fmt.Sprintf(`<td class="mark" width="%d" valign="middle" aria-hidden="true"><img src="%s" width="%d" `+
		`height="%d" alt="" style="display:block;border:0;border-radius:6px"></td>`, shownWidth,
		html.EscapeString(source), shownWidth, shownHeight)
	return before + picture + after, true
}
