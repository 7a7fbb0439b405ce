package words

import (
	"slices"
	"testing"
)

func TestSortByNameIgnoresCaseAndAccents(t *testing.T) {
	t.Parallel()
	names := []string{"Polen", "Zypern", "Österreich", "oman", "Ägypten", "Albanien"}
	SortByName(names, func(name string) string { return name })
	if want := []string{"Ägypten", "Albanien", "oman", "Österreich", "Polen", "Zypern"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
