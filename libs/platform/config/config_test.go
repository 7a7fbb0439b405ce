package config

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sethvargo/go-envconfig"
)

type group struct {
	Wait time.Duration `env:"WAIT, default=3s"`
	Size int           `env:"SIZE, required"`
}

type settings struct {
	Group group  `env:", prefix=GROUP_"`
	Name  string `env:"NAME, required"`
	Ratio int    `env:"RATIO, default=2"`
}

func (s *settings) Validate() error {
	if s.Ratio == 0 {
		return errors.New("RATIO: 0 divides nothing")
	}
	return nil
}

func TestLoadReportsEveryErrorByVariable(t *testing.T) {
	t.Parallel()
	var s settings
	err := Load(context.Background(), &s,
		envconfig.MapLookuper(map[string]string{"GROUP_WAIT": "soon", "RATIO": "two"}))
	if err == nil {
		t.Fatal("faulty settings were accepted")
	}
	for _, name := range []string{"WAIT", "SIZE", "NAME", "RATIO"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
}

func TestLoadFillsDefaultsAndGroups(t *testing.T) {
	t.Parallel()
	var s settings
	vars := map[string]string{"GROUP_SIZE": "7", "NAME": "x"}
	if err := Load(context.Background(), &s, envconfig.MapLookuper(vars)); err != nil {
		t.Fatal(err)
	}
	if want := (settings{Group: group{Wait: 3 * time.Second, Size: 7}, Name: "x", Ratio: 2}); s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

func TestLoadValidatesWholeConfig(t *testing.T) {
	t.Parallel()
	var s settings
	err := Load(context.Background(), &s,
		envconfig.MapLookuper(map[string]string{"GROUP_SIZE": "7", "NAME": "x", "RATIO": "0"}))
	if err == nil || !strings.Contains(err.Error(), "RATIO: 0 divides nothing") {
		t.Errorf("got %v", err)
	}
}

func TestLoadKeepsUnexportedFields(t *testing.T) {
	t.Parallel()
	var s struct {
		Name string `env:"NAME, required"`
		own  string
	}
	s.own = "kept"
	if err := Load(context.Background(), &s, envconfig.MapLookuper(map[string]string{"NAME": "x"})); err != nil {
		t.Fatal(err)
	}
	if s.Name != "x" || s.own != "kept" {
		t.Errorf("got %+v", s)
	}
}

// The error about an invalid variable names a valid value.
func TestLoadErrorNamesValidValue(t *testing.T) {
	t.Parallel()
	var cfg struct {
		Port  int           `env:"PORT, default=1"`
		Wait  time.Duration `env:"WAIT, default=1s"`
		Demo  bool          `env:"DEMO, default=true"`
		Level slog.Level    `env:"LOG_LEVEL, default=info"`
		Need  int           `env:"NEED, required"`
	}
	err := Load(context.Background(), &cfg,
		envconfig.MapLookuper(map[string]string{"PORT": "abc", "WAIT": "soon", "DEMO": "maybe", "LOG_LEVEL": "loud"}))
	if err == nil {
		t.Fatal("faulty settings were accepted")
	}
	for _, want := range []string{
		`PORT: "abc" is not a whole number that fits; write one such as 8080`,
		`WAIT: "soon" is not a duration; write one such as 2s or 500ms`,
		`DEMO: "maybe" is neither true nor false`, `LOG_LEVEL: "loud" is not a level; write debug, info, warn or error`,
		"NEED: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
}
