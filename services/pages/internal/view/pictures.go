package view

import (
	"iter"
	"slices"
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

// findUpload returns the uploaded picture with a file at the given URL. If no part of the published business shows the
// picture, the result has neither size nor colour, because the URL does not contain them. The last result is false if the
// URL is not that of an uploaded picture.
func (p *Page) findUpload(address string) (catalog.Picture, bool) {
	id, ok := parseUpload(address)
	for of := range p.pictures() {
		if ok && of.ID == id {
			return *of, true
		}
	}
	return catalog.Picture{ID: id}, ok
}

// parseUpload returns the id of the uploaded picture with a file at the given URL.
func parseUpload(address string) (string, bool) {
	if i := strings.Index(address, "/media/"); i >= 0 {
		id, _, _, ok := catalog.ParsePictureFile(address[i+len("/media/"):])
		return id, ok
	}
	return "", false
}

// pictures returns the uploaded pictures that the pages of the business show, without its logo.
func (p *Page) pictures() iter.Seq[*catalog.Picture] {
	return func(yield func(*catalog.Picture) bool) {
		s := p.Business.Snapshot
		isDone := s.Page.Cover != nil && !yield(s.Page.Cover)
		for i := 0; !isDone && i < len(s.Page.Gallery); i++ {
			isDone = !yield(&s.Page.Gallery[i])
		}
		for i := 0; !isDone && i < len(s.Services); i++ {
			isDone = s.Services[i].Picture != nil && !yield(s.Services[i].Picture)
		}
		for i := 0; !isDone && i < len(s.Staff); i++ {
			isDone = s.Staff[i].Photo != nil && !yield(s.Staff[i].Photo)
		}
		for i := 0; !isDone && i < len(s.Events); i++ {
			isDone = s.Events[i].Picture != nil && !yield(s.Events[i].Picture)
		}
		for i := 0; !isDone && i < len(s.Rentals); i++ {
			isDone = s.Rentals[i].Picture != nil && !yield(s.Rentals[i].Picture)
		}
	}
}

// HasColours reports whether the page needs a style with the colours of the business.
func (p *Page) HasColours() bool {
	return p.Business.Snapshot.Page.Accent != "" || len(p.pictureColours()) > 0
}

// maxColours is the maximum number of colours in the style of a page. Further pictures have a neutral background.
const maxColours = 100

// pictureColours returns the colours of the business's pictures, each once.
func (p *Page) pictureColours() []string {
	var all []string
	for of := range p.pictures() {
		if of.Colour != "" && len(all) < maxColours && !slices.Contains(all, of.Colour) {
			all = append(all, of.Colour)
		}
	}
	return all
}

// thumbnailSource returns the src of a small picture: the path alone if the picture was uploaded, otherwise the given
// URL. A page loads uploaded pictures from its own origin, and a visitor may reach it by another host name than that of
// PUBLIC_URL.
func thumbnailSource(address, format string) string {
	if id, ok := parseUpload(address); ok {
		return catalog.Picture{ID: id}.Path(thumbnailWidth, format)
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
		if w < width {
			break // the larger files are equal
		}
	}
	return strings.Join(files, ", ")
}

// shareImage returns the absolute URL of the picture that other sites show beside a link to the page: that of the event
// or the rental, otherwise the cover of the business, otherwise its logo. Some sites accept only JPEG.
func (p *Page) shareImage() string {
	if id, isUpload := parseUpload(p.Image); isUpload {
		return p.Base + catalog.Picture{ID: id}.Path(800, "jpg")
	}
	if p.Image != "" {
		return p.Image
	}
	if cover := p.Business.Snapshot.Page.Cover; cover != nil {
		return p.Base + cover.Path(800, "jpg")
	}
	return p.Business.LogoURL
}
