package letter

import "errors"

// Plain is a mail about a person's account. The caller provides the text.
type Plain struct {
	From         string // the sender's name
	Language     string // language of the text, as a BCP 47 tag
	Subject      string
	Paragraphs   []string
	Button, Link string
	Reason       string // why the person gets the mail; may be empty
}

// platform is the name of Slotmesh, which sends the mails about accounts, also those in the name of a business.
const platform = "Slotmesh"

// RenderPlain renders a mail about an account in the layout of all letters, with the mark of Slotmesh. If fields are
// missing, the error names them.
func RenderPlain(f Plain) (Letter, error) {
	w, err := findWords(f.Language, "", "")
	if err != nil {
		return Letter{}, err
	}
	from, subject, link := w.sanitize(f.From, maxName), clean(f.Subject, maxName), checkLink(f.Link)
	if from == "" || subject == "" || link == "" || f.Button == "" || len(f.Paragraphs) == 0 {
		return Letter{}, errors.New("from_name, subject, paragraphs, button and link: send all of them, the link as " +
			"http or https")
	}
	p := newPage(w, platform, platformColour.String())
	p.IsPlatform, p.Subject, p.Headline = true, subject, subject
	for _, text := range []string{from, clean(f.Reason, maxNote)} {
		if text != "" && text != platform {
			p.Footer = append(p.Footer, line{Text: text})
		}
	}
	p.Buttons = []button{{Text: clean(f.Button, maxName), Link: link}}
	for _, paragraph := range f.Paragraphs {
		p.Paragraphs = append(p.Paragraphs, clean(paragraph, maxNote))
	}
	p.Preheader = p.Paragraphs[0]
	html, err := p.renderHTML()
	return Letter{Language: w.Code, Subject: subject, Text: p.renderText(), HTML: html}, err
}
