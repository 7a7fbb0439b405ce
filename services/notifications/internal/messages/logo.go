package messages

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
)

const (
	// logoWidth is the width of the logo's file in a message: one of [catalog.PictureWidths].
	logoWidth = 400
	// maxLogo is the maximum size of a logo in a message, in bytes. A message with a larger logo has only the name.
	maxLogo = 128 << 10
	// maxLogos is the total size of the cached logos. Half a kilobyte per logo is added for the cache itself.
	maxLogos     = 8 << 20
	logoOverhead = 512
	// logoTimeout limits how long a message waits for its logo.
	logoTimeout = 2 * time.Second
	// logoRetryAfter is the time after which an unavailable logo is requested again. In the meantime, messages have no
	// logo and need not wait for it.
	logoRetryAfter = time.Minute
	// logoPart is the Content-ID of the logo.
	logoPart = "logo@slotmesh"
)

// send hands a message of the business to the mail server, with the logo of the business in its HTML. The argument
// `offer` is nil if the business could not be read. Errors: those of [Sender].
func (m *Messages) send(ctx context.Context, offer *catalog.Snapshot, message mail.Message) error {
	if logo := m.findLogo(ctx, offer); logo != nil {
		if html, isPlaced := letter.PlaceLogo(message.HTML, "cid:"+logoPart, offer.Logo.Width,
			offer.Logo.Height); isPlaced {
			message.HTML = html
			message.Pictures = append(message.Pictures, mail.Picture{ID: logoPart, Name: "logo.jpg", Type: "image/jpeg",
				Content: logo})
		}
	}
	return m.Sender.Send(ctx, message)
}

// showLogo returns the HTML of a preview with the logo of the business, which the HTML contains.
func (m *Messages) showLogo(ctx context.Context, offer *catalog.Snapshot, html string) string {
	if logo := m.findLogo(ctx, offer); logo != nil {
		html, _ = letter.PlaceLogo(html, "data:image/jpeg;base64,"+base64.StdEncoding.EncodeToString(logo),
			offer.Logo.Width, offer.Logo.Height)
	}
	return html
}

// findLogo returns the uploaded logo of the business as a JPEG file, from the cache or from catalog. It returns nil if
// the business has none, if the file is larger than maxLogo, or if catalog or the store of the pictures does not
// respond. A message is complete without its logo.
func (m *Messages) findLogo(ctx context.Context, offer *catalog.Snapshot) []byte {
	if offer == nil || offer.Logo == nil {
		return nil
	}
	name := catalog.PictureFile(offer.Logo.ID, logoWidth, "jpg")
	if logo, isCached := m.logos.Get(name); isCached && (logo.retryAt.IsZero() || m.Clock.Now().Before(logo.retryAt)) {
		return logo.content
	}
	ctx, cancel := context.WithTimeout(ctx, logoTimeout)
	defer cancel()
	content, err := m.Peers.PictureFile(ctx, name)
	logo := cachedLogo{content: content}
	if err != nil || len(content) > maxLogo {
		logo.content = nil
	}
	if err != nil {
		m.Telemetry.Logger.WarnContext(ctx, "a message has no logo", "business_id", offer.ID, "error", err)
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		logo.retryAt = m.Clock.Now().Add(logoRetryAfter)
	}
	m.logos.Put(name, logo)
	return logo.content
}

// cachedLogo is a logo in the cache.
type cachedLogo struct {
	content []byte    // nil for a file that does not exist, is too large or is unavailable
	retryAt time.Time // the time of the next request for an unavailable file; otherwise zero
}
