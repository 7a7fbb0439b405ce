// Package mailpage serves the page with the demo's mails. The page shows the mails that Slotmesh sends to the customers
// and the owner of the demo business. The page is available only on loopback. The frame with the content of a mail
// cannot run scripts or load anything.
package mailpage

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// Handler serves the page of a mailbox.
func Handler(box *mailbox.Box) http.Handler {
	p := page{box}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.serveList)
	mux.HandleFunc("GET /mails.json", p.serveJSON)
	mux.HandleFunc("GET /mails/{id}", p.serveMail)
	for part, show := range map[string]func(Mail) (string, []byte){
		"html":     func(m Mail) (string, []byte) { return "text/html; charset=utf-8", m.HTML },
		"calendar": func(m Mail) (string, []byte) { return "text/calendar; charset=utf-8", m.Calendar },
		"raw":      func(m Mail) (string, []byte) { return "text/plain; charset=utf-8", m.Raw },
	} {
		mux.HandleFunc("GET /mails/{id}/"+part, p.servePart(show))
	}
	return requireLoopback(mux)
}

// requireLoopback is middleware that rejects requests whose host is not a loopback address, as a protection against DNS
// rebinding. requireLoopback also sets headers that forbid all active content that a mail may contain.
func requireLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "Ask for this page at its own address.", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; frame-ancestors 'self'; "+
				"form-action 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

type page struct{ box *mailbox.Box }

func (p page) listMails() []Mail {
	stored := p.box.Mails()
	list := make([]Mail, len(stored))
	for i, m := range stored {
		list[len(stored)-1-i] = parseMail(m)
	}
	return list
}

func (p page) serveList(w http.ResponseWriter, r *http.Request) {
	render(w, r, list(p.listMails()))
}

func (p page) serveJSON(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	// An error means that the client has disconnected.
	_ = json.NewEncoder(w).Encode(map[string][]Mail{"mails": slices.Clip(p.listMails())})
}

func (p page) find(w http.ResponseWriter, r *http.Request) (Mail, bool) {
	id, err := strconv.Atoi(r.PathValue("id"))
	m, ok := p.box.Mail(id)
	if err != nil || !ok {
		http.Error(w, "There is no such mail any more.", http.StatusNotFound)
		return Mail{}, false
	}
	return parseMail(m), true
}

func (p page) serveMail(w http.ResponseWriter, r *http.Request) {
	if m, ok := p.find(w, r); ok {
		render(w, r, m.show())
	}
}

func (p page) servePart(show func(Mail) (string, []byte)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m, ok := p.find(w, r)
		if !ok {
			return
		}
		kind, body := show(m)
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(body) // the client may have disconnected
	}
}

func render(w http.ResponseWriter, r *http.Request, content templ.Component) {
	var page bytes.Buffer
	if err := content.Render(r.Context(), &page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // the client may have disconnected
}
