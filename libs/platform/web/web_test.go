package web

import (
	"bytes"
	"testing"
)

func TestLargeBuffersAreNotKept(t *testing.T) {
	t.Parallel()
	var small, large bytes.Buffer
	small.Grow(1 << 10)
	large.Grow(maxKeptPage + 1)
	if !keepBuffer(&small) || keepBuffer(&large) {
		t.Errorf("of the buffers of %d and %d bytes, the wrong one is kept", small.Cap(), large.Cap())
	}
}
