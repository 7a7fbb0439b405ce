package backing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FindRunningDatabase returns the URL of the PostgreSQL that the running Slotmesh process of a home folder has started.
// If that process uses the PostgreSQL of its setting DATABASE_URL, FindRunningDatabase returns an error.
func FindRunningDatabase(home string) (string, error) {
	note, err := os.ReadFile(filepath.Join(home, socketsFile))
	sockets := string(note)
	if err == nil && strings.HasPrefix(filepath.Base(sockets), tempDirPattern) {
		if _, err := os.Stat(filepath.Join(sockets, ".s.PGSQL.5432")); err == nil {
			return newSocketURL(sockets), nil
		}
	}
	return "", fmt.Errorf("the slotmesh process that uses %s has no PostgreSQL of its own; set DATABASE_URL as it "+
		"has it", home)
}

// HasData reports whether PostgreSQL's data folder exists for the home folder.
func HasData(home string) (bool, error) {
	account, err := findProcessAccount()
	if err != nil {
		return false, err
	}
	data, err := account.findDataDir(home)
	if err != nil {
		return false, err
	}
	major, err := readDataMajor(postgresFolder(storeFolders{data: data}))
	return major != 0, err
}
