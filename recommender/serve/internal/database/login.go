package database

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// Login is a ClickHouse user. Variable and Secret are the names of the settings with the user and the
// file of the password.
type Login struct {
	User, Password   string
	Variable, Secret string
}

// authenticationCodes are ClickHouse's codes for an unknown user and for a wrong or missing password, in all its versions.
var authenticationCodes = map[string]bool{"192": true, "193": true, "194": true, "516": true}

func (l Login) settings() error {
	return fmt.Errorf("%s=%s with the password of %s", l.Variable, l.User, l.Secret)
}

// explainTLS adds the setting to an error about an untrusted certificate.
func (c *ClickHouse) explainTLS(host string, err error) error {
	var untrusted *tls.CertificateVerificationError
	if !errors.As(err, &untrusted) {
		return err
	}
	set := "SLUICE_CLICKHOUSE_CA is not set"
	if c.authority != "" {
		set = "SLUICE_CLICKHOUSE_CA=" + c.authority
	}
	return fmt.Errorf("TLS with %s fails, %s: %w", host, set, err)
}
