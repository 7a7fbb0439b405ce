package locale

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
)

// Match selects the language that suits a reader from the argument `languages`. The argument `requested` is the
// language that the reader requests (semantics.md §6). All languages are BCP 47 tags. Match returns false if
// `requested` is malformed, or if no language is suitable.
//
// The best match is an equal tag, ignoring case. The next best is the same language in the same script, with the
// nearest region. For example, pt-BR matches pt, en-AU prefers en-GB to en-US, and zh-TW prefers zh-HK to zh.
//
// If no such language exists, Match accepts the same language in another script. The condition
// is that one of the two tags names neither script nor region. For example, zh-TW matches zh,
// and zh matches zh-Hant. But zh-TW never matches zh-Hans, and sr-Latn never matches sr-Cyrl.
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
		return sameScript.findNearest(want.tag), true
	}
	if len(openScript) > 0 {
		return openScript.findNearest(want.tag), true
	}
	return "", false
}

// MatchOr returns the result of [Match], or the argument `byDefault` if no language is suitable.
func MatchOr(requested string, languages []string, byDefault string) string {
	if found, ok := Match(requested, languages); ok {
		return found
	}
	return byDefault
}

// candidate is one of the languages among which [Match] selects, as text and as a parsed tag.
type candidate struct {
	written string
	tag     language.Tag
}

type candidates []candidate

// findNearest returns the language of the list whose region is nearest to the region of `want`. If several languages
// are equally near, nearest returns the first of them. All languages in the list must be variants of one language. With
// different languages, the CLDR matcher could, for example, select Spanish for readers of Catalan.
func (list candidates) findNearest(want language.Tag) string {
	tags := make([]language.Tag, len(list))
	for i, o := range list {
		tags[i] = o.tag
	}
	_, i, _ := language.NewMatcher(tags).Match(want)
	return list[i].written
}

// parsedTag holds the parts of a tag that [Match] compares.
type parsedTag struct {
	tag    language.Tag
	base   language.Base
	script language.Script // the script in the tag, or the usual script of the language in the region
	bare   bool            // whether the tag names neither script nor region, so that every script matches
}

// canon replaces equivalent tags by one tag: iw by he, no by nb, cmn by zh.
const canon = language.BCP47 | language.Macro

// parseTag parses a BCP 47 tag. It returns false if `s` is not a well-formed tag of a known
// language. It ignores unknown regions and variants, as the lookup of RFC 4647 does.
func parseTag(s string) (parsedTag, bool) {
	const longest = 64 // much longer than any tag in use; bounds the work of the parser
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
