package locale

import (
	"strings"
	"testing"
)

// BenchmarkSanitize sanitizes a description of about 2 kB; a large manifest has 2,000 such descriptions.
func BenchmarkSanitize(b *testing.B) {
	description := strings.Repeat(`<p>Wash, <b>cut</b> &amp; dry, see <a href="https://harbor.example/cut">here</a>.</p><ul><li>one</li><li>two</li></ul>`, 18)
	b.SetBytes(int64(len(description)))
	b.ReportAllocs()
	for b.Loop() {
		VisibleText(Sanitize(description))
	}
}
