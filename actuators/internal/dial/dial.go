// Package dial is the way to the recommender: plain on loopback, TLS and a token where the environment names them.
package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
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
	// Token names the token that is sent with every call.
	Token = "SLUICE_TOKEN"

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
		trusted, err := trust(authority)
		if err != nil {
			return nil, fmt.Errorf("connect to the recommender: %s=%s: %w", Authority, authority, err)
		}
		transport = credentials.NewTLS(&tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12})
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
	if token, _ := lookup(Token); token != "" {
		if authority == "" && !loopback(address) {
			return nil, fmt.Errorf("connect to the recommender at %s: %s would travel in the clear: set %s, or use a loopback address", address, Token, Authority)
		}
		options = append(options, grpc.WithPerRPCCredentials(bearer(token)))
	}
	connection, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the recommender at %s: %w", address, err)
	}
	return connection, nil
}

func trust(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		return nil, errors.New("holds no certificate: want a PEM file")
	}
	return trusted, nil
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// bearer is a token as the recommender wants it. Whether it may travel without TLS was decided in Open.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (b bearer) RequireTransportSecurity() bool { return false }
