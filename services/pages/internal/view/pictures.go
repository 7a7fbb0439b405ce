package view

import (
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// pictureSource returns the src of a picture: the path alone if the picture was uploaded, otherwise the given URL. A page
// loads pictures only from its own origin, and a visitor may reach it by another host name than that of PUBLIC_URL.
func pictureSource(address string) string {
	if i := strings.Index(address, "/media/"); i >= 0 {
		if _, _, _, ok := catalog.ParsePictureFile(address[i+len("/media/"):]); ok {
			return address[i:]
		}
	}
	return address
}
