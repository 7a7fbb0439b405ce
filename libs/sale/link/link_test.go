package link_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/sale/link"
)

const (
	newSecret = "0f9e8d7c6b5a49382716f5e4d3c2b1a0"
	oldSecret = "a1b2c3d4e5f60718293a4b5c6d7e8f90"
	pages     = "https://book.example.org"
)

func openLinks(t testing.TB, pages string, secrets ...string) *link.Links {
	t.Helper()
	cfg := link.Config{Secrets: secrets, PagesURL: pages}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	links, err := cfg.Open()
	if err != nil {
		t.Fatal(err)
	}
	return links
}

var kinds = []event.SubjectKind{event.Booking, event.Ticket, event.Reservation}

// TestURLIsStableUntilSecretIsRemoved shows that the token of a link leads to the stored hash. The same link is
// built again as long as its secret is configured. The hash gives no link for another id or kind.
func TestURLIsStableUntilSecretIsRemoved(t *testing.T) {
	original, rotated, removed := openLinks(t, pages, oldSecret), openLinks(t, pages+"/", newSecret, oldSecret),
		openLinks(t, pages, newSecret)
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		id := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		stored := original.Hash(kind, id)
		url := original.URL(kind, id, stored)
		token, isLink := strings.CutPrefix(url, pages+"/m/")
		if hash, ok := link.HashToken(token); !isLink || !ok || !link.IsSame(hash, stored) || len(stored) != sha256.Size ||
			len(token) != 22 {
			t.Fatalf("%s does not match its stored hash", url)
		}
		if second := rotated.URL(kind, id, stored); second != url {
			t.Fatalf("after a new secret was added, the link is %s, before %s", second, url)
		}
		if other := rotated.Hash(kind, id); link.IsSame(other, stored) {
			t.Fatal("the new secret makes the old one's links")
		}
		for name, url := range map[string]string{
			"of a lost secret": removed.URL(kind, id, stored), "of what was forgotten": original.URL(kind, id, nil),
			"of another": original.URL(kind, uuid.New(), stored), "of another kind": original.URL(kind+"s", id, stored),
		} {
			if url != "" {
				t.Fatalf("the link %s is shown as %s", name, url)
			}
		}
		seen[token] = true
	})
	if len(seen) < 2 {
		t.Error("nothing was tried")
	}
}

// TestChangedTokenHasOtherHash changes a byte of a token, and expects that no other text leads to the same
// hash.
func TestChangedTokenHasOtherHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token, stored := link.NewToken()
		changed := []byte(token)
		at := rapid.IntRange(0, len(changed)-1).Draw(t, "at")
		changed[at] = rapid.Byte().Draw(t, "byte")
		hash, ok := link.HashToken(string(changed))
		if string(changed) != token && ok && link.IsSame(hash, stored) {
			t.Fatalf("%q leads where %q does", changed, token)
		}
	})
	for _, none := range []string{"", "x", strings.Repeat("A", 21), strings.Repeat("A", 23),
		strings.Repeat("A", 22) + "==", strings.Repeat("+", 22), strings.Repeat("A", 1<<20)} {
		if _, ok := link.HashToken(none); ok {
			t.Errorf("HashToken accepts %.30q as a token", none)
		}
	}
}

func TestURLIsEmptyWithoutPagesURL(t *testing.T) {
	links, id := openLinks(t, "", newSecret), uuid.New()
	if url := links.URL(event.Booking, id, links.Hash(event.Booking, id)) + links.FeedURL("token"); url != "" {
		t.Errorf("%s is shown", url)
	}
}

func TestValidateNamesInvalidSettings(t *testing.T) {
	for name, cfg := range map[string]link.Config{
		"LINK_SECRETS": {Secrets: []string{newSecret, "short"}},
		"PAGES_URL":    {PagesURL: "book.example.org"},
		"PAGES_URL: w": {PagesURL: "https://book.example.org/?a=b"},
	} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, want a fault that names %s", cfg, err, name)
		}
	}
	if _, err := (&link.Config{}).Open(); err == nil || !strings.Contains(err.Error(), "LINK_SECRETS") {
		t.Errorf("links are made without a secret: %v", err)
	}
}
