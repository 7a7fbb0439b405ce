package server

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimitIsNineTenthsOfContainerLimit(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]int64{
		"268435456\n": 241591905, "max\n": 0, "9223372036854771712\n": 0, "": 0,
	} {
		file := filepath.Join(t.TempDir(), "memory.max")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := memoryLimit([]string{file + ".none", file}); got != want {
			t.Errorf("%q: %d, want %d", content, got, want)
		}
	}
	if got := memoryLimit(nil); got != 0 {
		t.Errorf("without cgroups: %d", got)
	}
}
