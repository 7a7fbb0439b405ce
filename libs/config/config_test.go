package config

import (
	"context"
	"errors"
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

func TestLoadReportsEveryFaultByVariable(t *testing.T) {
	t.Parallel()
	var s settings
	err := Load(context.Background(), &s, envconfig.MapLookuper(map[string]string{"GROUP_WAIT": "soon", "RATIO": "two"}))
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

func TestLoadValidatesTheWhole(t *testing.T) {
	t.Parallel()
	var s settings
	err := Load(context.Background(), &s, envconfig.MapLookuper(map[string]string{"GROUP_SIZE": "7", "NAME": "x", "RATIO": "0"}))
	if err == nil || !strings.Contains(err.Error(), "RATIO: 0 divides nothing") {
		t.Errorf("got %v", err)
	}
}

func TestLoadLeavesUnexportedFieldsAlone(t *testing.T) {
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
