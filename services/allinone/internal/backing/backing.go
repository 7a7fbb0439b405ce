// Package backing provides the PostgreSQL and the Redis that one slotmesh process needs. If a URL
// names a store, it uses that one. Otherwise it starts private stores and stops them at the end.
//
// It finds the programs on the machine, or has the system's package manager install them. If that
// fails, it downloads a PostgreSQL and runs Redis in this process. The private stores are reachable
// only by Unix sockets; Redis in this process is reachable only with a password.
//
// Every error is one sentence for the person at the terminal: what is wrong and what would help. No
// error contains a password.
package backing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options set which stores to use or start.
type Options struct {
	Home        string // folder of an open [Home], where the data is kept; may be empty if IsThrowaway
	DatabaseURL string // a PostgreSQL to use instead of starting one
	RedisURL    string // a Redis to use instead of starting one
	IsThrowaway bool   // for tests: no durability, many connections; without a Home, data in a temporary folder
	SkipsRedis  bool   // neither starts nor checks a Redis
	// Folder is an open [Home] for the sockets and data of throwaway stores, which otherwise get a
	// new temporary folder. With it, the stores have the same URLs at every start.
	Folder string
	Say    func(line string) // prints a line about installations and other choices for the person at the terminal

	// MayInstall is called before packages are installed, with the command of the package manager; nil allows it.
	MayInstall func(what string) bool
}

// Stores are the PostgreSQL and the Redis of a process. They are ready for use until Stop.
type Stores struct {
	DatabaseURL string
	RedisURL    string
	Data        string // folder of PostgreSQL's data; "" if a URL names the PostgreSQL

	failed chan error
	stops  []func() error // in order of start
}

// stopTimeout is how long one store may take to stop before it is killed.
const stopTimeout = time.Minute

// Start starts or checks both stores, and returns when they are ready. Cancelling ctx aborts the
// start; it does not stop running stores: call Stop for that.
func Start(ctx context.Context, o Options) (*Stores, error) {
	s := &Stores{DatabaseURL: o.DatabaseURL, RedisURL: o.RedisURL, failed: make(chan error, 2)}
	if err := s.start(ctx, o); err != nil {
		_ = s.Stop() // its errors follow from err
		return nil, err
	}
	return s, nil
}

func (s *Stores) start(ctx context.Context, o Options) error {
	if err := checkNamedStores(ctx, o); err != nil {
		return err
	}
	if o.DatabaseURL != "" && !o.startsRedis() {
		return nil
	}
	account, err := findProcessAccount()
	if err != nil {
		return err
	}
	place, err := s.chooseFolders(o, account)
	if err != nil {
		return err
	}
	programs, err := findOrInstall(ctx, o, place)
	if err != nil {
		return err
	}
	if o.DatabaseURL == "" {
		if err := s.startPostgres(ctx, o, place, programs.postgres); err != nil {
			return err
		}
	}
	if o.startsRedis() {
		return s.startRedis(ctx, o, place, programs.redis)
	}
	return nil
}

func (o Options) startsRedis() bool { return o.RedisURL == "" && !o.SkipsRedis }

// Failed returns a channel that receives an error if a store that Start started ends unexpectedly. The
// process cannot continue without it.
func (s *Stores) Failed() <-chan error { return s.failed }

// Stop stops the stores that Start started, in reverse order, and returns when they have ended.
func (s *Stores) Stop() error {
	var errs []error
	for i := len(s.stops) - 1; i >= 0; i-- {
		errs = append(errs, s.stops[i]())
	}
	s.stops = nil
	return errors.Join(errs...)
}

func (s *Stores) onStop(stop func() error) { s.stops = append(s.stops, stop) }

// storeFolders has the folders that the stores use, and the account that runs their processes.
type storeFolders struct {
	account account
	data    string // folder that contains PostgreSQL's data folder
	sockets string // private folder of the Unix sockets
	logs    string // folder of the programs' logs
}

// chooseFolders chooses the folders. Data that is kept over restarts is in the home if the account can reach the home.
func (s *Stores) chooseFolders(o Options, a account) (storeFolders, error) {
	if o.IsThrowaway && o.Folder != "" {
		return s.prepareStableFolders(o.Folder, a)
	}
	sockets, err := a.makePrivateTempDir()
	if err != nil {
		return storeFolders{}, err
	}
	s.onStop(func() error { return os.RemoveAll(sockets) })
	if o.IsThrowaway && o.Home == "" {
		return storeFolders{account: a, data: sockets, sockets: sockets, logs: sockets}, nil
	}
	if err := recordSockets(o.Home, sockets); err != nil {
		return storeFolders{}, err
	}
	data, err := a.findDataDir(o.Home)
	if err != nil {
		return storeFolders{}, err
	}
	if data != o.Home {
		o.Say(fmt.Sprintf("PostgreSQL's data is kept in %s: the user %s, which runs it, cannot reach %s.", data, a.name,
			o.Home))
	}
	return storeFolders{account: a, data: data, sockets: sockets, logs: o.Home}, nil
}

// prepareStableFolders creates the subfolder of an open home that the stores use at every start. It also ends
// the server and removes the files that a killed run left there. If the account cannot reach the home,
// the subfolder is at a fixed place elsewhere.
func (s *Stores) prepareStableFolders(home string, a account) (storeFolders, error) {
	base, err := a.findDataDir(home)
	if err != nil {
		return storeFolders{}, err
	}
	dir := filepath.Join(base, "stores")
	if len(dir) > maxSocketDir {
		return storeFolders{}, fmt.Errorf("the path %s is too long for a socket", dir)
	}
	folders := storeFolders{account: a, data: dir, sockets: dir, logs: dir}
	if err := stopLeftover(postgresFolder(folders)); err != nil {
		return storeFolders{}, err
	}
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return storeFolders{}, err
	}
	s.onStop(func() error { return os.RemoveAll(dir) })
	return folders, a.takeOwnership(dir)
}

// socketsFile is the file in the home that contains the path of the sockets' folder.
const socketsFile = "sockets"

// recordSockets writes the path of the sockets' folder to a file in the home. If that file names the
// folder of a killed run, it first removes that folder.
func recordSockets(home, sockets string) error {
	note := filepath.Join(home, socketsFile)
	if left, err := os.ReadFile(note); err == nil && strings.HasPrefix(filepath.Base(string(left)), tempDirPattern) {
		_ = os.RemoveAll(string(left)) // failure is harmless
	}
	if err := os.WriteFile(note, []byte(sockets), 0o644); err != nil {
		return homeError(home, err)
	}
	return nil
}
