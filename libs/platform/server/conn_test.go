package server

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// drippingConn is a connection whose peer sends single bytes. It records the deadlines that are set.
type drippingConn struct {
	net.Conn
	text      string
	deadlines []time.Time
}

func (d *drippingConn) Read(p []byte) (int, error) {
	if d.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:1], d.text)
	d.text = d.text[n:]
	return n, nil
}

func (d *drippingConn) SetReadDeadline(at time.Time) error {
	d.deadlines = append(d.deadlines, at)
	return nil
}

// A head must be complete by one deadline, however slowly its bytes arrive. Empty lines before the head do not extend
// it.
func TestHeadDeadlineStartsAtFirstByte(t *testing.T) {
	t.Parallel()
	head := "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	dripping := &drippingConn{text: strings.Repeat("\r\n", 3) + head + head}
	c := &conn{Conn: dripping, port: &listener{}}
	read, err := io.ReadAll(c)
	if err != nil || string(read) != head+head {
		t.Fatalf("the connection returns %q: %v", read, err)
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
