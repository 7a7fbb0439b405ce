package apikey_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/slotmesh/slotmesh/libs/values/apikey"
)

// zeroKey was computed with python3 -c 'import zlib; k="sm_"+"0"*56; print(k+"%08x" % zlib.crc32(k.encode()))'.
const zeroKey = "sm_00000000000000000000000000000000000000000000000000000000a0ab0ac4"

func TestGenerateReturnsWellFormedKeys(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^sm_[0-9a-f]{64}$`)
	seen := map[string]bool{}
	for range 100 {
		key, err := apikey.Generate(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if !form.MatchString(key) || !apikey.IsWellFormed(key) || seen[key] {
			t.Fatalf("%q is malformed, refused or given out twice", key)
		}
		seen[key] = true
		if got := apikey.Display(key); got != key[3:11] {
			t.Fatalf("shown as %q, want the first eight digits of %q", got, key)
		}
	}
}

func TestChecksumIsCRC32(t *testing.T) {
	t.Parallel()
	key, err := apikey.Generate(bytes.NewReader(make([]byte, 28)))
	if err != nil {
		t.Fatal(err)
	}
	if key != zeroKey {
		t.Errorf("got %s, want %s", key, zeroKey)
	}
}

func TestIsWellFormedRejectsChangedDigits(t *testing.T) {
	t.Parallel()
	key, err := apikey.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(key) {
		changed := []byte(key)
		changed[i] = '0'
		if key[i] == '0' {
			changed[i] = '1'
		}
		if apikey.IsWellFormed(string(changed)) {
			t.Errorf("accepted with another character at %d", i)
		}
	}
}

func TestIsWellFormedRejectsOtherForms(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{
		"empty":      "",
		"prefix":     "sm_",
		"upper case": "sm_" + strings.ToUpper(zeroKey[3:]) + "",
		"no prefix":  zeroKey[3:],
		"short":      zeroKey[:len(zeroKey)-1],
		"long":       zeroKey + "0",
		"not hex":    strings.Replace(zeroKey, "0", "g", 1),
		"space":      " " + zeroKey[1:],
	} {
		if apikey.IsWellFormed(key) {
			t.Errorf("%s: %q was accepted", name, key)
		}
	}
}

func TestHashIsSHA256(t *testing.T) {
	t.Parallel()
	sum := apikey.Hash("abc") // the example in the standard
	if got := hex.EncodeToString(sum[:]); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("got %s", got)
	}
}

func TestGenerateFailsWithoutRandomBytes(t *testing.T) {
	t.Parallel()
	if key, err := apikey.Generate(iotest.ErrReader(iotest.ErrTimeout)); err == nil {
		t.Errorf("made %q of nothing", key)
	}
}
