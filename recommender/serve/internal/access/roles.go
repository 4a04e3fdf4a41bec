// Package access decides who may reach the server, and what each caller may do.
package access

import (
	"context"
	"fmt"
	"strings"
)

// Role is what a caller may do.
type Role uint8

// Roles, of which a caller may have several.
const (
	Read     Role = 1 << iota // get, list, watch, explain, history, diff, xDS, reflection
	Report                    // report actuations and deliveries, notify of scaling, ask for trials and report them
	Operate                   // pause and resume pools, create and stop tuning sessions
	allRoles = Read | Report | Operate
	noRole   = Role(0)
)

var roleNames = []struct {
	role Role
	name string
}{{Read, "read"}, {Report, "report"}, {Operate, "operate"}}

func (r Role) String() string {
	var names []string
	for _, entry := range roleNames {
		if r&entry.role != 0 {
			names = append(names, entry.name)
		}
	}
	return strings.Join(names, ",")
}

// parseRoles reads "read,report".
func parseRoles(text string) (Role, error) {
	roles := noRole
	for name := range strings.SplitSeq(text, ",") {
		role := noRole
		for _, entry := range roleNames {
			if entry.name == name {
				role = entry.role
			}
		}
		if role == noRole {
			return noRole, fmt.Errorf("%q is no role; legal: read, report, operate, with commas between", name)
		}
		roles |= role
	}
	return roles, nil
}

// requiredRole is the role that a method needs; open is true if it needs none.
func requiredRole(method string) (role Role, open bool) {
	switch {
	case strings.HasPrefix(method, "/grpc.health.v1.Health/"):
		return noRole, true // probes of an orchestrator have no token, and learn only whether the server serves
	case strings.HasSuffix(method, "/PausePool"), strings.HasSuffix(method, "/ResumePool"),
		strings.HasSuffix(method, "/CreateSession"), strings.HasSuffix(method, "/StopSession"):
		return Operate, false
	case strings.HasSuffix(method, "/ReportActuation"), strings.HasSuffix(method, "/NotifyScaling"),
		strings.HasSuffix(method, "/ReportDelivery"), strings.HasSuffix(method, "/AskTrials"),
		strings.HasSuffix(method, "/TellTrial"):
		return Report, false
	case strings.HasPrefix(method, "/grpc.reflection."), strings.HasPrefix(method, "/envoy.service.discovery.v3."),
		strings.HasPrefix(method, "/envoy.service.endpoint.v3."), readsOnly(method):
		return Read, false
	default:
		return allRoles, false // a method that is not listed here
	}
}

func readsOnly(method string) bool {
	_, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	for _, verb := range []string{"Get", "List", "Watch", "Explain", "Diff"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// Caller is the caller of a request. The zero Caller is an unauthenticated one.
type Caller struct {
	Name  string
	Roles Role
}

type callerKey struct{}

// From returns the caller of ctx; the zero Caller if callers are not authenticated.
func From(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

// With returns ctx with a caller.
func With(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}
