package etag

import "testing"

func TestMatchCombinesHeaderLines(t *testing.T) {
	t.Parallel()
	tag, other := Of([]byte("a")), Of([]byte("b"))
	for name, c := range map[string]struct {
		lines []string
		want  bool
	}{
		"no header":            {nil, false},
		"the tag":              {[]string{tag}, true},
		"a weak form":          {[]string{"W/" + tag}, true},
		"another tag":          {[]string{other}, false},
		"last of a list":       {[]string{other + " , " + tag}, true},
		"the second line":      {[]string{other, tag}, true},
		"any":                  {[]string{"*"}, true},
		"a part of a tag":      {[]string{tag[:len(tag)-2] + `"`}, false},
		"a tag without quotes": {[]string{tag[1 : len(tag)-1]}, false},
		"an empty element":     {[]string{","}, false},
	} {
		if got := Match(c.lines, tag); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !Match([]string{other}, tag, other) {
		t.Error("the second of two tags does not match")
	}
}
