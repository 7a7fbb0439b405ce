package tools

import "encoding/json"

// costText returns a price as text: the quoted price and, if it differs, also the listed price.
func costText(listPrice json.Number, quoted *json.Number, currency string) string {
	if isZero(listPrice) {
		return "free"
	}
	if quoted == nil || *quoted == listPrice {
		return listPrice.String() + " " + currency
	}
	return quoted.String() + " " + currency + " instead of " + listPrice.String()
}

func isZero(n json.Number) bool {
	value, err := n.Float64()
	return err == nil && value == 0
}

// paymentNote returns a text that states how much the customer must pay in advance
// when paying online. It returns "" if no payment in advance is required.
func paymentNote(requirement string, deposit *json.Number, currency string) string {
	switch {
	case requirement == "full":
		return ", paid in full when paid online"
	case requirement == "deposit_percent" && deposit != nil:
		return ", a deposit of " + deposit.String() + " % when paid online"
	case requirement == "deposit_fixed" && deposit != nil:
		return ", a deposit of " + deposit.String() + " " + currency + " when paid online"
	}
	return ""
}
