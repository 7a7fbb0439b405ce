// Package inputs declares inputs of a test that Go's test cache does not detect: files outside the
// module of the test, and programs of this machine. Go reuses the cached result of a test as long as
// the environment variables that the test has read are unchanged. The program withstores therefore sets
// variables to hashes of these files and programs. The functions of this package read these variables.
package inputs

import (
	"os"
	"os/exec"
	"strings"
)

// CheckoutHash and ProgramsHash are the environment variables that withstores sets.
const (
	// CheckoutHash names the variable with the hash of all files of the repository. With a suffix such as _CHARTS, it
	// names the variable with the hash of one folder.
	CheckoutHash = "SLOTMESH_TEST_CHECKOUT"
	ProgramsHash = "SLOTMESH_TEST_PROGRAMS" // variable with the hash of the installed programs that tests run
)

// Checkout declares that the test depends on files in these top-level folders of the repository. Without
// arguments, the test depends on all files of the repository. Go then runs the test again after such a file
// has changed. A test must call Checkout if it reads files outside its module, or if it builds commands.
func Checkout(folders ...string) {
	if len(folders) == 0 {
		_ = os.Getenv(CheckoutHash)
	}
	for _, folder := range folders {
		_ = os.Getenv(CheckoutHash + "_" + strings.ToUpper(folder))
	}
}

// Programs declares that the test runs a program of this machine.
// Go runs the test again after such a program has changed.
func Programs() { _ = os.Getenv(ProgramsHash) }

// LookPath returns the path of a program, as [exec.LookPath] does, and calls [Programs].
func LookPath(program string) (string, error) {
	Programs()
	return exec.LookPath(program)
}
