// Package zone loads time zones by their IANA names. All code of the process uses the same time zone rules. The package
// does no I/O: package zonefiles reads the files and passes their content to package zone.
//
// Governments change time zones with a few weeks' notice. The process therefore uses the rules embedded in the program
// only if it finds no newer rules. The process does not use the lookup of Go's package time. That lookup prefers the
// files of the machine even if these files are older than the embedded rules. It also accepts names that exist only on
// this machine.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed" // embeds the rules
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// embedded is the file zoneinfo.zip of a Go distribution. [EmbeddedVersion] is the version of its rules.
//
//go:embed zoneinfo.zip
var embedded []byte

// EmbeddedVersion is the version of the time zone rules that are part of the program.
const EmbeddedVersion = "2025c"

// embeddedSince is the release date of the embedded rules.
var embeddedSince = time.Date(2025, time.December, 10, 0, 0, 0, 0, time.UTC)

// Rules is a set of time zone rules, such as the files of one release of tzdata.
type Rules struct {
	Version string    // version of the rules, such as 2026c
	Source  string    // "embedded", or the path of the files
	Since   time.Time // release date; zero if it is unknown
	// Read returns the compiled rules of one time zone, in the format TZif.
	Read func(name string) ([]byte, error)

	loaded sync.Map // loaded time zones: name → *time.Location
}

// maxZone is the maximal size of the compiled rules of one time zone, in bytes. The largest time zone has 4 KiB today.
const maxZone = 64 << 10

// Embedded returns the time zone rules that are part of the program.
var Embedded = sync.OnceValue(func() *Rules {
	rules, err := Zip(embedded)
	if err != nil {
		panic(err) // cannot happen, because the file is part of the program
	}
	rules.Version, rules.Source, rules.Since = EmbeddedVersion, "embedded", embeddedSince
	return rules
})

// Zip returns the time zone rules in a zip file, which has the format of zoneinfo.zip in a Go distribution.
func Zip(content []byte) (*Rules, error) {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("zone data: %w", err)
	}
	files := make(map[string]*zip.File, len(archive.File))
	for _, file := range archive.File {
		files[file.Name] = file
	}
	return &Rules{Read: func(name string) ([]byte, error) {
		file, ok := files[name]
		if !ok {
			return nil, errUnknown
		}
		open, err := file.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = open.Close() }()
		return io.ReadAll(io.LimitReader(open, maxZone))
	}}, nil
}

var current atomic.Pointer[Rules]

// Current returns the rules that [Load] uses. These are the rules that
// were passed to [Use], or the embedded rules if Use was not called.
func Current() *Rules {
	if used := current.Load(); used != nil {
		return used
	}
	return Embedded()
}

// Use sets the rules that [Load] uses from now on. Locations that were loaded earlier keep their rules.
func Use(rules *Rules) { current.Store(rules) }

var (
	errUnknown = errors.New("unknown time zone")
	plainName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)
)

// maxName is the maximal length of a time zone name.
const maxName = 64

// uncommonNames are names in time zone files that browsers and phones do not know.
var uncommonNames = map[string]bool{"Local": true, "localtime": true, "posixrules": true, "Factory": true}

// IsKnown reports whether a name has the form of a time zone name. It returns false for the names in time zone files
// that browsers and phones do not know. IsKnown does not check whether the time zone exists.
func IsKnown(name string) bool {
	return len(name) <= maxName && plainName.MatchString(name) && !uncommonNames[name] &&
		!strings.HasPrefix(name, "right/") && !strings.HasPrefix(name, "posix/")
}

// Names returns the names of the embedded time zones for which [IsKnown] is true, in alphabetical order.
var Names = sync.OnceValue(func() []string {
	archive, err := zip.NewReader(bytes.NewReader(embedded), int64(len(embedded)))
	if err != nil {
		panic(err) // cannot happen, because the file is part of the program
	}
	var names []string
	for _, file := range archive.File {
		if IsKnown(file.Name) {
			names = append(names, file.Name)
		}
	}
	slices.Sort(names)
	return names
})

// Load returns the time zone with an IANA name, such as Europe/Lisbon,
// by the rules of [Current]. It returns an error if the name is unknown.
func Load(name string) (*time.Location, error) { return Current().Load(name) }

// Load returns the time zone with an IANA name. It reads the rules of
// each time zone only once. It returns an error if the name is unknown.
func (r *Rules) Load(name string) (*time.Location, error) {
	if known, ok := r.loaded.Load(name); ok {
		return known.(*time.Location), nil
	}
	if !IsKnown(name) {
		return nil, fmt.Errorf("%q: %w", name, errUnknown)
	}
	content, err := r.Read(name)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	location, err := time.LoadLocationFromTZData(name, content)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	known, _ := r.loaded.LoadOrStore(name, location)
	return known.(*time.Location), nil
}

// String describes the rules for log lines and people, such as "2026c, /usr/share/zoneinfo".
func (r *Rules) String() string {
	version := r.Version
	if version == "" {
		version = "of unknown version"
	}
	return version + ", " + r.Source
}

// IsOld reports whether the rules were released more than one year before
// the argument `now`. It returns false if the release date is unknown.
func (r *Rules) IsOld(now time.Time) bool {
	return !r.Since.IsZero() && now.After(r.Since.AddDate(1, 0, 0))
}
