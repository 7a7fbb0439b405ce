package allinone

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/slotmesh/slotmesh/libs/mailbox"
	"github.com/slotmesh/slotmesh/services/allinone/internal/mailpage"
)

// demoSender is what messages come from where no MAIL_FROM is set.
const demoSender = "no-reply@slotmesh.example"

// smtpPreview is notifications' setting of this name: the mailbox of the demo only shows messages.
func (p *Process) smtpPreview() string {
	if p.Mailbox == nil {
		return ""
	}
	return "true"
}

// openMail starts the mailbox of the demo, where no mail server is set: messages are sent to it, and read on its page.
func (p *Process) openMail(ctx context.Context) error {
	if p.cfg.SMTPURL != "" {
		return nil
	}
	page, err := listen(ctx, setPort{variable: "MAIL_PORT", port: p.cfg.MailPort})
	if err != nil {
		return err
	}
	smtp, err := listen(ctx, setPort{})
	if err != nil {
		return errors.Join(err, page.Close())
	}
	p.Mailbox = mailbox.Open(smtp, mailbox.Options{})
	p.onStop(p.Mailbox.Close)
	p.MailURL, p.cfg.SMTPURL, p.cfg.MailFrom = "http://"+page.Addr().String(), "smtp://"+smtp.Addr().String(), cmp.Or(p.cfg.MailFrom, demoSender)
	server := &http.Server{Handler: mailpage.Handler(p.Mailbox), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(page) // ends with Close
	}()
	p.onStop(func() error {
		err := server.Close()
		<-ended
		return err
	})
	return nil
}
