package backing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// RunningDatabase returns the URL of the PostgreSQL that the process that uses the home has started.
// It returns an error if that process uses another PostgreSQL, named by its DATABASE_URL.
func RunningDatabase(home string) (string, error) {
	note, err := os.ReadFile(filepath.Join(home, socketsNote))
	sockets := string(note)
	if err == nil && strings.HasPrefix(filepath.Base(sockets), tempDirPattern) {
		if _, err := os.Stat(filepath.Join(sockets, ".s.PGSQL.5432")); err == nil {
			return socketURL(sockets), nil
		}
	}
	return "", fmt.Errorf("the slotmesh process that uses %s has no PostgreSQL of its own; set DATABASE_URL as it "+
		"has it", home)
}

// HasData reports whether the home contains PostgreSQL data.
func HasData(home string) (bool, error) {
	account, err := processAccount()
	if err != nil {
		return false, err
	}
	data, err := account.dataDir(home)
	if err != nil {
		return false, err
	}
	major, err := dataMajor(postgresData(place{data: data}))
	return major != 0, err
}
