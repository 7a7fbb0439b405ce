package server

import (
	"container/list"
	"sync/atomic"
)

// group is the open connections that one bound counts. The idle ones among its members are in the order in which they
// became idle; busy ones stand anywhere, since a connection moves to the back when it becomes idle. The listener's lock
// protects the members.
type group struct {
	members list.List
	idle    atomic.Int64 // how many members are idle
}

// membership is the place of a connection in a group.
type membership struct {
	group   *group
	element *list.Element
}

// giveUpOldest closes the connection that is idle for the longest time, and returns it; nil if all are busy. Busy
// members that stand before it move to the back, so that each is passed over once.
func (g *group) giveUpOldest() *conn {
	for range g.members.Len() {
		if g.idle.Load() <= 0 {
			return nil
		}
		first := g.members.Front()
		if c, ok := first.Value.(*conn); ok && c.giveUp() {
			return c
		}
		g.members.MoveToBack(first)
	}
	return nil
}

// member makes a connection, which is idle, a member of a group.
func (c *conn) member(g *group) {
	c.groups = append(c.groups, membership{g, g.members.PushBack(c)})
	g.idle.Add(1)
}

// leaveGroups ends the memberships of a connection.
func (c *conn) leaveGroups() {
	if c.state.CompareAndSwap(idle, givenUp) {
		c.countIdle(-1)
	}
	for _, m := range c.groups {
		m.group.members.Remove(m.element)
	}
}

// countIdle adds to the idle members of the connection's groups.
func (c *conn) countIdle(change int64) {
	for _, m := range c.groups {
		m.group.idle.Add(change)
	}
}
