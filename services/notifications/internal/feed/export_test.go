package feed

import "time"

// SetExtendAfter sets for how long a reader goes by what it has read of its feed.
func (r *Reader) SetExtendAfter(duration time.Duration) { r.extendAfter = duration }
