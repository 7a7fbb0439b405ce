package soak

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"
)

// echoing is a link to a target that answers every line with the same line, and a connection over it.
func echoing(t *testing.T) (*link, *bufio.ReadWriter) {
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
	return l, over(t, l)
}

func over(t *testing.T, l *link) *bufio.ReadWriter {
	t.Helper()
	c, err := net.Dial("tcp", l.address())
	if err != nil {
		t.Fatal(err)
	}
	return lines(t, c)
}

func lines(t *testing.T, c net.Conn) *bufio.ReadWriter {
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return bufio.NewReadWriter(bufio.NewReader(c), bufio.NewWriterSize(c, 16))
}

func say(t *testing.T, c *bufio.ReadWriter, line string) {
	t.Helper()
	if _, err := c.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c *bufio.ReadWriter, want string) {
	t.Helper()
	if line, err := c.ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("heard %q, %v; want %q", line, err, want)
	}
}

func lost(t *testing.T, c *bufio.ReadWriter) {
	t.Helper()
	if line, err := c.ReadString('\n'); err == nil {
		t.Fatalf("heard %q over a connection that is lost", line)
	}
}

func TestALinkGoesPastATargetThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, c := echoing(t)
	say(t, c, "hello")
	hear(t, c, "hello")
}

func TestWhatAPartitionHeldComesWhenItEnds(t *testing.T) {
	t.Parallel()
	for _, way := range []direction{asking, answering} {
		l, c := echoing(t)
		say(t, c, "before")
		hear(t, c, "before")
		var held condition
		held.held[way] = true
		l.set(held)
		say(t, c, "during")
		other := over(t, l)
		say(t, other, "new")
		l.set(condition{delay: time.Millisecond})
		hear(t, c, "during")
		hear(t, other, "new")
	}
}

func TestACutResetsWhatIsThereAndWhatComes(t *testing.T) {
	t.Parallel()
	l, c := echoing(t)
	say(t, c, "before")
	hear(t, c, "before")
	l.set(condition{cut: true})
	lost(t, c)
	// the reset may be there before the dialer has seen its connection
	if come, err := net.Dial("tcp", l.address()); err == nil {
		lost(t, lines(t, come))
	}
	l.set(condition{})
	again := over(t, l)
	say(t, again, "after")
	hear(t, again, "after")
}

func TestALostAnswerTakesItsConnectionWithIt(t *testing.T) {
	t.Parallel()
	l, c := echoing(t)
	l.set(condition{loses: 2})
	say(t, c, "one")
	hear(t, c, "one")
	say(t, c, "two")
	lost(t, c)
}

func TestAHeldLinkCanBeClosed(t *testing.T) {
	t.Parallel()
	l, c := echoing(t)
	l.set(condition{held: [directions]bool{true, true}})
	say(t, c, "never heard")
	l.close()
	lost(t, c)
}
