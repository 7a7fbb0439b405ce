package letter

import "errors"

// Plain is a letter about a person's account. The caller writes its text.
type Plain struct {
	From         string // the sender's name
	Language     string // language of the text, BCP 47
	Subject      string
	Paragraphs   []string
	Button, Link string
}

// RenderPlain renders a Plain in the layout of all letters. Its error names the missing fields.
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
	p := page{
		Language: w.Code, Direction: w.Direction(), Subject: subject, Business: from, Title: subject,
		Button: clean(f.Button, maxName), Link: link, Footer: []string{from}, Accent: newAccent(""),
	}
	for _, paragraph := range f.Paragraphs {
		p.Paragraphs = append(p.Paragraphs, clean(paragraph, maxNote))
	}
	html, err := p.renderHTML()
	return Letter{Language: w.Code, Subject: subject, Text: p.renderText(), HTML: html}, err
}
