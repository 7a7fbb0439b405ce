package codec

// memory is the memory of one instance, of at most [MaxMemory] bytes. If the operating system
// reserves addresses ([reserve]), pages count as used memory only after their first use, and
// Free returns them at once. Otherwise the memory is on Go's heap. The zero value is ready to use.
type memory struct {
	bytes    []byte
	reserved bool
}

// Reallocate returns the memory with `size` bytes, or nil if that is too much.
func (m *memory) Reallocate(size uint64) []byte {
	if size > MaxMemory {
		return nil
	}
	if m.bytes == nil {
		m.bytes = reserve(MaxMemory)
		m.reserved = m.bytes != nil
	}
	if size > uint64(cap(m.bytes)) {
		larger := make([]byte, size, min(MaxMemory, size+size/2))
		copy(larger, m.bytes)
		m.bytes = larger
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free drops the memory. Repeated calls have no effect.
func (m *memory) Free() {
	if m.reserved {
		release(m.bytes[:cap(m.bytes)])
	}
	*m = memory{}
}
