package backing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// Check checks the stores without starting or installing any. It connects to the stores whose URLs are in the options,
// and looks for the programs of the others. It returns a sentence about the stores. The error is one sentence, too.
func Check(ctx context.Context, o Options) (string, error) {
	if err := checkNamedStores(ctx, o); err != nil {
		return "", err
	}
	database, cache := "PostgreSQL answers at DATABASE_URL", "Redis answers at REDIS_URL"
	if o.DatabaseURL == "" {
		major, err := readDataMajor(filepath.Join(o.Home, "postgres"))
		if err != nil {
			return "", err
		}
		found, ok := newMachineFinder().findPostgres(ctx, major)
		switch {
		case !ok && major != 0:
			return "", fmt.Errorf("the data is of PostgreSQL %d, which is not installed", major)
		case !ok:
			return "", fmt.Errorf("no PostgreSQL %d or newer is installed, and DATABASE_URL is not set", minPostgres)
		}
		database = fmt.Sprintf("PostgreSQL %d of its own, of %s", found.major, found.bin)
	}
	if o.startsRedis() {
		cache = "Redis of its own in this process"
		if program := newMachineFinder().findRedis(); program != "" {
			cache = "Redis of its own, of " + program
		}
	}
	return database + "; " + cache, nil
}

// ReadClock returns the time of the PostgreSQL at a URL.
func ReadClock(ctx context.Context, databaseURL string) (time.Time, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return time.Time{}, errors.New(describeConnectError(err))
	}
	defer conn.Close(ctx)
	var now time.Time
	err = conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now)
	return now, err
}
