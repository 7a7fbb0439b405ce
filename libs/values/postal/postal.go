// Package postal formats postal addresses, and lists the countries of ISO 3166-1. It does no I/O.
package postal

import (
	"slices"
	"strings"
	"unicode"
)

// countries are the officially assigned codes of ISO 3166-1 alpha-2, in alphabetical order.
const countries = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT " +
	"BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI " +
	"FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ " +
	"IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK " +
	"ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN " +
	"PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH " +
	"TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"

var countryList = strings.Fields(countries)

// Countries returns the officially assigned codes of ISO 3166-1 alpha-2, in alphabetical order.
func Countries() []string { return slices.Clone(countryList) }

// IsCountry reports whether a text is one of [Countries].
func IsCountry(code string) bool {
	_, ok := slices.BinarySearch(countryList, code)
	return ok
}

// Address is a postal address. Each part may be empty.
type Address struct {
	Street     string `json:"street,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
	City       string `json:"city,omitempty"`
	Country    string `json:"country,omitempty" jsonschema:"ISO 3166-1 alpha-2"`
}

// codeAfterCity are the countries in which the postal code follows the city.
var codeAfterCity = []string{
	"AU", "BD", "BM", "BN", "CA", "EG", "GB", "GG", "GI", "HK", "ID", "IE", "IM", "IN", "IO", "JE", "JO", "KE", "KH", "KY",
	"LK", "LS", "LV", "MT", "MV", "NG", "NP", "NZ", "PG", "PK", "PR", "SA", "SG", "TH", "TW", "US", "VG", "VI", "VN", "ZA",
}

// Lines returns the lines of the address in the order that is usual in the address's country. These are the street, the
// city with the postal code, and the argument `country`. The argument is the name of the country in the language of the
// reader. Lines omits a line without text. An address in Chinese, Japanese or Korean script is one line from the
// largest part to the smallest, followed by `country`.
func (a Address) Lines(country string) []string {
	lines := []string{a.Street, a.cityLine(), country}
	if a.isLargestFirst() {
		lines = []string{join(" ", a.PostalCode, a.City, a.Street), country}
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// OneLine returns the lines of [Address.Lines] as one line, separated by commas. It returns "" for an empty address.
func (a Address) OneLine(country string) string { return strings.Join(a.Lines(country), ", ") }

func (a Address) cityLine() string {
	if slices.Contains(codeAfterCity, a.Country) {
		return join(" ", a.City, a.PostalCode)
	}
	return join(" ", a.PostalCode, a.City)
}

// isLargestFirst reports whether the address is written in a script whose addresses begin with the largest part.
func (a Address) isLargestFirst() bool {
	return slices.Contains([]string{"CN", "HK", "JP", "KR", "MO", "TW"}, a.Country) &&
		strings.ContainsFunc(a.City+a.Street, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana)
		})
}

// join joins the parts that are not empty.
func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}
