package lastknown

import "time"

// Wait sets how long Redis is waited for, by all.
func (c *Copies) Wait(within time.Duration) { c.within = waits{within, within} }
