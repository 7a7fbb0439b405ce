// Package inputs names what a test depends on and Go's test cache does not see: files outside the test's module, and the
// programs of this machine. The cache keeps a result until a variable that the test read has another value, and withstores
// sets variables to hashes of these files and programs.
package inputs

import (
	"os"
	"os/exec"
	"strings"
)

// The variables that withstores sets.
const (
	CheckoutHash = "SLOTMESH_TEST_CHECKOUT" // of all files of the repository; with _CHARTS and so on, of those in one folder
	ProgramsHash = "SLOTMESH_TEST_PROGRAMS" // of the programs of this machine that tests run
)

// Checkout makes Go run the test again after a change of a file in these folders at the top of the repository, or of any file
// if none is named. A test calls it when it reads files outside its module or builds commands.
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
