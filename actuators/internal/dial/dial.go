// Package dial connects to the recommender: plain on loopback, with TLS and a token where the environment names them.
package dial

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const (
	// Authority names a PEM file with the authority that signed the server's certificate; it turns TLS on.
	Authority = "SLUICE_TLS_CA"
	// Insecure allows a token without TLS, where a mesh encrypts what leaves the pod: true, false.
	Insecure = "SLUICE_INSECURE"
	// Token is the token that is sent with every call. TokenFile is a file with the token, read at every call.
	Token     = "SLUICE_TOKEN"
	TokenFile = "SLUICE_TOKEN_FILE"
	// ClientCertificate and ClientKey name PEM files of the client certificate, for a server that asks for one.
	ClientCertificate = "SLUICE_TLS_CLIENT_CERT"
	ClientKey         = "SLUICE_TLS_CLIENT_KEY"

	// window is the flow-control window of each stream and connection: the state of 10,000 pools takes about a hundred of
	// them.
	window = 64 << 10
)

// Open returns a connection that dials at its first use. lookup is os.LookupEnv outside tests.
//
// Errors: the authority cannot be read or has no certificate; a token would leave this host unencrypted, without an opt-in.
func Open(address string, lookup func(string) (string, bool)) (*grpc.ClientConn, error) {
	allowed, _ := lookup(Insecure)
	if allowed != "" && allowed != "true" && allowed != "false" {
		return nil, fmt.Errorf("%s %q: want true or false", Insecure, allowed)
	}
	transport := insecure.NewCredentials()
	authority, _ := lookup(Authority)
	if authority != "" {
		certificate, _ := lookup(ClientCertificate)
		key, _ := lookup(ClientKey)
		settings, err := byFiles(authority, certificate, key)
		if err != nil {
			return nil, fmt.Errorf("connect to the recommender: %w", err)
		}
		transport = credentials.NewTLS(settings)
	}
	patience := backoff.DefaultConfig
	patience.MaxDelay = 5 * time.Second // the default of two minutes is longer than every lease
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: patience, MinConnectTimeout: 2 * time.Second}),
		// Detects a peer that vanished: a ping goes out only after 20 s of silence, which are two heartbeats.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 5 * time.Second}),
		// Without a static window gRPC estimates one by a ping with every message, which is half of a watch's cost.
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
	}
	token, _ := lookup(Token)
	file, _ := lookup(TokenFile)
	if token != "" && file != "" {
		return nil, fmt.Errorf("connect to the recommender: %s and %s: want one of them", Token, TokenFile)
	}
	if token != "" || file != "" {
		if authority == "" && !Loopback(address) && allowed != "true" {
			return nil, fmt.Errorf("connect to the recommender at %s: %s would travel in the clear: set %s, or use a loopback address; %s=true allows it, where a mesh encrypts it",
				address, named(file), Authority, Insecure)
		}
		sent := bearer{token, file}
		if _, err := sent.GetRequestMetadata(context.Background()); err != nil {
			return nil, fmt.Errorf("connect to the recommender: %s: %w", TokenFile, err)
		}
		options = append(options, grpc.WithPerRPCCredentials(sent))
	}
	connection, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the recommender at %s: %w", address, err)
	}
	return connection, nil
}

func named(file string) string {
	if file != "" {
		return TokenFile
	}
	return Token
}

// OnlyFiles returns an error if the environment has the token itself: who sees the process's environment would have it.
func OnlyFiles(lookup func(string) (string, bool)) error {
	if token, _ := lookup(Token); token != "" {
		return fmt.Errorf("%s: this process reads the token from a file only: set %s to the path of a file with the token", Token, TokenFile)
	}
	return nil
}

// Loopback is true if only this host reaches an address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// bearer sends a token in the form that the recommender wants, or the file that has it. Open checked whether it may travel
// without TLS.
type bearer struct{ token, file string }

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b.file != "" {
		text, err := os.ReadFile(b.file)
		if err != nil {
			return nil, err
		}
		b.token = strings.TrimSpace(string(text))
	}
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return false }
