package letter

import (
	"fmt"
	"html/template"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sheetSize is the number of letters on one picture of [TestLettersSavePictures].
const sheetSize = 6

// sheet is a page that shows letters side by side, each as a mail program with a window of the given width shows it.
var sheet = template.Must(template.New("sheet").Parse(`<!DOCTYPE html><meta charset="utf-8">
<style>body { margin: 0; display: flex; flex-wrap: wrap; align-items: start; gap: 8px; background: #888 }
figure { margin: 0; width: {{.Width}}px } figcaption { font: 13px sans-serif; overflow-wrap: anywhere; background: #fff }
iframe { display: block; border: 0; width: 100% }</style>
{{range .Letters}}<figure><figcaption>{{.Subject}}</figcaption><iframe srcdoc="{{.HTML}}"
onload="this.style.height = this.contentDocument.documentElement.scrollHeight + 'px'"></iframe></figure>{{end}}`))

// TestLettersSavePictures saves pictures of every kind of letter, in four languages, light and dark, as on a phone
// and on a desk, so that a person can look at them. It does this only with the flag -letters.
func TestLettersSavePictures(t *testing.T) {
	t.Parallel()
	if *lettersFolder == "" {
		t.Skip("the pictures are for a person to look at; -letters FOLDER saves them")
	}
	samples := newSamples(t)
	for _, code := range []string{"en", "de", "ar", "ja"} {
		var letters []Letter
		for _, name := range slices.Sorted(maps.Keys(samples)) {
			letters = append(letters, mustRender(t, samples[name].kind, code, samples[name].facts))
		}
		signIn, err := RenderSignIn(code, newHarbor(t), "https://book.example/b/harbor/mine/x")
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range slices.Collect(slices.Chunk(append(letters, signIn), sheetSize)) {
			for _, width := range []int{390, 1280} {
				savePicture(t, fmt.Sprintf("%s-%d-%d", code, width, i+1), width, part)
			}
		}
	}
}

// savePicture saves a light and a dark picture of letters.
func savePicture(t *testing.T, name string, width int, letters []Letter) {
	t.Helper()
	var page strings.Builder
	if err := sheet.Execute(&page, map[string]any{"Width": width, "Letters": letters}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(*lettersFolder, name+".html")
	if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	columns := map[int]int{390: sheetSize, 1280: 2}[width]
	size := fmt.Sprintf("--window-size=%d,%d", columns*(width+8), 1500*((sheetSize+columns-1)/columns))
	for scheme, setting := range map[string]string{"dark": "0", "light": "1"} {
		command := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
			"--hide-scrollbars", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), size,
			"--blink-settings=preferredColorScheme="+setting,
			"--screenshot="+filepath.Join(*lettersFolder, name+"-"+scheme+".png"), "file://"+file)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
