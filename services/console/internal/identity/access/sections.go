package access

import (
	"strings"
)

// sections maps each section of the manifest to the action that a person must be permitted to do to change the section
// (accounts.md). A section is a top-level field of the manifest, or a field within a top-level field. A test checks
// that the variable `sections` covers every field.
var sections = []struct {
	path   string
	action Action
}{
	{"account", ManageAccounts},
	{"privacy", Erase},
	{"payments.accounts", Integrate},
	{"payments.providers", Integrate},
	{"notifications", Integrate},
	{"page.embed_origins", Integrate},
	{"managed_by", Integrate},
	{"payments.modes", EditOffer},
	{"page.accent", EditOffer},
	{"page.about_html", EditOffer},
	{"page.cover", EditOffer},
	{"page.gallery", EditOffer},
	{"page.translations", EditOffer},
	{"apiVersion", EditOffer},
	{"kind", EditOffer},
	{"id", EditOffer},
	{"slug", EditOffer},
	{"name", EditOffer},
	{"logo_url", EditOffer},
	{"logo", EditOffer},
	{"currency", EditOffer},
	{"timezone", EditOffer},
	{"default_language", EditOffer},
	{"languages", EditOffer},
	{"modules", EditOffer},
	{"social_links", EditOffer},
	{"action_buttons", EditOffer},
	{"locations", EditOffer},
	{"contact", EditOffer},
	{"legal", EditOffer},
	{"policy_text", EditOffer},
	{"cancellation_policy", EditOffer},
	{"cooling_off_hours", EditOffer},
	{"bookings", EditOffer},
	{"self_service", EditOffer},
	{"form", EditOffer},
	{"form_enforce_api", EditOffer},
	{"open", EditOffer},
	{"hours", EditOffer},
	{"overrides", EditOffer},
	{"blocks", EditOffer},
	{"staff", EditOffer},
	{"services", EditOffer},
	{"packages", EditOffer},
	{"events", EditOffer},
	{"rentals", EditOffer},
	{"pricing_rules", EditOffer},
	{"translations", EditOffer},
}

// Sections returns the paths of all sections of the manifest. The sections that only few roles may change come before
// the sections that more roles may change.
func Sections() []string {
	paths := make([]string, len(sections))
	for i, s := range sections {
		paths[i] = s.path
	}
	return paths
}

// ActionForField returns the action that a person must be permitted to do to change a field of the manifest. The
// argument `path` is the path of the field, such as privacy.keep_customers_days. For a path outside all sections,
// ActionForField returns the action "", which no role permits.
func ActionForField(path string) Action {
	for _, s := range sections {
		if rest, ok := strings.CutPrefix(path, s.path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return s.action
		}
	}
	return ""
}
