package backing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FindRunningDatabase returns the URL of the PostgreSQL that the process that uses the home has started.
// It returns an error if that process uses another PostgreSQL, named by its DATABASE_URL.
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

// HasData reports whether the home contains PostgreSQL data.
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
