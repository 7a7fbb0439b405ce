package soak

import (
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// direction is the direction in which a link forwards bytes.
type direction int

const (
	toTarget direction = iota // from the caller to the target
	toCaller                  // from the target to the caller
	directions
)

// condition is the state of a link, with the fault that the link simulates. The zero value means that there is no
// fault.
type condition struct {
	heldDirections [directions]bool // bytes wait until the fault ends, as if TCP retransmitted them
	isCut          bool             // existing and new connections are reset
	lossInterval   int              // n: every nth answer and its connection are lost; 0: no answer is lost
	delay          time.Duration    // delay before each answer
}

// link simulates the network between one caller and the replicas of one service. It listens on loopback. It forwards
// each connection to the next replica that accepts the connection, like the address of a Kubernetes Service.
type link struct {
	listener net.Listener
	targets  func() []string // addresses "host:port", or paths of Unix sockets

	mu       sync.Mutex
	now      condition
	changed  chan struct{} // closed when the field `now` changes
	pairs    map[*pair]struct{}
	next     int
	replies  int // number of answers since the start of the current fault that loses answers
	isClosed bool
	all      sync.WaitGroup
}

// pair is a connection from the caller to the link, and the connection from the link to the target.
type pair struct{ caller, target net.Conn }

// reset resets both connections. If the connections were closed normally, the caller would take an incomplete answer
// for a complete one.
func (p *pair) reset() {
	for _, c := range []net.Conn{p.caller, p.target} {
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
		_ = c.Close()
	}
}

func newLink(targets func() []string) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{listener: listener, targets: targets, changed: make(chan struct{}), pairs: map[*pair]struct{}{}}
	l.all.Go(l.accept)
	return l, nil
}

func (l *link) address() string { return l.listener.Addr().String() }

// setCondition changes the condition of the link, which also applies to existing connections.
func (l *link) setCondition(now condition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	close(l.changed)
	l.changed = make(chan struct{})
	if now.isCut {
		for p := range l.pairs {
			p.reset()
		}
	}
}

func (l *link) readCondition() (condition, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, l.changed
}

func (l *link) close() {
	l.mu.Lock()
	l.isClosed = true
	l.mu.Unlock()
	l.setCondition(condition{isCut: true})
	_ = l.listener.Close()
	l.all.Wait()
}

func (l *link) accept() {
	for {
		caller, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.all.Go(func() { l.serve(caller) })
	}
}

func (l *link) serve(caller net.Conn) {
	p := &pair{caller: caller}
	if now, _ := l.readCondition(); !now.isCut {
		p.target = l.dial()
	}
	if p.target == nil {
		_ = caller.(*net.TCPConn).SetLinger(0)
		_ = caller.Close()
		return
	}
	if !l.register(p) {
		p.reset()
		return
	}
	defer l.unregister(p)
	var both sync.WaitGroup
	both.Go(func() { l.pump(p, toTarget, p.target, p.caller) })
	both.Go(func() { l.pump(p, toCaller, p.caller, p.target) })
	both.Wait()
}

// register adds a connection to the link, so that later faults affect the connection. It returns false if the link has
// been cut since the connection was accepted.
func (l *link) register(p *pair) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now.isCut || l.isClosed {
		return false
	}
	l.pairs[p] = struct{}{}
	return true
}

func (l *link) unregister(p *pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pairs, p)
	_ = p.caller.Close()
	_ = p.target.Close()
}

// dial connects to the next target that accepts a connection. If no target accepts one, dial returns nil.
func (l *link) dial() net.Conn {
	targets := l.targets()
	l.mu.Lock()
	l.next++
	first := l.next
	l.mu.Unlock()
	for i := range targets {
		address, network := targets[(first+i)%len(targets)], "tcp"
		if strings.HasPrefix(address, "/") {
			network = "unix"
		}
		if c, err := net.DialTimeout(network, address, 3*time.Second); err == nil {
			return c
		}
	}
	return nil
}

// pump copies bytes in one direction. When the sender closes the direction, pump closes only this direction, so that
// half-closed connections stay half-closed.
func (l *link) pump(p *pair, way direction, to, from net.Conn) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !l.awaitPass(p, way) {
			p.reset()
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				p.reset()
				return
			}
		}
		if err != nil {
			if closer, ok := to.(interface{ CloseWrite() error }); ok && !errors.Is(err, net.ErrClosed) {
				_ = closer.CloseWrite()
			}
			return
		}
	}
}

// awaitPass waits until the link may forward bytes in the given direction. If the connection must be reset instead,
// awaitPass returns false.
func (l *link) awaitPass(p *pair, way direction) bool {
	for {
		now, changed := l.readCondition()
		switch {
		case now.isCut, way == toCaller && l.losesAnswer(now):
			return false
		case !now.heldDirections[way]:
			if way == toCaller && now.delay > 0 {
				time.Sleep(now.delay)
			}
			return true
		}
		<-changed
		l.mu.Lock()
		_, exists := l.pairs[p]
		l.mu.Unlock()
		if !exists {
			return false
		}
	}
}

// losesAnswer counts an answer and reports whether the link must lose this answer.
func (l *link) losesAnswer(now condition) bool {
	if now.lossInterval == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replies++
	return l.replies%now.lossInterval == 0
}
