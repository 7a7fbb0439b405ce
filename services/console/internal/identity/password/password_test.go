package password_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/password"
)

func TestHashMatchesOnlyItsPassword(t *testing.T) {
	t.Parallel()
	h, ctx := password.NewHasher(), t.Context()
	const clear = "seven gulls over Lisbon é"
	first, err := h.Hash(ctx, clear)
	second, _ := h.Hash(ctx, clear)
	if err != nil || first == second || !strings.HasPrefix(first, "$argon2id$v=19$m=19456,t=2,p=1$") ||
		strings.Contains(first, "gulls") {
		t.Fatalf("%q and %q, %v", first, second, err)
	}
	for input, want := range map[string]bool{
		clear: true, strings.Replace(clear, "é", "e\u0301", 1): true, clear + " ": false, "": false,
		strings.ToUpper(clear): false, strings.Repeat("x", 300): false,
	} {
		if got, err := h.Matches(ctx, first, input); got != want || err != nil {
			t.Errorf("%q matches: %t, %v", input, got, err)
		}
	}
}

// TestMatchesHashesForUnknownAccount shows that a check computes one hash even if there is no account. The time of an
// answer therefore does not show whether an account exists.
func TestMatchesHashesForUnknownAccount(t *testing.T) {
	t.Parallel()
	h := password.NewHasher()
	for i, hash := range []string{"", ""} {
		if ok, err := h.Matches(t.Context(), hash, ""); ok || err != nil {
			t.Errorf("%t, %v", ok, err)
		}
		if n := h.CountComputed(); n != int64(i+1) {
			t.Errorf("%d hashes", n)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := h.Matches(ended, "$bcrypt$", "x"); err == nil {
		t.Error("a hash of another kind is taken")
	}
}

func TestCheckRejectsWeakPasswords(t *testing.T) {
	t.Parallel()
	for clear, want := range map[string]error{
		"elevenchars":                    password.ErrShort,
		strings.Repeat("é", 11):          password.ErrShort,
		strings.Repeat("long", 70):       password.ErrLong,
		"correct horse battery staple":   nil,
		"Grüße aus dem Süden":            nil,
		"passwordpassword":               password.ErrCommon,
		"Password2026!":                  password.ErrCommon,
		"1234567890123":                  password.ErrCommon,
		"qwertyuiop123":                  password.ErrCommon,
		"aaaaaaaaaaaaaaa":                password.ErrCommon,
		"abcabcabcabcabc":                password.ErrCommon,
		"ana.silva@example.com":          password.ErrCommon,
		"ana.silva1234":                  password.ErrCommon,
		"Ana Maria da Silva":             password.ErrCommon,
		"ana.silva takes the 28 to work": nil,
	} {
		if got := password.Check(clear, "Ana.Silva@example.com", "Ana Maria da Silva"); !errors.Is(got, want) {
			t.Errorf("%q: %v, want %v", clear, got, want)
		}
	}
}

// BenchmarkMatches measures a check with and without an account. The two times must be alike, so that they do not show
// whether an account exists.
func BenchmarkMatches(b *testing.B) {
	h := password.NewHasher()
	known, err := h.Hash(b.Context(), "seven gulls over Lisbon")
	if err != nil {
		b.Fatal(err)
	}
	for name, hash := range map[string]string{"somebody": known, "nobody": ""} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := h.Matches(b.Context(), hash, "eight gulls over Lisbon"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
