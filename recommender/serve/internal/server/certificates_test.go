package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"sluice.dev/serve/internal/journaltest"

	poolsv1 "sluice.dev/api/pools/v1"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	folder      string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{folder: t.TempDir()}
	a.certificate, a.key = a.make(t, "authority", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.folder, name) }

// make writes NAME.pem and NAME.key.
func (a *authority) make(t *testing.T, name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	c.SerialNumber, _ = rand.Int(rand.Reader, big.NewInt(1<<62))
	c.Subject = pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	must(t, os.WriteFile(a.path(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(a.path(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	certificate, err := x509.ParseCertificate(der)
	must(t, err)
	return certificate, key
}

func (a *authority) server(t *testing.T, name string) *x509.Certificate {
	certificate, _ := a.make(t, name, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	return certificate
}

func (a *authority) client(t *testing.T, name string) tls.Certificate {
	t.Helper()
	a.make(t, name, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	certificate, err := tls.LoadX509KeyPair(a.path(name+".pem"), a.path(name+".key"))
	must(t, err)
	return certificate
}

func (a *authority) trust(certificates ...tls.Certificate) grpc.DialOption {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: certificates}))
}

func TestCertificatesAreReadAgain(t *testing.T) {
	journal := journaltest.New(t, 1)
	a := newAuthority(t)
	first := a.server(t, "server")
	r := start(t, journal, options{
		lookup: func(name string) string {
			return map[string]string{"SLUICE_TLS_CERT": a.path("server.pem"), "SLUICE_TLS_KEY": a.path("server.key")}[name]
		},
		dial: []grpc.DialOption{a.trust()},
	})
	served := func() *big.Int {
		c, err := tls.Dial("tcp", r.address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		must(t, err)
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber
	}
	if served().Cmp(first.SerialNumber) != 0 {
		t.Error("another certificate")
	}
	_, err := healthv1.NewHealthClient(r.link).Check(t.Context(), &healthv1.HealthCheckRequest{})
	must(t, err)
	second := a.server(t, "server")
	eventually(t, "the new certificate", func() bool { return served().Cmp(second.SerialNumber) == 0 })
}

func TestCertificatesOfCallersAreIdentities(t *testing.T) {
	journal := journaltest.New(t, 1)
	journal.Decider(t, 0).Publish(journaltest.Apply(cart, 1, 8))
	a := newAuthority(t)
	a.server(t, "server")
	list := a.path("clients")
	must(t, os.WriteFile(list, []byte("ann read,operate\n"), 0o600))
	r := start(t, journal, options{
		lookup: func(name string) string {
			return map[string]string{
				"SLUICE_TLS_CERT": a.path("server.pem"), "SLUICE_TLS_KEY": a.path("server.key"),
				"SLUICE_TLS_CLIENT_CA": a.path("authority.pem"), "SLUICE_CLIENTS": list,
			}[name]
		},
		dial:  []grpc.DialOption{a.trust()},
		every: 20 * time.Millisecond,
	})
	as := func(name string) poolsv1.PoolSizeServiceClient {
		link, err := grpc.NewClient(r.address, a.trust(a.client(t, name)))
		must(t, err)
		t.Cleanup(func() { link.Close() })
		return poolsv1.NewPoolSizeServiceClient(link)
	}
	r.ready(t)
	ann := as("ann")
	_, err := ann.PausePool(t.Context(), &poolsv1.PausePoolRequest{Pool: cart.Proto()})
	must(t, err)
	watch, err := ann.WatchPoolSizes(t.Context(), &ask{})
	must(t, err)
	if got := r.reports(t, journal)[0].GetBy(); got != "ann" {
		t.Error(got)
	}
	_, err = as("bob").PausePool(t.Context(), &poolsv1.PausePoolRequest{Pool: cart.Proto()})
	refused(t, err, codes.Unauthenticated)
	_, err = r.client.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
	refused(t, err, codes.Unavailable) // no certificate, no connection
	other, err := os.ReadFile(newAuthority(t).path("authority.pem"))
	must(t, err)
	must(t, os.WriteFile(a.path("authority.pem"), other, 0o600))
	refused(t, ended(watch), codes.Unauthenticated) // whoever signed it is no authority any more
	_, err = ann.GetPoolSize(t.Context(), &poolsv1.GetPoolSizeRequest{Pool: cart.Proto()})
	refused(t, err, codes.Unauthenticated)
}
