package plain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/clip"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// CheckNames returns an error for a name that is probably a misspelled known name. Such a name differs from a known
// name only in case, underscores or hyphens, for example staffId instead of staff_id. Other unknown names are accepted.
// The argument `noun` describes the names in the error sentence: parameter or field. Fault: invalid_parameter.
func CheckNames(noun string, names, known []string) error {
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		if i := slices.IndexFunc(known, func(k string) bool { return plainName(k) == plainName(name) }); i >= 0 {
			return fault.Newf(fault.InvalidParameter, "%s: there is no such %s; write %s.",
				strconv.Quote(clip.Text(name)), noun, known[i])
		}
	}
	return nil
}

var nameMarks = strings.NewReplacer("_", "", "-", "")

// plainName returns a name in lower case, without underscores and hyphens.
func plainName(name string) string { return strings.ToLower(nameMarks.Replace(name)) }
