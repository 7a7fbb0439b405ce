//go:build !linux

package dial

func setUserTimeout(uintptr) error { return nil }
