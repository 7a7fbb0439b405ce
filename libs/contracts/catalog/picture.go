package catalog

import (
	"strconv"
	"strings"
	"time"
)

// PictureWidths are the maximal widths of the files of each uploaded picture, in pixels. A file is
// never larger than the original. The height of a file is at most twice the value in PictureWidths.
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

// UploadedPicture is a picture of a business as the list of its pictures shows it.
type UploadedPicture struct {
	Picture
	MIME      string    `json:"mime"`  // type of the uploaded file, such as image/png
	Bytes     int64     `json:"bytes"` // size of all files of the picture
	CreatedAt time.Time `json:"created_at"`
	Used      bool      `json:"used"` // the newest version of the business shows the picture
}

// PictureList is one page of the pictures of a business, in the order of their ids.
type PictureList struct {
	Pictures   []UploadedPicture `json:"pictures"`
	NextCursor string            `json:"next_cursor,omitempty"` // omitted on the last page
}

// MaxPictureBytes is the maximum size of an uploaded file, in bytes.
const MaxPictureBytes = 10 << 20

// IsPictureID reports whether a text has the form of the id of a picture.
func IsPictureID(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}
