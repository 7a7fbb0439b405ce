package command

import (
	"context"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// describeError returns the message of an error for a person at the terminal. The server writes its messages for
// developers, who send HTTP requests. So describeError replaces the names of headers, statuses and fields by the flags
// and arguments of the command.
func describeError(cmd *cobra.Command, err error) string {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return strings.TrimSpace(err.Error())
	}
	switch {
	case refused.Kind == fault.Unauthorized:
		return refused.Sentence + " Set it by slotmesh login, --token, SLOTMESH_ADMIN_TOKEN or the file admin-token " +
			"in SLOTMESH_HOME."
	case refused.Kind == fault.PreconditionFailed: // "If-Match: the newest version is 3, not 2; read it and try again."
		known, _, _ := strings.Cut(strings.TrimPrefix(refused.Sentence, "If-Match: "), "; ")
		return "It has changed meanwhile: " + known + "; look at it with slotmesh get, and try again."
	case refused.Kind == fault.IdempotencyInProgress:
		return "The first attempt at this is still under way; look what has become of it before you try again."
	case refused.Kind == fault.OutcomeUnknown:
		known, _, _ := strings.Cut(strings.TrimSuffix(refused.Sentence, "."), "; ")
		return known + "; look what has become of it before you try again."
	case refused.Sentence != "" && refused.Kind != fault.MethodNotAllowed && refused.Sentence != noPath:
		return commandReplacer.Replace(nameFlags(cmd, refused.Sentence))
	case refused.Kind.Status >= http.StatusInternalServerError:
		return "The server cannot do this now; try again shortly, and look into its log where that goes on."
	}
	return "What answers there is not the admin API; check --server."
}

// noPath is the message with which a port of Slotmesh answers if the port does not serve the admin API.
const noPath = "There is nothing at this path."

// commandReplacer replaces paths and parameters of the admin API in a message by commands and flags.
var commandReplacer = strings.NewReplacer("GET …/versions", "slotmesh history", "force=true", "--force")

// member matches the name of the request's field with which a message begins, such as "customer_name: ".
var member = regexp.MustCompile(`^([a-z][a-z_]*)(\[\d+\])?: `)

// nameFlags replaces a field name at the beginning of a message by the flag that sets this field of the request. Then
// it also replaces the word "send" in the message by "write". If the command has no such flag, nameFlags does not
// change the message.
func nameFlags(cmd *cobra.Command, text string) string {
	found := member.FindStringSubmatch(text)
	if found == nil {
		return text
	}
	name := strings.ReplaceAll(found[1], "_", "-")
	bare := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "s"), "-id"), "-name")
	for _, as := range []string{name, bare, strings.TrimPrefix(name, "customer-"), strings.TrimPrefix(name, "start-")} {
		if hasFlag(cmd.Flags(), as) {
			return "--" + as + ": " + strings.Replace(text[len(found[0]):], "send ", "write ", 1)
		}
	}
	return text
}

func hasFlag(flags *pflag.FlagSet, name string) bool { return name != "" && flags.Lookup(name) != nil }

// explainConnectionError returns a message that explains why the server gave no answer.
func explainConnectionError(err error) string {
	var name *net.DNSError
	var network net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there; start Slotmesh, or check --server"
	case errors.As(err, &name):
		return "its name is not known; check --server"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it speaks http, not https; check --server"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "nothing came in the time of --timeout"
	}
	return err.Error()
}
