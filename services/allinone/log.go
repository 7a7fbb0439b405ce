package allinone

import (
	"fmt"
	"io"

	"gopkg.in/natefinch/lumberjack.v2"
)

// LogFile is the name of the services' log in the home.
const LogFile = "slotmesh.log"

const (
	logMegabytes = 64 // at which the log is put aside and a new one begun
	oldLogs      = 3  // that are kept
)

// openLog appends to the log at path: log lines on the terminal would hide the greeting. The log takes a bounded part of the disk.
func openLog(path string) (io.WriteCloser, error) {
	log := &lumberjack.Logger{Filename: path, MaxSize: logMegabytes, MaxBackups: oldLogs}
	if _, err := log.Write(nil); err != nil { // it opens the file when it is written to
		return nil, fmt.Errorf("SLOTMESH_HOME: the log cannot be opened: %w", err)
	}
	return log, nil
}
