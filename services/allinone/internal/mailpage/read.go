package mailpage

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
)

// Mail is a mail in the form in which the page shows it. Parts that cannot be read are omitted. The field Raw contains
// the whole mail.
type Mail struct {
	ID       int    `json:"id"`
	From     string `json:"from"`
	To       string `json:"to"`
	ReplyTo  string `json:"reply_to"`
	Date     string `json:"date"`
	Subject  string `json:"subject"`
	Text     string `json:"text"`
	HTML     []byte `json:"-"` // shows the pictures of the mail by data: URLs
	Calendar []byte `json:"-"`
	Raw      []byte `json:"-"`
}

func parseMail(stored mailbox.Mail) Mail {
	m := Mail{ID: stored.ID, From: stored.From, To: strings.Join(stored.To, ", "), Raw: stored.Raw}
	message, err := mail.ReadMessage(bytes.NewReader(stored.Raw))
	if err != nil {
		return m
	}
	header := func(name string) string {
		text, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get(name))
		if err != nil {
			return message.Header.Get(name)
		}
		return text
	}
	m.From, m.ReplyTo, m.Date, m.Subject = header("From"), header("Reply-To"), header("Date"), header("Subject")
	pictures := map[string]string{}
	m.addPart(textproto.MIMEHeader(message.Header), message.Body, pictures)
	for id, url := range pictures {
		m.HTML = bytes.ReplaceAll(m.HTML, []byte("cid:"+id), []byte(url))
	}
	return m
}

// addPart adds a part of the mail to `m`. If `m` already has a part of the same kind, the new part is ignored. A
// picture is added to `pictures`, as a data: URL by its Content-ID.
func (m *Mail) addPart(header textproto.MIMEHeader, body io.Reader, pictures map[string]string) {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return
	}
	if strings.HasPrefix(kind, "multipart/") {
		for parts := multipart.NewReader(body, params["boundary"]); ; {
			p, err := parts.NextRawPart()
			if err != nil { // io.EOF, or a part that cannot be read
				return
			}
			m.addPart(p.Header, p, pictures)
		}
	}
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, err := io.ReadAll(body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return
	}
	switch {
	case kind == "text/plain" && m.Text == "":
		m.Text = string(text)
	case kind == "text/html" && m.HTML == nil:
		m.HTML = text
	case kind == "text/calendar" && m.Calendar == nil:
		m.Calendar = text
	case kind == "image/jpeg" && header.Get("Content-Id") != "":
		pictures[strings.Trim(header.Get("Content-Id"), "<>")] = "data:image/jpeg;base64," +
			base64.StdEncoding.EncodeToString(text)
	}
}
