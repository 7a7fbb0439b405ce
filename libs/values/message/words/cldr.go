package words

import (
	"github.com/gohugoio/locales"
	"github.com/gohugoio/locales/ar"
	"github.com/gohugoio/locales/bg"
	"github.com/gohugoio/locales/cs"
	"github.com/gohugoio/locales/da"
	"github.com/gohugoio/locales/de"
	"github.com/gohugoio/locales/el"
	"github.com/gohugoio/locales/en"
	"github.com/gohugoio/locales/es"
	"github.com/gohugoio/locales/et"
	"github.com/gohugoio/locales/fi"
	"github.com/gohugoio/locales/fr"
	"github.com/gohugoio/locales/he"
	"github.com/gohugoio/locales/hr"
	"github.com/gohugoio/locales/hu"
	"github.com/gohugoio/locales/id"
	"github.com/gohugoio/locales/is"
	"github.com/gohugoio/locales/it"
	"github.com/gohugoio/locales/ja"
	"github.com/gohugoio/locales/ko"
	"github.com/gohugoio/locales/lt"
	"github.com/gohugoio/locales/lv"
	"github.com/gohugoio/locales/nb"
	"github.com/gohugoio/locales/nl"
	"github.com/gohugoio/locales/pl"
	"github.com/gohugoio/locales/pt_PT"
	"github.com/gohugoio/locales/ro"
	"github.com/gohugoio/locales/ru"
	"github.com/gohugoio/locales/sk"
	"github.com/gohugoio/locales/sl"
	"github.com/gohugoio/locales/sr"
	"github.com/gohugoio/locales/sv"
	"github.com/gohugoio/locales/th"
	"github.com/gohugoio/locales/tr"
	"github.com/gohugoio/locales/uk"
	"github.com/gohugoio/locales/vi"
	"github.com/gohugoio/locales/zh_Hans"
)

// cldr contains the formatters for dates and numbers by language. Portuguese
// is European and Chinese is simplified, as in the sentence files.
var cldr = map[string]locales.Translator{
	"en": en.New(),
	"de": de.New(),
	"fr": fr.New(),
	"es": es.New(),
	"it": it.New(),
	"pt": pt_PT.New(),
	"nl": nl.New(),
	"pl": pl.New(),
	"cs": cs.New(),
	"sk": sk.New(),
	"hu": hu.New(),
	"ro": ro.New(),
	"bg": bg.New(),
	"el": el.New(),
	"hr": hr.New(),
	"sl": sl.New(),
	"sr": sr.New(),
	"et": et.New(),
	"lv": lv.New(),
	"lt": lt.New(),
	"fi": fi.New(),
	"sv": sv.New(),
	"da": da.New(),
	"nb": nb.New(),
	"is": is.New(),
	"uk": uk.New(),
	"ru": ru.New(),
	"tr": tr.New(),
	"ar": ar.New(),
	"he": he.New(),
	"ja": ja.New(),
	"ko": ko.New(),
	"zh": zh_Hans.New(),
	"vi": vi.New(),
	"th": th.New(),
	"id": id.New(),
}
