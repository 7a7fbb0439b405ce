package view

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestPicturesHaveColours shows that each uploaded picture has its most frequent colour as the background, and that the
// link to an event or a rental has its own picture on other sites.
func TestPicturesHaveColours(t *testing.T) {
	t.Parallel()
	newPicture := func(digit, colour string) catalog.Picture {
		return catalog.Picture{ID: strings.Repeat(digit, 64), Width: 300, Height: 200, Colour: colour}
	}
	cover, still, cut, ana := newPicture("1", "#010101"), newPicture("2", "#020202"), newPicture("3", "#030303"),
		newPicture("4", "#040404")
	gala, kayak := newPicture("5", "#050505"), newPicture("6", "#030303")
	p := newPage(t, &catalog.Snapshot{
		Page:     catalog.Page{Cover: &cover, Gallery: []catalog.Picture{still}},
		Services: []catalog.Service{{ID: uuid.New(), Picture: &cut}, {ID: uuid.New()}},
		Staff:    []catalog.Staff{{ID: uuid.New(), Photo: &ana}}, Events: []catalog.Event{{Picture: &gala}},
		Rentals: []catalog.Rental{{Picture: &kayak}},
	})
	if !p.HasColours() || strings.Join(p.pictureColours(), " ") != "#010101 #020202 #030303 #040404 #050505" {
		t.Errorf("the colours are %v", p.pictureColours())
	}
	var out strings.Builder
	for _, address := range []string{cut.Path(800, "webp"), ana.Path(800, "webp"), "https://cdn.example/x.png"} {
		if err := thumbnail(p, address, "small", 28, true).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
	}
	if err := poster(p, gala.Path(800, "webp"), "poster", true).Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if err := gallery(p).Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`class="small c-030303"`, `class="small c-040404"`, `class="small"`,
		`class="poster c-050505"`, `class="c-020202"`, "-400.webp 300w\""} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	p.Base, p.Nonce = "https://book.example", "n"
	if image := p.frame("").Image; image != p.Base+cover.Path(800, "jpg") {
		t.Errorf("the page of the business shows %s", image)
	}
	var (
		rental usecase.Rental
		event  usecase.Event
	)
	rental.ImageURL, event.ImageURL = kayak.Path(800, "webp"), "https://cdn.example/gala.png"
	Rental(p, &usecase.Reservation{Rental: &rental}, RentalTimes{})
	if image := p.frame("").Image; image != p.Base+kayak.Path(800, "jpg") {
		t.Errorf("the page of the rental shows %s", image)
	}
	Event(p, &usecase.Basket{Event: &event})
	if image := p.frame("").Image; image != event.ImageURL {
		t.Errorf("the page of the event shows %s", image)
	}
}

func TestThumbnailOfUploadIsSmallFileOfThisOrigin(t *testing.T) {
	t.Parallel()
	media := "/media/" + strings.Repeat("0a", 32)
	for address, want := range map[string]string{
		"https://book.example" + media + "-800.webp": media + "-200.jpg", media + "-800.webp": media + "-200.jpg",
		"https://cdn.example/cut.png":           "https://cdn.example/cut.png",
		"https://cdn.example/media/cut-800.png": "https://cdn.example/media/cut-800.png", "": "",
	} {
		if got := thumbnailSource(address, "jpg"); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
