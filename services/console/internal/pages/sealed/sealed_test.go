package sealed_test

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/services/console/internal/pages/sealed"
)

func newBox(t testing.TB, secrets ...string) *sealed.Box {
	t.Helper()
	b, err := sealed.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSealedValuesOpenOnlyWithSameSecrets shows that a sealed value opens again, also while a new secret replaces
// the old one. It does not open with another secret. Equal values are sealed alike.
func TestSealedValuesOpenOnlyWithSameSecrets(t *testing.T) {
	t.Parallel()
	mine, rotating, others := newBox(t, "one"), newBox(t, "two", "one"), newBox(t, "three")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		value := mine.Seal(text)
		if mine.Seal(text) != value || strings.Trim(value[1:],
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Fatalf("%q is sealed as %q", text, value)
		}
		for _, b := range []*sealed.Box{mine, rotating} {
			if got, ok := b.Open(value); !ok || got != text {
				t.Fatalf("%q opens as %q, %v", value, got, ok)
			}
		}
		if _, ok := others.Open(value); ok {
			t.Fatal("another installation opens it")
		}
		at := rapid.IntRange(1, len(value)-1).Draw(t, "at")
		if broken := value[:at] + "!" + value[at+1:]; broken != value {
			if _, ok := mine.Open(broken); ok {
				t.Fatalf("%q opens", broken)
			}
		}
	})
}

// TestSealedValuesOpenOnlyForSameBusiness shows that a value that is sealed for one business does not open for
// another. The same value is sealed differently for each business.
func TestSealedValuesOpenOnlyForSameBusiness(t *testing.T) {
	t.Parallel()
	b := newBox(t, "one")
	harbor, quay := b.ForBusiness("harbor"), b.ForBusiness("quay")
	value := harbor.Seal("zoe@example.com")
	if got, ok := newBox(t, "two", "one").ForBusiness("harbor").Open(value); !ok || got != "zoe@example.com" {
		t.Errorf("the same business decrypts the value as %q, %v", got, ok)
	}
	for name, other := range map[string]*sealed.Box{"another business": quay, "no business": b} {
		if got, ok := other.Open(value); ok {
			t.Errorf("%s opens it as %q", name, got)
		}
		if other.Seal("zoe@example.com") == value {
			t.Errorf("%s seals alike", name)
		}
	}
}

// TestSealQueryHidesAddresses shows that a sealed path contains no e-mail address, and that the opened query
// equals the original one.
func TestSealQueryHidesAddresses(t *testing.T) {
	t.Parallel()
	b := newBox(t, "one")
	rapid.Check(t, func(t *rapid.T) {
		values := url.Values{}
		for _, name := range []string{"email", "name", "phone", "query", "from"} {
			if rapid.Bool().Draw(t, "has "+name) {
				values.Set(name, rapid.SampledFrom([]string{"", "Zoë", "zoe@example.com", "2027-03-01", "~x"}).Draw(t,
					name))
			}
		}
		values.Del("from")
		path := "/customers?" + values.Encode()
		value := b.SealPath(path)
		if strings.Contains(value, "example") || b.SealPath(value) != value {
			t.Fatalf("%s is shown as %s", path, value)
		}
		_, query, _ := strings.Cut(value, "?")
		read, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		b.OpenQuery(read)
		if read.Encode() != values.Encode() {
			t.Fatalf("%v is read as %v", values, read)
		}
	})
}
