// Package inputs declares inputs of a test that Go's test cache does not know: files outside the test's module, and
// programs of this machine. The cache reuses a result until a variable that the test has read changes. The program
// withstores therefore sets variables to hashes of these files and programs, and this package reads the variables.
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

// Checkout makes Go run the test again after a file in these top-level folders
// of the repository changes. Without folders, any file of the repository counts.
// A test must call it if it reads files outside its module or builds commands.
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
