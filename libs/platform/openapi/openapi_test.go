package openapi

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"
)

func TestJSONKeepsOrderTextsAndNumbers(t *testing.T) {
	t.Parallel()
	got, err := JSON([]byte("z: 1\na: &shared [true, null, 40.00, \"1\", 2027-03-01, x: \"\"]\n\"200\": *shared\nm: {}\nn: |\n  two\n  lines\n"))
	if err != nil {
		t.Fatal(err)
	}
	const list = `[true,null,40.00,"1","2027-03-01",{"x":""}]`
	want := `{"z":1,"a":` + list + `,"200":` + list + `,"m":{},"n":"two\nlines\n"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestJSONRejectsUnsupportedValues(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"", "a: .nan", "a: 0x10", "a: [", "a: ~"} {
		if got, err := JSON([]byte(source)); err == nil {
			t.Errorf("%q gives %s", source, got)
		}
	}
}

func TestServeAnswersKnownTagWith304(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	app.Get("/f", NewFile([]byte("text"), "text/plain", map[string]string{"X-More": "yes"}).Serve)
	ask := func(known string) (int, string, string) {
		request := httptest.NewRequest("GET", "/f", nil)
		request.Header.Set("If-None-Match", known)
		response, err := app.Test(request, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if response.Header.Get("X-More") != "yes" || response.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("headers %v", response.Header)
		}
		return response.StatusCode, string(body), response.Header.Get("ETag")
	}
	status, body, tag := ask(`"other"`)
	if status != 200 || body != "text" || !strings.HasPrefix(tag, `"`) {
		t.Errorf("got %d %q %s", status, body, tag)
	}
	if status, body, _ := ask(`W/"x", ` + tag); status != 304 || body != "" {
		t.Errorf("got %d %q", status, body)
	}
}
