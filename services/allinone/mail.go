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

// demoSender is the sender of messages if MAIL_FROM is not set.
const demoSender = "no-reply@slotmesh.example"

// smtpPreview returns notifications' setting SMTP_PREVIEW: the mailbox of the demo only shows messages.
func (p *Process) smtpPreview() string {
	if p.Mailbox == nil {
		return ""
	}
	return "true"
}

// openMail starts the mailbox of the demo, and its page, if no mail server is set.
func (p *Process) openMail(ctx context.Context) error {
	if p.cfg.SMTPURL != "" {
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
		WriteTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(page) // returns after Close
	}()
	p.onStop(func() error {
		err := server.Close()
		<-ended
		return err
	})
	return nil
}
