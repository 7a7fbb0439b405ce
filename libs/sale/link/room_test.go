package link_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/link"
)

func newRoomLinks(t *testing.T, secrets ...string) *link.Links {
	t.Helper()
	links, err := (&link.Config{Secrets: secrets, PagesURL: "https://book.example"}).Open()
	if err != nil {
		t.Fatal(err)
	}
	return links
}

func TestRoomURLFillsTheTemplate(t *testing.T) {
	t.Parallel()
	old, id := newRoomLinks(t, strings.Repeat("o", 32)), uuid.New()
	secret, template := old.RoomSecret(), "https://meet.example.org/{code}?x=1"
	got := old.RoomURL(template, secret, id)
	if !regexp.MustCompile(`^https://meet\.example\.org/[a-z2-7]{26}\?x=1$`).MatchString(got) {
		t.Errorf("the link is %s", got)
	}
	if other := old.RoomURL(template, secret, uuid.New()); other == got {
		t.Error("two bookings have one link")
	}
	token := strings.TrimPrefix(old.URL(event.Booking, id, old.Hash(event.Booking, id)), "https://book.example/m/")
	if strings.Contains(got, token) || token == "" {
		t.Error("the code of the meeting is the token of the customer's link")
	}
	rotated := newRoomLinks(t, strings.Repeat("n", 32), strings.Repeat("o", 32))
	if after := rotated.RoomURL(template, secret, id); after != got {
		t.Errorf("with a new secret, the link is %s instead of %s", after, got)
	}
	if rotated.RoomSecret() == secret {
		t.Error("new bookings keep the old secret")
	}
	removed := newRoomLinks(t, strings.Repeat("n", 32))
	if got := removed.RoomURL(template, secret, id); got != "" {
		t.Errorf("without its secret, the link is %s", got)
	}
	for template, want := range map[string]string{
		"https://zoom.example/j/1":         "https://zoom.example/j/1",
		"https://zoom.example/j/{booking}": "https://zoom.example/j/" + id.String(),
	} {
		if got := removed.RoomURL(template, "", id); got != want {
			t.Errorf("%s becomes %s", template, got)
		}
	}
}
