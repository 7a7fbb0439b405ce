package allinone

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ownClient sends requests to the ports of this process. It keeps no connections open, because it sends few requests.
var ownClient = &http.Client{
	Timeout:   time.Minute,
	Transport: &http.Transport{DisableKeepAlives: true},
}

// maxAnswer is the maximum number of bytes of an answer that sendRequest reads.
const maxAnswer = 8 << 20

// sendRequest sends a request and returns the status and the body of the answer.
func sendRequest(ctx context.Context, method, url string, header http.Header, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := ownClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("%s: the answer broke off: %w", url, err)
	}
	return answer.StatusCode, text, nil
}
