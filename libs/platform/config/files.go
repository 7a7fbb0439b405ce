package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/sethvargo/go-envconfig"
)

// fileSuffix is the end of the name of a variable that contains the path of a file with a secret. For example,
// DATABASE_URL_FILE names the file with the value of DATABASE_URL.
const fileSuffix = "_FILE"

// maxSecretFile is the maximal size of a file with a secret, in bytes.
const maxSecretFile = 64 << 10

// Secrets returns the names of the settings of cfg that are secrets, sorted and without duplicates. A field with the
// tag `secret:"true"` is a secret.
func Secrets(cfg any) []string {
	var names []string
	collectNames(reflect.TypeOf(cfg).Elem(), "", func(name string, field reflect.StructField) {
		if isSecret(field) {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

func isSecret(field reflect.StructField) bool { return field.Tag.Get("secret") == "true" }

// LookupSecret returns the value of the secret setting `name`, and whether it is set. If the variable `name` is empty
// and the variable `name`_FILE is set, the value is the content of that file, without line breaks at its end. Both
// variables together are an error. The error begins with the name of a variable and does not contain the secret.
func LookupSecret(from envconfig.Lookuper, name string) (string, bool, error) {
	value, isSet := from.Lookup(name)
	path, _ := from.Lookup(name + fileSuffix)
	switch {
	case path == "":
		return value, isSet, nil
	case value != "":
		return "", false, fmt.Errorf("%s: %s is set, too; leave one of them out", name+fileSuffix, name)
	}
	content, err := readSecretFile(path)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", name+fileSuffix, err)
	}
	return content, true, nil
}

func readSecretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(content), "\r\n")
	switch {
	case len(content) > maxSecretFile:
		return "", fmt.Errorf("%s has more than %d bytes; write only the secret", path, maxSecretFile)
	case strings.TrimSpace(secret) == "":
		return "", fmt.Errorf("%s is empty; write the secret", path)
	case strings.ContainsAny(secret, "\r\n\x00"):
		return "", errors.New(path + " has several lines; write the secret in one line")
	}
	return secret, nil
}

// withSecretFile returns a lookuper that also finds the value of the secret setting `name` in its file. If the field is
// not a secret, the result is the argument `from`.
func withSecretFile(from envconfig.Lookuper, name string, field reflect.StructField) (envconfig.Lookuper, error) {
	if !isSecret(field) {
		return from, nil
	}
	value, isSet, err := LookupSecret(from, name)
	if err != nil || !isSet {
		return from, err
	}
	return secretLookuper{from, name, value}, nil
}

// secretLookuper finds the value of one secret, and the variables of another lookuper.
type secretLookuper struct {
	envconfig.Lookuper
	name, value string
}

// Lookup returns the value of a variable, and whether it is set.
func (l secretLookuper) Lookup(name string) (string, bool) {
	if name == l.name {
		return l.value, true
	}
	return l.Lookuper.Lookup(name)
}
