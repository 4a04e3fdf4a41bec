// Package dial is the way to the recommender: plain on loopback, TLS and a token where the environment names them.
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
	// Authority names a PEM file of who signed the server's certificate; it turns TLS on.
	Authority = "SLUICE_TLS_CA"
	// Token names the token that is sent with every call, TokenFile a file with it, which is read with every call.
	Token     = "SLUICE_TOKEN"
	TokenFile = "SLUICE_TOKEN_FILE"
	// ClientCertificate and ClientKey name PEM files that are shown to a server that asks who calls.
	ClientCertificate = "SLUICE_TLS_CLIENT_CERT"
	ClientKey         = "SLUICE_TLS_CLIENT_KEY"

	// window of each stream and connection: a state of 10,000 pools comes in a hundred of them.
	window = 64 << 10
)

// Open returns a connection that dials when it is first used. lookup is os.LookupEnv outside tests.
//
// Errors: the authority cannot be read or holds no certificate; a token would leave this host in the clear.
func Open(address string, lookup func(string) (string, bool)) (*grpc.ClientConn, error) {
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
	patience.MaxDelay = 5 * time.Second // the default, two minutes, outlives every lease
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: patience, MinConnectTimeout: 2 * time.Second}),
		// A peer that vanished without a word: a ping goes out only when nothing came for 20 s, two heartbeats.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 5 * time.Second}),
		// A window that is not given is estimated by a ping with every message that comes: half of what a watch costs.
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
	}
	token, _ := lookup(Token)
	file, _ := lookup(TokenFile)
	if token != "" && file != "" {
		return nil, fmt.Errorf("connect to the recommender: %s and %s: want one of them", Token, TokenFile)
	}
	if token != "" || file != "" {
		if authority == "" && !loopback(address) {
			return nil, fmt.Errorf("connect to the recommender at %s: %s would travel in the clear: set %s, or use a loopback address", address, named(file), Authority)
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

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// bearer is a token as the recommender wants it, or the file that has it. Whether it may travel without TLS was decided
// in Open.
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
