// Package usecase implements the actions of the pages as functions that do not use HTTP or
// HTML. Each function calls the services that own the data. All returned errors are faults.
package usecase

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// read returns the decoded answer of one public path of a business. All callers share the returned value and must not
// change it. Faults: the faults of the public path; service_unavailable if the answer cannot be decoded.
func read[T any](ctx context.Context, answers *catalogclient.Answers, slug, path string, query url.Values) (*T, error) {
	return catalogclient.ReadCached(ctx, answers, slug, path, query, func(body []byte) (*T, error) {
		value := new(T)
		if err := json.Unmarshal(body, value); err != nil {
			return nil, fault.Wrap(fault.PeerUnavailable, fmt.Errorf("%s: unreadable answer: %w", path, err),
				"A part of the platform gave an unreadable answer; try again shortly.")
		}
		return value, nil
	})
}
