package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

var linkInMail = regexp.MustCompile(`http://[^\s"<>]+/sign-in/password/[0-9a-f]{64}`)

// awaitMailedLink waits for the nth mail to an address, from 1, and returns the link in it.
func (w *platform) awaitMailedLink(t *testing.T, to string, n int) string {
	t.Helper()
	mail := w.inbox.await(t, to, n)[n-1]
	return linkInMail.FindString(strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(string(mail.Raw)))
}

// invite invites a person to the front desk by mail and returns the link in the mail. The platform does not retry an
// invitation that the mail server did not accept in time, so invite repeats it.
func (w *platform) invite(t *testing.T, email string) string {
	t.Helper()
	testkit.WaitUntil(t, "an invitation of "+email, func(context.Context) error {
		var invitation struct{ Mailed bool }
		body := fmt.Appendf(nil, `{"business":"account","email":%q,"name":"Marta Silva","role":"desk"}`, email)
		if w.callAdmin(t, http.MethodPost, "invitations", body).decode(t, http.StatusCreated,
			&invitation); !invitation.Mailed {
			return errors.New("it was not mailed")
		}
		return nil
	})
	return w.awaitMailedLink(t, email, len(w.inbox.mails(email)))
}

// TestPeopleSignInInABrowser accepts an invitation by mail, chooses a password, signs in with it, and replaces a
// forgotten password.
func TestPeopleSignInInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	w := sharePlatform(t)
	w.publish(t, "account", buildSalon("account", 1))
	t.Run("passkey", func(t *testing.T) {
		t.Parallel()
		w.signInByPasskey(t, chromium)
	})
	for name, profile := range map[string]visitor.Profile{
		"phone": {Locale: "en-GB"}, "desk-dark": {Locale: "de", Width: 1280, Dark: true, NoScript: true},
		"ar": {Locale: "ar", Slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			email := name + "@people.example"
			profile.Headers = map[string]string{"X-Forwarded-For": newAddress()}
			v := chromium.Visit(t, profile)
			checkStep := func(step, selector string) {
				v.ExpectElement(selector)
				v.AwaitLoad()
				v.Check()
				v.SaveScreenshot("account-" + name + "-" + step)
			}
			choose := func(clear string) {
				v.FillElement("input[name=new]", clear)
				v.PressElement("button")
			}
			v.Go(w.invite(t, email))
			checkStep("1-choose", "input[name=new]")
			choose("short")
			checkStep("2-short", ".field-error")
			choose("seven gulls over Lisbon")
			v.ExpectElement(".rail")
			v.Go(w.AdminURL + "/account")
			checkStep("3-account", ".sessions")
			v.PressElement(`form[action="/account/sign-out"] button`)
			checkStep("4-sign-in", `input[name=email]`)
			enter := func(clear string) {
				v.FillElement("input[name=email]", email)
				v.FillElement("input[name=password]", clear)
				v.PressElement("button")
			}
			enter("eight gulls over Lisbon")
			checkStep("5-wrong", ".notice.wrong")
			enter("seven gulls over Lisbon")
			v.ExpectElement(".rail")
			v.Go(w.AdminURL + "/sign-in/forgotten")
			checkStep("6-forgotten", "input[name=email]")
			before := len(w.inbox.mails(email))
			v.FillElement("input[name=email]", email)
			v.PressElement("button")
			v.Await("the mail is told of", `location.search.includes("sent")`)
			checkStep("7-look", "main p")
			v.Go(w.awaitMailedLink(t, email, before+1))
			choose("a herring for each gull")
			v.ExpectElement(".rail")
			v.Go(w.AdminURL + "/account/password")
			checkStep("8-change", "input[name=current]")
		})
	}
}

// connectProgram starts the sign-in of a program, as slotmesh login does. It opens the address that the program
// shows, signs in there, and allows the program.
func (w *platform) connectProgram(t *testing.T, v *visitor.Visitor, owners string, signIn func()) {
	var begun struct {
		Device string `json:"device_code"`
		Code   string `json:"user_code"`
	}
	w.callDeviceAPI(t, "authorization", url.Values{"client_id": {"slotmesh"}, "device_name": {"Marta's laptop"}},
		&begun)
	v.Go(owners + "/device?code=" + begun.Code)
	v.ExpectElement("input[name=email]")
	signIn()
	v.ExpectText("Marta's laptop", begun.Code)
	v.Press("Allow")
	v.ExpectText("The program is connected.")
	var granted struct {
		Token string `json:"access_token"`
	}
	w.callDeviceAPI(t, "token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
		"device_code": {begun.Device}}, &granted)
	w.do(t, http.MethodGet, w.AdminURL+"/admin/businesses/account/bookings?from=2027-03-01&to=2027-03-02", nil,
		http.Header{"Authorization": {"Bearer " + granted.Token}}).checkStatus(t, http.StatusOK, "")
}

// callDeviceAPI sends a request of a program that signs in by a device code.
func (w *platform) callDeviceAPI(t *testing.T, path string, form url.Values, out any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.AdminURL+"/device/"+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("X-Forwarded-For", newAddress())
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		Timeout: testkit.MaxWait}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, answer.StatusCode, err)
	}
}

// signInByPasskey adds a passkey, removes the password, and signs in with the passkey. It uses the host localhost,
// because passkeys are bound to a host name.
func (w *platform) signInByPasskey(t *testing.T, chromium *visitor.Chromium) {
	owners := strings.Replace(w.AdminURL, "127.0.0.1", "localhost", 1)
	const email = "passkey@people.example"
	v := chromium.Visit(t,
		visitor.Profile{Locale: "en-GB", Width: 1280, Headers: map[string]string{"X-Forwarded-For": newAddress()}})
	verifies := v.Device()
	checkStep := func(step, selector string) {
		v.ExpectElement(selector)
		v.AwaitLoad()
		v.Check()
		v.SaveScreenshot("account-passkey-" + step)
	}
	v.Go(strings.Replace(w.invite(t, email), w.AdminURL, owners, 1))
	v.FillElement("input[name=new]", "seven gulls over Lisbon")
	v.PressElement("button")
	v.ExpectElement(".rail")
	v.Go(owners + "/account")
	checkStep("1-account", "form.passkey")
	v.Fill("Name of the passkey", "Marta’s phone")
	v.Press("Add a passkey")
	v.ExpectText("Your passkey is added.", "Marta’s phone", "Not used yet")
	v.Press("Remove password")
	v.PressElement(`form[action="/account/password/remove"] button`)
	v.ExpectText("Your password is removed.")
	checkStep("2-alone", ".sessions")
	v.PressElement(`form[action="/account/sign-out"] button`)
	checkStep("3-sign-in", `form[action="/sign-in/passkey"]`)
	verifies(false)
	v.Press("Sign in with a passkey")
	v.ExpectText("No passkey was used.")
	v.SaveScreenshot("account-passkey-4-failed")
	verifies(true)
	w.connectProgram(t, v, owners, func() {
		v.FillElement("input[name=email]", email)
		v.Press("Sign in with a passkey")
		checkStep("5-program", "button[value=allow]")
	})
	v.Go(owners + "/account")
	v.ExpectText("Last used")

	plain := chromium.Visit(t, visitor.Profile{Locale: "ar", NoScript: true})
	plain.Go(owners + "/sign-in")
	plain.ExpectElement("input[name=email]")
	if visitor.Eval[bool](plain, `!!document.querySelector("form.passkey")?.checkVisibility()`) {
		t.Error("without scripts, the page shows a button that has no effect")
	}
}
