//go:build !linux

package dial

func bound(uintptr) error { return nil }
