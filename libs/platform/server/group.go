package server

import (
	"container/list"
	"sync/atomic"
)

// group is the set of open connections that count against one limit, for
// example of one network. The lock of the listener protects the group.
//
// A connection moves to the end of the list when it becomes idle. The idle members are
// therefore in the order in which they became idle. Busy members can be anywhere between them.
type group struct {
	members list.List
	idle    atomic.Int64 // number of idle members
}

// membership is the position of a connection in the list of a group.
type membership struct {
	group   *group
	element *list.Element
}

// closeOldestIdle closes the connection that has been idle for the longest time, and returns it. It returns nil if all
// connections are busy. It moves busy connections at the start of the list to the end, so that the next call does not
// examine these connections again.
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

// joinGroup adds the connection, which must be idle, to a group.
func (c *conn) joinGroup(g *group) {
	c.groups = append(c.groups, membership{g, g.members.PushBack(c)})
	g.idle.Add(1)
}

// leaveGroups removes the connection from all its groups.
func (c *conn) leaveGroups() {
	if c.state.CompareAndSwap(idle, reclaimed) {
		c.countIdle(-1)
	}
	for _, m := range c.groups {
		m.group.members.Remove(m.element)
	}
}

// countIdle adds the argument `change` to the number of idle members in all groups of the connection.
func (c *conn) countIdle(change int64) {
	for _, m := range c.groups {
		m.group.idle.Add(change)
	}
}
