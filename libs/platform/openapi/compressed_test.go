package openapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/gofiber/fiber/v2"
)

func TestServeSendsSmallestAcceptedEncoding(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a line of a document\n", 500)
	app := fiber.New()
	app.Get("/large", NewFile([]byte(large), "text/plain", nil).Serve)
	app.Get("/small", NewFile([]byte("small"), "text/plain", nil).Serve)
	read := map[string]func([]byte) ([]byte, error){
		"":   func(b []byte) ([]byte, error) { return b, nil },
		"br": func(b []byte) ([]byte, error) { return io.ReadAll(brotli.NewReader(bytes.NewReader(b))) },
		"gzip": func(b []byte) ([]byte, error) {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		},
	}
	tags := make(map[string]string)
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "gzip, deflate, br, zstd": "br", "br;q=0, gzip;q=0.5": "gzip", "*": "br", "*;q=0": "",
		"identity":  "",
		"br;q=0, *": "gzip", "BR": "br", "brotli": "", "gzip;q=x": "",
	} {
		request := httptest.NewRequest("GET", "/large", nil)
		request.Header.Set("Accept-Encoding", accept)
		response, err := app.Test(request, -1)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		got, err := read[want](body)
		if response.Header.Get("Content-Encoding") != want || err != nil || string(got) != large ||
			response.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v, %d bytes, %v", accept, response.Header, len(body), err)
		}
		tags[want] = response.Header.Get("ETag")
	}
	if tags[""] == tags["br"] || tags["br"] == tags["gzip"] {
		t.Errorf("two forms have one ETag: %v", tags)
	}
	for _, tag := range tags {
		request := httptest.NewRequest("GET", "/large", nil)
		request.Header.Set("If-None-Match", tag)
		if response, err := app.Test(request, -1); err != nil || response.StatusCode != fiber.StatusNotModified {
			t.Errorf("the entity tag %s is not recognized: %v", tag, err)
		}
	}
	request := httptest.NewRequest("GET", "/small", nil)
	request.Header.Set("Accept-Encoding", "br, gzip")
	if response, err := app.Test(request, -1); err != nil || response.Header.Get("Content-Encoding") != "" ||
		response.Header.Get("Vary") != "" {
		t.Errorf("a small file is compressed: %v", response.Header)
	}
}
