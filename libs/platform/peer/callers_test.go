package peer

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/components"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

const firstSecret, nextSecret, otherSecret = "one-9f3kq7vz2mxw-w8r5n1c0d6s4", "next-t6yb4hd8rcpn-x2z7m9k3j5q1",
	"other-p0o9i8u7y6t5-r4e3w2q1a5z6"

func TestFindReturnsCallerByCredential(t *testing.T) {
	t.Parallel()
	callers, err := ParseCallers([]string{"pages=" + HashCredential(firstSecret), " pages=" + HashCredential(nextSecret),
		"mcp=" + HashCredential(otherSecret), ""})
	if err != nil {
		t.Fatal(err)
	}
	for credential, want := range map[string]string{
		firstSecret: "pages", nextSecret: "pages", otherSecret: "mcp",
		"": "", firstSecret + "x": "", firstSecret[1:]: "", HashCredential(firstSecret): "", "pages": "",
	} {
		if got := callers.Find([]byte(credential)); got != want {
			t.Errorf("%q: got %q, want %q", credential, got, want)
		}
	}
	if got := (Callers)(nil).Find([]byte(firstSecret)); got != "" {
		t.Errorf("without callers: %q", got)
	}
	empty, err := ParseCallers([]string{"pages=" + HashCredential("")})
	if err != nil {
		t.Fatal(err)
	}
	if got := empty.Find(nil); got != "" {
		t.Errorf("no secret is shown, and the caller is %q", got)
	}
}

func TestParseCallersRejectsInvalidEntries(t *testing.T) {
	t.Parallel()
	hash := HashCredential(firstSecret)
	for _, entries := range [][]string{
		{"pages"}, {"pages="}, {"=" + hash}, {hash}, {"pages=" + hash[2:]}, {"pages=" + hash + "00"},
		{"pages=" + firstSecret}, {"Pages=" + hash},
		{"pages=" + hash, "mcp=" + hash},
	} {
		if got, err := ParseCallers(entries); err == nil {
			t.Errorf("%v is read as %v", entries, got)
		} else if strings.Contains(err.Error(), firstSecret) {
			t.Errorf("%v: the error shows a secret: %v", entries, err)
		}
	}
}

func TestCredentialIsValidForOneCallee(t *testing.T) {
	t.Parallel()
	secrets := map[string]string{"pages": firstSecret, "mcp": otherSecret}
	at := func(callee string) Callers {
		setting := CallersSetting(secrets, callee)
		if strings.Contains(setting, firstSecret) || strings.Contains(setting, Credential(firstSecret, callee)) {
			t.Fatal("the setting shows a credential")
		}
		callers, err := ParseCallers(strings.Split(setting, ","))
		if err != nil {
			t.Fatal(err)
		}
		return callers
	}
	booking, rental := at("booking"), at("rental")
	credential := []byte(Credential(firstSecret, "booking"))
	if got := booking.Find(credential); got != "pages" {
		t.Errorf("at the service that it is for: %q", got)
	}
	if got := booking.Find([]byte(Credential(otherSecret, "booking"))); got != "mcp" {
		t.Errorf("of the other caller: %q", got)
	}
	if got := rental.Find(credential); got != "" {
		t.Errorf("at another service: %q", got)
	}
	if got := booking.Find([]byte(firstSecret)); got != "" {
		t.Errorf("the secret itself: %q", got)
	}
}

// The script creates the Secret of a cluster without Helm. It has two keys for each service: its secret, and the hashes
// of its callers.
func TestPeerSecretsPrintsValidSettings(t *testing.T) {
	t.Parallel()
	if _, err := inputs.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed")
	}
	inputs.Checkout("k8s")
	printed, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "..", "k8s", "peer-secrets")).Output()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(printed)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = value
	}
	names := append(components.Names(), "front", "operator")
	for _, callee := range names {
		callers := strings.Split(values[callee+"-callers"], ",")
		cfg := Config{Timeout: 1, Secrets: []string{values[callee]}, Callers: callers}
		if err := cfg.Validate(); err != nil {
			t.Fatal(err)
		}
		known, err := ParseCallers(callers)
		if err != nil {
			t.Fatal(err)
		}
		for _, caller := range names {
			if got := known.Find([]byte(Credential(values[caller], callee))); got != caller {
				t.Errorf("%s takes %s for %q", callee, caller, got)
			}
		}
	}
	if len(values) != 2*len(names) {
		t.Errorf("%d values for %d services", len(values), len(names))
	}
}
