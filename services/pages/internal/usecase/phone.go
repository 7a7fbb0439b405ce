package usecase

import (
	"errors"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"github.com/slotmesh/slotmesh/libs/values/phone"
)

// isPossiblePhone reports whether a telephone number has a length that exists in its country. The country of a number
// with a country code is that of the code. The country of any other number is the argument `country`, that of the
// business. Without a country that the library knows, the form of a number without a country code is enough. Numbers
// that no network has assigned yet are possible, because the library can be older than a number.
func isPossiblePhone(number, country string) bool {
	if !phone.Valid(number) {
		return false
	}
	parsed, err := phonenumbers.Parse(number, country)
	if err != nil {
		isCountryKnown := phonenumbers.GetCountryCodeForRegion(country) != 0
		return !isCountryKnown && errors.Is(err, phonenumbers.ErrInvalidCountryCode) &&
			!strings.HasPrefix(strings.TrimLeft(number, "( "), "+")
	}
	switch phonenumbers.IsPossibleNumberWithReason(parsed) {
	case phonenumbers.IS_POSSIBLE, phonenumbers.IS_POSSIBLE_LOCAL_ONLY:
		return true
	default:
		return false
	}
}
