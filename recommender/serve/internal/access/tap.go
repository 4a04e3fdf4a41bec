package access

import (
	"context"
	"time"

	"google.golang.org/grpc/tap"
)

// probeTime bounds a check of health, which needs no token: the server holds what it has read of the request for no longer.
const probeTime = 20 * time.Second

// Tap refuses a call by its metadata. gRPC asks it before it reads the request: the interceptors run after that, when the server
// holds all of it.
func (a *Access) Tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if _, err := a.check(ctx, info.FullMethodName); err != nil {
		if a.Refused != nil {
			a.Refused(info.FullMethodName, err)
		}
		return ctx, err
	}
	if info.FullMethodName == "/grpc.health.v1.Health/Check" && a.Authenticates() {
		bounded, cancel := context.WithTimeout(ctx, probeTime)
		context.AfterFunc(bounded, cancel)
		return bounded, nil
	}
	return ctx, nil
}
