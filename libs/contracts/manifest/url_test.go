package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// TestAddressesCannotInjectCode shows that no accepted address can run a script when a customer presses a button. Nor
// can it end the HTML attribute that contains it.
func TestAddressesCannotInjectCode(t *testing.T) {
	t.Parallel()
	const images, links = true, true
	for address, allowed := range map[string]struct{ image, link bool }{
		"https://a.example/x?y=%22z#f":         {images, links},
		"http://a.example:8080/é":              {images, links},
		"mailto:ada@a.example?subject=Hi%20":   {link: links},
		"tel:+351210000000":                    {link: links},
		"mailto:":                              {},
		"tel://a.example/1":                    {},
		"menu":                                 {},
		"//a.example/x":                        {},
		"/x":                                   {},
		"javascript:alert(1)":                  {},
		"JaVaScRiPt:alert(1)":                  {},
		"\\u0001javascript:alert(1)":           {},
		"java\\tscript:alert(1)":               {},
		"data:text/html,x":                     {},
		"vbscript:x":                           {},
		"blob:https://a.example/x":             {},
		"ftp://a.example/":                     {},
		`https://a.example/\"onload=x`:         {},
		"https://a.example/'onload=x":          {},
		"https://a.example/`x":                 {},
		"https://a.example/<x":                 {},
		"https://a.example/x>":                 {},
		"https://a.example/x y":                {},
		`https:\\\\a.example/`:                 {},
		"https://a.example/\\u00a0x":           {},
		"https://a.example/\\u2028x":           {},
		"https://a.example/\\u202ex":           {},
		"https://a.example/\\n":                {},
		"mailto:a@a.example\\u0000":            {},
		"https://" + strings.Repeat("a", 2000): {},
	} {
		image := isValid(fmt.Sprintf(`"logo_url": "%s", "social_links": {"x": "%[1]s"}, "staff": [{"key": "a", "name": "A", "image_url": "%[1]s"}]`, address))
		if image != allowed.image {
			t.Errorf("%s as the address of an image: %t", address, image)
		}
		contact := isValid(fmt.Sprintf(`"contact": {"website": "%s", "messenger": "%[1]s"}`, address))
		if contact != allowed.image {
			t.Errorf("%s as the website of the business: %t", address, contact)
		}
		for _, kind := range []string{"link", "phone", "x"} {
			link := isValid(fmt.Sprintf(`"action_buttons": [{"type": %q, "label": "L", "content": "%s"}]`, kind,
				address))
			if link != allowed.link {
				t.Errorf("%s as the content of a button of type %s: %t", address, kind, link)
			}
		}
	}
	if isValid(`"action_buttons": [{"type": "link", "label": "L"}]`) ||
		!isValid(`"action_buttons": [{"type": "book", "label": "L"}]`) {
		t.Error("a link needs content, a button of another type does not")
	}
}

func isValid(fields string) bool {
	_, problems := Parse([]byte(`{"apiVersion": "slotmesh/v1", "kind": "Business", "slug": "shop", "name": "Shop", "currency": "EUR",
		"timezone": "Europe/Lisbon", "default_language": "en", ` + fields + `}`))
	return len(problems) == 0
}
