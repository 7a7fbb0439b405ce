package postal

import (
	"slices"
	"testing"
)

func TestCountriesAreSortedCodes(t *testing.T) {
	t.Parallel()
	all := Countries()
	if len(all) != 249 || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("%d countries: %v", len(all), all)
	}
	for code, want := range map[string]bool{"PT": true, "ZW": true, "AD": true, "UK": false, "pt": false, "": false, "EU": false} {
		if IsCountry(code) != want {
			t.Errorf("%q: %t", code, !want)
		}
	}
}

func TestAddressOnOneLineFollowsItsCountry(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]struct {
		address Address
		country string
	}{
		"Rua 1, 1100-001 Lisboa, Portugal": {Address{"Rua 1", "1100-001", "Lisboa", "PT"}, "Portugal"},
		"1 Main St, London SW1A 1AA":       {Address{"1 Main St", "SW1A 1AA", "London", "GB"}, ""},
		"5 Elm Street, Springfield 12345":  {Address{"5 Elm Street", "12345", "Springfield", "US"}, ""},
		"Lisboa":                           {Address{City: "Lisboa"}, ""},
		"1100-001":                         {Address{PostalCode: "1100-001"}, ""},
		"Rua 1":                            {Address{Street: "Rua 1", Country: "PT"}, ""},
		"Portugal":                         {Address{Country: "PT"}, "Portugal"},
		"100-0001 東京都千代田区 千代田1-1, 日本":        {Address{"千代田1-1", "100-0001", "東京都千代田区", "JP"}, "日本"},
		"1-1 Chiyoda, 100-0001 Tokyo, Japan": {Address{"1-1 Chiyoda", "100-0001", "Tokyo", "JP"}, "Japan"},
		"":                                   {},
	} {
		if got := a.address.OneLine(a.country); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
