// Package accountmail writes the mails about a person's own account, in the languages of the owner's pages. It only
// returns texts; the notification service renders and sends them.
package accountmail

import (
	"embed"
	"strconv"
	"sync"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
)

//go:embed texts/*.json
var files embed.FS

var texts = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, "texts") })

// platform is the sender's name of mails that no business sends.
const platform = "Slotmesh"

// letter is a mail, given by the names of its sentences.
type letter struct {
	from, subject, business string
	paragraphs              []string
	values                  map[string]string // parameters of the first paragraph
	button, link            string
}

// Password returns the mail with the link to choose a new password.
func Password(to, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "password_subject", paragraphs: []string{"password_lead", "password_until",
			"password_ignore"},
		button: "password_button", link: link,
	}.to(to, languages)
}

// PasswordChanged returns the mail after a password was changed. link is the page to reset the password.
func PasswordChanged(to, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "changed_subject", paragraphs: []string{"changed_lead", "changed_not_you"},
		button: "changed_button", link: link,
	}.to(to, languages)
}

// PasskeyAdded returns the mail to a person who has added a passkey. link is the page to reset the password. A reset
// also removes all passkeys, in case another person added this one.
func PasskeyAdded(to, link string, languages ...string) (notifications.Mail, error) {
	return changed("passkey_added", to, link, languages)
}

// PasskeyRemoved returns the mail after a passkey was removed. link is the page to reset the password.
func PasskeyRemoved(to, link string, languages ...string) (notifications.Mail, error) {
	return changed("passkey_removed", to, link, languages)
}

// PasswordRemoved returns the mail to a person who has removed their password and signs in by passkeys only. link is
// the page to reset the password.
func PasswordRemoved(to, link string, languages ...string) (notifications.Mail, error) {
	return changed("password_removed", to, link, languages)
}

// DeviceAdded returns the mail to a person who has allowed a program to act for them by `slotmesh login`. device is the
// name of the program's machine. link is the page to reset the password, which disconnects all such programs.
func DeviceAdded(to, device, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "device_subject", paragraphs: []string{"device_lead", "device_not_you"},
		values: map[string]string{"Device": device}, button: "changed_button", link: link,
	}.to(to, languages)
}

// changed returns a mail about a change of a person's passkeys or password.
func changed(what, to, link string, languages []string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: what + "_subject", paragraphs: []string{what + "_lead", "passkeys_not_you"},
		button: "changed_button", link: link,
	}.to(to, languages)
}

// Invitee is the way in which an invited person gets access to the business.
type Invitee int

// The values of [Invitee].
const (
	New     Invitee = iota // with the link, which works once
	Known                  // as usual: the person is already a member
	Accepts                // as usual, after accepting the invitation with the link
)

// Invitation returns the mail to a person who was invited. business is the name of the business, or "" for an
// invitation to become an operator. link is the page on which the person signs in or accepts.
func Invitation(to, business, link string, invitee Invitee, languages ...string) (notifications.Mail, error) {
	l := letter{
		from: business, subject: "invited_subject", business: business,
		paragraphs: []string{"invited_lead", "invited_until"}, button: "invited_button", link: link,
	}
	if business == "" {
		l.from, l.business, l.paragraphs[0] = platform, platform, "invited_operator"
	}
	switch invitee {
	case Known:
		l.paragraphs[1], l.button = "invited_known", "sign_in_button"
	case Accepts:
		l.paragraphs[1] = "invited_accept"
	default: // the texts above are for a new person
	}
	return l.to(to, languages)
}

// RetentionShortened returns the mail to an owner after privacy.keep_customers_days was lowered. before and after are
// the old and the new number of days. link is the page with the versions of the offer.
func RetentionShortened(to, business, link string, before, after int, languages ...string) (notifications.Mail, error) {
	return letter{
		from: business, subject: "data_sooner_subject", business: business,
		paragraphs: []string{"data_sooner_lead", "offer_not_you"},
		values:     map[string]string{"Before": strconv.Itoa(before), "After": strconv.Itoa(after)},
		button:     "offer_versions_button", link: link,
	}.to(to, languages)
}

// PaymentAccountChanged returns the mail to an owner after payments.accounts was changed. link is the page with the
// versions of the offer.
func PaymentAccountChanged(to, business, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: business, subject: "payout_subject", business: business,
		paragraphs: []string{"payout_lead", "offer_not_you"},
		button:     "offer_versions_button", link: link,
	}.to(to, languages)
}

func (l letter) to(address string, languages []string) (notifications.Mail, error) {
	all, err := texts()
	if err != nil {
		return notifications.Mail{}, err
	}
	w := words.In(all, languages...)
	mail := notifications.Mail{To: address, FromName: l.from, Language: w.Code,
		Subject: w.Fill(l.subject, map[string]string{"Business": l.business}), Button: w.Say(l.button), Link: l.link}
	for i, id := range l.paragraphs {
		if i == 0 && l.values != nil {
			mail.Paragraphs = append(mail.Paragraphs, w.Fill(id, l.values))
			continue
		}
		mail.Paragraphs = append(mail.Paragraphs, w.Say(id))
	}
	return mail, w.Fault()
}
