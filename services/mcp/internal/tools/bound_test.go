package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// drawnSize returns the number of bytes of a text in JSON, as encoding/json writes it, without the quotes.
func drawnSize(t *rapid.T, s string) int {
	encoded, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return len(encoded) - len(`""`)
}

func TestClipTextReturnsFittingPrefix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := strings.ToValidUTF8(rapid.String().Draw(t, "text")+
			rapid.StringOf(rapid.SampledFrom([]rune("<>&\"\\\n\x00\bé長🙂 \u2028"))).Draw(t, "odd"), "")
		maxSize := rapid.IntRange(3, 60).Draw(t, "most")
		got := clipText(whole, maxSize)
		if drawnSize(t, got) > maxSize || !utf8.ValidString(got) {
			t.Fatalf("%q takes %d bytes of %d", got, drawnSize(t, got), maxSize)
		}
		begin, cut := strings.CutSuffix(got, "…")
		if got != whole && (!cut || !strings.HasPrefix(whole, begin)) {
			t.Fatalf("%q is cut to %q", whole, got)
		}
		if drawnSize(t, whole) <= maxSize && got != whole {
			t.Fatalf("%q fits into %d and is cut to %q", whole, maxSize, got)
		}
	})
}

func TestClipLinesCutsBetweenLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z<"é]{0,200}`), 1, 60).Draw(t, "lines")
		whole := strings.Join(lines, "\n")
		got := clipLines(whole)
		if n := drawnSize(t, got); n > maxText {
			t.Fatalf("%d bytes of %d", n, maxText)
		}
		begin, cut := strings.CutSuffix(got, "\n… more in the structured content.")
		if !cut && got != whole {
			t.Fatalf("%q became %q", whole, got)
		}
		if cut && !strings.HasPrefix(whole, begin+"\n") {
			t.Fatalf("%q is not cut between lines: %q", whole, got)
		}
	})
}

func TestPagesContainEachElementOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("a<長")), 0, 3000, -1), 0, 40).Draw(t, "all")
		later := rapid.SampledFrom([]int{0, maxAvailability}).Draw(t, "later")
		var got []string
		for offset := 0; ; {
			p := pageOf(all, offset, later)
			encoded, err := json.Marshal(p.items)
			if err != nil || len(p.items) > 1 && len(encoded)+later*len(p.items) > maxListBytes+1 ||
				p.total != len(all) {
				t.Fatalf("a page of %d bytes, %v", len(encoded), err)
			}
			got = append(got, p.items...)
			if p.next == nil {
				break
			}
			if *p.next <= offset {
				t.Fatalf("the next offset after %d is %d", offset, *p.next)
			}
			offset = *p.next
		}
		if strings.Join(got, "|") != strings.Join(all, "|") {
			t.Fatalf("got %d of %d", len(got), len(all))
		}
	})
}
