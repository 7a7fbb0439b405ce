// Package accountmail writes the mails that people get about their own account, in the languages of the owner's pages. It is pure: notifications gives
// them their look and sends them.
package accountmail

import (
	"embed"
	"strconv"
	"sync"

	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/libs/peer/notifications"
)

//go:embed texts/*.json
var files embed.FS

var texts = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, "texts") })

// platform is whom mails are from that no business sends.
const platform = "Slotmesh"

// letter is a mail as it is written: ids of its sentences.
type letter struct {
	from, subject, business string
	paragraphs              []string
	values                  map[string]string // of the first paragraph
	button, link            string
}

// Password is the mail to who asked for a new password; link is where they choose one.
func Password(to, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "password_subject", paragraphs: []string{"password_lead", "password_until", "password_ignore"},
		button: "password_button", link: link,
	}.to(to, languages)
}

// PasswordChanged is the mail after a password was changed; link is where a new one is asked for.
func PasswordChanged(to, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "changed_subject", paragraphs: []string{"changed_lead", "changed_not_you"}, button: "changed_button", link: link,
	}.to(to, languages)
}

// PasskeyAdded is the mail after a passkey was added; link is where a new password is asked for, which ends all passkeys.
func PasskeyAdded(to, link string, languages ...string) (notifications.Mail, error) {
	return changed("passkey_added", to, link, languages)
}

// PasskeyRemoved is the mail after a passkey was removed; link is where a new password is asked for.
func PasskeyRemoved(to, link string, languages ...string) (notifications.Mail, error) {
	return changed("passkey_removed", to, link, languages)
}

// PasswordRemoved is the mail after a password was given up for passkeys; link is where a new one is asked for.
func PasswordRemoved(to, link string, languages ...string) (notifications.Mail, error) {
	return changed("password_removed", to, link, languages)
}

// DeviceAdded is the mail after a program on a machine was let act for somebody by `slotmesh login`; link is where a
// new password is asked for, which ends all of them.
func DeviceAdded(to, device, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: "device_subject", paragraphs: []string{"device_lead", "device_not_you"},
		values: map[string]string{"Device": device}, button: "changed_button", link: link,
	}.to(to, languages)
}

// changed is a mail of one sentence about by what somebody signs in.
func changed(what, to, link string, languages []string) (notifications.Mail, error) {
	return letter{
		from: platform, subject: what + "_subject", paragraphs: []string{what + "_lead", "passkeys_not_you"}, button: "changed_button", link: link,
	}.to(to, languages)
}

// Invitee says how the person that an invitation is mailed to comes in.
type Invitee int

// How people come in.
const (
	New     Invitee = iota // by the link, once
	Known                  // as always: they belong already
	Accepts                // as always, after they accepted by the link
)

// Invitation is the mail to a person who was invited into a business, or among the operators if business is "". link is where they come in.
func Invitation(to, business, link string, invitee Invitee, languages ...string) (notifications.Mail, error) {
	l := letter{
		from: business, subject: "invited_subject", business: business, paragraphs: []string{"invited_lead", "invited_until"}, button: "invited_button", link: link,
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

// RetentionShortened is the mail to an owner after privacy.keep_customers_days was lowered; link shows the versions of the offer.
func RetentionShortened(to, business, link string, before, after int, languages ...string) (notifications.Mail, error) {
	return letter{
		from: business, subject: "data_sooner_subject", business: business, paragraphs: []string{"data_sooner_lead", "offer_not_you"},
		values: map[string]string{"Before": strconv.Itoa(before), "After": strconv.Itoa(after)}, button: "offer_versions_button", link: link,
	}.to(to, languages)
}

// PaymentAccountChanged is the mail to an owner after payments.accounts was changed; link shows the versions of the offer.
func PaymentAccountChanged(to, business, link string, languages ...string) (notifications.Mail, error) {
	return letter{
		from: business, subject: "payout_subject", business: business, paragraphs: []string{"payout_lead", "offer_not_you"},
		button: "offer_versions_button", link: link,
	}.to(to, languages)
}

func (l letter) to(address string, languages []string) (notifications.Mail, error) {
	all, err := texts()
	if err != nil {
		return notifications.Mail{}, err
	}
	w := words.In(all, languages...)
	mail := notifications.Mail{To: address, FromName: l.from, Language: w.Code, Subject: w.Fill(l.subject, map[string]string{"Business": l.business}), Button: w.Say(l.button), Link: l.link}
	for i, id := range l.paragraphs {
		if i == 0 && l.values != nil {
			mail.Paragraphs = append(mail.Paragraphs, w.Fill(id, l.values))
			continue
		}
		mail.Paragraphs = append(mail.Paragraphs, w.Say(id))
	}
	return mail, w.Fault()
}
