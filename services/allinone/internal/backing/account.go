package backing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that runs the processes of PostgreSQL and Redis. The account is the user of this process, unless
// that user is root. PostgreSQL refuses to run as root, so root runs PostgreSQL as another user.
type account struct {
	name       string
	uid, gid   uint32
	isSwitched bool // the account is not the user of this process
}

// unprivilegedUsers are the users that root may choose for running PostgreSQL and Redis, in order of preference.
var unprivilegedUsers = []string{"postgres", "nobody"}

func findProcessAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{name: "this user", uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}, nil
	}
	for _, name := range unprivilegedUsers {
		if a, err := lookupAccount(name); err == nil {
			return a, nil
		}
	}
	return account{}, fmt.Errorf("PostgreSQL does not run as root, and this machine has none of the users %v to run "+
		"it as; run as another user", unprivilegedUsers)
}

func lookupAccount(name string) (account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, err
	}
	return account{name: name, uid: uint32(uid), gid: uint32(gid), isSwitched: true}, nil
}

// credential returns the account for a child process, or nil if the account is the user of this process.
func (a account) credential() *syscall.Credential {
	if !a.isSwitched {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// takeOwnership makes the account the owner of a newly created folder and removes the access of all other users.
func (a account) takeOwnership(dir string) error {
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if !a.isSwitched {
		return nil
	}
	return os.Chown(dir, int(a.uid), int(a.gid))
}

// systemData is the folder for data if this process runs as root. The account cannot enter the folders of root.
const systemData = "/var/lib/slotmesh"

// findDataDir returns the folder for the data. If the account can enter the home folder, the data is in the home
// folder. Otherwise the data is in a folder under systemData, whose name is derived from the home folder. findDataDir
// never changes the permissions of folders that it did not create.
func (a account) findDataDir(home string) (string, error) {
	if !a.isSwitched || a.canReach(home) {
		return home, nil
	}
	sum := sha256.Sum256([]byte(home))
	dir := filepath.Join(systemData, filepath.Base(filepath.Dir(home))+"-"+hex.EncodeToString(sum[:4]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("%s lies below a folder that the user %s cannot enter, and %s cannot be made: %w; set "+
			"SLOTMESH_HOME to a folder that %s can enter",
			home, a.name, dir, unwrapPathError(err), a.name)
	}
	return dir, nil
}

// canReach reports whether the account may enter the folder `dir` and all parent folders, according to the mode bits of
// the folders.
func (a account) canReach(dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || !a.canEnter(info) {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

func (a account) canEnter(info os.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	mode := info.Mode().Perm()
	switch {
	case owner.Uid == a.uid:
		return mode&0o100 != 0
	case owner.Gid == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// maxSocketDir is the maximum length of the path of a folder for Unix sockets. The path of a Unix socket has at most
// about 104 bytes, which must also contain the name of the socket.
const maxSocketDir = 80

// tempDirPattern is the prefix of the names of Slotmesh's temporary folders. A later start recognizes a folder that a
// crashed process has left.
const tempDirPattern = "slotmesh-"

// makePrivateTempDir creates a temporary folder that belongs to the account. The path is short enough for Unix sockets.
func (a account) makePrivateTempDir() (string, error) {
	base := os.TempDir()
	if len(base)+len(tempDirPattern)+10 > maxSocketDir || !a.canReach(base) {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, tempDirPattern)
	if err != nil {
		return "", fmt.Errorf("cannot make a temporary folder in %s: %w; set TMPDIR to a folder that can be written "+
			"to and that has space", base, unwrapPathError(err))
	}
	if err := a.takeOwnership(dir); err != nil {
		return "", fmt.Errorf("cannot give %s to the user %s: %w", dir, a.name, unwrapPathError(err))
	}
	return dir, nil
}
