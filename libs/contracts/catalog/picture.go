package catalog

import "strconv"

// PictureWidths are the widths of the files of each uploaded picture, in pixels. A file is never
// larger than the original, and at most twice as high as its width.
var PictureWidths = [...]int{400, 800, 1600}

// Picture is an uploaded picture. The catalog service serves its files at [Picture.Path].
type Picture struct {
	ID     string `json:"id"`     // SHA-256 of the uploaded file, in hexadecimal
	Width  int    `json:"width"`  // width of the upright original, in pixels
	Height int    `json:"height"` // height of the upright original, in pixels
	Colour string `json:"colour"` // most frequent colour, #rrggbb
}

// Path returns the path of a file of the picture below the public base URL. The argument
// `width` is one of [PictureWidths], and the argument `format` is "webp" or "jpg".
func (p Picture) Path(width int, format string) string {
	return "/media/" + p.ID + "-" + strconv.Itoa(width) + "." + format
}

// Size returns the width and the height of the file for one of [PictureWidths], in pixels.
func (p Picture) Size(width int) (int, int) {
	w, h := p.Width, p.Height
	if w > width {
		w, h = width, (h*width+w/2)/w
	}
	if h > 2*width {
		w, h = (w*2*width+h/2)/h, 2*width
	}
	return max(1, w), max(1, h)
}
