package feed

import "time"

// GoBy sets for how long a reader goes by what it has read of its feed.
func (r *Reader) GoBy(long time.Duration) { r.anew = long }
