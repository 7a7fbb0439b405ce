package words_test

import (
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
)

func TestWordsFormatEveryLanguage(t *testing.T) {
	t.Parallel()
	catalog, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range append(catalog.Languages(), "en-GB", "en-AU", "en-US", "pt-BR", "de-AT") {
		code, _, _ := strings.Cut(tag, "-")
		w := words.In(catalog, tag)
		if w.Code != code {
			t.Errorf("%s is spoken as %s", code, w.Code)
		}
		for month := time.January; month <= time.December; month++ {
			if title := w.Month(2027, month); strings.TrimSpace(title) != title || title == "" {
				t.Errorf("%s: month %d is %q", code, month, title)
			}
		}
		for day := range 366 {
			at := time.Date(2028, 1, 1+day, day%24, 5, 0, 0, time.UTC)
			for what, text := range map[string]string{
				"date": w.Date(at), "short date": w.ShortDate(at), "clock": w.Clock(at),
				"weekday": w.Weekday(at.Weekday()), "amount": w.Amount("40.00", "EUR"), "number": w.Number(7),
			} {
				if text == "" {
					t.Errorf("%s: no %s of %s", tag, what, at)
				}
			}
		}
		if err := w.Fault(); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestRegionDeterminesClockAndFirstWeekday(t *testing.T) {
	t.Parallel()
	catalog, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2027, 3, 1, 14, 5, 0, 0, time.UTC)
	for tag, want := range map[string]struct {
		clock, month string
		first        time.Weekday
	}{
		"en":    {"2:05 pm", "March 2027", time.Sunday},
		"en-GB": {"14:05", "March 2027", time.Monday},
		"de-AT": {"14:05", "März 2027", time.Monday},
		"pl":    {"14:05", "marzec 2027", time.Monday},
		"ja":    {"14:05", "2027年3月", time.Sunday},
		"ko":    {"14:05", "2027년 3월", time.Sunday},
		"pt":    {"14:05", "março de 2027", time.Monday},
		"ar-EG": {"2:05 م", "مارس 2027", time.Saturday},
	} {
		w := words.In(catalog, "xx-unknown", tag, "fr")
		clock := strings.NewReplacer("\u202f", " ", "\u00a0", " ", "\u200f", "").Replace(w.Clock(at))
		if clock != want.clock || w.Month(2027, time.March) != want.month || w.FirstWeekday() != want.first ||
			w.Requested != tag {
			t.Errorf("%s: %q, %q, %v, asked %s; want %+v", tag, clock, w.Month(2027, time.March), w.FirstWeekday(),
				w.Requested, want)
		}
	}
}

func TestRegionFallsBackToOtherTagsAndBusiness(t *testing.T) {
	t.Parallel()
	catalog, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2027, 3, 1, 14, 5, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		tags     []string
		business string
		clock    string
		first    time.Weekday
	}{
		"chosen English, a British browser":    {[]string{"en", "en-GB", "en"}, "US", "14:05", time.Monday},
		"chosen English, an American browser":  {[]string{"en", "de-DE", "en-US"}, "PT", "2:05 pm", time.Sunday},
		"English, a British business":          {[]string{"en"}, "GB", "14:05", time.Monday},
		"English, an American business":        {[]string{"en"}, "US", "2:05 pm", time.Sunday},
		"English, a business of no country":    {[]string{"en"}, "", "2:05 pm", time.Sunday},
		"British English, American business":   {[]string{"en-GB"}, "US", "14:05", time.Monday},
		"German, an American business":         {[]string{"de", "en-US"}, "US", "14:05", time.Monday},
		"chosen German, an American's browser": {[]string{"de", "en-US", "en"}, "GB", "14:05", time.Monday},
	} {
		w := words.In(catalog, c.tags...).SetRegion(c.business)
		if clock := strings.ReplaceAll(w.Clock(at), "\u202f", " "); clock != c.clock || w.FirstWeekday() != c.first ||
			w.Requested != c.tags[0] {
			t.Errorf("%s: %q, weeks from %s, asked %s", name, clock, w.FirstWeekday(), w.Requested)
		}
	}
}
