package console_test

import (
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

func init() {
	rowOfPage["GET /business/:slug/offer/text"], rowOfPage["POST /business/:slug/offer/text"] = "change all of the offer", "change all of the offer"
}

const textPage = "/business/harbor/offer/text"

// readText returns the text of the newest version.
func readText(t *testing.T, w *consoletest.Fixture) string {
	t.Helper()
	return w.Call(t, "GET", harb, "", "Accept", yaml).Body
}

// postText sends a text that is based on the version `base`, with the line breaks of a browser.
func postText(t *testing.T, w *consoletest.Fixture, session, base, text string, more ...string) consoletest.Answer {
	t.Helper()
	form := url.Values{"base": {base}, "text": {strings.ReplaceAll(text, "\n", "\r\n")}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return postForm(t, w, textPage, session, form)
}

// TestTextPageShowsProblemsByLine shows that an invalid text is not published. The page shows each problem
// with its line and keeps the text.
func TestTextPageShowsProblemsByLine(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	before := readText(t, w)
	if got := getPage(t, w, textPage, mia); got.Status != 200 || !strings.Contains(got.Body,
		html.EscapeString(before)) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for _, wrong := range []string{
		strings.Replace(before, "price: 40.00", "price: -3", 1), strings.Replace(before, "duration_minutes: 45",
			"duration: 45", 1), "a: [", "",
		before + "<script>: 1\n", before + "languages: [en]\ncurrency: EUR\n",
	} {
		_, problems := manifest.Parse([]byte(wrong))
		if len(problems) == 0 {
			t.Fatalf("%q is right", wrong)
		}
		got := postText(t, w, mia, "1", wrong)
		if got.Status != 422 || !strings.Contains(got.Body, html.EscapeString(strings.TrimSpace(wrong))) {
			t.Errorf("%q: %d %s", wrong, got.Status, got.Body)
		}
		for _, problem := range problems {
			_, answer, _ := strings.Cut(problem.String(), ": ")
			line, _, _ := strings.Cut(problem.String(), ":")
			if !strings.Contains(got.Body, html.EscapeString(answer)) || !strings.Contains(got.Body,
				">"+strings.Replace(line, "line", "Line", 1)+"<") {
				t.Errorf("the sentence %s is missing for %q: %s", problem, wrong, got.Body)
			}
		}
	}
	for line, field := range map[string]string{"account: {subscription: inactive}\n": "account",
		"account: {sandbox: true}\n": "account", "": "slug"} {
		text := before + line
		if line == "" {
			text = strings.Replace(before, "slug: harbor", "slug: quay", 1)
		}
		if got := postText(t, w, mia, "1", text); got.Status != 422 || !strings.Contains(got.Body, field+": ") {
			t.Errorf("%s: %d %s", field, got.Status, got.Body)
		}
	}
	if now := readText(t, w); now != before {
		t.Errorf("something was published: %s", now)
	}
}

// TestTextPageWarnsOfOverlaps shows that overlapping hours cause a warning with its line, on the page
// and in the admin API. They do not prevent publishing.
func TestTextPageWarnsOfOverlaps(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	if got := getPage(t, w, textPage, mia); strings.Contains(got.Body, "warning: ") {
		t.Errorf("nothing overlaps: %s", got.Body)
	}
	twice := readText(t, w) + "hours: {mon: [\"09:00-12:00\", \"10:00-11:00\"]}\n"
	const told = "is 10:00-11:00, which lies within 09:00-12:00 of the same day; remove it"
	const answered = `"warnings":[{"path":"hours.mon[1]","line":10,"message":"` + told + `"}]`
	if got := w.Call(t, "POST", harb+"/diff", twice, "Content-Type", yaml); got.Status != 200 ||
		!strings.Contains(got.Body, answered) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := w.Call(t, "PUT", harb, twice, "Content-Type", yaml); got.Status != 200 || !strings.Contains(got.Body,
		answered) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := getPage(t, w, textPage, mia); !strings.Contains(got.Body, ">Line 10<") || !strings.Contains(got.Body,
		"warning: hours.mon[1]: "+told) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestTextPagePublishesTextAfterReview shows that the page lists the changes before it publishes. The
// published text equals the text in the form, with its comments.
func TestTextPagePublishesTextAfterReview(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	input := "\n# Our <own> words.\n" + strings.Replace(readText(t, w), "40.00}", "47.50} # since spring", 1)
	asked := postText(t, w, mia, "1", input)
	for _, part := range []string{"What will change", "Haircut · Price", "47.5",
		"No bookings are affected", `name="agreed" value="1"`, "Back to the form"} {
		if asked.Status != 409 || !strings.Contains(asked.Body, part) {
			t.Errorf("%q: %d %s", part, asked.Status, asked.Body)
		}
	}
	if second := postText(t, w, mia, "1", input, "again", "yes"); second.Status != 200 || !strings.Contains(second.Body,
		"&lt;own&gt;") {
		t.Errorf("back: %d %s", second.Status, second.Body)
	}
	saved := postText(t, w, mia, "1", input, "agreed", "1")
	if saved.Status != 303 || !strings.Contains(saved.Header.Get("Location"), textPage+"?saved=2") {
		t.Fatalf("%d %s %s", saved.Status, saved.Header.Get("Location"), saved.Body)
	}
	if now := readText(t, w); now != input {
		t.Errorf("published is\n%q, typed was\n%q", now, input)
	}
	only := postText(t, w, mia, "2", input+"# a note\n")
	if only.Status != 409 || !strings.Contains(only.Body, "Nothing changes for customers") {
		t.Errorf("a note alone: %d %s", only.Status, only.Body)
	}
}

// TestTextPageMergesSimultaneousChanges shows that values and comments of two simultaneous changes are merged. If both
// change the same value, the page asks which one to keep.
func TestTextPageMergesSimultaneousChanges(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	first := readText(t, w)
	theirs := "# theirs\n" + strings.Replace(first, "currency: EUR", "currency: USD", 1)
	if got := w.Call(t, "PUT", harb, theirs, "Content-Type", yaml); got.Status != 200 {
		t.Fatal(got.Body)
	}
	mine := strings.Replace(first, "40.00", "47.00", 1) + "# mine\n"
	if got := postText(t, w, mia, "1", mine, "agreed", "2"); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if now, want := readText(t, w), strings.Replace(theirs, "40.00", "47.00", 1)+"# mine\n"; now != want {
		t.Errorf("the text with both changes is\n%s, want\n%s", now, want)
	}
	third := readText(t, w)
	w.Call(t, "PUT", harb, strings.Replace(third, "47.00", "50.00", 1), "Content-Type", yaml)
	mine = strings.Replace(third, "47.00", "60.00", 1) + "# once more\n"
	got := postText(t, w, mia, "3", mine)
	if got.Status != 409 || !strings.Contains(got.Body, "Someone else changed the same field") ||
		!strings.Contains(got.Body, "# once more") {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	got = postText(t, w, mia, "3", mine, "over", "4", "choose.services.[cut].price", "theirs", "agreed", "4")
	if now := readText(t, w); got.Status != 303 || !strings.Contains(now, "price: 50") || !strings.Contains(now,
		"# once more") {
		t.Errorf("%d %s\n%s", got.Status, got.Body, now)
	}
	w.Call(t, "PUT", harb, readText(t, w)+"managed_by: our repository\n", "Content-Type", yaml)
	if got := getPage(t, w, textPage, mia); !strings.Contains(got.Body, "readonly") || strings.Contains(got.Body,
		"Review changes") {
		t.Errorf("the text of an offer that another system manages: %s", got.Body)
	}
}
