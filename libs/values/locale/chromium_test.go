package locale

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

var update = flag.Bool("update", false, "ask chromium again and rewrite testdata/innertext.json")

// fragments are HTML as an owner may write it.
//
//go:embed testdata/fragments.json
var fragments []byte

const goldenFile = "testdata/innertext.json"

// rendering is the text that Chromium shows for a sanitized fragment.
type rendering struct {
	Fragment  string `json:"fragment"`
	HTML      string `json:"html"`
	InnerText string `json:"inner_text"`
}

// sanitizeFragment returns each fragment with its sanitized form.
func sanitizeFragment(t *testing.T) []rendering {
	t.Helper()
	var corpus []string
	if err := json.Unmarshal(fragments, &corpus); err != nil {
		t.Fatal(err)
	}
	list := make([]rendering, len(corpus))
	for i, f := range corpus {
		list[i] = rendering{Fragment: f, HTML: Sanitize(f)}
	}
	return list
}

func readGoldens(t *testing.T) []rendering {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []rendering
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// foldText folds the white space of an innerText (semantics.md §6). A run becomes a line break if it contains one,
// otherwise a space. At the start and the end it is removed.
func foldText(innerText string) string {
	runs := regexp.MustCompile(`[ \t\n\f\r]+`)
	text := runs.ReplaceAllStringFunc(innerText, func(run string) string {
		if strings.Contains(run, "\n") {
			return "\n"
		}
		return " "
	})
	return strings.Trim(text, " \n")
}

func TestVisibleTextEqualsGoldens(t *testing.T) {
	t.Parallel()
	list := sanitizeFragment(t)
	if *update {
		writeGoldens(t, renderInChromium(t, list))
	}
	known := readGoldens(t)
	if len(known) < 200 || len(known) != len(list) {
		t.Fatalf("%d goldens of %d fragments; run go test ./libs/values/locale -run Chromium -update", len(known),
			len(list))
	}
	for i, k := range known {
		if k.Fragment != list[i].Fragment || k.HTML != list[i].HTML {
			t.Errorf("%q is sanitized to %q, the golden is of %q; run with -update", list[i].Fragment, list[i].HTML,
				k.HTML)
			continue
		}
		if got, want := VisibleText(k.HTML), foldText(k.InnerText); got != want {
			t.Errorf("%q\nas %q\nshows %q\nChromium %q", k.Fragment, k.HTML, got, want)
		}
	}
}

// If Chromium is installed, this test compares the golden file with its output.
func TestGoldensEqualChromium(t *testing.T) {
	t.Parallel()
	testkit.NeedChromium(t,
		"what it answered is recorded in testdata, and TestVisibleTextEqualsGoldens holds our text against that everywhere")
	known := readGoldens(t)
	asked := make([]rendering, len(known))
	copy(asked, known)
	for i := range asked {
		asked[i].InnerText = ""
	}
	if diff := cmp.Diff(known, renderInChromium(t, asked)); diff != "" {
		t.Error(diff)
	}
}

func writeGoldens(t *testing.T, list []rendering) {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(list); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// page renders every text of a list and writes the visible text of each. Input and output are base64 of JSON, so that
// markup and encoding of the page do not affect them.
const page = `<!DOCTYPE html><meta charset="utf-8"><body><script>
const decode = s => new TextDecoder().decode(Uint8Array.from(atob(s), c => c.charCodeAt(0)));
const encode = s => btoa(Array.from(new TextEncoder().encode(s), b => String.fromCharCode(b)).join(""));
const seen = JSON.parse(decode(%q)).map(html => {
	const div = document.body.appendChild(document.createElement("div"));
	div.innerHTML = html;
	const text = div.innerText;
	div.remove();
	return text;
});
document.body.innerHTML = "<pre>seen:" + encode(JSON.stringify(seen)) + ":seen</pre>";
</script>`

// renderInChromium sets the text that Chromium shows for each fragment, with one run of Chromium.
func renderInChromium(t *testing.T, list []rendering) []rendering {
	t.Helper()
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.HTML
	}
	input, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, fmt.Appendf(nil, page, base64.StdEncoding.EncodeToString(input)), 0o600); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`seen:([A-Za-z0-9+/=]*):seen</pre>`).FindSubmatch(testkit.ChromiumDOM(t,
		"file://"+file))
	if found == nil {
		t.Fatal("chromium did not render the page")
	}
	answer, err := base64.StdEncoding.DecodeString(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	if err := json.Unmarshal(answer, &seen); err != nil || len(seen) != len(list) {
		t.Fatalf("%d texts of %d, %v", len(seen), len(list), err)
	}
	for i := range list {
		list[i].InnerText = seen[i]
	}
	return list
}
