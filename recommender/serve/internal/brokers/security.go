package brokers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func (f file) options() (opts []kgo.Opt, err error) {
	ssl, login := false, false
	switch strings.ToUpper(f.value(protocol)) {
	case "", "PLAINTEXT":
	case "SSL":
		ssl = true
	case "SASL_PLAINTEXT":
		login = true
	case "SASL_SSL":
		ssl, login = true, true
	default:
		return nil, f.wrong(protocol, "is not legal; legal: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL")
	}
	// librdkafka ignores properties that the protocol does not use, and would connect without TLS.
	for _, name := range legal {
		if _, ok := f.properties[name]; ok && (strings.HasPrefix(name, "ssl.") && !ssl || strings.HasPrefix(name, "sasl.") && !login) {
			return nil, f.wrong(name, "is not legal with this security.protocol; ssl. needs SSL or SASL_SSL, sasl. SASL_PLAINTEXT or SASL_SSL")
		}
	}
	if ssl {
		config, err := f.tls()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(config))
	}
	if login {
		mechanism, err := f.login()
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(mechanism))
	}
	if f.value(rack) != "" {
		opts = append(opts, kgo.Rack(f.value(rack)))
	}
	return opts, nil
}

func (f file) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := f.value(authority); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, f.wrong(authority, "is not legal: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, f.wrong(authority, "is not legal: %s holds no certificate", path)
		}
	}
	for _, pair := range [][2]string{{certificate, key}, {key, certificate}} {
		if f.value(pair[0]) != "" && f.value(pair[1]) == "" {
			return nil, f.wrong(pair[0], "is not legal without %s", pair[1])
		}
	}
	if f.value(certificate) != "" {
		load := func() (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(f.value(certificate), f.value(key))
			return &pair, err
		}
		if _, err := load(); err != nil {
			return nil, f.wrong(certificate, "is not legal: %w", err)
		}
		// Read for each connection, because certificates are renewed.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	}
	switch f.value(hostCheck) {
	case "", "https":
	case "none":
		config.InsecureSkipVerify = true
		config.VerifyConnection = func(state tls.ConnectionState) error { return verifyChain(state, config.RootCAs) }
	default:
		return nil, f.wrong(hostCheck, "is not legal; legal: https, none")
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

func (f file) login() (sasl.Mechanism, error) {
	for _, name := range []string{mechanism, username, password} {
		if f.value(name) == "" {
			return nil, f.wrong(protocol, "is not legal without %s", name)
		}
	}
	// Read for each login, because passwords change.
	newest := func() (user, secret string, err error) {
		again, err := read(f.path)
		return again.value(username), again.value(password), err
	}
	scramAuth := func(context.Context) (scram.Auth, error) {
		user, secret, err := newest()
		return scram.Auth{User: user, Pass: secret}, err
	}
	switch f.value(mechanism) {
	case "PLAIN":
		return plain.Plain(func(context.Context) (plain.Auth, error) {
			user, secret, err := newest()
			return plain.Auth{User: user, Pass: secret}, err
		}), nil
	case "SCRAM-SHA-256":
		return scram.Sha256(scramAuth), nil
	case "SCRAM-SHA-512":
		return scram.Sha512(scramAuth), nil
	}
	return nil, f.wrong(mechanism, "is not legal; legal: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512")
}
