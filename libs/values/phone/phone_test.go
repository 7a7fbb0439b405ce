package phone

import (
	"strings"
	"testing"
	"unicode"
)

func TestURIOfNumbers(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"+351 21 000 0000":      "tel:+351210000000",
		"+49 (0)30 123-456":     "tel:+4930123456",
		"(+49) 30 123456":       "tel:+4930123456",
		"030 / 12 34 56":        "tel:030123456",
		"(0)30 123456":          "tel:030123456",
		"+1 212 555 0100 ext 7": "tel:+12125550100",
		"+1 212 555 0100x7":     "tel:+12125550100",
		"٠١٢٣٤٥٦٧٨٩":            "tel:0123456789",
		"#31#5550100":           "tel:%2331%235550100",
		"12":                    "",
		"call us":               "",
		"javascript:123":        "",
		"":                      "",
	} {
		if got := URI(number); got != want {
			t.Errorf("%q: %q, want %q", number, got, want)
		}
	}
}

func TestValidLimitsLength(t *testing.T) {
	t.Parallel()
	if !Valid(strings.Repeat("1", MaxLength)) || Valid(strings.Repeat("1", MaxLength+1)) {
		t.Error("the limit of the length is wrong")
	}
	if Valid("123\n456") || Valid("123\u202e456") {
		t.Error("a number with a control or invisible character is valid")
	}
}

// TestDigitValueOfEveryScript shows that the ten digits of each script have the values 0 to 9, in their order.
func TestDigitValueOfEveryScript(t *testing.T) {
	t.Parallel()
	want := rune(0)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.Is(unicode.Nd, r) {
			continue
		}
		if got := digitValue(r); got != want {
			t.Fatalf("%U: %d, want %d", r, got, want)
		}
		want = (want + 1) % 10
	}
}

func TestValidAcceptsNumbers(t *testing.T) {
	t.Parallel()
	for _, number := range []string{
		"112", "+351 21 000 0000", "(212) 555-0100", "+351 210 000\u2011000", "030/1234-56", "555-0100 ext. 12",
		"5550100x7", "٠٢١ ٠٠٠ ٠٠٠٠", "+1.212.555.0100", "#31#5550100",
	} {
		if !Valid(number) {
			t.Errorf("%q is refused", number)
		}
	}
	for _, other := range []string{"", "abc", "+", "12", "call me", "5550100 please", "zoe@example.com", "x12345",
		"ext 123456", "1\n234", "123456789012345678901234567890123456789012345678901"} {
		if Valid(other) {
			t.Errorf("%q is taken", other)
		}
	}
}
