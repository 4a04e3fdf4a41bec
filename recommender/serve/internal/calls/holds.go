package calls

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/serve/internal/access"
	"sluice.dev/serve/internal/holds"
	"sluice.dev/serve/internal/problem"

	poolsv1 "sluice.dev/api/pools/v1"
)

// HoldTargets implements the service. Its answer is what the log says at the call's own record.
func (s *Service) HoldTargets(ctx context.Context, request *poolsv1.HoldTargetsRequest) (*poolsv1.HoldTargetsResponse, error) {
	if err := checkHold(request); err != nil {
		return nil, err
	}
	who := holds.Who{Holder: request.GetHolder(), By: access.From(ctx).Name}
	within, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	claimed, err := s.log.Claim(within, who, request.GetLease().AsDuration(), request.GetTargets(), request.GetReleases())
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, holds.ErrFull):
		return nil, problem.Of(codes.ResourceExhausted, problem.TooManyHeld, err.Error())
	case errors.Is(err, holds.ErrUnread), errors.Is(err, holds.ErrBusy):
		return nil, problem.Unavailable(problem.HoldersUnknown, err.Error())
	default:
		return nil, problem.Unavailable(problem.HoldersUnknown,
			"who has the targets is not known: the log does not take the claim now, or does not give it back; try again")
	}
	response := &poolsv1.HoldTargetsResponse{}
	for _, each := range claimed {
		response.Holds = append(response.Holds, &poolsv1.Hold{
			Target: each.Target, Granted: each.Granted, Holder: each.Who.Holder, By: each.Who.By, Left: durationpb.New(each.Left),
		})
	}
	return response, nil
}

func checkHold(request *poolsv1.HoldTargetsRequest) error {
	if err := name("holder", request.GetHolder(), "the process that asks, under a name that no other has", true); err != nil {
		return err
	}
	targets, releases := request.GetTargets(), request.GetReleases()
	if n := len(targets) + len(releases); n < 1 || n > holds.MostTargets {
		return problem.NotLegal("targets", fmt.Sprintf("of %d, releases included,", n), fmt.Sprintf("1 to %d", holds.MostTargets))
	}
	lease := request.GetLease()
	if len(targets) > 0 && (!lease.IsValid() || lease.AsDuration() < holds.ShortestLease || lease.AsDuration() > holds.LongestLease) {
		return problem.NotLegal("lease", lease.AsDuration(), fmt.Sprintf("%s to %s", holds.ShortestLease, holds.LongestLease))
	}
	seen := make(map[string]bool, len(targets)+len(releases))
	for field, all := range map[string][]string{"targets": targets, "releases": releases} {
		for _, target := range all {
			if target == "" {
				return problem.Empty(field, fmt.Sprintf("what is written: 1 to %d bytes", holds.MostTarget))
			}
			if err := text(field, target, holds.MostTarget); err != nil {
				return err
			}
			if seen[target] {
				return problem.Conflict(field, fmt.Sprintf("names %q twice", target), "each target once, in targets or in releases")
			}
			seen[target] = true
		}
	}
	return nil
}
