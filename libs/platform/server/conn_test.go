package server

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// drip is a connection whose peer sends a byte now and then, and what it was told of deadlines.
type drip struct {
	net.Conn
	text      string
	deadlines []time.Time
}

func (d *drip) Read(p []byte) (int, error) {
	if d.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:1], d.text)
	d.text = d.text[n:]
	return n, nil
}

func (d *drip) SetReadDeadline(at time.Time) error {
	d.deadlines = append(d.deadlines, at)
	return nil
}

// However slowly a head comes, it is whole by one time, or refused; empty lines before it are no way around that.
func TestAHeadHasOneDeadlineFromItsFirstByte(t *testing.T) {
	t.Parallel()
	head := "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	dripping := &drip{text: strings.Repeat("\r\n", 3) + head + head}
	c := &conn{Conn: dripping, from: &listener{}}
	read, err := io.ReadAll(c)
	if err != nil || string(read) != head+head {
		t.Fatalf("it reads %q: %v", read, err)
	}
	var different []time.Time
	for _, at := range dripping.deadlines {
		if n := len(different); n == 0 || !different[n-1].Equal(at) {
			different = append(different, at)
		}
	}
	if len(different) != 2 {
		t.Errorf("two heads had %d deadlines", len(different))
	}
}
