package backing

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockHome keeps a second process off the same home. The kernel lets go of the lock when the process ends in any way.
func lockHome(home string) (func() error, error) {
	f, err := os.OpenFile(filepath.Join(home, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, homeError(home, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(lockError(f, home, err), f.Close())
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		return nil, errors.Join(homeError(home, err), f.Close())
	}
	return f.Close, nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

func lockError(f *os.File, home string, err error) error {
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return homeError(home, err)
	}
	holder := make([]byte, 32)
	n, _ := f.ReadAt(holder, 0) // only for the sentence
	return fmt.Errorf("SLOTMESH_HOME: %s is in use by the slotmesh process %s; stop that one, or name another folder",
		home, strings.TrimSpace(string(holder[:n])))
}
