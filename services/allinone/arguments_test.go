package allinone_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone"
)

func TestHandleArgumentsRefusesInvalidArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args       []string
		all, fails bool
		says       string
	}{
		{nil, false, false, ""},
		{[]string{"--help"}, true, false, "DATABASE_URL"},
		{[]string{"-h"}, true, false, "backup FILE"},
		{[]string{"--version"}, true, false, "\nzones 20"},
		{[]string{"serve"}, false, false, ""},
		{[]string{"doctor"}, false, false, ""},
		{[]string{"serve", "9000"}, true, true, ""},
		{[]string{"--port=9000"}, true, true, ""},
		{[]string{""}, true, true, ""},
		{[]string{"backup", "file"}, false, false, ""},
		{[]string{"restore", "file"}, false, false, ""},
		{[]string{"backup"}, true, true, ""},
		{[]string{"backup", "--all"}, true, true, ""},
		{[]string{"restore", "one", "two"}, true, true, ""},
	} {
		var out bytes.Buffer
		all, err := allinone.HandleArguments(c.args, &out)
		if all != c.all || (err != nil) != c.fails || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q: %t, %v, %s", c.args, all, err, out.String())
		}
		if c.fails && !strings.Contains(err.Error(), "--help") {
			t.Errorf("%q: the error %v does not mention --help", c.args, err)
		}
	}
}

func TestHelpListsEverySetting(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("config.go")
	if err != nil {
		t.Fatal(err)
	}
	var help bytes.Buffer
	if _, err := allinone.HandleArguments([]string{"--help"}, &help); err != nil {
		t.Fatal(err)
	}
	settings := regexp.MustCompile("env:\"([A-Z_]+)").FindAllStringSubmatch(string(source), -1)
	for _, s := range settings {
		if !strings.Contains(help.String(), s[1]) {
			t.Errorf("--help does not list %s", s[1])
		}
	}
	if len(settings) < 10 {
		t.Errorf("only %d settings were found", len(settings))
	}
}
