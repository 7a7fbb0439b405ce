// Package zonefiles finds the newest time zone rules on this machine and passes them to package zone.
package zonefiles

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// Config holds the settings for the time zone rules.
type Config struct {
	// Path is a folder of compiled zone data, or a file zoneinfo.zip. The service uses these rules even if other rules
	// are newer. If Path is empty, the service uses the newer of two sets of rules: the system's rules and the rules
	// embedded in the program.
	Path string `env:"ZONE_DATA"`
}

// Validate returns an error if the rules in Path cannot be read.
func (c *Config) Validate() error {
	if c.Path == "" {
		return nil
	}
	_, err := openRules(c.Path)
	return err
}

// systemFolders are the folders in which operating systems store compiled zone data.
var systemFolders = []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}

// Choose selects the rules that package zone uses. These are the rules in cfg.Path. If
// cfg.Path is empty, they are the newer of the system's rules and the embedded rules.
func Choose(cfg Config) error {
	if cfg.Path != "" {
		rules, err := openRules(cfg.Path)
		if err != nil {
			return err
		}
		zone.Use(rules)
		return nil
	}
	zone.Use(findNewest(systemFolders))
	return nil
}

// Describe returns a description of the rules that a process uses if the argument `path` is the value of ZONE_DATA. If
// the rules cannot be read, Describe returns the text of the error.
func Describe(path string) string {
	if err := Choose(Config{Path: path}); err != nil {
		return err.Error()
	}
	return zone.Current().String()
}

// findNewest returns the newest rules among the rules in the given folders and the embedded rules.
func findNewest(folders []string) *zone.Rules {
	best := zone.Embedded()
	for _, folder := range folders {
		if rules, err := openRules(folder); err == nil && rules.Version > best.Version {
			best = rules
		}
	}
	return best
}

// probeZone is a zone that all valid rules contain. openRules loads it to check a folder or file.
const probeZone = "Europe/London"

// openRules returns the rules in the folder or the zip file with the given path.
func openRules(path string) (*zone.Rules, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("ZONE_DATA: %w", err)
	}
	var rules *zone.Rules
	if info.IsDir() {
		rules = readFolder(path)
	} else {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("ZONE_DATA: %w", err)
		}
		if rules, err = zone.Zip(content); err != nil {
			return nil, fmt.Errorf("ZONE_DATA: %s: %w", path, err)
		}
		rules.Since = info.ModTime()
	}
	rules.Source = path
	if _, err := rules.Load(probeZone); err != nil {
		return nil, fmt.Errorf("ZONE_DATA: %s is no folder of compiled zone data, and no zoneinfo.zip: %w", path, err)
	}
	return rules, nil
}

func readFolder(path string) *zone.Rules {
	version, since := findVersion(path)
	root := os.DirFS(path)
	read := func(name string) ([]byte, error) { return fs.ReadFile(root, name) }
	return &zone.Rules{Version: version, Since: since, Read: read}
}

// release matches a version of the rules, such as 2025b. The first four digits are the year.
var release = regexp.MustCompile(`\b([12][0-9]{3})[a-z]{1,2}\b`)

// findVersion returns the version of the rules in a folder, and the date
// of their release. The version is "" if no file in the folder states it.
func findVersion(path string) (string, time.Time) {
	for _, name := range []string{"tzdata.zi", "+VERSION", "version"} {
		file, err := os.Open(filepath.Join(path, name))
		if err != nil {
			continue
		}
		line, _ := bufio.NewReader(file).ReadString('\n')
		info, statErr := file.Stat()
		err = errors.Join(statErr, file.Close())
		if found := release.FindStringSubmatch(line); found != nil && err == nil {
			return found[0], releaseDate(found[1], info.ModTime())
		}
	}
	return "", time.Time{}
}

// releaseDate returns the approximate release date of rules. The argument `year` is the year in their version, and
// `fileDate` is the date of the file that states the version. The result is `fileDate` if this date is in that year or
// in the next year. If not, the result is the middle of that year.
func releaseDate(year string, fileDate time.Time) time.Time {
	number, _ := strconv.Atoi(strings.TrimSpace(year))
	if fileDate.Year() == number || fileDate.Year() == number+1 {
		return fileDate
	}
	return time.Date(number, time.July, 1, 0, 0, 0, 0, time.UTC)
}

// warnedRules are the rules for which the process has already logged a warning.
var warnedRules atomic.Pointer[zone.Rules]

// Report records the metric slotmesh.zones.info. If the rules are older than a year, it also logs a warning once.
func Report(ctx context.Context, tel *telemetry.Telemetry, now time.Time) {
	rules := zone.Current()
	description := metric.WithDescription("Always 1; its attributes name the rules of time zones.")
	gauge, err := tel.Meter.Int64Gauge("slotmesh.zones.info", description)
	if err != nil {
		panic(err) // the name is a constant, so it is valid
	}
	gauge.Record(ctx, 1, metric.WithAttributes(
		attribute.String("version", rules.Version), attribute.String("source", rules.Source)))
	if rules.IsOld(now) && warnedRules.Swap(rules) != rules {
		tel.Logger.WarnContext(ctx,
			"the rules of time zones are older than a year; renew the system's zone data or set ZONE_DATA",
			"zones", rules.String())
	}
}
