package pages_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// TestWordPressPluginEscapesAttributes runs the plugin for WordPress with PHP. It shows the tag of embed.js from the site
// that an administrator has set, escapes attributes, and refuses any other site and an invalid slug.
func TestWordPressPluginEscapesAttributes(t *testing.T) {
	t.Parallel()
	inputs.Checkout("services") // Go's test cache does not see the files that PHP reads
	php, err := inputs.LookPath("php")
	if err != nil {
		testkit.SkipOrFail(t, "php is not installed")
	}
	if output, err := exec.CommandContext(t.Context(), php, "-l", "wordpress/slotmesh-booking.php").
		CombinedOutput(); err != nil {
		t.Fatalf("%s", output)
	}
	const (
		input = `<input type="url" class="regular-text" id="slotmesh_site" name="slotmesh_site" value="%s" ` +
			`placeholder="https://book.example.com">`
		other = "<!-- slotmesh: leave site out, or write the same address as in Settings › General -->"
		unset = "<!-- slotmesh: an administrator writes the address of the booking pages in Settings › General -->"
	)
	for typed, want := range map[string][]string{
		"https://book.example.com/ ": {
			fmt.Sprintf(input, "https://book.example.com"),
			`<script src="https://book.example.com/embed.js" data-slug="harbor" data-mode="inline" data-lang="de" ` +
				`data-label="&quot;&gt;&lt;b&gt;"></script><noscript><a href="https://book.example.com/b/harbor">` +
				`&quot;&gt;&lt;b&gt;</a></noscript>`,
			`<script src="https://book.example.com/embed.js" data-slug="harbor" data-mode="popup"></script>` +
				`<noscript><a href="https://book.example.com/b/harbor">Book</a></noscript>`,
			other, other, `<!-- slotmesh: write slug="name-of-the-business" -->`, "same\n",
		},
		"javascript:alert(1)": {fmt.Sprintf(input, ""), unset, unset, unset, unset, unset, "same\n"},
	} {
		command := exec.CommandContext(t.Context(), php, "-d", "display_errors=stderr", "wordpress/test.php", typed)
		command.Stdin = strings.NewReader(`[
			{"site": "https://book.example.com/", "slug": "harbor", "lang": "de", "label": "\"><b>", "onload": "x"},
			{"slug": "harbor", "mode": "popup"}, {"site": "https://evil.example", "slug": "harbor"},
			{"site": "javascript:alert(1)", "slug": "harbor"}, {"slug": "../x"}]`)
		var problems strings.Builder
		command.Stderr = &problems
		output, err := command.Output()
		if err != nil || problems.Len() > 0 || string(output) != strings.Join(want, "\n") {
			t.Errorf("%s: %v %s\n%s\nwant\n%s", typed, err, &problems, output, strings.Join(want, "\n"))
		}
	}
}
