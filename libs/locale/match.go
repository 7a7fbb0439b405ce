package locale

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
)

// Match finds the one of languages that a reader who asks for requested is served in, as BCP 47 compares tags
// (semantics.md §6). It reports false for a malformed tag and for a language that is not offered.
//
// The same tag is best, in whatever case. Else it must be the same language in the same script, the nearest of the
// regions offered: pt-BR finds pt, en-AU rather en-GB than en-US, zh-TW rather zh-HK than zh. Else it is a language
// in another script, provided that one side leaves the script open: zh-TW finds zh, zh finds zh-Hant, but zh-TW never
// finds zh-Hans, nor sr-Latn sr-Cyrl.
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
	var sameScript, openScript offers
	for _, l := range languages {
		have, ok := parseTag(l)
		if !ok || have.base != want.base {
			continue
		}
		switch {
		case have.script == want.script:
			sameScript = append(sameScript, offer{l, have.tag})
		case have.bare || want.bare:
			openScript = append(openScript, offer{l, have.tag})
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

// Or is what [Match] finds, or byDefault where it finds nothing.
func Or(requested string, languages []string, byDefault string) string {
	if found, ok := Match(requested, languages); ok {
		return found
	}
	return byDefault
}

// offer is a language as the business wrote it, and what it means.
type offer struct {
	written string
	tag     language.Tag
}

type offers []offer

// nearest returns the offer whose region is nearest to that of want, the first of equals. The offers are of one
// language, since CLDR's matcher would else serve Catalan readers Spanish.
func (list offers) nearest(want language.Tag) string {
	tags := make([]language.Tag, len(list))
	for i, o := range list {
		tags[i] = o.tag
	}
	_, i, _ := language.NewMatcher(tags).Match(want)
	return list[i].written
}

// parsedTag is what matching compares of a tag.
type parsedTag struct {
	tag    language.Tag
	base   language.Base
	script language.Script // written, or that of the language in the region
	bare   bool            // neither script nor region is written, so that the script is open
}

// canon makes tags of one language equal: iw is he, nb is no, cmn is zh.
const canon = language.BCP47 | language.Macro

// parseTag reports false for what is not a well-formed tag of a known language. Unknown regions and variants are
// ignored, as by RFC 4647's lookup.
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
