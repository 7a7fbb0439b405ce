package view

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
)

// TestArabicPageInflectsDurationsAndKeepsNumbersInOrder shows that Arabic durations have plural forms, and that a
// telephone number in an Arabic sentence still runs from left to right.
func TestArabicPageInflectsDurationsAndKeepsNumbersInOrder(t *testing.T) {
	t.Parallel()
	p := newPage(t, &catalog.Snapshot{Contact: catalog.Contact{Phone: "+351 21"}})
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	p.Words = words.In(sentences, "ar")
	for minutes, want := range map[int]string{
		60: "ساعة واحدة", 120: "ساعتان", 180: "3 ساعات", 75: "ساعة واحدة 15 دقيقة",
	} {
		if got := p.formatDuration(minutes); got != want {
			t.Errorf("%d: %q, want %q", minutes, got, want)
		}
	}
	if got := p.callText(); !strings.Contains(got, "\u2066+351 21\u2069") {
		t.Errorf("%q", got)
	}
}

// TestFaultPageLeadsOn shows that the page of a fault names the ways to reach the business. Without a business, it
// links to the page of the host.
func TestFaultPageLeadsOn(t *testing.T) {
	t.Parallel()
	p := newPage(t, &catalog.Snapshot{Contact: catalog.Contact{Phone: "+351 21", Email: "hello@harbor.example"}})
	var html strings.Builder
	if err := FaultPage(p, 404).Body.Render(t.Context(), &html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="/b/harbor"`, `href="tel:+35121"`, `href="mailto:hello@harbor.example"`} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("no %s: %s", want, html.String())
		}
	}
	p.Business = nil
	html.Reset()
	err := FaultPage(p, 404).Body.Render(t.Context(), &html)
	if err != nil || !strings.Contains(html.String(), `href="/"`) {
		t.Errorf("%v: %s", err, html.String())
	}
}
