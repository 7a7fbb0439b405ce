package allinone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/services/front"
)

// ownSettings are settings of the services that this process sets itself, in addition to the services' URLs. If the
// environment contains one of them, the process does not start, because the value would have no effect.
var ownSettings = []string{"INTERNAL_ADDR", "INTERNAL_HOSTS", "PEER_CALLERS", "PEER_SECRETS", "PUBLIC_ADDR",
	"PUBLIC_URL", "UPSTREAMS"}

// foreignVariables are environment variables with the prefix SLOTMESH_ that other programs of Slotmesh read. The
// environment of this process may also contain them.
var foreignVariables = []string{"SLOTMESH_CONFIG", "SLOTMESH_KEY", "SLOTMESH_SERVER"}

// ignoredVariables matches environment variables with the prefix SLOTMESH_ that are not settings. Some are read by
// tests. Others are set by Kubernetes and Docker for a Service whose name begins with SLOTMESH.
var ignoredVariables = regexp.MustCompile(
	`^SLOTMESH_(TEST|E2E|BENCH)_|_SERVICE_(HOST|PORT)|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`,
)

// isOwnSetting reports whether `name` is a setting of the services that this process sets itself. These settings are
// ownSettings and the internal URLs of services, such as CATALOG_URL.
func isOwnSetting(name string) bool {
	if slices.Contains(config.Names(new(Config)), name) {
		return false // this process also reads the setting, such as PAGES_URL
	}
	service, isURL := strings.CutSuffix(name, "_URL")
	return slices.Contains(ownSettings, name) || isURL && slices.Contains(partNames(), strings.ToLower(service))
}

// listServiceSettings returns the names of all services' settings, sorted.
func listServiceSettings() []string {
	names := config.Names(new(front.Config))
	for _, s := range services {
		names = append(names, s.settings...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// listPassedSettings returns the names of the services' settings that this process passes on unchanged: it neither
// reads nor sets them itself.
func listPassedSettings() []string {
	own := config.Names(new(Config))
	return slices.DeleteFunc(listServiceSettings(), func(name string) bool {
		return isOwnSetting(name) || slices.Contains(own, name)
	})
}

// readSettings adds the services' settings in the environment `env` to `cfg`. If `env` contains a setting that this
// process sets itself, readSettings returns an error, because the value would have no effect. The URLs of services are
// such settings, too: readSettings rejects them even if Docker or Kubernetes has set them.
func readSettings(cfg *Config, env envconfig.Lookuper) error {
	var errs []error
	lookup := newSettingLookup(env)
	for _, name := range listServiceSettings() {
		if _, isGiven, err := lookup(name); isOwnSetting(name) && (isGiven || err != nil) {
			errs = append(errs, fmt.Errorf("%s: the one process makes this setting itself; leave it out", name))
		}
	}
	for _, name := range listPassedSettings() {
		value, isGiven, err := lookup(name)
		if err != nil {
			errs = append(errs, err)
		}
		if isGiven {
			if cfg.Settings == nil {
				cfg.Settings = make(map[string]string)
			}
			cfg.Settings[name] = value
		}
	}
	return errors.Join(errs...)
}

// newSettingLookup returns a function that finds the value of a service's setting in `env`. The values of secrets may
// come from files.
func newSettingLookup(env envconfig.Lookuper) func(name string) (string, bool, error) {
	secrets := listSecrets()
	return func(name string) (string, bool, error) {
		if slices.Contains(secrets, name) {
			return config.LookupSecret(env, name)
		}
		value, isSet := env.Lookup(name)
		return value, isSet, nil
	}
}

// listSecrets returns the names of the settings of this process and of its services that are secrets.
func listSecrets() []string {
	names := slices.Concat(config.Secrets(new(Config)), config.Secrets(new(front.Config)))
	for _, s := range services {
		names = append(names, s.secrets...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ListNames returns the names of all settings of the process, with those that name the file of a secret.
func ListNames() []string {
	names := slices.Concat(config.Names(new(Config)), listPassedSettings())
	for _, name := range listSecrets() {
		names = append(names, name+"_FILE")
	}
	return names
}

// CheckNames returns an error for environment variables with the prefix SLOTMESH_ that no part of the process reads,
// because their names are probably misspelt. Each element of the argument `environment` has the form NAME=value.
func CheckNames(environment []string) error {
	const prefix = "SLOTMESH_"
	knownNames := slices.DeleteFunc(append(ListNames(), foreignVariables...),
		func(name string) bool { return !strings.HasPrefix(name, prefix) })
	slices.Sort(knownNames)
	var errs []error
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, prefix) && !ignoredVariables.MatchString(name) && !slices.Contains(knownNames,
			name) {
			errs = append(errs, fmt.Errorf("%s: there is no such setting; those with this beginning are %s",
				name, strings.Join(slices.Compact(knownNames), ", ")))
		}
	}
	return errors.Join(errs...)
}

// checkSettings loads the settings of all services. checkSettings is called before anything is installed, started or
// migrated, so that invalid settings are reported first. Values that this process generates later are replaced by valid
// placeholders.
func (p *Process) checkSettings(ctx context.Context) error {
	const store = "postgres://localhost/slotmesh"
	var faults []string
	add := func(err error) {
		if err == nil {
			return
		}
		for fault := range strings.SplitSeq(strings.TrimPrefix(err.Error(), "settings: "), "; ") {
			if !slices.Contains(faults, fault) {
				faults = append(faults, fault)
			}
		}
	}
	for _, s := range services {
		add(s.check(ctx, p.environmentWith(s.name, cmp.Or(p.cfg.DatabaseURL, store),
			cmp.Or(p.cfg.RedisURL, "redis://localhost"))))
	}
	_, err := loadFrontConfig(ctx, p.cfg, p.PeerSecrets[frontName], p.upstreams())
	add(err)
	if len(faults) > 0 {
		return errors.New("settings: " + strings.Join(faults, "; "))
	}
	return nil
}
