package accountmail_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

func TestMailsExistInEveryLanguage(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	const link = "https://owner.example.com/x"
	for _, language := range all.Languages() {
		reset, err1 := accountmail.WritePasswordLink("a@example.com", link, language)
		mail, err2 := accountmail.WritePasswordChanged("a@example.com", link, language)
		invited, err3 := accountmail.WriteInvitation("a@example.com", "Harbour", link, accountmail.NewInvitee, language)
		known, err4 := accountmail.WriteInvitation("a@example.com", "", link, accountmail.KnownInvitee, language)
		accepts, err8 := accountmail.WriteInvitation("a@example.com", "Harbour", link, accountmail.AcceptingInvitee,
			language)
		added, err5 := accountmail.WritePasskeyAdded("a@example.com", link, language)
		removed, err6 := accountmail.WritePasskeyRemoved("a@example.com", link, language)
		alone, err7 := accountmail.WritePasswordRemoved("a@example.com", link, language)
		sooner, err9 := accountmail.WriteRetentionShortened("a@example.com", "Harbour", link, 730, 30, language)
		account, err10 := accountmail.WritePaymentAccountChanged("a@example.com", "Harbour", link, language)
		device, err11 := accountmail.WriteDeviceAdded("a@example.com", "Ana's laptop", link, language)
		for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11} {
			if err != nil {
				t.Errorf("%s, %d: %v", language, i, err)
			}
		}
		if !strings.Contains(invited.Subject, "Harbour") || invited.FromName != "Harbour" ||
			known.FromName != "Slotmesh" || slices.Equal(known.Paragraphs, invited.Paragraphs) ||
			slices.Equal(accepts.Paragraphs, invited.Paragraphs) {
			t.Errorf("%s: %+v and %+v", language, invited, known)
		}
		if !strings.Contains(sooner.Paragraphs[0], "730") || !strings.Contains(sooner.Paragraphs[0], "30") ||
			account.Paragraphs[1] != sooner.Paragraphs[1] {
			t.Errorf("%s: %+v and %+v", language, sooner, account)
		}
		if reset.Reason == "" || invited.Reason == reset.Reason || sooner.Reason == reset.Reason ||
			sooner.Reason == invited.Reason || account.Reason != sooner.Reason || device.Reason != reset.Reason {
			t.Errorf("%s: %q, %q and %q", language, reset.Reason, invited.Reason, sooner.Reason)
		}
		if added.Subject == removed.Subject || alone.Subject == mail.Subject ||
			added.Paragraphs[1] != alone.Paragraphs[1] {
			t.Errorf("%s: %+v, %+v and %+v", language, added, removed, alone)
		}
		if !strings.Contains(device.Paragraphs[0], "Ana's laptop") || device.Subject == added.Subject {
			t.Errorf("%s: %+v", language, device)
		}
		if reset.Language != language || reset.Link != link || reset.Subject == mail.Subject ||
			len(reset.Paragraphs) != 3 {
			t.Errorf("%+v", reset)
		}
	}
}

// TestUnknownLanguageFallsBackToEnglish shows that a mail is in English if the requested language has no texts.
func TestUnknownLanguageFallsBackToEnglish(t *testing.T) {
	t.Parallel()
	mail, err := accountmail.WritePasswordLink("a@example.com", "https://owner.example.com/x", "cy")
	if err != nil || mail.Language != "en" {
		t.Errorf("%+v, %v", mail, err)
	}
}
