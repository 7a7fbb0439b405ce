package console_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// heldRequest is a write of which only the headers and a part of the body are sent.
type heldRequest struct {
	name, rest string
	conn       net.Conn
	principal  credential
}

// credential is the session or token of one held request.
type credential struct {
	id     uuid.UUID // id of the session or token
	header string
}

// A server starts to handle a request before it has the whole body if the body is larger than its read buffer.
const (
	sentAtOnce = 9 << 10
	heldBody   = 20 << 10
)

// buildBody returns a body of heldBody bytes for a write, and its media type.
func buildBody(route string) (string, string) {
	body, fill, kind := "{}", " ", "application/json"
	switch {
	case route == "PUT /admin/businesses/:slug":
		body, fill, kind = consoletest.BuildManifest("harbor", "Taken over"), "#", "application/yaml"
	case !strings.Contains(route, " /admin"):
		body, fill, kind = "name=x&filled=", "x", "application/x-www-form-urlencoded"
	}
	return body + strings.Repeat(fill, heldBody-len(body)), kind
}

// holdWrite sends the headers of a write with a credential, and the first part of its body.
func holdWrite(t *testing.T, w *consoletest.Fixture, route, path string, by credential) heldRequest {
	t.Helper()
	body, kind := buildBody(route)
	return holdBody(t, w, route, path, by, body, kind)
}

// holdBody is [hold] with the body `body` of the media type `kind`.
func holdBody(t *testing.T, w *consoletest.Fixture, route, path string, by credential, body, kind string) heldRequest {
	t.Helper()
	method, _, _ := strings.Cut(route, " ")
	request := heldRequest{name: route, rest: body[sentAtOnce:], principal: by}
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testkit.MaxWait))
	request.conn = conn
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n\r\n",
		method, path, strings.TrimPrefix(w.URL, "http://"), w.URL, kind, len(body), by.header)
	if _, err := io.WriteString(conn, head+body[:sentAtOnce]); err != nil {
		t.Fatal(err)
	}
	return request
}

// finish sends the rest of the body and returns the answer.
func (h *heldRequest) finish(t *testing.T) consoletest.Answer {
	t.Helper()
	if _, err := io.WriteString(h.conn, h.rest); err != nil {
		t.Errorf("%s: %v", h.name, err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(h.conn), &http.Request{Method: http.MethodPost})
	if err != nil {
		t.Errorf("%s: %v", h.name, err)
		return consoletest.Answer{}
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(answer.Body)
	return consoletest.Answer{Status: answer.StatusCode, Header: answer.Header, Body: string(text)}
}

// rightsEnd is a way in which rights end. The function `end` returns after the end is confirmed.
type rightsEnd struct {
	tokens, sessions   bool // kinds of credentials that it ends
	members, operators bool // and whose credentials
	end                func(t *testing.T, w *consoletest.Fixture, person store.Person, held []heldRequest)
}

// rightsEnds has all ways in which rights end.
var rightsEnds = map[string]rightsEnd{
	"token revoked": {tokens: true, members: true, operators: true, end: func(t *testing.T, w *consoletest.Fixture,
		_ store.Person, held []heldRequest) {
		for _, h := range held {
			if got := w.Call(t, "DELETE", "/admin/tokens/"+h.principal.id.String(), ""); got.Status != 204 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}
	}},
	"member removed": {tokens: true, sessions: true, members: true, end: func(t *testing.T, w *consoletest.Fixture,
		p store.Person, _ []heldRequest) {
		if got := w.Call(t, "DELETE", harb+"/members/"+p.ID.String(), ""); got.Status != 204 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}},
	"demoted": {tokens: true, sessions: true, members: true, end: func(t *testing.T, w *consoletest.Fixture,
		p store.Person, _ []heldRequest) {
		if got := w.Call(t, "PATCH", harb+"/members/"+p.ID.String(), `{"role":"viewer"}`); got.Status != 200 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}},
	"signed out": {sessions: true, members: true, operators: true, end: func(t *testing.T, w *consoletest.Fixture,
		_ store.Person, held []heldRequest) {
		for _, h := range held {
			if got := pressButton(t, w, "/account/sign-out",
				strings.TrimPrefix(h.principal.header, "Cookie: slotmesh-session=")); got.Status != 303 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}
	}},
	"operator demoted": {tokens: true, sessions: true, operators: true, end: func(t *testing.T, w *consoletest.Fixture,
		p store.Person, _ []heldRequest) {
		if got := w.Call(t, "DELETE", "/admin/operators/"+p.ID.String(), ""); got.Status != 204 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
	}},
	"operator signed out": {tokens: true, sessions: true, operators: true,
		end: func(t *testing.T, w *consoletest.Fixture,
			p store.Person, _ []heldRequest) {
			if got := w.Call(t, "POST", "/admin/operators/"+p.ID.String()+"/sign-out", ""); got.Status != 204 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}},
	"password reset": {tokens: true, sessions: true, members: true, operators: true,
		end: func(t *testing.T, w *consoletest.Fixture, p store.Person, _ []heldRequest) {
			resetPassword(t, w, p.ID)
		}},
}

// resetPassword sets a new password by a mailed link.
func resetPassword(t *testing.T, w *consoletest.Fixture, person uuid.UUID) {
	t.Helper()
	resetPasswordTo(t, w, person, herring)
}

func resetPasswordTo(t *testing.T, w *consoletest.Fixture, person uuid.UUID, chosen string) {
	t.Helper()
	if got := postForm(t, w, "/sign-in/password/"+addLink(t, w, person, store.PurposePassword), "",
		url.Values{"new": {chosen}}); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
}

// listWrites returns the write routes for sessions, or for tokens if `tokens` is true. If `operator` is true, it
// returns only operator routes, otherwise the others. The routes of sign-in are in heldSignIns.
func listWrites(w *consoletest.Fixture, tokens, operator bool) []string {
	var names []string
	for _, route := range w.Routes {
		name := route.Method + " " + route.Path
		read := route.Method == http.MethodGet || route.Method == http.MethodHead
		admin := strings.HasPrefix(route.Path, "/admin")
		page := slices.ContainsFunc([]string{"/business", "/account"}, func(below string) bool {
			return strings.HasPrefix(route.Path, below)
		}) || route.Path == "/device"
		ofOperators := name == "POST /business" || strings.HasPrefix(route.Path, "/admin/operators")
		if read || admin != tokens || !admin && !page || slices.Contains(names, name) || ofOperators != operator {
			continue
		}
		names = append(names, name)
	}
	return names
}

// addCredential returns a session, or a token if `token` is true, that has not been used yet.
func addCredential(t *testing.T, w *consoletest.Fixture, token bool, person uuid.UUID,
	member access.Member) credential {
	t.Helper()
	id, now := uuid.New(), time.Now()
	if token {
		clear, hash := secret.New(secret.TokenPrefix)
		made := store.Token{Member: member, ID: id, Name: "held", Prefix: secret.DisplayPrefix(clear),
			CreatedBy: person,
			CreatedAt: now, Device: "laptop"}
		if err := w.Store.AddToken(testkit.AsSystem(t), consoletest.Operator, made, hash); err != nil {
			t.Fatal(err)
		}
		return credential{id, "Authorization: Bearer " + clear}
	}
	clear, hash := secret.New("")
	_, err := w.Pool.Exec(t.Context(), `INSERT INTO sessions (hash, id, person_id, client, created_at, last_seen_at) VALUES ($1, $2, $3, 'held', $4, $5)`,
		hash[:], id, person, now, now.Add(-5*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return credential{id, "Cookie: slotmesh-session=" + clear}
}

// awaitSeen waits until the server has authorized each held request, which updates the last use of its credential.
func awaitSeen(t *testing.T, w *consoletest.Fixture, requests []heldRequest) {
	t.Helper()
	ids := make([]uuid.UUID, len(requests))
	for i := range requests {
		ids[i] = requests[i].principal.id
	}
	for late := time.Now().Add(testkit.MaxWait); ; {
		var seen int
		err := w.Pool.QueryRow(t.Context(), `
			SELECT (SELECT count(*) FROM tokens WHERE id = ANY ($1) AND last_used_at IS NOT NULL) +
			       (SELECT count(*) FROM sessions WHERE id = ANY ($1) AND last_seen_at >= created_at - interval '1 minute')`, ids).Scan(&seen)
		if err != nil || time.Now().After(late) {
			t.Fatalf("%d of %d heads were read: %v", seen, len(requests), err)
		}
		if seen == len(requests) {
			return
		}
	}
}

// holdAll holds all writes of one kind of credential. Each has a credential of its own.
func holdAll(t *testing.T, w *consoletest.Fixture, tokens, operator bool, person uuid.UUID,
	member access.Member) []heldRequest {
	t.Helper()
	var requests []heldRequest
	for _, route := range listWrites(w, tokens, operator) {
		_, path, _ := strings.Cut(route, " ")
		path = strings.NewReplacer(":slug", "harbor", ":id", uuid.NewString()).Replace(path)
		requests = append(requests, holdWrite(t, w, route, path, addCredential(t, w, tokens, person, member)))
	}
	if len(requests) == 0 {
		t.Fatal("no write has these properties")
	}
	awaitSeen(t, w, requests)
	return requests
}

// isRefused reports whether the answer refuses a request because the caller has no rights.
func isRefused(a consoletest.Answer) bool {
	return a.Status == 401 || a.Status == 403 || a.Status == 404 && strings.Contains(a.Body, "business_not_found")
}

// TestHeldWriteIsRefusedAfterRightsEnd shows that a write has no effect if its rights end before its body
// has arrived. It checks all writes of the admin API and the pages, for each way in which rights end.
func TestHeldWriteIsRefusedAfterRightsEnd(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(rightsEnds)) {
		way := rightsEnds[name]
		for _, tokens := range []bool{true, false} {
			for _, operator := range []bool{false, true} {
				if tokens && !way.tokens || !tokens && !way.sessions || operator && !way.operators || !operator &&
					!way.members {
					continue
				}
				t.Run(fmt.Sprintf("%s, by token %t, by an operator %t", name, tokens, operator), func(t *testing.T) {
					t.Parallel()
					checkHeldWrites(t, tokens, operator, way)
				})
			}
		}
	}
}

func checkHeldWrites(t *testing.T, tokens, operator bool, way rightsEnd) {
	w := consoletest.Start(t)
	member := access.Member{BusinessID: publish(t, w), Role: access.Owner}
	w.AddSession(t, "stays@example.com", member, access.Member{Role: access.Operator})
	if operator {
		member = access.Member{Role: access.Operator}
	}
	w.AddSession(t, "ana@example.com", member)
	person, err := w.Store.FindCredentialsByEmail(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	held := holdAll(t, w, tokens, operator, person.ID, member)
	way.end(t, w, person.Person, held)
	rows, requests := w.ReadRows(t), w.Peers.ListWrites()
	for i := range held {
		if got := held[i].finish(t); !isRefused(got) {
			t.Errorf("%s: %d %s", held[i].name, got.Status, got.Body)
		}
	}
	if diff := cmp.Diff(rows, w.ReadRows(t)); diff != "" {
		t.Errorf("was written (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(requests, w.Peers.ListWrites()); diff != "" {
		t.Errorf("other services were asked to write:\n%s", diff)
	}
}

// TestHeldWriteSucceedsWithRights shows that the same writes are allowed if their rights do not end. It shows that
// the refusals in the test above are due to the end of rights.
func TestHeldWriteSucceedsWithRights(t *testing.T) {
	t.Parallel()
	for _, tokens := range []bool{true, false} {
		w := consoletest.Start(t)
		member := access.Member{BusinessID: publish(t, w), Role: access.Owner}
		w.AddSession(t, "ana@example.com", member)
		person, err := w.Store.FindCredentialsByEmail(t.Context(), "ana@example.com")
		if err != nil {
			t.Fatal(err)
		}
		requests := holdAll(t, w, tokens, false, person.ID, member)
		// Skip the removal of the business, because the other writes need it.
		slices.SortStableFunc(requests, func(a, b heldRequest) int { return strings.Compare(a.name, b.name) })
		for i := range requests {
			if strings.HasPrefix(requests[i].name, "DELETE /admin/businesses/:slug") &&
				!strings.Contains(requests[i].name,
					":id") {
				continue
			}
			if got := requests[i].finish(t); isRefused(got) {
				t.Errorf("%s: %d %s", requests[i].name, got.Status, got.Body)
			}
		}
		if tokens && len(w.Peers.ListWrites()) < 5 {
			t.Errorf("too few of the requests write: %v", w.Peers.ListWrites())
		}
	}
}

// heldSignIn is a sign-in or the acceptance of an invitation. The function `end` ends its proof: the password, link,
// passkey or invitation.
type heldSignIn struct {
	path, cookie string
	form         url.Values
	end          func()
}

// heldSignIns has all writes of people who are not signed in. The value is nil for a write that needs no proof, because
// its answer gives no rights.
var heldSignIns = map[string]func(t *testing.T, w *consoletest.Fixture, business, person uuid.UUID) heldSignIn{
	"POST /sign-in": func(t *testing.T, w *consoletest.Fixture, _, person uuid.UUID) heldSignIn {
		resetPasswordTo(t, w, person, gulls)
		return heldSignIn{"/sign-in", "", url.Values{"email": {"ana@example.com"}, "password": {gulls}}, func() {
			resetPassword(t, w, person)
		}}
	},
	"POST /sign-in/link/:secret": func(t *testing.T, w *consoletest.Fixture, _, person uuid.UUID) heldSignIn {
		return heldSignIn{"/sign-in/link/" + addLink(t, w, person, store.PurposeSignIn), "", nil, func() {
			resetPassword(t, w, person)
		}}
	},
	"POST /sign-in/password/:secret": func(t *testing.T, w *consoletest.Fixture, _, person uuid.UUID) heldSignIn {
		path := "/sign-in/password/" + addLink(t, w, person, store.PurposePassword)
		return heldSignIn{path, "", url.Values{"new": {gulls}}, func() { resetPassword(t, w, person) }}
	},
	"POST /sign-in/passkey": func(t *testing.T, w *consoletest.Fixture, business, person uuid.UUID) heldSignIn {
		device := consoletest.NewDevice()
		addPasskey(t, w, w.AddSession(t, "ana@example.com", access.Member{BusinessID: business, Role: access.Owner}),
			device)
		challenge, cookie := beginPasskeySignIn(t, w, "")
		return heldSignIn{"/sign-in/passkey", "slotmesh-passkey=" + cookie,
			url.Values{"credential": {device.Sign(t, challenge)}}, func() {
				resetPassword(t, w, person)
			}}
	},
	"POST /sign-in/invitation/:secret": func(t *testing.T, w *consoletest.Fixture, _, person uuid.UUID) heldSignIn {
		slug := "quay-" + testkit.Unique()
		quay := uuid.MustParse(field(t,
			w.Call(t, "PUT", "/admin/businesses/"+slug, consoletest.BuildManifest(slug, "Quay")),
			"id").(string))
		m := access.Member{BusinessID: quay, Role: access.FrontDesk}
		invited, err := w.Store.Invite(testkit.AsSystem(t), consoletest.Operator, person, m, time.Now(),
			func(access.Principal, store.Person, []access.Member) bool {
				return true
			})
		if err != nil {
			t.Fatal(err)
		}
		clear, hash := secret.New("")
		if err := w.Store.SetInvitationSecret(t.Context(), consoletest.Operator, quay, invited.ID, hash); err != nil {
			t.Fatal(err)
		}
		return heldSignIn{identity.InvitationPath(clear), "", nil, func() {
			if got := w.Call(t, "DELETE", "/admin/businesses/"+slug+"/invitations/"+invited.ID.String(),
				""); got.Status != 204 {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
		}}
	},
	"POST /device/token": func(t *testing.T, w *consoletest.Fixture, business, person uuid.UUID) heldSignIn {
		p := begin(t, w, "laptop")
		session := strings.TrimPrefix(addCredential(t, w, false, person, access.Member{}).header,
			"Cookie: slotmesh-session=")
		if got := allow(t, w, session, p.Code, business.String(), "allow"); got.Status != 303 {
			t.Fatalf("%d %s", got.Status, got.Body)
		}
		form := url.Values{"client_id": {"slotmesh"}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
			"device_code": {p.Device}}
		return heldSignIn{"/device/token", "", form, func() { resetPassword(t, w, person) }}
	},
	"POST /sign-in/passkey/begin": nil,
	"POST /sign-in/forgotten":     nil,
	"POST /device/authorization":  nil,
}

// addLink creates a link of a person and returns its secret.
func addLink(t *testing.T, w *consoletest.Fixture, person uuid.UUID, purpose store.Purpose) string {
	t.Helper()
	clear, hash := secret.New("")
	link := store.Link{PersonID: person, Purpose: purpose, Verifies: true, ExpiresAt: time.Now().Add(time.Hour)}
	if err := w.Store.AddLink(testkit.AsSystem(t), link, hash); err != nil {
		t.Fatal(err)
	}
	return clear
}

// TestHeldSignInRechecksProof shows that a sign-in checks its proof after its body has arrived. It refuses
// a changed password, a removed passkey, and an ended link or invitation.
func TestHeldSignInRechecksProof(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	visited := map[string]bool{}
	for _, route := range w.Routes {
		name := route.Method + " " + route.Path
		if route.Method != http.MethodPost || !strings.HasPrefix(route.Path, "/sign-in") &&
			!strings.HasPrefix(route.Path, "/device/") || visited[name] {
			continue
		}
		visited[name] = true
		prove, ok := heldSignIns[name]
		if !ok {
			t.Errorf("%s has no row in the table of ways in", name)
		}
		for _, ends := range []bool{false, true} {
			if prove != nil {
				checkHeldSignIn(t, w, name, business, prove, ends)
			}
		}
	}
	for name := range heldSignIns {
		if !visited[name] {
			t.Errorf("%s is in the table, but is not a route", name)
		}
	}
}

// checkHeldSignIn holds the body of a sign-in. If `ends` is true, the proof ends before the rest of the body is sent,
// and the sign-in must fail.
func checkHeldSignIn(
	t *testing.T, w *consoletest.Fixture, name string, business uuid.UUID,
	prove func(*testing.T, *consoletest.Fixture, uuid.UUID, uuid.UUID) heldSignIn, ends bool,
) {
	t.Helper()
	w.AddSession(t, "ana@example.com", access.Member{BusinessID: business, Role: access.Owner})
	person, err := w.Store.FindCredentialsByEmail(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	way := prove(t, w, business, person.ID)
	body := way.form.Encode() + "&filled="
	body += strings.Repeat("x", heldBody-len(body))
	header := "Sec-Fetch-Dest: document"
	if way.cookie != "" {
		header += "\r\nCookie: " + way.cookie
	}
	request := holdBody(t, w, name, way.path, credential{header: header}, body, "application/x-www-form-urlencoded")
	if !ends {
		if got := request.finish(t); got.Status >= 400 {
			t.Errorf("%s with its proof: %d %s", name, got.Status, got.Body)
		}
		return
	}
	way.end()
	rows := w.ReadRows(t)
	if got := request.finish(t); got.Status < 400 {
		t.Errorf("%s: %d %s", name, got.Status, got.Body)
	}
	after := w.ReadRows(t)
	// A refused sign-in also deletes these rows, which is harmless.
	for _, usedLink := range []string{"device_logins", "challenges"} {
		delete(rows, usedLink)
		delete(after, usedLink)
	}
	if diff := cmp.Diff(rows, after); diff != "" {
		t.Errorf("%s was written (-before +after):\n%s", name, diff)
	}
}
