package view

import (
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// thumbnailWidth is the width of the files that small pictures show, such as logos: one of [catalog.PictureWidths].
const thumbnailWidth = 200

// pictureSizes is the value of the HTML attribute sizes for pictures of the same width.
type pictureSizes string

const (
	coverSizes   pictureSizes = "(min-width: 69rem) 66rem, 100vw"
	gallerySizes pictureSizes = "(min-width: 60rem) 16rem, 70vw"
	posterSizes  pictureSizes = "(min-width: 60rem) 40rem, 100vw"
)

// findUpload returns the uploaded picture with a file at the given URL. The result has no size, because the URL does
// not contain the size. The last result is false if the URL is not that of an uploaded picture.
func findUpload(address string) (catalog.Picture, bool) {
	if i := strings.Index(address, "/media/"); i >= 0 {
		if id, _, _, ok := catalog.ParsePictureFile(address[i+len("/media/"):]); ok {
			return catalog.Picture{ID: id}, true
		}
	}
	return catalog.Picture{}, false
}

// thumbnailSource returns the src of a small picture: the path alone if the picture was uploaded, otherwise the given
// URL. A page loads uploaded pictures from its own origin, and a visitor may reach it by another host name than that of
// PUBLIC_URL.
func thumbnailSource(address, format string) string {
	if of, ok := findUpload(address); ok {
		return of.Path(thumbnailWidth, format)
	}
	return address
}

// pictureSet returns the URLs of the files of a picture with their widths, in the format of the HTML attribute srcset.
// If the size of the picture is unknown, the widths are the largest possible ones.
func pictureSet(of catalog.Picture) string {
	var files []string
	for _, width := range catalog.PictureWidths {
		w := width
		if of.Width > 0 {
			w, _ = of.Size(width)
		}
		files = append(files, of.Path(width, "webp")+" "+strconv.Itoa(w)+"w")
	}
	return strings.Join(files, ", ")
}

// shareImage returns the absolute URL of the picture that other sites show beside a link to the page: the cover of the
// business, or its logo if it has no cover. Some sites accept only JPEG.
func (p *Page) shareImage() string {
	if cover := p.Business.Snapshot.Page.Cover; cover != nil {
		return p.Base + cover.Path(800, "jpg")
	}
	return p.Business.LogoURL
}
