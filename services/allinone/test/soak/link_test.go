package soak

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"
)

// newEchoLink returns a link to a server that answers every line with the same line, and a connection over the link.
func newEchoLink(t *testing.T) (*link, *bufio.ReadWriter) {
	t.Helper()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := target.Accept()
			if err != nil {
				return
			}
			go func() {
				for lines := bufio.NewScanner(c); lines.Scan(); {
					_, _ = c.Write(append(lines.Bytes(), '\n'))
				}
				_ = c.Close()
			}()
		}
	}()
	l, err := newLink(func() []string { return []string{"127.0.0.1:1", target.Addr().String()} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close(); _ = target.Close() })
	return l, dialLink(t, l)
}

func dialLink(t *testing.T, l *link) *bufio.ReadWriter {
	t.Helper()
	c, err := net.Dial("tcp", l.address())
	if err != nil {
		t.Fatal(err)
	}
	return newLineReader(t, c)
}

func newLineReader(t *testing.T, c net.Conn) *bufio.ReadWriter {
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriterSize(c, 16))
}

func sendLine(t *testing.T, c *bufio.ReadWriter, line string) {
	t.Helper()
	if _, err := c.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

func expectLine(t *testing.T, c *bufio.ReadWriter, want string) {
	t.Helper()
	if line, err := c.ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("read %q, %v; want %q", line, err, want)
	}
}

func expectLoss(t *testing.T, c *bufio.ReadWriter) {
	t.Helper()
	if line, err := c.ReadString('\n'); err == nil {
		t.Fatalf("read %q from a lost connection", line)
	}
}

func TestLinkSkipsUnreachableTarget(t *testing.T) {
	t.Parallel()
	_, c := newEchoLink(t)
	sendLine(t, c, "hello")
	expectLine(t, c, "hello")
}

func TestLinkDeliversHeldBytesAfterPartition(t *testing.T) {
	t.Parallel()
	for _, way := range []direction{toTarget, toCaller} {
		l, c := newEchoLink(t)
		sendLine(t, c, "before")
		expectLine(t, c, "before")
		var held condition
		held.heldDirections[way] = true
		l.setCondition(held)
		sendLine(t, c, "during")
		other := dialLink(t, l)
		sendLine(t, other, "new")
		l.setCondition(condition{delay: time.Millisecond})
		expectLine(t, c, "during")
		expectLine(t, other, "new")
	}
}

func TestCutResetsConnections(t *testing.T) {
	t.Parallel()
	l, c := newEchoLink(t)
	sendLine(t, c, "before")
	expectLine(t, c, "before")
	l.setCondition(condition{isCut: true})
	expectLoss(t, c)
	// The reset may arrive before Dial has returned the connection.
	if come, err := net.Dial("tcp", l.address()); err == nil {
		expectLoss(t, newLineReader(t, come))
	}
	l.setCondition(condition{})
	again := dialLink(t, l)
	sendLine(t, again, "after")
	expectLine(t, again, "after")
}

func TestLostAnswerResetsConnection(t *testing.T) {
	t.Parallel()
	l, c := newEchoLink(t)
	l.setCondition(condition{lossInterval: 2})
	sendLine(t, c, "one")
	expectLine(t, c, "one")
	sendLine(t, c, "two")
	expectLoss(t, c)
}

func TestCloseEndsHeldConnections(t *testing.T) {
	t.Parallel()
	l, c := newEchoLink(t)
	l.setCondition(condition{heldDirections: [directions]bool{true, true}})
	sendLine(t, c, "never heard")
	l.close()
	expectLoss(t, c)
}
