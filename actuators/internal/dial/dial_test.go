package dial_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"sluice.dev/actuators/internal/dial"
	"sluice.dev/actuators/internal/tests/recommendertest"
	poolsv1 "sluice.dev/api/pools/v1"
)

// certificate makes a self-signed certificate for 127.0.0.1: the server's credentials, and a file for clients.
func certificate(t *testing.T) (credentials.TransportCredentials, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return credentials.NewServerTLSFromCert(&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}), path
}

// asking refuses calls, unary and streaming, without the token.
func asking(token string) []grpc.ServerOption {
	check := func(ctx context.Context) error {
		sent, _ := metadata.FromIncomingContext(ctx)
		if !slices.Equal(sent.Get("authorization"), []string{"Bearer " + token}) {
			return status.Error(codes.Unauthenticated, "token")
		}
		return nil
	}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := check(ctx); err != nil {
				return nil, err
			}
			return next(ctx, request)
		}),
		grpc.StreamInterceptor(func(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := check(stream.Context()); err != nil {
				return err
			}
			return next(server, stream)
		}),
	}
}

// call opens a connection with this environment and makes a unary call and a watch on it.
func call(t *testing.T, address string, environment map[string]string) (unary, stream codes.Code) {
	t.Helper()
	connection, err := dial.Open(address, func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	client := poolsv1.NewPoolSizeServiceClient(connection)
	_, unaryErr := client.ListPoolSizes(ctx, &poolsv1.ListPoolSizesRequest{})
	watch, streamErr := client.WatchPoolSizes(ctx, &poolsv1.WatchPoolSizesRequest{})
	if streamErr == nil {
		_, streamErr = watch.Recv()
	}
	return status.Code(unaryErr), status.Code(streamErr)
}

func TestOpen(t *testing.T) {
	secured, authority := certificate(t)
	_, other := certificate(t)
	plain := recommendertest.Start(t)
	secret := recommendertest.Start(t, append(asking("0123456789abcdef"), grpc.Creds(secured))...)
	guarded := recommendertest.Start(t, asking("0123456789abcdef")...)
	tests := []struct {
		name        string
		server      *recommendertest.Server
		environment map[string]string
		want        codes.Code
	}{
		{"plain", plain, nil, codes.OK},
		{"empty variables mean none", plain, map[string]string{dial.Authority: "", dial.Token: ""}, codes.OK},
		{"TLS and token", secret, map[string]string{dial.Authority: authority, dial.Token: "0123456789abcdef"}, codes.OK},
		{"no token", secret, map[string]string{dial.Authority: authority}, codes.Unauthenticated},
		{"wrong token", secret, map[string]string{dial.Authority: authority, dial.Token: "x"}, codes.Unauthenticated},
		{"signed by somebody else", secret, map[string]string{dial.Authority: other, dial.Token: "0123456789abcdef"}, codes.Unavailable},
		{"plain towards TLS", secret, map[string]string{dial.Token: "0123456789abcdef"}, codes.Unavailable},
		{"TLS towards plain", plain, map[string]string{dial.Authority: authority}, codes.Unavailable},
		{"token on loopback", guarded, map[string]string{dial.Token: "0123456789abcdef"}, codes.OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if unary, stream := call(t, tt.server.Address, tt.environment); unary != tt.want || stream != tt.want {
				t.Errorf("unary %s, watch %s, want %s", unary, stream, tt.want)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, address, authority, token, want string }{
		{"no such file", "127.0.0.1:1", "none.pem", "", "SLUICE_TLS_CA=none.pem: open none.pem: no such file"},
		{"no certificate", "127.0.0.1:1", empty, "", "holds no certificate: want a PEM file"},
		{"token in the clear", "10.0.0.1:1", "", "secret", "SLUICE_TOKEN would travel in the clear: set SLUICE_TLS_CA"},
		{"token in the clear by name", "recommender:1", "", "secret", "would travel in the clear"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := dial.Open(tt.address, func(name string) (string, bool) {
				return map[string]string{dial.Authority: tt.authority, dial.Token: tt.token}[name], true
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q and no token in it", err, tt.want)
			}
		})
	}
}

// Files are read again with every connection and call.
func TestFilesAreReadAgain(t *testing.T) {
	secured, authority := certificate(t)
	_, other := certificate(t)
	server := recommendertest.Start(t, append(asking("0123456789abcdef"), grpc.Creds(secured))...)
	folder := t.TempDir()
	token, trusted := filepath.Join(folder, "token"), filepath.Join(folder, "ca.pem")
	put := func(path string, from []byte) {
		if err := os.WriteFile(path, from, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good, _ := os.ReadFile(authority)
	bad, _ := os.ReadFile(other)
	put(token, []byte("0123456789abcdef\n"))
	put(trusted, bad)
	environment := map[string]string{dial.Authority: trusted, dial.TokenFile: token}
	connection, err := dial.Open(server.Address, func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	client := poolsv1.NewPoolSizeServiceClient(connection)
	call := func(options ...grpc.CallOption) codes.Code {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		_, err := client.ListPoolSizes(ctx, &poolsv1.ListPoolSizesRequest{}, options...)
		return status.Code(err)
	}
	if got := call(); got != codes.Unavailable {
		t.Errorf("%s from a server that nobody vouches for", got)
	}
	put(trusted, good)
	if got := call(grpc.WaitForReady(true)); got != codes.OK {
		t.Errorf("%s after the authority was replaced", got)
	}
	put(token, []byte("another"))
	if got := call(); got != codes.Unauthenticated {
		t.Errorf("%s with another token, want it sent", got)
	}
}

func TestATokenWithoutTLSIsAnOptIn(t *testing.T) {
	for _, tt := range []struct{ insecure, want string }{
		{"true", ""}, {"false", "SLUICE_INSECURE=true allows it"}, {"", "SLUICE_INSECURE=true allows it"}, {"yes", "want true or false"},
	} {
		environment := map[string]string{dial.Insecure: tt.insecure, dial.Token: "secret"}
		connection, err := dial.Open("recommender:1", func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%q: %v", tt.insecure, err)
		}
		if err == nil {
			connection.Close()
		}
	}
}

func TestOnlyFiles(t *testing.T) {
	environment := map[string]string{dial.Token: "secret", dial.TokenFile: "/run/token"}
	lookup := func(name string) (string, bool) { v, ok := environment[name]; return v, ok }
	if err := dial.OnlyFiles(lookup); err == nil || !strings.Contains(err.Error(), "set SLUICE_TOKEN_FILE") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	environment[dial.Token] = ""
	if err := dial.OnlyFiles(lookup); err != nil {
		t.Error(err)
	}
}

func TestShowsItsCertificate(t *testing.T) {
	_, authority := certificate(t)
	environment := map[string]string{dial.Authority: authority, dial.ClientCertificate: authority, dial.ClientKey: "none.pem"}
	_, err := dial.Open("127.0.0.1:1", func(name string) (string, bool) { v, ok := environment[name]; return v, ok })
	if err == nil || !strings.Contains(err.Error(), "SLUICE_TLS_CLIENT_KEY=none.pem") {
		t.Errorf("error %v, want the variable", err)
	}
}
