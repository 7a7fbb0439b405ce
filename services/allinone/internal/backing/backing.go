// Package backing provides the PostgreSQL and the Redis that one Slotmesh process needs (the stores). If the options
// contain the URL of a store, the package uses that store. Otherwise it starts a private store and stops it at the end.
//
// The package looks for the programs of the stores on the machine, or installs them with the system's package manager.
// If the installation fails, it downloads a PostgreSQL and runs Redis in this process. The private stores are reachable
// only through Unix sockets; a Redis in this process is reachable only with a password.
//
// Every error is one sentence that tells the person at the terminal the problem and a remedy. No error contains a
// password.
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

// Options select the stores to use or to start.
type Options struct {
	Home        string // folder of an open [Home] for the data; may be empty if IsThrowaway is set
	DatabaseURL string // URL of the PostgreSQL to use; "": one is started
	RedisURL    string // URL of the Redis to use; "": one is started
	IsThrowaway bool   // starts fast stores for tests, whose data need not survive a crash; may be without Home
	SkipsRedis  bool   // Start neither starts nor checks a Redis
	// Folder is the path of an open [Home] for the sockets and the data of throwaway stores. With Folder, the stores
	// have the same URLs at every start. Without Folder, they get a new temporary folder at every start.
	Folder string
	Say    func(line string) // prints a line for the person at the terminal, for example about an installation

	// MayInstall reports whether a command of the package manager may install packages. If MayInstall is nil, every
	// installation is allowed.
	MayInstall func(what string) bool
}

// Stores are the PostgreSQL and the Redis of a process. They are ready for use until Stop is called.
type Stores struct {
	DatabaseURL string
	RedisURL    string
	Data        string // folder of PostgreSQL's data; "" if the options contain DatabaseURL

	failed chan error
	stops  []func() error // functions that stop the stores, in the order of the starts
}

// stopTimeout is how long a store may take to stop. After this time, the store is killed.
const stopTimeout = time.Minute

// Start starts the stores, or checks the stores whose URLs are in `o`, and returns when both stores are ready. If ctx
// is cancelled, the start is aborted. Cancelling ctx later does not stop the stores: call Stop instead.
func Start(ctx context.Context, o Options) (*Stores, error) {
	s := &Stores{DatabaseURL: o.DatabaseURL, RedisURL: o.RedisURL, failed: make(chan error, 2)}
	if err := s.start(ctx, o); err != nil {
		_ = s.Stop() // errors of Stop are consequences of err
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

// Failed returns a channel that receives an error if a store that Start started ends unexpectedly. The process cannot
// continue without the store.
func (s *Stores) Failed() <-chan error { return s.failed }

// Stop stops the stores that Start started, in reverse order, and returns when their processes have ended.
func (s *Stores) Stop() error {
	var errs []error
	for i := len(s.stops) - 1; i >= 0; i-- {
		errs = append(errs, s.stops[i]())
	}
	s.stops = nil
	return errors.Join(errs...)
}

func (s *Stores) onStop(stop func() error) { s.stops = append(s.stops, stop) }

// storeFolders contains the folders of the stores, and the account that runs the stores' processes.
type storeFolders struct {
	account account
	data    string // parent folder of PostgreSQL's data folder
	sockets string // private folder of the Unix sockets
	logs    string // folder of the programs' log files
}

// chooseFolders chooses the folders of the stores. Data that must survive restarts is in the home folder if the account
// can enter that folder.
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

// prepareStableFolders creates the folder that the stores use at every start, in the home folder. First it stops the
// server that a killed process has left running in this folder, and removes the files of that process. If the account
// cannot enter the home folder, the stores' folder is under systemData.
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

// socketsFile is the name of the file in the home folder that contains the path of the sockets' folder.
const socketsFile = "sockets"

// recordSockets writes the path of the sockets' folder to a file in the home folder. If the file contains the path of a
// folder that a killed process has left, recordSockets first removes that folder.
func recordSockets(home, sockets string) error {
	note := filepath.Join(home, socketsFile)
	if left, err := os.ReadFile(note); err == nil && strings.HasPrefix(filepath.Base(string(left)), tempDirPattern) {
		_ = os.RemoveAll(string(left)) // a failure is harmless
	}
	if err := os.WriteFile(note, []byte(sockets), 0o644); err != nil {
		return homeError(home, err)
	}
	return nil
}
