package plain

import "testing"

func TestNamesContainNoHiddenCharacters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Ana Díaz", "Zoe\u0308", "علی\u200cرضا", "👩\u200d🔬 Lab", "❤\ufe0f Nails",
		"🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F Pub",
		"Ørsted & Søn", "שלום", "田中", "O’Neill",
	} {
		if HasHidden(name) || IsBlank(name) || Strip(name) != name {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{
		"Ana\u202egnp.exe", "\u200eAna", "\u200fAna", "\u061cAna", "\u2066Ana\u2069", "A\u200bna", "A\u00adna",
		"A\u2060na", "\ufeffAna", "A\u2028na",
		"A\u3164na", "A\u115fna", "A\u034fna", "A\U000E0041na", "A\u2800na",
	} {
		if !HasHidden(name) || HasHidden(Strip(name)) {
			t.Errorf("%q is accepted, or stripped to %q", name, Strip(name))
		}
	}
}

func TestInvisibleNamesAreBlank(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", " ", "\u00a0", "\u200b", "\u200d\u200c", "\u3164", "\ufe0f", "\u2800 \u3000",
		"\u0301", "\u202e"} {
		if !IsBlank(name) {
			t.Errorf("%q is not blank", name)
		}
	}
}
