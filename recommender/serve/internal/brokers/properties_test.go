package brokers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contract has files that deciders refuse too.
const contract = "../../../../tests/contract/kafka_properties/illegal.json"

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kafka.properties")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIsNotLegalIsNamedWithItsLine(t *testing.T) {
	text, err := os.ReadFile(contract)
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string][2]string
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	cases["not of the server"] = [2]string{"socket.timeout.ms=1", ":1: socket.timeout.ms is not legal; legal: security.protocol, "}
	cases["no protocol"] = [2]string{"ssl.ca.location=/ca.pem", ":1: ssl.ca.location is not legal with this security.protocol"}
	cases["no login"] = [2]string{"security.protocol=SSL\nsasl.password=hidden", ":2: sasl.password is not legal with this security.protocol"}
	cases["a certificate without a key"] = [2]string{"security.protocol=SSL\nssl.certificate.location=/a", ":2: ssl.certificate.location is not legal without ssl.key.location"}
	cases["a key without a certificate"] = [2]string{"security.protocol=SSL\nssl.key.location=/a", ":2: ssl.key.location is not legal without ssl.certificate.location"}
	cases["no certificate"] = [2]string{"security.protocol=SSL\nssl.key.location=/a\nssl.certificate.location=/b", ":3: ssl.certificate.location"}
	for name, tt := range cases {
		path := written(t, tt[0])
		_, err := Load(path)
		if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%s: %v does not name %s", name, err, tt[1])
		} else if strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFileThatIsNotThereIsNamed(t *testing.T) {
	if _, err := Load("/none/kafka.properties"); err == nil || !strings.Contains(err.Error(), "/none/kafka.properties") {
		t.Error(err)
	}
}

func TestTheExampleIsLegalButForItsFiles(t *testing.T) {
	text, err := os.ReadFile("../../../kafka.properties")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, ".location=") {
			lines = append(lines, line)
		}
	}
	options, err := Load(written(t, strings.Join(lines, "")))
	if err != nil || len(options) != 3 { // TLS, SASL and the rack
		t.Error(len(options), err)
	}
}

func TestAPasswordIsReadAgainAtEachLogin(t *testing.T) {
	lines := "security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password="
	path := written(t, lines+"first")
	f, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	mechanism, err := f.login()
	if err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"first", "a=second"} {
		if err := os.WriteFile(path, []byte(lines+password), 0o600); err != nil {
			t.Fatal(err)
		}
		_, message, err := mechanism.Authenticate(t.Context(), "broker:1")
		if err != nil || string(message) != "\x00u\x00"+password {
			t.Errorf("%q %v", message, err)
		}
	}
}
