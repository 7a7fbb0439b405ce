package words_test

import (
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
)

func TestMomentFollowsLanguageAndRegion(t *testing.T) {
	t.Parallel()
	sentences, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.December, 2, 8, 30, 0, 0, time.UTC)
	for tag, want := range map[string]string{
		"en-GB": "Wed 2 Dec, 08:30", "en-US": "Wed, Dec 2, 8:30\u202fam", "ja": "12月2日(水) 8:30", "zh": "12月2日周三 08:30",
		"ar": "الأربعاء، 2 ديسمبر، 8:30\u00a0ص", "de": "Mi., 2.12., 08:30\u00a0Uhr",
	} {
		if got := words.In(sentences, tag).Moment(at); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
	for _, tag := range sentences.Languages() {
		if got := words.In(sentences, tag).ShortDay(at); got == "" {
			t.Errorf("%s has no format of a date without its year", tag)
		}
	}
}

func TestJoinListHasCommaOfLanguage(t *testing.T) {
	t.Parallel()
	sentences, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"en": "a, b", "ar": "a، b", "ja": "a、b"} {
		if got := words.In(sentences, tag).JoinList([]string{"a", "b"}); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}
