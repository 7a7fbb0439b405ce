package catalog

import (
	"net/http"
	"testing"
)

// BenchmarkPublishLarge publishes a manifest of about 5 MB over HTTP. The catalog checks, compiles and stores it.
func BenchmarkPublishLarge(b *testing.B) {
	h := newHarness(b)
	source := largeManifest(60)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if a := h.call(http.MethodPut, h.internal+"/internal/businesses/harbor", source); a.status >= 300 {
			b.Fatal(a.body)
		}
	}
}

// BenchmarkServicesOfLarge lists 2,000 services with quotes, with the version of the snapshot in memory.
func BenchmarkServicesOfLarge(b *testing.B) {
	h := newHarness(b)
	h.mustPublish(string(largeManifest(60)))
	h.get("/services")
	for b.Loop() {
		if a := h.get("/services"); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}

// BenchmarkFirstServicesOfLarge lists 2,000 services for the first time after a publish.
func BenchmarkFirstServicesOfLarge(b *testing.B) {
	h := newHarness(b)
	source := string(largeManifest(60))
	for b.Loop() {
		b.StopTimer()
		h.mustPublish(source)
		b.StartTimer()
		if a := h.get("/services"); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}

// BenchmarkInfo reads /info of a small business.
func BenchmarkInfo(b *testing.B) {
	h := newHarness(b)
	h.mustPublish(harborYAML)
	for b.Loop() {
		if a := h.get("/info"); a.status != http.StatusOK {
			b.Fatal(a.body)
		}
	}
}
