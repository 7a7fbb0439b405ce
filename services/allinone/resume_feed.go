package allinone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/notifications"
)

// ResumeFeed makes notifications read a feed again after events of the feed were lost. Reading begins with the oldest
// event that the feed still has. Slotmesh may be running or not. The log line about the loss names the feed and this
// command.
func ResumeFeed(ctx context.Context, env envconfig.Lookuper, feed string, out io.Writer) error {
	cfg, err := loadConfig(ctx, env)
	if err != nil {
		return err
	}
	url, done, err := openDatabaseToRead(ctx, cfg, newPrinter(out))
	if err != nil {
		return err
	}
	err = notifications.ResumeFeed(ctx, postgres.Config{URL: url, MaxConns: 1, StatementTimeout: 10 * time.Second},
		feed)
	if err == nil {
		_, err = fmt.Fprintf(out, "The feed %s goes on from the oldest event that it keeps.\n", feed)
	}
	return errors.Join(err, done())
}
