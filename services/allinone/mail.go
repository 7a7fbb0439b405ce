package allinone

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/services/allinone/internal/mailpage"
)

// demoSender is the sender's address of mails if MAIL_FROM is not set.
const demoSender = "no-reply@slotmesh.example"

// smtpPreview returns the value of notifications' setting SMTP_PREVIEW. It is true for the demo's mailbox, which only
// shows mails and does not deliver them.
func (p *Process) smtpPreview() string {
	if p.Mailbox == nil {
		return ""
	}
	return "true"
}

// openMail starts the demo's mailbox and the page that shows it, if SMTP_URL is not set and the page is wanted.
func (p *Process) openMail(ctx context.Context) error {
	if p.cfg.SMTPURL != "" || p.cfg.HidesMail {
		return nil
	}
	page, err := listen(ctx, portSetting{variable: "MAIL_PORT", port: p.cfg.MailPort})
	if err != nil {
		return err
	}
	smtp, err := listen(ctx, portSetting{})
	if err != nil {
		return errors.Join(err, page.Close())
	}
	p.Mailbox = mailbox.Open(smtp, mailbox.Options{})
	p.onStop(p.Mailbox.Close)
	p.MailURL, p.cfg.SMTPURL, p.cfg.MailFrom = "http://"+page.Addr().String(), "smtp://"+smtp.Addr().String(),
		cmp.Or(p.cfg.MailFrom, demoSender)
	server := &http.Server{Handler: mailpage.Handler(p.Mailbox), ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(page) // Serve returns after Close
	}()
	p.onStop(func() error {
		err := server.Close()
		<-ended
		return err
	})
	return nil
}
