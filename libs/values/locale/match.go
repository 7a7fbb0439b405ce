package locale

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
)

// Match returns the language among languages that suits a reader who requests the language requested
// (semantics.md §6). Both are BCP 47 tags. It returns false for a malformed tag, and if no language is suitable.
//
// An equal tag, ignoring case, is best. The next best is the same language in the same script, with
// the nearest region: pt-BR finds pt, en-AU finds en-GB before en-US, zh-TW finds zh-HK before zh.
//
// Otherwise the same language in another script is accepted if one of the two tags names no script:
// zh-TW finds zh, and zh finds zh-Hant. But zh-TW never finds zh-Hans, and sr-Latn never finds sr-Cyrl.
func Match(requested string, languages []string) (string, bool) {
	want, ok := parseTag(requested)
	if !ok {
		return "", false
	}
	for _, l := range languages {
		if strings.EqualFold(l, requested) {
			return l, true
		}
	}
	var sameScript, openScript candidates
	for _, l := range languages {
		have, ok := parseTag(l)
		if !ok || have.base != want.base {
			continue
		}
		switch {
		case have.script == want.script:
			sameScript = append(sameScript, candidate{l, have.tag})
		case have.bare || want.bare:
			openScript = append(openScript, candidate{l, have.tag})
		}
	}
	if len(sameScript) > 0 {
		return sameScript.nearest(want.tag), true
	}
	if len(openScript) > 0 {
		return openScript.nearest(want.tag), true
	}
	return "", false
}

// MatchOr returns the result of [Match], or byDefault if there is no match.
func MatchOr(requested string, languages []string, byDefault string) string {
	if found, ok := Match(requested, languages); ok {
		return found
	}
	return byDefault
}

// candidate is a language of the business, as written and as parsed.
type candidate struct {
	written string
	tag     language.Tag
}

type candidates []candidate

// nearest returns the language of the list whose region is nearest to that of want; the
// first one if several are equal. All languages of the list must be variants of one
// language, because CLDR's matcher would otherwise serve Spanish to readers of Catalan.
func (list candidates) nearest(want language.Tag) string {
	tags := make([]language.Tag, len(list))
	for i, o := range list {
		tags[i] = o.tag
	}
	_, i, _ := language.NewMatcher(tags).Match(want)
	return list[i].written
}

// parsedTag holds the parts of a tag that matching compares.
type parsedTag struct {
	tag    language.Tag
	base   language.Base
	script language.Script // as written, or the usual script of the language in the region
	bare   bool            // neither script nor region is written: the script is open
}

// canon maps equivalent tags to one: iw to he, nb to no, cmn to zh.
const canon = language.BCP47 | language.Macro

// parseTag returns false if s is not a well-formed tag of a known language.
// Unknown regions and variants are ignored, as in the lookup of RFC 4647.
func parseTag(s string) (parsedTag, bool) {
	const longest = 64 // far longer than any tag in use; bounds the parser
	if len(s) > longest || strings.Contains(s, "_") {
		return parsedTag{}, false
	}
	tag, err := canon.Parse(s)
	var unknownSubtag language.ValueError
	if err != nil && !errors.As(err, &unknownSubtag) {
		return parsedTag{}, false
	}
	base, script, region := tag.Raw()
	if base == undetermined {
		return parsedTag{}, false
	}
	bare := script == language.Script{} && region == language.Region{}
	script, _ = tag.Script()
	return parsedTag{tag: tag, base: base, script: script, bare: bare}, true
}

var undetermined, _, _ = language.Und.Raw()
