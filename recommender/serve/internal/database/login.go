package database

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// Login is who asks. Variable and Secret: what the settings are called that say so.
type Login struct {
	User, Password   string
	Variable, Secret string
}

// notLetIn are ClickHouse's codes for an unknown user, and a wrong or lacking password, as its versions name them.
var notLetIn = map[string]bool{"192": true, "193": true, "194": true, "516": true}

func (l Login) refused() error {
	return fmt.Errorf("%s=%s with the password of %s or %s_FILE", l.Variable, l.User, l.Secret, l.Secret)
}

// ofTLS is err with the setting that it is about, where it is a certificate of whom nobody trusts.
func (c *ClickHouse) ofTLS(host string, err error) error {
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
