package catalog

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PictureWidths are the maximal widths of the files of each uploaded picture, in pixels. A file is
// never larger than the original. The height of a file is at most twice the value in PictureWidths.
var PictureWidths = [...]int{200, 400, 800, 1600}

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
	return "/media/" + PictureFile(p.ID, width, format)
}

// PictureFormats are the formats in which the catalog service stores each width of a picture.
var PictureFormats = [...]string{"webp", "jpg"}

// PictureFile returns the name of a file of a picture. The argument `width` is one of [PictureWidths], and the argument
// `format` is one of [PictureFormats].
func PictureFile(id string, width int, format string) string {
	return id + "-" + strconv.Itoa(width) + "." + format
}

// PictureFiles returns the names of all files of a picture.
func PictureFiles(id string) []string {
	names := make([]string, 0, len(PictureWidths)*len(PictureFormats))
	for _, width := range PictureWidths {
		for _, format := range PictureFormats {
			names = append(names, PictureFile(id, width, format))
		}
	}
	return names
}

// ParsePictureFile returns the id, the width and the format in the name of a picture's file. The last result reports
// whether the name is one of [PictureFiles].
func ParsePictureFile(name string) (string, int, string, bool) {
	base, format, _ := strings.Cut(name, ".")
	id, digits, _ := strings.Cut(base, "-")
	width, err := strconv.Atoi(digits)
	if err != nil || !IsPictureID(id) || !slices.Contains(PictureFiles(id), name) {
		return "", 0, "", false
	}
	return id, width, format, true
}

// PictureHeaders returns the headers of an answer with a file of a picture. The content at a URL never changes. The
// policy keeps a browser from running anything in the file. Other sites may show the file, because they get its URL
// from the public API.
func PictureHeaders(format string) map[string]string {
	mediaType := "image/" + format
	if format == "jpg" {
		mediaType = "image/jpeg"
	}
	return map[string]string{
		"Content-Type": mediaType, "Cache-Control": "public, max-age=31536000, immutable",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Cross-Origin-Resource-Policy": "cross-origin",
	}
}

// PictureFilePath returns the path of a picture's file below the folder that MEDIA_STORE names. The subfolder is named
// by the first two characters of the file's name, which has more than two characters.
func PictureFilePath(folder, name string) string { return filepath.Join(folder, name[:2], name) }

// MaxPictureFile is the maximum size of a file of a picture that is read from the store, in bytes. The files are much
// smaller.
const MaxPictureFile = 32 << 20

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

// Sentences with which the catalog service refuses a file. In a fault with the code invalid_parameter, the sentence
// follows the name of the part and a colon. Other sentences mean that the file is damaged or cannot be read.
const (
	PictureIsEmpty          = "The file is empty."
	PictureHasOtherFormat   = "The file is not a picture. Accepted are JPEG, PNG, WebP, AVIF and GIF."
	PictureIsSVG            = "SVG files are not accepted, because they can contain programs. Save the picture as PNG."
	PictureIsHEIC           = "HEIC files are not accepted. Save the picture as JPEG."
	PictureHasTooManyPixels = "The picture has too many pixels. Save it with at most 4000 pixels in width."
)

// NoPictureStore is the sentence of the fault conflict if the platform has no store for pictures.
const NoPictureStore = "This platform stores no pictures; its operator sets MEDIA_STORE."
