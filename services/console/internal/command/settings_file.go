package command

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// settingLine matches a line of a file with settings. Like systemd, it accepts single or double quotes around the value.
var settingLine = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)=(.*)$`)

// setFromFile sets variables of this process's environment from the lines NAME=value of a file. Empty lines and lines
// that begin with # are skipped. Variables that are set already keep their values. A name that is no setting of `machine`
// is an error, because it is probably misspelt. If `path` is "", nothing is read.
func setFromFile(path string, machine *Machine) error {
	if path == "" {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		found := settingLine.FindStringSubmatch(line)
		if found == nil {
			return fmt.Errorf("%s:%d: write NAME=value, or # before a comment", path, i+1)
		}
		name, value := found[1], unquote(strings.TrimSpace(found[2]))
		if name == "GOMEMLIMIT" || name == "GOGC" || name == "GOMAXPROCS" {
			return fmt.Errorf("%s:%d: %s takes effect only in the environment, such as by Environment= of the unit",
				path, i+1, name)
		}
		if machine != nil && machine.Names != nil && !slices.Contains(machine.Names, name) {
			return fmt.Errorf("%s:%d: %s: there is no such setting; slotmesh serve --help lists them", path, i+1, name)
		}
		if _, isSet := os.LookupEnv(name); isSet {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return nil
}

// unquote removes a pair of equal quotes around a value.
func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}
