package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// testInputs returns environment variables with hashes of the files and programs that tests depend on, except the files
// of the tested module itself. Tests read these variables through libs/testkit/inputs. If a file or program changes,
// the variable with its hash changes, and Go's test cache runs the tests again.
func testInputs(ctx context.Context) []string {
	hashes, err := checkoutHashes(ctx)
	if err != nil {
		say(
			fmt.Sprintf(
				"the files of the checkout cannot be hashed (%v): tests that depend on other modules are not cached",
				err,
			),
		)
		hashes = map[string]string{}
		for _, folder := range []string{"", "charts", "docs", "k8s", "libs", "services"} {
			hashes[folder] = rand.Text()
		}
	}
	variables := []string{"SLOTMESH_TEST_PROGRAMS=" + programsHash()}
	for folder, hash := range hashes {
		if folder != "" {
			folder = "_" + strings.ToUpper(folder)
		}
		variables = append(variables, "SLOTMESH_TEST_CHECKOUT"+folder+"="+hash)
	}
	return variables
}

// checkoutHashes returns git's hashes of the current files of the repository, without ignored files. The result
// contains one hash for each top-level folder, by the folder's name, and one hash of all files, under the name "".
// checkoutHashes uses a temporary git index and object folder, so that the repository's index and objects do not
// change.
func checkoutHashes(ctx context.Context) (map[string]string, error) {
	git := func(env []string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	root, err := git(nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	index, err := git(nil, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	objects, err := git(nil, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "slotmesh-index-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if content, err := os.ReadFile(index); err == nil { // without the old index, git would read every file
		if err := os.WriteFile(filepath.Join(folder, "index"), content, 0o600); err != nil {
			return nil, err
		}
	}
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(folder, "index"),
		"GIT_OBJECT_DIRECTORY=" + folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + objects,
	}
	if _, err := git(env, "-C", root, "add", "--all"); err != nil {
		return nil, err
	}
	tree, err := git(env, "write-tree")
	if err != nil {
		return nil, err
	}
	listed, err := git(env, "-C", root, "ls-tree", "-d", "--format=%(path) %(objectname)", tree)
	hashes := map[string]string{"": tree}
	for line := range strings.Lines(listed) {
		folder, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		hashes[folder] = hash
	}
	return hashes, err
}

// testedPrograms are the programs of this machine that tests run. The list omits programs that the Makefile builds at
// fixed versions.
var testedPrograms = []string{
	"chromium", "git", "jq", "make", "nginx", "node", "npm", "openssl", "pg_basebackup", "pg_dump", "pgbouncer", "php",
	"promtool", "psql", "python3", "redis-server", "rpmkeys", "systemd-analyze", "zic",
}

// programsHash returns a hash that changes when a tested program is installed, removed or replaced.
func programsHash() string {
	files, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is valid
	for _, name := range testedPrograms {
		for _, place := range []string{name, "/usr/sbin/" + name} {
			if file, err := exec.LookPath(place); err == nil {
				files = append(files, file)
			}
		}
	}
	hash := sha256.New()
	for _, file := range files {
		if target, err := filepath.EvalSymlinks(file); err == nil {
			file = target
		}
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintln(hash, file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
