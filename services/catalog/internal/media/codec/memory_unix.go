//go:build unix

package codec

import "syscall"

// reserve returns `size` zero bytes outside of Go's heap, or nil if the operating system refuses.
func reserve(size int) []byte {
	reserved, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return reserved
}

// release returns bytes from reserve to the operating system.
func release(reserved []byte) {
	_ = syscall.Munmap(reserved) // the bytes come from Mmap, so that they can be unmapped
}
