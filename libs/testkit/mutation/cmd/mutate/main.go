// Command mutate changes random lines of packages, one at a time, and runs tests that should then fail. It prints each
// change that no test noticed, and exits with status 1 if there is one. The files of the checkout stay unchanged.
// Changes that do not compile are replaced by others.
//
//	mutate -seed 7 -count 30 services/pricing/internal/tariff=services/pricing/... services/booking/internal/usecase
//
// The argument is a folder and, after "=", the packages whose tests run, separated by commas. The default is the
// folder and all folders below it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slotmesh/slotmesh/libs/testkit/mutation"
)

func main() {
	seed := flag.Uint64("seed", 1, "the same seed draws the same changes of the same files")
	count := flag.Int("count", 30, "number of changes")
	flag.Parse()
	survivors, err := run(*seed, *count, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	fmt.Printf("%d of %d changes were noticed by no test (seed %d)\n", survivors, *count, *seed)
	if survivors > 0 {
		os.Exit(1)
	}
}

// candidate is one mutation of a file, and the packages whose tests should notice it.
type candidate struct {
	path   string
	number int
	tests  []string
}

func run(seed uint64, count int, arguments []string) (int, error) {
	groups := make([][]candidate, len(arguments))
	for i, argument := range arguments {
		folder, tests, _ := strings.Cut(argument, "=")
		if tests == "" {
			tests = folder + "/..."
		}
		var err error
		if groups[i], err = collect(folder, strings.Split(tests, ",")); err != nil {
			return 0, err
		}
		if len(groups[i]) == 0 {
			return 0, fmt.Errorf("%s has no Go code to change", folder)
		}
	}
	if len(groups) == 0 {
		return 0, errors.New("no folder is named; name one, such as services/pricing/internal/tariff")
	}
	random := rand.New(rand.NewPCG(seed, seed))
	survivors := 0
	for tried := 0; tried < count; {
		group := groups[tried%len(groups)]
		outcome, err := try(group[random.IntN(len(group))])
		if err != nil {
			return 0, err
		}
		if outcome == doesNotCompile {
			continue
		}
		tried++
		if outcome == survived {
			survivors++
		}
	}
	return survivors, nil
}

func collect(folder string, tests []string) ([]candidate, error) {
	for i := range tests {
		tests[i] = "./" + strings.TrimPrefix(tests[i], "./")
	}
	var found []candidate
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if !mutation.IsMutable(path, source) {
			continue
		}
		n, err := mutation.Count(path, source)
		if err != nil {
			return nil, err
		}
		for number := range n {
			found = append(found, candidate{path, number, tests})
		}
	}
	return found, nil
}

// outcome is the result of the tests with one mutation.
type outcome int

const (
	doesNotCompile outcome = iota
	noticed
	survived
)

// try runs the tests of a candidate with its mutation, and prints the result.
func try(c candidate) (outcome, error) {
	source, err := os.ReadFile(c.path)
	if err != nil {
		return 0, err
	}
	m, err := mutation.Apply(c.path, source, c.number)
	if err != nil {
		return 0, err
	}
	overlay, remove, err := writeOverlay(c.path, m.Source)
	if err != nil {
		return 0, err
	}
	defer remove()
	if goCommand("vet", append([]string{"-overlay", overlay}, "./"+filepath.Dir(c.path))) != nil {
		return doesNotCompile, nil
	}
	if goCommand("test", append([]string{"-timeout", "5m", "-failfast", "-overlay", overlay}, c.tests...)) != nil {
		fmt.Printf("noticed:  %s:%d: %s\n", m.Path, m.Line, m.Change)
		return noticed, nil
	}
	line := bytes.TrimSpace(bytes.Split(source, []byte("\n"))[m.Line-1])
	fmt.Printf("SURVIVED: %s:%d: %s: %s\n", m.Path, m.Line, m.Change, line)
	return survived, nil
}

// writeOverlay writes the changed source beside an overlay for the go command, which then compiles it instead of the
// file at path. The returned function removes both.
func writeOverlay(path string, source []byte) (string, func(), error) {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(folder) } // the system removes a rest
	replaced, err := filepath.Abs(path)
	if err != nil {
		return "", remove, err
	}
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	content, err := json.Marshal(map[string]map[string]string{"Replace": {replaced: changed}})
	if err != nil {
		return "", remove, err
	}
	return overlay, remove, errors.Join(os.WriteFile(changed, source, 0o600), os.WriteFile(overlay, content, 0o600))
}

func goCommand(name string, arguments []string) error {
	return exec.Command("go", append([]string{name}, arguments...)...).Run()
}
