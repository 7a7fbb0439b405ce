package backing

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Home is the folder for the data that must outlive a Slotmesh process. Only one process at a time can open it.
type Home struct {
	Path string // absolute path of the folder
	// IsShared means that users other than the folder's owner may enter or read the folder. OpenHome does not change
	// the mode of an existing folder.
	IsShared bool
	lock     *os.File
}

// OpenHome opens the folder at `path` and locks it for this process. If the folder does not exist, OpenHome creates a
// folder that only its owner can access. OpenHome also checks that it can write files in the folder.
func OpenHome(path string) (*Home, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, homeError(path, err)
	}
	if err := makeHome(abs); err != nil {
		return nil, homeError(abs, err)
	}
	f, err := lockHome(abs)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, errors.Join(homeError(abs, err), f.Close())
	}
	return &Home{Path: abs, IsShared: info.Mode().Perm()&0o077 != 0, lock: f}, nil
}

func makeHome(at string) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(at, 0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.MkdirAll(at, 0o700) // accepts a symbolic link to a folder, but not to a file
}

// Close releases the lock, so that other processes can open the folder.
func (h *Home) Close() error { return h.lock.Close() }

// lockHome locks the home folder against other processes. When this process ends, for any reason, the kernel releases
// the lock.
func lockHome(home string) (*os.File, error) {
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
	return f, nil
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
	n, _ := f.ReadAt(holder, 0) // the number is only used in the error
	return &InUseError{Home: home, Holder: strings.TrimSpace(string(holder[:n]))}
}

// InUseError means that another process uses the home folder.
type InUseError struct {
	Home   string
	Holder string // id of that process
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("SLOTMESH_HOME: %s is in use by the slotmesh process %s; stop that one, or name another folder",
		e.Home, e.Holder)
}

func homeError(home string, err error) error {
	return fmt.Errorf("SLOTMESH_HOME: cannot write in %s: %w; name a folder that this user may write to and that has "+
		"space", home, unwrapPathError(err))
}

// unwrapPathError returns the innermost error, because the message of the outer error would repeat the path.
func unwrapPathError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
