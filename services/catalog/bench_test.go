package catalog

import (
	"net/http"
	"testing"
)

// BenchmarkPublishLarge publishes a manifest of about 5 MB end to end: over HTTP, checked, compiled and stored.
func BenchmarkPublishLarge(b *testing.B) {
	h := start(b)
	source := large(60)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if a := h.call(http.MethodPut, h.internal+"/internal/businesses/harbor", source); a.status >= 300 {
			b.Fatal(a.body)
		}
	}
}

// BenchmarkServicesOfLarge lists 2,000 services with quotes, the version being ready.
func BenchmarkServicesOfLarge(b *testing.B) {
	h := start(b)
	h.mustPublish(string(large(60)))
	h.get("/services")
	for b.Loop() {
		if a := h.get("/services"); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}

// BenchmarkFirstServicesOfLarge lists them for the first time after a publish: the texts are sanitized then.
func BenchmarkFirstServicesOfLarge(b *testing.B) {
	h := start(b)
	source := string(large(60))
	for b.Loop() {
		b.StopTimer()
		h.mustPublish(source)
		b.StartTimer()
		if a := h.get("/services"); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}

// BenchmarkInfo reads the info of a small business.
func BenchmarkInfo(b *testing.B) {
	h := start(b)
	h.mustPublish(harborYAML)
	for b.Loop() {
		if a := h.get("/info"); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}
