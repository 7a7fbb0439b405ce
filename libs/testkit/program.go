package testkit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"testing"
	"time"
)

// Serve starts a server program at a free address, waits until the program accepts connections, and returns the
// address. Another process can occupy the address before the program does. If the program ends before it listens, Serve
// tries another address, at most five in total.
func Serve(t testing.TB, command func(address string) *exec.Cmd) string {
	t.Helper()
	var output bytes.Buffer
	for range 5 {
		address := freeAddress(t)
		run := command(address)
		run.Stdout, run.Stderr, run.WaitDelay = &output, &output, 5*time.Second
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = run.Wait() }() // Serve needs to know only that the program has ended
		stop := func() {
			_ = run.Process.Kill()
			<-ended
		}
		if !waitUntilListening(address, ended) {
			stop()
			continue
		}
		t.Cleanup(func() {
			stop()
			if t.Failed() {
				t.Logf("%s said: %s", run.Path, output.String())
			}
		})
		return address
	}
	t.Fatalf("the program does not listen; it said: %s", output.String())
	return ""
}

// waitUntilListening waits until a program accepts connections at an address. It returns false if the program ends, or
// if two minutes pass. It connects twice, because a program that has opened its first port may still end if it cannot
// open a second port.
func waitUntilListening(address string, ended <-chan struct{}) bool {
	look := time.NewTicker(20 * time.Millisecond) // the start of listening causes no event, so the address is polled
	defer look.Stop()
	deadline := time.After(2 * time.Minute)
	for listened := false; ; {
		select {
		case <-ended:
			return false
		case <-deadline:
			return false
		case <-look.C:
			if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
				_ = conn.Close()
				if listened {
					return true
				}
				listened = true
			}
		}
	}
}

// freeAddress returns a local address on which no program listens. The port is below the range for outgoing
// connections, so that no outgoing connection can occupy it.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12000+rand.IntN(18000)))
		if err == nil {
			_ = l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("there is no free port between 12000 and 30000")
	return ""
}
