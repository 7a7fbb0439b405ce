package command_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// TestErrorsContainNoHTTPTerms shows that the command replaces HTTP terms in error sentences of the server with
// its own flags and commands.
func TestErrorsContainNoHTTPTerms(t *testing.T) {
	t.Parallel()
	key := []string{"keys", "create", "harbor", "--name", "site", "--scope", "all"}
	for name, c := range map[string]struct {
		status     int
		body, says string
		args       []string
	}{
		"a newer version": {
			412, newFaultServer(fault.PreconditionFailed,
				`If-Match: the newest version is 3, not 2; read it and try again.`),
			"the newest version is 3, not 2; look at it with slotmesh get", []string{"delete", "harbor"},
		},
		"still under way": {409, newFaultServer(fault.IdempotencyInProgress,
			"Idempotency-Key: a request with this key is still in flight; try again shortly."), "first attempt", key},
		"nobody knows": {503, newFaultServer(fault.OutcomeUnknown, fault.Unknown(nil).Sentence),
			"It is not known whether this was done; look what has become of it", key},
		"a member": {400, newFaultServer(fault.InvalidParameter,
			"expires_at: this instant has passed; send a later one."), "--expires-at: this instant has passed", key},
		"a customer": {400,
			newFaultServer(fault.InvalidParameter, "customer_name: send 1 to 200 characters on one line."),
			"--name: write 1 to 200", key},
		"a path": {404,
			newFaultServer(fault.NotFound,
				"version: the business has no version 9; GET …/versions lists those it has."),
			"slotmesh history lists", []string{"rollback", "harbor", "9"}},
		"another port": {404, newFaultServer(fault.NotFound, "There is nothing at this path."), "not the admin API",
			key},
		"bookings ahead": {409,
			newFaultServer(fault.Conflict, "Customers are expected; cancel them first, or remove it with force=true."),
			"with --force.", []string{"delete", "harbor"}},
		"no flag's": {400, newFaultServer(fault.InvalidParameter, "currency: unknown."), "currency: unknown.",
			key},
		"a proxy's fault": {502, "<html>Bad Gateway</html>", "cannot do this now", key},
		"another server":  {405, "", "not the admin API", key},
		"no page of ours": {404, "<html>Not found</html>", "not the admin API", key},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			t.Cleanup(server.Close)
			s := shell{t: t, env: map[string]string{"SLOTMESH_SERVER": server.URL, "SLOTMESH_ADMIN_TOKEN": "x"}}
			r := s.run(c.args...)
			if r.code != 1 || r.out != "" || !strings.HasPrefix(r.err, "slotmesh: ") || !strings.Contains(r.err,
				c.says) || httpTerms.MatchString(r.err) {
				t.Errorf("the command ends with %d and prints %q, want %q", r.code, r.err, c.says)
			}
		})
	}
}

// httpTerms matches names of HTTP headers, methods and status codes.
var httpTerms = regexp.MustCompile(`Idempotency|If-Match|Authorization|Content-|\b(GET|PUT|POST|DELETE|PATCH)\b|\b[45]\d\d\b|status`)

func newFaultServer(kind fault.Kind, sentence string) string {
	return fmt.Sprintf(`{"error": %q, "messageCode": %q}`, sentence, kind.Code)
}
