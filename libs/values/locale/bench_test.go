package locale

import (
	"strings"
	"testing"
)

// BenchmarkSanitize takes a description of about 2 kB, of which a large manifest holds 2,000.
func BenchmarkSanitize(b *testing.B) {
	description := strings.Repeat(`<p>Wash, <b>cut</b> &amp; dry, see <a href="https://harbor.example/cut">here</a>.</p><ul><li>one</li><li>two</li></ul>`, 18)
	b.SetBytes(int64(len(description)))
	b.ReportAllocs()
	for b.Loop() {
		VisibleText(Sanitize(description))
	}
}
