package command_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/services/console/internal/command"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

var codeShown = regexp.MustCompile(`confirm the code ([A-Z]{4}-[A-Z]{4})\n`)

// answerCode reads the code in `output`, the output of `slotmesh login`. It sends the answer `how` ("allow" or
// "refuse") as a browser with the session does.
func answerCode(t *testing.T, w *consoletest.Fixture, session, output string, business uuid.UUID, how string) {
	t.Helper()
	code := codeShown.FindStringSubmatch(output)
	if code == nil || !strings.Contains(output, consoletest.OwnerURL+"/device?code="+code[1]) {
		t.Fatalf("the command shows no code: %q", output)
	}
	form := url.Values{"code": {code[1]}, "for": {business.String()}, "answer": {how}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/device",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", "slotmesh-session="+session)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
	got, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	if got.StatusCode != http.StatusSeeOther {
		t.Fatalf("answering: %d", got.StatusCode)
	}
}

func TestLoginSavesConfirmedToken(t *testing.T) {
	t.Parallel()
	w := consoletest.StartAt(t, clock.Fixed(time.Now())) // on a fixed clock the second poll is too early
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	harbor := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
	session := w.AddSession(t, "ana@example.com", access.Member{BusinessID: harbor, Role: access.Manager})
	for how, code := range map[string]int{"allow": 0, "refuse": 1} {
		env := map[string]string{"SLOTMESH_SERVER": w.URL, "XDG_CONFIG_HOME": t.TempDir(), "SLOTMESH_HOME": t.TempDir()}
		var out, output bytes.Buffer
		var waits []time.Duration
		host := command.Host{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &output, Getenv: func(name string) string {
				return env[name]
			},
			Wait: func(_ context.Context, d time.Duration) error {
				// The first two polls got authorization_pending and slow_down.
				if waits = append(waits, d); len(waits) == 3 {
					answerCode(t, w, session, output.String(), harbor, how)
				}
				return nil
			},
		}
		if got := command.Run(t.Context(), host, []string{"login", "--browser"}); got != code {
			t.Fatalf("%s: exit code %d: %s", how, got, output.String())
		}
		if len(waits) != 3 || waits[0] != 5*time.Second || waits[2] != 10*time.Second {
			t.Errorf("the command waits %v", waits)
		}
		ownShell := shell{t: t, env: env}
		if how == "refuse" {
			if !strings.Contains(output.String(), "refused in the browser") {
				t.Error(output.String())
			}
			ownShell.expectFailure(1, "slotmesh login", "list")
			continue
		}
		if list := ownShell.mustRun("list"); !strings.Contains(list, "harbor") {
			t.Error(list)
		}
		ownShell.expectFailure(1, "may not", "keys", "list", "harbor")
	}
	s.expectFailure(2, "browser", "login", "--browser", "--with-token")
}
