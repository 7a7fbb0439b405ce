package link_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/sale/link"
)

// TestDecisionTokensAreSigned shows that a token gives back its decision, under every secret of the service, and that
// no changed token, other business, other secret or other kind of token does.
func TestDecisionTokensAreSigned(t *testing.T) {
	original, rotated, removed := openLinks(t, pages, oldSecret), openLinks(t, pages, newSecret, oldSecret),
		openLinks(t, pages, newSecret)
	business := uuid.New()
	d := link.Decision{Business: business, Booking: uuid.New(), Recipient: link.RecipientID(business, "Ana@example.com")}
	token := original.DecisionToken(d)
	if !link.IsDecisionToken(token) || strings.Contains(token, "=") {
		t.Errorf("the token is %s", token)
	}
	if url := original.DecisionURL("harbor", d); url != pages+"/b/harbor/decide/"+token {
		t.Errorf("the URL is %s", url)
	}
	if url := openLinks(t, "", oldSecret).DecisionURL("harbor", d); url != "" {
		t.Errorf("without PAGES_URL, the URL is %s", url)
	}
	for _, links := range []*link.Links{original, rotated} {
		if got, isValid := links.ReadDecision(business, token); !isValid || got != d {
			t.Errorf("got %+v, %t", got, isValid)
		}
	}
	if _, isValid := removed.ReadDecision(business, token); isValid {
		t.Error("the token of a removed secret is valid")
	}
	if _, isValid := original.ReadDecision(uuid.New(), token); isValid {
		t.Error("the token is valid for another business")
	}
	for i := range token {
		changed := []byte(token)
		changed[i] = map[bool]byte{true: 'B', false: 'A'}[changed[i] == 'A']
		if _, isValid := original.ReadDecision(business, string(changed)); isValid {
			t.Errorf("the token with another character %d is valid", i)
		}
	}
	for _, malformed := range []string{"", "x", token + "A", token[:22], token + "=", strings.Repeat("a", 64)} {
		if _, isValid := original.ReadDecision(business, malformed); isValid {
			t.Errorf("%q is valid", malformed)
		}
	}
}

// TestRecipientIDsBelongToOneBusiness shows that the case of an address does not matter, and that the same address has
// different ids at two businesses.
func TestRecipientIDsBelongToOneBusiness(t *testing.T) {
	a, b := uuid.New(), uuid.New()
	if link.RecipientID(a, "Ana@Example.com") != link.RecipientID(a, "ana@example.com") {
		t.Error("the case matters")
	}
	if link.RecipientID(a, "ana@example.com") == link.RecipientID(b, "ana@example.com") ||
		link.RecipientID(a, "ana@example.com") == link.RecipientID(a, "bea@example.com") {
		t.Error("two recipients have one id")
	}
}
