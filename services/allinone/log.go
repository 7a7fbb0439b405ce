package allinone

import (
	"fmt"
	"io"

	"gopkg.in/natefinch/lumberjack.v2"
)

// LogFile is the name of the services' log in the home.
const LogFile = "slotmesh.log"

const (
	logMegabytes = 64 // size at which a new log file is begun
	maxOldLogs   = 3  // number of old log files that are kept
)

// openLog opens the log file at path for appending. The log is not written to the terminal, because it
// would hide the lines for the person there. The total size of log files is limited.
func openLog(path string) (io.WriteCloser, error) {
	log := &lumberjack.Logger{Filename: path, MaxSize: logMegabytes, MaxBackups: maxOldLogs}
	if _, err := log.Write(nil); err != nil { // the library opens the file at the first write
		return nil, fmt.Errorf("SLOTMESH_HOME: the log cannot be opened: %w", err)
	}
	return log, nil
}
