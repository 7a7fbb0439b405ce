// Package inputs declares what a test depends on but Go's test cache does not track: files outside the
// test's module, and programs of this machine. The cache reuses a result until a variable that the
// test has read changes. The program withstores sets variables to hashes of these files and programs.
package inputs

import (
	"os"
	"os/exec"
	"strings"
)

// The variables that withstores sets.
const (
	CheckoutHash = "SLOTMESH_TEST_CHECKOUT" // of all files of the repository; with _CHARTS etc. of one folder
	ProgramsHash = "SLOTMESH_TEST_PROGRAMS" // of the programs of this machine that tests run
)

// Checkout makes Go run the test again after a change of a file in these top-level folders of the repository. Without
// folders it is any file of the repository. A test calls it if it reads files outside its module or builds commands.
func Checkout(folders ...string) {
	if len(folders) == 0 {
		_ = os.Getenv(CheckoutHash)
	}
	for _, folder := range folders {
		_ = os.Getenv(CheckoutHash + "_" + strings.ToUpper(folder))
	}
}

// Programs makes Go run the test again after a change of a program of this machine.
func Programs() { _ = os.Getenv(ProgramsHash) }

// LookPath finds a program like [exec.LookPath] and calls [Programs].
func LookPath(program string) (string, error) {
	Programs()
	return exec.LookPath(program)
}
