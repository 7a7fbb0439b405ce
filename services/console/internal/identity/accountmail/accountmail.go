// Package accountmail writes the mails about a person's own account, in the languages of the owner's pages. It returns
// only the texts; the notifications service renders and sends the mails.
package accountmail

import (
	"cmp"
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

// platform is the name of the sender in mails that are not about a business.
const platform = "Slotmesh"

// letter is a mail before translation: its fields `subject`, `paragraphs` and `button` contain the ids of texts.
type letter struct {
	from, subject, business string
	paragraphs              []string
	values                  map[string]string // parameters of the first paragraph
	button, link            string
	reason                  string // id of the sentence why the person gets the mail; "" for a mail about their account
}

// WritePasswordLink returns the mail with the link to choose a new password. The argument `to` is the recipient's
// e-mail address.
func WritePasswordLink(to, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "password_subject", paragraphs: []string{"password_lead", "password_until",
			"password_ignore"},
		button: "password_button", link: link,
	}.write(to, languages)
}

// WriteSignUp returns the mail to a person who signs up. The argument `link` is the URL of the page on which the person
// chooses a password.
func WriteSignUp(to, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "sign_up_subject", paragraphs: []string{"sign_up_lead", "password_until",
			"sign_up_ignore"},
		button: "password_button", link: link,
	}.write(to, languages)
}

// WritePasswordChanged returns the mail that informs a person that their password was changed. The argument `link` is
// the URL of the page to reset the password.
func WritePasswordChanged(to, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "changed_subject", paragraphs: []string{"changed_lead", "changed_not_you"},
		button: "changed_button", link: link,
	}.write(to, languages)
}

// WritePasskeyAdded returns the mail that informs a person that a passkey was added to their account. The argument
// `link` is the URL of the page to reset the password. If a stranger has added the passkey, the recipient can reset the
// password, which deletes all passkeys.
func WritePasskeyAdded(to, link string, languages ...string) (notifications.Mail, error) {
	return writeChange("passkey_added", to, link, languages)
}

// WritePasskeyRemoved returns the mail that informs a person that a passkey was removed. The argument `link` is the URL
// of the page to reset the password.
func WritePasskeyRemoved(to, link string, languages ...string) (notifications.Mail, error) {
	return writeChange("passkey_removed", to, link, languages)
}

// WritePasswordRemoved returns the mail to a person who has removed their password and now signs in with passkeys only.
// The argument `link` is the URL of the page to reset the password.
func WritePasswordRemoved(to, link string, languages ...string) (notifications.Mail, error) {
	return writeChange("password_removed", to, link, languages)
}

// WriteDeviceAdded returns the mail to a person who has run `slotmesh login` on a machine and allowed the program to
// act for them. The argument `device` is the name of the program's machine. The argument `link` is the URL of the page
// to reset the password. A reset disconnects all such programs.
func WriteDeviceAdded(to, device, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "device_subject", paragraphs: []string{"device_lead", "device_not_you"},
		values: map[string]string{"Device": device}, button: "changed_button", link: link,
	}.write(to, languages)
}

// writeChange returns a mail about a change of a person's passkeys or password. The argument `label` is the prefix of
// the ids of the mail's texts.
func writeChange(label, to, link string, languages []string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: label + "_subject", paragraphs: []string{label + "_lead", "passkeys_not_you"},
		button: "changed_button", link: link,
	}.write(to, languages)
}

// Invitee is the way in which an invited person gets access to the business. The text of the invitation's mail depends
// on the Invitee.
type Invitee int

// The values of [Invitee].
const (
	NewInvitee       Invitee = iota // the person signs in with the link, which works once
	KnownInvitee                    // the person is already a member, and signs in as usual
	AcceptingInvitee                // the person accepts the invitation with the link, and signs in as usual
)

// WriteInvitation returns the mail to an invited person. The argument `business` is the name of the business, or "" for
// an invitation to become an operator. The argument `link` is the URL of the page on which the person signs in or
// accepts.
func WriteInvitation(to, business, link string, invitee Invitee, languages ...string) (notifications.Mail, error) {
	l := letter{
		from: business, subject: "invited_subject", business: business,
		paragraphs: []string{"invited_lead", "invited_until"}, button: "invited_button", link: link,
		reason: "reason_invited",
	}
	if business == "" {
		l.from, l.business, l.paragraphs[0] = platform, platform, "invited_operator"
	}
	switch invitee {
	case KnownInvitee:
		l.paragraphs[1], l.button = "invited_known", "sign_in_button"
	case AcceptingInvitee:
		l.paragraphs[1] = "invited_accept"
	default: // NewInvitee: the values above are for a new person
	}
	return l.write(to, languages)
}

// WriteRetentionShortened returns the mail to an owner after a change lowered privacy.keep_customers_days. The
// arguments `before` and `after` are the old and the new number of days. The argument `link` is the URL of the page
// with the versions of the offer.
func WriteRetentionShortened(to, business, link string, before, after int,
	languages ...string) (notifications.Mail, error) {
	return letter{
		from: business, subject: "data_sooner_subject", business: business,
		paragraphs: []string{"data_sooner_lead", "offer_not_you"},
		values:     map[string]string{"Before": strconv.Itoa(before), "After": strconv.Itoa(after)},
		button:     "offer_versions_button", link: link, reason: "reason_owner",
	}.write(to, languages)
}

// WritePaymentAccountChanged returns the mail to an owner after a change of payments.accounts. The argument `link` is
// the URL of the page with the versions of the offer.
func WritePaymentAccountChanged(to, business, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: business, subject: "payout_subject", business: business,
		paragraphs: []string{"payout_lead", "offer_not_you"},
		button:     "offer_versions_button", link: link, reason: "reason_owner",
	}.write(to, languages)
}

func (l letter) write(address string, languages []string) (notifications.Mail, error) {
	all, err := texts()
	if err != nil {
		return notifications.Mail{}, err
	}
	w := words.In(all, languages...)
	mail := notifications.Mail{To: address, FromName: l.from, Language: w.Code,
		Subject: w.Fill(l.subject, map[string]string{"Business": l.business}), Button: w.Say(l.button), Link: l.link,
		Reason: w.Say(cmp.Or(l.reason, "reason_account"))}
	for i, id := range l.paragraphs {
		if i == 0 && l.values != nil {
			mail.Paragraphs = append(mail.Paragraphs, w.Fill(id, l.values))
			continue
		}
		mail.Paragraphs = append(mail.Paragraphs, w.Say(id))
	}
	return mail, w.Fault()
}
