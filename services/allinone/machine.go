package allinone

import "syscall"

// findFreeBytes returns the number of bytes that this user can still write to the file system of a folder.
func findFreeBytes(folder string) (uint64, error) {
	var state syscall.Statfs_t
	if err := syscall.Statfs(folder, &state); err != nil {
		return 0, err
	}
	return state.Bavail * uint64(state.Bsize), nil //nolint:gosec // a block has a positive size
}
