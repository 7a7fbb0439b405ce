package feed

import "time"

// SetExtendAfter sets the time after which the reader extends its lock and reads the progress again.
func (r *Reader) SetExtendAfter(duration time.Duration) { r.extendAfter = duration }
