package database

import (
	"errors"
	"net/url"
	"strings"
)

// escaped is a value in the form in which ClickHouse reads parameters: a field of TabSeparated.
func escaped(value string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(value)
}

// withoutAddress removes the URL from an error, because it has the parameters.
func withoutAddress(err error) error {
	var urlError *url.Error
	if errors.As(err, &urlError) {
		return urlError.Err
	}
	return err
}
