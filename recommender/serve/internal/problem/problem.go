// Package problem makes the errors that callers see: a google.rpc.Status that a program can act on.
package problem

import (
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
)

// Domain is the domain of every ErrorInfo.
const Domain = "sluice.dev"

// Reasons, stable and machine-readable.
const (
	FieldEmpty      = "FIELD_EMPTY"
	FieldNotLegal   = "FIELD_NOT_LEGAL"
	NotProtobuf     = "NOT_PROTOBUF"
	TooLarge        = "MESSAGE_TOO_LARGE"
	PoolUnknown     = "POOL_UNKNOWN"
	SubsetUnknown   = "SUBSET_UNKNOWN"
	PairUnknown     = "PAIR_UNKNOWN"
	SessionUnknown  = "SESSION_UNKNOWN"
	SessionRefused  = "SESSION_REFUSED"
	NotAnswered     = "NOT_ANSWERED"
	NotReadYet      = "LOG_NOT_READ_YET"
	LogAway         = "LOG_AWAY"
	LogReplaced     = "LOG_REPLACED"
	BehindToken     = "SERVER_BEHIND_TOKEN"
	NotStored       = "NOT_STORED"
	TargetOwned     = "TARGET_OWNED"
	DatabaseAway    = "DATABASE_AWAY"
	Stopping        = "SERVER_STOPPING"
	Unauthenticated = "CREDENTIALS_NOT_KNOWN"
	RoleLacking     = "ROLE_LACKING"
)

// New is an error with a reason and its metadata, in pairs.
func New(code codes.Code, reason, text string, metadata ...string) error {
	info := &errdetails.ErrorInfo{Reason: reason, Domain: Domain}
	for i := 0; i+1 < len(metadata); i += 2 {
		if info.Metadata == nil {
			info.Metadata = map[string]string{}
		}
		info.Metadata[metadata[i]] = metadata[i+1]
	}
	return withDetails(code, text, info)
}

// Unavailable asks the caller to try again.
func Unavailable(reason, text string) error { return New(codes.Unavailable, reason, text) }

// Empty is the error for a field that has to be set; legal describes its values.
func Empty(field, legal string) error {
	return invalid(FieldEmpty, field, legal, field+" is empty; legal: "+legal)
}

// NotLegal is the error for a field with a value that is not legal. The error shows given, cut to 100 characters.
func NotLegal(field string, given any, legal string) error {
	return invalid(FieldNotLegal, field, legal, fmt.Sprintf("%s %s is not legal; legal: %s", field, shorten(given), legal))
}

// Conflict is the error for a field that conflicts with another.
func Conflict(field, fault, legal string) error {
	return invalid(FieldNotLegal, field, legal, fmt.Sprintf("%s %s; legal: %s", field, fault, legal))
}

// Refused is a decider's refusal of a command, with the field at fault if there is one.
func Refused(code codes.Code, reason, field, text string) error {
	info := &errdetails.ErrorInfo{Reason: reason, Domain: Domain}
	if field == "" {
		return withDetails(code, text, info)
	}
	info.Metadata = map[string]string{"field": field}
	if _, legal, ok := strings.Cut(text, "legal: "); ok {
		info.Metadata["legal"] = legal
	}
	return withDetails(code, text, info, &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: field, Description: text, Reason: reason},
	}})
}

func invalid(reason, field, legal, text string) error {
	return withDetails(codes.InvalidArgument, text,
		&errdetails.ErrorInfo{Reason: reason, Domain: Domain, Metadata: map[string]string{"field": field, "legal": legal}},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: field, Description: text, Reason: reason},
		}},
	)
}

func withDetails(code codes.Code, text string, details ...protoadapt.MessageV1) error {
	result := status.New(code, text)
	if detailed, err := result.WithDetails(details...); err == nil {
		result = detailed
	}
	return result.Err()
}

// shorten returns at most a line: a caller's value may have megabytes.
func shorten(given any) string {
	text, quoted := fmt.Sprint(given), false
	if s, ok := given.(string); ok {
		text, quoted = s, true
	}
	if len(text) > 100 {
		return fmt.Sprintf("of %d bytes", len(text))
	}
	if quoted {
		return fmt.Sprintf("%q", text)
	}
	return text
}
