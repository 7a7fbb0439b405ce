package allinone

import (
	"fmt"
	"io"

	"gopkg.in/natefinch/lumberjack.v2"
)

// LogFile is the name of the file in the home folder that contains the services' logs.
const LogFile = "slotmesh.log"

const (
	logMegabytes = 64 // size at which a new log file begins
	maxOldLogs   = 3  // number of old log files that are kept
)

// openLog opens the log file at `path` for appending. The logs are not written to the terminal, because they would hide
// the lines that the person at the terminal must read. The log file is rotated, so that its total size is limited.
func openLog(path string) (io.WriteCloser, error) {
	log := &lumberjack.Logger{Filename: path, MaxSize: logMegabytes, MaxBackups: maxOldLogs}
	if _, err := log.Write(nil); err != nil { // the library opens the file at the first call of Write
		return nil, fmt.Errorf("SLOTMESH_HOME: the log cannot be opened: %w", err)
	}
	return log, nil
}
