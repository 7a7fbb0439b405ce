package view

import (
	"slices"
	"testing"
)

// TestSettingsListEachPageOnce shows that each page below Settings is in one group, that no page of the catalogue is
// there, and that each group and page has its texts.
func TestSettingsListEachPageOnce(t *testing.T) {
	t.Parallel()
	p, _ := newPageIn(t, "en")
	var paths []string
	for _, group := range settingsGroups {
		if p.say(group.title) == "" {
			t.Errorf("the group %s has no name", group.name)
		}
		for _, s := range group.pages {
			if p.say(s.title) == "" || p.say("settings_"+s.name+"_text") == "" {
				t.Errorf("the page %s has no texts", s.path)
			}
			if slices.Contains(paths, s.path) {
				t.Errorf("the page %s is in two groups", s.path)
			}
			paths = append(paths, s.path)
		}
	}
	for _, section := range catalogue {
		if slices.Contains(paths, "/offer/"+section) {
			t.Errorf("%s is below Catalogue and Settings", section)
		}
	}
	if err := p.Words.Fault(); err != nil {
		t.Error(err)
	}
}
