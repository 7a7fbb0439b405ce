package letter

import (
	"errors"
	"strconv"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
)

// SignIn is the kind of the mail with the one-time link to a customer's own bookings. The service never stores such a
// mail, because only its recipient may know the link. The kind is therefore no kind of a stored message.
const SignIn Kind = "customer_sign_in"

// RenderSignIn writes the mail with the one-time link to a customer's own bookings, in the layout of all letters. The
// language is chosen as by [Render]. RenderSignIn fails if the business has no name or the link is not a web link.
func RenderSignIn(locale string, b Business, link string) (Letter, error) {
	w, err := findWords(locale, b.Language, b.Region)
	if err != nil {
		return Letter{}, err
	}
	b.Name = w.translate(b.Name, b.Names)
	link = checkLink(link)
	if b.Name == "" || link == "" {
		return Letter{}, errors.New("a sign-in needs the name of the business and a web link")
	}
	p := newPage(w, w.sanitize(b.Name, maxName), b.Accent)
	p.Subject, p.Headline = w.Say("title_sign_in"), w.Say("title_sign_in")
	minutes := strconv.Itoa(int(booking.SignInLifetime / time.Minute))
	p.Paragraphs = []string{w.With("sign_in", "Minutes", minutes)}
	p.Preheader = p.Paragraphs[0]
	p.Buttons = []button{{Text: w.Say("sign_in_button"), Link: link}}
	p.addFooter(SignIn, w, &Facts{Business: b})
	if err := w.Fault(); err != nil {
		return Letter{}, err
	}
	html, err := p.renderHTML()
	return Letter{Language: w.Code, From: b.Name, Subject: p.Subject, Text: p.renderText(), HTML: html}, err
}
