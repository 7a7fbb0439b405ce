package offer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// refusal describes a refused change: the principal's role may not change this section of the manifest.
type refusal struct {
	path     string
	sentence string
}

// findRefusedSection returns the first section that differs between two manifests and that the principal's role may not
// change. It returns nil if the principal may change all sections that differ.
func findRefusedSection(by peers.Principal, businessID uuid.UUID, before, after *manifest.Manifest) (*refusal, error) {
	if by.IsOperator {
		return nil, nil
	}
	changed, err := findChangedSections(before, after)
	if err != nil {
		return nil, err
	}
	for _, path := range changed {
		action := access.ActionForField(path)
		if by.PermissionIn(businessID, action) == access.None {
			self, _ := by.MembershipIn(businessID)
			return &refusal{path, fmt.Sprintf("the role %s may not %s; leave it as the newest version has it.",
				self.Role, action)}, nil
		}
	}
	return nil, nil
}

// findChangedSections lists the paths of the sections that differ between two manifests, in the order of
// [access.Sections].
func findChangedSections(before, after *manifest.Manifest) ([]string, error) {
	old, err := readSectionFields(before)
	if err != nil {
		return nil, err
	}
	wanted, err := readSectionFields(after)
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, path := range access.Sections() {
		if !reflect.DeepEqual(findValue(old, path), findValue(wanted, path)) {
			changed = append(changed, path)
		}
	}
	return changed, nil
}

// readSectionFields returns the fields of a manifest by their JSON names. If the manifest omits the account or the id
// of the business, readSectionFields adds the default. So two manifests are equal if one omits such a field and the
// other has the field with its default.
func readSectionFields(m *manifest.Manifest) (map[string]any, error) {
	filled, id := *m, manifest.ID(m.BusinessID())
	filled.ID = &id
	filled.Account = &manifest.Account{RemovalOn: m.RemovalOn(), Sandbox: m.IsSandbox()}
	if !m.HasActiveSubscription() {
		filled.Account.Subscription = "inactive"
	}
	text, err := json.Marshal(&filled)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, json.Unmarshal(text, &fields)
}

// findValue returns the value at a path of a manifest. It returns nil if the value is omitted or is an object without
// fields.
func findValue(fields map[string]any, path string) any {
	var value any = fields
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	if object, is := value.(map[string]any); is && len(object) == 0 {
		return nil
	}
	return value
}
