package manifest

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"golang.org/x/text/language"

	"github.com/slotmesh/slotmesh/libs/values/color"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

var (
	_ encoding.TextUnmarshaler = (*Key)(nil)
	_ encoding.TextUnmarshaler = (*ID)(nil)
	_ encoding.TextUnmarshaler = (*Language)(nil)
	_ encoding.TextUnmarshaler = (*Currency)(nil)
	_ encoding.TextUnmarshaler = (*Timezone)(nil)
	_ encoding.TextUnmarshaler = (*URL)(nil)
	_ encoding.TextUnmarshaler = (*Email)(nil)
	_ encoding.TextUnmarshaler = (*MessageKind)(nil)
	_ encoding.TextUnmarshaler = (*Phone)(nil)
	_ encoding.TextUnmarshaler = (*Country)(nil)
	_ encoding.TextUnmarshaler = (*Color)(nil)
	_ encoding.TextUnmarshaler = (*Origin)(nil)
	_ encoding.TextUnmarshaler = (*PictureID)(nil)
	_ json.Marshaler           = Decimal{}
	_ json.Marshaler           = Selection{}
	_ json.Unmarshaler         = (*Selection)(nil)
	_ json.Marshaler           = Until{}
	_ json.Unmarshaler         = (*Until)(nil)
	_ nullable                 = (*Until)(nil)
	_ nullable                 = (*SelfService)(nil)
)

// Line is a text of one line, without control characters.
type Line string

// Key identifies an object within its list, or a business by its slug. It matches [a-z0-9-]{1,63}.
type Key string

// UnmarshalText returns an error for an invalid key.
func (k *Key) UnmarshalText(b []byte) error {
	ok := len(b) >= 1 && len(b) <= 63
	for _, c := range b {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !ok {
		return fmt.Errorf(`%s is not a key; write 1 to 63 of a-z, 0-9 and "-"`, quote(string(b)))
	}
	*k = Key(b)
	return nil
}

// ID is a UUID that the manifest sets. It replaces the id that is derived from keys.
type ID uuid.UUID

// String returns the UUID in its usual form of 36 characters.
func (i ID) String() string { return uuid.UUID(i).String() }

// MarshalText returns the UUID in its usual form of 36 characters.
func (i ID) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText parses a UUID in its usual form of 36 characters. It returns an error for the nil UUID.
func (i *ID) UnmarshalText(b []byte) error {
	u, err := uuid.ParseBytes(b)
	if err != nil || len(b) != 36 || u == uuid.Nil {
		return fmt.Errorf("%s is not a UUID; write one such as 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10", quote(string(b)))
	}
	*i = ID(u)
	return nil
}

// Language is a BCP 47 language tag with its usual upper and lower case, such as pt or pt-BR.
type Language string

// UnmarshalText returns an error for an invalid tag. It also rejects unusual
// upper and lower case, because translations are found by the exact tag.
func (l *Language) UnmarshalText(b []byte) error {
	var tag language.Tag
	err := errors.New("too long")
	if len(b) <= 35 {
		tag, err = language.Raw.Parse(string(b))
	}
	if err != nil || tag.IsRoot() {
		return fmt.Errorf("%s is not a language; write a BCP 47 tag such as en or pt-BR", quote(string(b)))
	}
	if usual := tag.String(); usual != string(b) {
		text := fmt.Sprintf("%s is not the usual form of the language tag; write %s", quote(string(b)), usual)
		return &suggestion{text, usual}
	}
	*l = Language(b)
	return nil
}

// Currency is an ISO 4217 code in upper case.
type Currency string

// UnmarshalText parses the codes that [money.ParseCurrency] accepts.
func (c *Currency) UnmarshalText(b []byte) error {
	if _, err := money.ParseCurrency(string(b)); err != nil {
		near := nearestCurrency(string(b))
		hint := hintAt(near, "write one such as EUR")
		return &suggestion{fmt.Sprintf("%s is not an ISO 4217 currency code; %s", quote(string(b)), hint), near}
	}
	*c = Currency(b)
	return nil
}

// Timezone is the IANA name of a time zone that the package zone can load.
type Timezone string

// UnmarshalText returns an error for a name that the package zone cannot load.
func (z *Timezone) UnmarshalText(b []byte) error {
	name := string(b)
	if _, err := zone.Load(name); err != nil {
		near := nearestZone(name)
		hint := hintAt(near, "write an IANA name such as Europe/Lisbon")
		return &suggestion{fmt.Sprintf("%s is not a time zone; %s", quote(name), hint), near}
	}
	*z = Timezone(name)
	return nil
}

// URL is the text of an http or https URL, or empty. It can be copied into an HTML
// attribute without escaping, because it contains no character that ends an attribute.
type URL string

const maxURL = 2000

// UnmarshalText rejects URLs with a scheme other than http or https, without a host, or of more
// than 2,000 bytes. It also rejects white space, quotes, <, >, backslashes and control characters.
func (u *URL) UnmarshalText(b []byte) error {
	s := string(b)
	if s != "" && !isWebAddress(s) {
		return fmt.Errorf("%s is not a web address; write http:// or https:// and a host, at most %d characters, "+
			"with %%22 and the like for %s",
			quote(s), maxURL, unsafeNames)
	}
	*u = URL(s)
	return nil
}

// unsafeNames names the characters that hasUnsafeRune finds, for messages.
const unsafeNames = "quotes, spaces, <, > and \\"

// hasUnsafeRune reports whether a URL contains a character that could end an HTML
// attribute, or that browsers replace by another one. These are quotes, backticks,
// angle brackets, backslashes, white space, and control and invisible characters.
func hasUnsafeRune(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return strings.ContainsRune("\"'`<>\\", r) || unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}

func isWebAddress(s string) bool {
	if len(s) > maxURL || hasUnsafeRune(s) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// isLink reports whether a button may open the text `s`: an http or
// https URL, or mailto: or tel: followed by an address or number.
func isLink(s string) bool {
	if isWebAddress(s) {
		return true
	}
	if len(s) > maxURL || hasUnsafeRune(s) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "mailto" || u.Scheme == "tel") && u.Opaque != "" && u.Host == ""
}

// Email is an email address.
type Email string

// UnmarshalText parses the addresses that [email.Valid] accepts.
func (e *Email) UnmarshalText(b []byte) error {
	if s := string(b); !email.Valid(s) {
		return fmt.Errorf("%s is not an e-mail address; write one such as hello@example.com", quote(s))
	}
	*e = Email(b)
	return nil
}

// Color is "#" followed by six hexadecimal digits in lower case.
type Color string

// UnmarshalText parses the colors that [color.Parse] accepts.
func (c *Color) UnmarshalText(b []byte) error {
	parsed, err := color.Parse(string(b))
	if err != nil {
		return fmt.Errorf("%s is not a colour; write # and six hexadecimal digits, such as #0b6e4f", quote(string(b)))
	}
	*c = Color(parsed.String())
	return nil
}

// Origin is the origin of web pages in the form that browsers send: scheme, host and,
// unless it is the default, port. It can be copied into a header without escaping.
type Origin string

// UnmarshalText rejects URLs with a path, wildcards, and hosts that browsers send in another form, such as
// hosts in upper case or not in Punycode. It accepts http only for localhost, so that owners can test a page.
func (o *Origin) UnmarshalText(b []byte) error {
	s := string(b)
	u, err := url.Parse(s)
	if err != nil || len(s) > 300 || !isOrigin(u, s) {
		return fmt.Errorf("%s is not an origin; write https://, a host in lower case and, where it has one, a port, "+
			"such as https://example.com, and nothing after it; http:// only with localhost",
			quote(s))
	}
	*o = Origin(s)
	return nil
}

func isOrigin(u *url.URL, s string) bool {
	host, port := u.Hostname(), u.Port()
	if u.Scheme != "https" && (u.Scheme != "http" || !isThisMachine(host)) {
		return false
	}
	if strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || slices.Contains(strings.Split(host, "."),
		"") {
		return false
	}
	origin := u.Scheme + "://" + host
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != port || n == 443 && u.Scheme == "https" || n == 80 &&
			u.Scheme == "http" {
			return false
		}
		origin += ":" + port
	}
	return origin == s
}

func isThisMachine(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || strings.HasSuffix(host, ".localhost")
}

// PictureID is the id of an uploaded picture: the SHA-256 of the uploaded file in hexadecimal, or empty.
type PictureID string

// UnmarshalText rejects texts other than 64 hexadecimal digits in lower case.
func (p *PictureID) UnmarshalText(b []byte) error {
	s := string(b)
	if s != "" && (len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "") {
		return fmt.Errorf("%s is not the id of an uploaded picture; write the 64 digits that the upload returned",
			quote(s))
	}
	*p = PictureID(s)
	return nil
}

// MessageKind is a kind of message to customers (lifecycle.md §2).
type MessageKind string

// MessageKinds returns all kinds of messages to customers.
func MessageKinds() []string {
	return []string{
		"booking_received", "booking_confirmed", "booking_moved", "booking_withdrawn", "booking_cancelled", "reminder",
		"payment_due", "payment_failed", "refunded", "ticket", "ticket_moved", "ticket_withdrawn", "ticket_cancelled",
		"reservation", "reservation_withdrawn", "reservation_due", "reservation_cancelled",
	}
}

// UnmarshalText parses one of [MessageKinds].
func (k *MessageKind) UnmarshalText(b []byte) error {
	if !slices.Contains(MessageKinds(), string(b)) {
		return fmt.Errorf("%s is no kind of message to customers; write %s", quote(string(b)),
			joinAlternatives(MessageKinds()))
	}
	*k = MessageKind(b)
	return nil
}

// nullable is implemented by the types for which null and an omitted field differ.
type nullable interface{ setNull() }

// Until is how many hours before the start of a booking the customer
// may still cancel or reschedule it. In the manifest, null means never.
type Until struct {
	IsSet bool // false: the field was omitted
	Never bool
	Hours int
}

func (u *Until) setNull() { *u = Until{IsSet: true, Never: true} }

// setNull sets both fields of `s` to never, because null for the whole object means null for each field of the object.
func (s *SelfService) setNull() {
	s.CancelUntilHours.setNull()
	s.RescheduleUntilHours.setNull()
}

// toHours returns the number of hours. It returns 0 if the field was omitted, and nil for never.
func (u Until) toHours() *int {
	if u.Never {
		return nil
	}
	return &u.Hours
}

// MarshalJSON returns the hours as a JSON number, or null for never.
func (u Until) MarshalJSON() ([]byte, error) { return json.Marshal(u.toHours()) }

// UnmarshalJSON parses the output of [Until.MarshalJSON].
func (u *Until) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		u.setNull()
		return nil
	}
	*u = Until{IsSet: true}
	return json.Unmarshal(b, &u.Hours)
}

// Decimal is a decimal number as the owner wrote it, with trailing zeros.
//
// Decimal has a method IsZero. The option omitzero would therefore also omit
// a pointer to 0, so pointers to Decimal have the option omitempty instead.
type Decimal struct{ decimal.Decimal }

// MarshalJSON returns a JSON number with the same decimals as in the manifest.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.JSON()), nil }

// JSON returns a JSON number with the same decimals as in the manifest.
func (d Decimal) JSON() string { return d.StringFixed(max(0, -d.Exponent())) }

const (
	// maxNumberLength is the maximal length of a number, in characters. All real prices,
	// quantities and percentages are shorter. It limits the work of exact arithmetic.
	maxNumberLength = 40
	maxExponent     = 20
)

var errNumber = errors.New("is not a plain number")

// parseDecimal parses a JSON number. It limits the length and the exponent of the number.
func parseDecimal(s string) (Decimal, error) {
	if len(s) > maxNumberLength || !json.Valid([]byte(s)) || strings.Trim(s, "-+.eE0123456789") != "" {
		return Decimal{}, errNumber
	}
	if _, exp, ok := strings.Cut(strings.ToLower(s), "e"); ok {
		if n, err := strconv.Atoi(exp); err != nil || n > maxExponent || n < -maxExponent {
			return Decimal{}, errNumber
		}
	}
	d, err := decimal.NewFromString(s)
	if err != nil {
		return Decimal{}, errNumber
	}
	if d.Exponent() > 0 {
		d = d.Add(decimal.New(0, 0)) // writes 1e3 as 1000
	}
	return Decimal{d}, nil
}

// Selection selects objects of one kind: all objects, or those with the given keys.
type Selection struct {
	All  bool
	Keys []Key
}

const selectAll = "all"

// MarshalJSON returns the text "all" or the list of keys.
func (s Selection) MarshalJSON() ([]byte, error) {
	if s.All {
		return json.Marshal(selectAll)
	}
	return json.Marshal(s.Keys)
}

// UnmarshalJSON parses the output of [Selection.MarshalJSON].
func (s *Selection) UnmarshalJSON(b []byte) error {
	if string(b) == `"`+selectAll+`"` {
		*s = Selection{All: true}
		return nil
	}
	*s = Selection{}
	return json.Unmarshal(b, &s.Keys)
}

// quote returns a value in quotes for a message. It shortens a long value.
func quote(s string) string { return strconv.Quote(shorten(s)) }

// shorten returns the first 60 characters of a value for a message. It adds a mark if the value is longer.
func shorten(s string) string {
	const most = 60
	s = s[:min(len(s), utf8.UTFMax*(most+1))]
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
