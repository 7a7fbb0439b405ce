// Package zone loads time zones by their IANA names. All code of the process uses the same
// rules. The package does no I/O: package zonefiles reads the files and passes their content.
//
// Governments change time zones at a few weeks' notice. The rules that are part of the
// program are therefore only the last resort. Go's own lookup is not used: it prefers the
// machine's files even if they are older, and accepts names that only this machine knows.
package zone

import (
	"archive/zip"
	"bytes"
	_ "embed" // the rules
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

// embedded is the file zoneinfo.zip of the Go distribution. Its version is below.
//
//go:embed zoneinfo.zip
var embedded []byte

// EmbeddedVersion is the version of the rules that are part of the program.
const EmbeddedVersion = "2025c"

// embeddedSince is the release date of the embedded rules.
var embeddedSince = time.Date(2025, time.December, 10, 0, 0, 0, 0, time.UTC)

// Rules is a set of time zone rules.
type Rules struct {
	Version string    // such as 2026c
	Source  string    // origin: embedded, or a path
	Since   time.Time // release date, if known
	// Read returns the compiled rules (TZif) of a zone.
	Read func(name string) ([]byte, error)

	loaded sync.Map // name → *time.Location
}

// maxZone bounds the size of the compiled rules of a zone, in bytes. The largest today has 4 KiB.
const maxZone = 64 << 10

// Embedded returns the rules that are part of the program.
var Embedded = sync.OnceValue(func() *Rules {
	rules, err := Zip(embedded)
	if err != nil {
		panic(err) // the file is part of the program
	}
	rules.Version, rules.Source, rules.Since = EmbeddedVersion, "embedded", embeddedSince
	return rules
})

// Zip returns the rules in a file with the format of zoneinfo.zip of the Go distribution.
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

// Current returns the rules that [Load] uses: those of [Use], otherwise the embedded ones.
func Current() *Rules {
	if used := current.Load(); used != nil {
		return used
	}
	return Embedded()
}

// Use makes [Load] use these rules from now on. A location that was loaded before keeps its own.
func Use(rules *Rules) { current.Store(rules) }

var (
	errUnknown = errors.New("unknown time zone")
	plainName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)
)

// maxName is the length of the longest name that is looked up.
const maxName = 64

// uncommonNames are names in zone data files that clients do not know: browsers and phones reject them.
var uncommonNames = map[string]bool{"Local": true, "localtime": true, "posixrules": true, "Factory": true}

// IsKnown reports whether a name has a form that clients know, too.
func IsKnown(name string) bool {
	return len(name) <= maxName && plainName.MatchString(name) && !uncommonNames[name] &&
		!strings.HasPrefix(name, "right/") && !strings.HasPrefix(name, "posix/")
}

// Names returns the names of the embedded zones that clients know, in alphabetical order.
var Names = sync.OnceValue(func() []string {
	archive, err := zip.NewReader(bytes.NewReader(embedded), int64(len(embedded)))
	if err != nil {
		panic(err) // the file is part of the program
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

// Load returns a time zone by its IANA name, such as Europe/Lisbon.
func Load(name string) (*time.Location, error) { return Current().Load(name) }

// Load returns a time zone by its IANA name. It reads each zone once.
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

// String describes the rules for people, such as "2026c, /usr/share/zoneinfo".
func (r *Rules) String() string {
	version := r.Version
	if version == "" {
		version = "of unknown version"
	}
	return version + ", " + r.Source
}

// IsOld reports whether the rules were released more than a year before now. It returns false if the date is unknown.
func (r *Rules) IsOld(now time.Time) bool {
	return !r.Since.IsZero() && now.After(r.Since.AddDate(1, 0, 0))
}
