package message

// category is a plural category of CLDR.
type category string

const (
	zero  category = "zero"
	one   category = "one"
	two   category = "two"
	few   category = "few"
	many  category = "many"
	other category = "other"
)

// plurals maps each language to the rule that returns the category of a whole number, from CLDR 48. CLDR's rules for
// fractions are left out. golang.org/x/text has older rules.
var plurals = map[string]func(n int) category{
	"ar": func(n int) category {
		switch last := n % 100; {
		case n == 0:
			return zero
		case n == 1:
			return one
		case n == 2:
			return two
		case last >= 3 && last <= 10:
			return few
		case last >= 11:
			return many
		}
		return other
	},
	"bg": findOne, "cs": findCzech, "da": findOne, "de": findOne, "el": findOne, "en": findOne,
	"es": func(n int) category { return findMillions(n, n == 1) },
	"et": findOne, "fi": findOne,
	"fr": func(n int) category { return findMillions(n, n <= 1) },
	"he": func(n int) category {
		if n == 2 {
			return two
		}
		return findOne(n)
	},
	"hr": func(n int) category { return findSlavic(n, other) }, "hu": findOne, "id": findOther,
	"is": func(n int) category { return choose(endsInOne(n), one, other) },
	"it": func(n int) category { return findMillions(n, n == 1) }, "ja": findOther, "ko": findOther,
	"lt": func(n int) category {
		switch digit := n % 10; {
		case isTeen(n), digit == 0:
			return other
		case digit == 1:
			return one
		}
		return few
	},
	"lv": func(n int) category {
		if n%10 == 0 || isTeen(n) {
			return zero
		}
		return choose(n%10 == 1, one, other)
	},
	"nb": findOne, "nl": findOne,
	"pl": func(n int) category {
		if n != 1 && endsInOne(n) {
			return many
		}
		return findSlavic(n, many)
	},
	"pt": func(n int) category { return findMillions(n, n <= 1) },
	"ro": func(n int) category {
		if last := n % 100; n != 1 && (n == 0 || last >= 1 && last <= 19) {
			return few
		}
		return findOne(n)
	},
	"ru": func(n int) category { return findSlavic(n, many) }, "sk": findCzech,
	"sl": func(n int) category {
		switch n % 100 {
		case 1:
			return one
		case 2:
			return two
		case 3, 4:
			return few
		}
		return other
	},
	"sr": func(n int) category { return findSlavic(n, other) }, "sv": findOne, "th": findOther, "tr": findOne,
	"uk": func(n int) category { return findSlavic(n, many) },
	"vi": func(n int) category { return choose(n <= 1, one, other) }, "zh": findOther,
}

func choose(isTrue bool, yes, no category) category {
	if isTrue {
		return yes
	}
	return no
}

func findOther(int) category { return other }

func findOne(n int) category { return choose(n == 1, one, other) }

// findMillions is the rule of languages that say "a million of".
func findMillions(n int, isOne bool) category {
	return choose(isOne, one, choose(n > 0 && n%1_000_000 == 0, many, other))
}

func findCzech(n int) category { return choose(n >= 2 && n <= 4, few, findOne(n)) }

// findSlavic is the rule of most Slavic languages; rest is the category of numbers such as 5 and 11.
func findSlavic(n int, rest category) category {
	switch digit := n % 10; {
	case endsInOne(n):
		return one
	case digit >= 2 && digit <= 4 && !isTeen(n):
		return few
	}
	return rest
}

// endsInOne reports whether the number ends in 1, but not in 11.
func endsInOne(n int) bool { return n%10 == 1 && n%100 != 11 }

// isTeen reports whether the number ends in 11 to 19.
func isTeen(n int) bool { return n%100 >= 11 && n%100 <= 19 }
