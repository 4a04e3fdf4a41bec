package brokers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// security is the table tls: paths of PEM files.
type security struct {
	CA          string `toml:"ca"`
	Certificate string `toml:"certificate"`
	Key         string `toml:"key"`
	VerifyHost  *bool  `toml:"verify_host"`
}

func (t security) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls.ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls.ca: %s holds no certificate", t.CA)
		}
	}
	if (t.Certificate == "") != (t.Key == "") {
		return nil, errors.New("tls.certificate and tls.key go together")
	}
	if t.Certificate != "" {
		load := func() (*tls.Certificate, error) {
			certificate, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
			return &certificate, err
		}
		if _, err := load(); err != nil {
			return nil, fmt.Errorf("tls.certificate: %w", err)
		}
		// Read for each connection, because certificates are renewed.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	if t.VerifyHost != nil && !*t.VerifyHost {
		config.InsecureSkipVerify = true
		config.VerifyConnection = func(state tls.ConnectionState) error { return verifyChain(state, config.RootCAs) }
	}
	return config, nil
}

// verifyChain checks a server's certificate except its name.
func verifyChain(state tls.ConnectionState, roots *x509.CertPool) error {
	intermediates := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates})
	return err
}

// login is the table sasl.
type login struct {
	Mechanism        string  `toml:"mechanism"`
	User             string  `toml:"user"`
	PasswordFile     *string `toml:"password_file"`
	PasswordVariable *string `toml:"password_variable"`
}

func (l login) mechanism(lookup func(string) string) (sasl.Mechanism, error) {
	if l.User == "" || strings.Contains(l.User, `"`) {
		return nil, errors.New("sasl.user must be there, without a double quote")
	}
	if (l.PasswordFile == nil) == (l.PasswordVariable == nil) {
		return nil, errors.New("sasl needs exactly one of password_file and password_variable")
	}
	// Read for each login, because passwords change.
	password := func() (string, error) {
		if l.PasswordFile != nil {
			text, err := os.ReadFile(*l.PasswordFile)
			return string(text), err
		}
		if secret := lookup(*l.PasswordVariable); secret != "" {
			return secret, nil
		}
		return "", fmt.Errorf("sasl.password_variable: the environment has no %s", *l.PasswordVariable)
	}
	if _, err := password(); err != nil {
		return nil, err
	}
	scramAuth := func(context.Context) (scram.Auth, error) {
		secret, err := password()
		return scram.Auth{User: l.User, Pass: secret}, err
	}
	switch l.Mechanism {
	case "PLAIN":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			secret, err := password()
			return plain.Auth{User: l.User, Pass: secret}, err
		}), nil
	case "SCRAM-SHA-256":
		return scram.Sha256(scramAuth), nil
	case "SCRAM-SHA-512":
		return scram.Sha512(scramAuth), nil
	}
	return nil, fmt.Errorf("sasl.mechanism is %q; legal: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", l.Mechanism)
}
