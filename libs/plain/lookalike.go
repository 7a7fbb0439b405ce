package plain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/clip"
	"github.com/slotmesh/slotmesh/libs/fault"
)

// CheckNames refuses a name that differs from a known one only in its case, underscores or hyphens, as staffId does from staff_id. Other
// unknown names pass. noun says what the names are of: parameter or field.
func CheckNames(noun string, names, known []string) error {
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		if i := slices.IndexFunc(known, func(k string) bool { return plainName(k) == plainName(name) }); i >= 0 {
			return fault.Newf(fault.InvalidParameter, "%s: there is no such %s; write %s.", strconv.Quote(clip.Text(name)), noun, known[i])
		}
	}
	return nil
}

var nameMarks = strings.NewReplacer("_", "", "-", "")

// plainName is a name in lower case without underscores and hyphens.
func plainName(name string) string { return strings.ToLower(nameMarks.Replace(name)) }
