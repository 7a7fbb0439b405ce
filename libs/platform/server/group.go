package server

import (
	"container/list"
	"sync/atomic"
)

// group is the set of open connections that count against one bound. The lock of the listener protects it.
//
// A connection moves to the back when it becomes idle. The idle members are therefore
// in the order in which they became idle; busy members can be anywhere between them.
type group struct {
	members list.List
	idle    atomic.Int64 // number of idle members
}

// membership is the place of a connection in a group.
type membership struct {
	group   *group
	element *list.Element
}

// closeOldestIdle closes the connection that has been idle for the longest time, and
// returns it. It returns nil if all connections are busy. It moves the busy members
// that it finds to the back, so that the next call does not examine them again.
func (g *group) closeOldestIdle() *conn {
	for range g.members.Len() {
		if g.idle.Load() <= 0 {
			return nil
		}
		first := g.members.Front()
		if c, ok := first.Value.(*conn); ok && c.closeIfIdle() {
			return c
		}
		g.members.MoveToBack(first)
	}
	return nil
}

// joinGroup adds an idle connection to a group.
func (c *conn) joinGroup(g *group) {
	c.groups = append(c.groups, membership{g, g.members.PushBack(c)})
	g.idle.Add(1)
}

// leaveGroups removes a connection from its groups.
func (c *conn) leaveGroups() {
	if c.state.CompareAndSwap(idle, reclaimed) {
		c.countIdle(-1)
	}
	for _, m := range c.groups {
		m.group.members.Remove(m.element)
	}
}

// countIdle adds to the number of idle members in the connection's groups.
func (c *conn) countIdle(change int64) {
	for _, m := range c.groups {
		m.group.idle.Add(change)
	}
}
