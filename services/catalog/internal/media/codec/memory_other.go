//go:build !unix

package codec

// reserve returns nil: the memory is on Go's heap.
func reserve(int) []byte { return nil }

// release has nothing to do.
func release([]byte) {}
