package web_test

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
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/actuators/internal/web"
)

func file(t *testing.T, path, text string) string {
	t.Helper()
	next := path + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func client(t *testing.T, config web.Config) *web.Client {
	t.Helper()
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	c, err := web.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T, c *web.Client, url string) (string, error) {
	answer, err := c.Do(t.Context(), web.Request{Method: http.MethodGet, URL: url}, http.StatusOK)
	return string(answer), err
}

func TestCredentialsAreReadAgain(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(r.Header.Get("Authorization")))
	}))
	defer server.Close()
	folder := t.TempDir()
	token, basic := web.Default(), web.Default()
	token.TokenFile = file(t, filepath.Join(folder, "token"), "f1rst\n")
	basic.BasicFile = file(t, filepath.Join(folder, "basic"), "operator:pa55word")
	byToken, byPassword := client(t, token), client(t, basic)
	if got, err := get(t, byToken, server.URL); got != "Bearer f1rst" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := get(t, byPassword, server.URL); got != "Basic b3BlcmF0b3I6cGE1NXdvcmQ=" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	file(t, token.TokenFile, "s3cond")
	if got, err := get(t, byToken, server.URL); got != "Bearer s3cond" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	os.Remove(token.TokenFile)
	if _, err := get(t, byToken, server.URL); err == nil || !strings.Contains(err.Error(), "read credentials") {
		t.Errorf("error %v, want the file that is gone", err)
	}
}

func TestNoRedirectWithSecrets(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("followed, with Authorization %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		config := web.Default()
		config.Headers = map[string]string{"Authorization": "Bearer t0ken"}
		if _, err := get(t, client(t, config), server.URL); err == nil || strings.Contains(err.Error(), "t0ken") {
			t.Errorf("%d: error %v, want one without the token", status, err)
		}
		server.Close()
	}
}

func TestSecretsOfFilesAreNotShown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not for "+r.Header.Get("Authorization"), http.StatusForbidden)
	}))
	defer server.Close()
	config := web.Default()
	config.TokenFile = file(t, filepath.Join(t.TempDir(), "token"), "t0ken")
	if _, err := get(t, client(t, config), server.URL); err == nil || strings.Contains(err.Error(), "t0ken") {
		t.Errorf("error %v, want one without the token", err)
	}
}

// authority signs certificates for 127.0.0.1.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	pem         string
}

func newAuthority(t *testing.T, name string) authority {
	a := authority{}
	var text []byte
	a.key, text = signed(t, name, &x509.Certificate{}, nil, true)
	block, _ := pem.Decode(text)
	a.certificate, _ = x509.ParseCertificate(block.Bytes)
	a.pem = string(text)
	return a
}

func signed(t *testing.T, name string, parent *x509.Certificate, signer *ecdsa.PrivateKey, isCA bool) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: isCA, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if signer == nil {
		parent, signer = template, key
	}
	text, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: text})
}

// pair is a certificate and its key, PEM.
func (a authority) pair(t *testing.T, name string) (certificate, key string) {
	private, text := signed(t, name, a.certificate, a.key, false)
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

func TestCertificatesAreReadAgain(t *testing.T) {
	folder, old, next := t.TempDir(), newAuthority(t, "old"), newAuthority(t, "next")
	serve := func(a authority) *httptest.Server {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(r.TLS.PeerCertificates[0].Subject.CommonName))
		}))
		certificate, key := a.pair(t, "server")
		pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		clients := x509.NewCertPool()
		clients.AddCert(a.certificate)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	before, after := serve(old), serve(next)

	config := web.Default()
	config.CAFile = file(t, filepath.Join(folder, "ca.pem"), old.pem)
	certificate, key := old.pair(t, "actuator-1")
	config.CertFile = file(t, filepath.Join(folder, "cert.pem"), certificate)
	config.KeyFile = file(t, filepath.Join(folder, "key.pem"), key)
	c := client(t, config)
	if got, err := get(t, c, before.URL); got != "actuator-1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := get(t, c, after.URL); err == nil {
		t.Error("a server of an authority that is not in the file was believed")
	}
	certificate, key = next.pair(t, "actuator-2")
	file(t, config.CertFile, certificate) // the key does not fit yet
	if got, err := get(t, c, before.URL); got != "actuator-1" || err != nil {
		t.Errorf("%q, %v, want the pair before, while files are replaced", got, err)
	}
	file(t, config.KeyFile, key)
	file(t, config.CAFile, next.pem)
	if got, err := get(t, c, after.URL); got != "actuator-2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestValidate(t *testing.T) {
	config := web.Config{TokenFile: "none", BasicFile: "none", CertFile: "none"}
	err := config.Validate()
	for _, want := range []string{"timeout: 0s", `token_file: "none": want a file`, "not both", "cert_file and key_file together"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v\nwant %q in it", err, want)
		}
	}
}
