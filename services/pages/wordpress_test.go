package pages_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// TestWordPressPluginEscapesAttributes runs the plugin for WordPress with PHP. It shows the tag of embed.js, escapes
// attributes, and refuses an invalid site or slug.
func TestWordPressPluginEscapesAttributes(t *testing.T) {
	t.Parallel()
	php, err := inputs.LookPath("php")
	if err != nil {
		testkit.SkipOrFail(t, "php is not installed")
	}
	if output, err := exec.CommandContext(t.Context(), php, "-l", "wordpress/slotmesh-booking.php").
		CombinedOutput(); err != nil {
		t.Fatalf("%s", output)
	}
	command := exec.CommandContext(t.Context(), php, "-d", "display_errors=stderr", "wordpress/test.php")
	command.Stdin = strings.NewReader(`[
		{"site": "https://book.example.com/", "slug": "harbor", "lang": "de", "label": "\"><b>", "onload": "x"},
		{"site": "https://book.example.com", "slug": "harbor", "mode": "popup"},
		{"site": "javascript:alert(1)", "slug": "harbor"}, {"site": "https://book.example.com", "slug": "../x"}, ""]`)
	var problems strings.Builder
	command.Stderr = &problems
	output, err := command.Output()
	const refused = `<!-- slotmesh: write site="https://book.example.com" slug="name-of-the-business" -->`
	want := strings.Join([]string{
		`<script src="https://book.example.com/embed.js" data-slug="harbor" data-mode="inline" data-lang="de" ` +
			`data-label="&quot;&gt;&lt;b&gt;"></script><noscript><a href="https://book.example.com/b/harbor">` +
			`&quot;&gt;&lt;b&gt;</a></noscript>`,
		`<script src="https://book.example.com/embed.js" data-slug="harbor" data-mode="popup"></script>` +
			`<noscript><a href="https://book.example.com/b/harbor">Book</a></noscript>`,
		refused, refused, refused, "same\n",
	}, "\n")
	if err != nil || problems.Len() > 0 || string(output) != want {
		t.Errorf("%v %s\n%s\nwant\n%s", err, &problems, output, want)
	}
}
