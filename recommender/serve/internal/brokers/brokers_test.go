package brokers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const contract = "../../../../tests/contract/kafka_settings/illegal.json"

func TestWhatIsNotLegalIsNamed(t *testing.T) {
	text, err := os.ReadFile(contract)
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string][2]string
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for name, tt := range cases {
		if _, err := parse([]byte(tt[0]), func(string) string { return "set" }); err == nil || !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%s: %v does not name %s", name, err, tt[1])
		}
	}
}

func TestTheExampleIsLegalButForItsFiles(t *testing.T) {
	text, err := os.ReadFile("../../../../collector/kafka.toml")
	if err != nil {
		t.Fatal(err)
	}
	plain := string(text)
	for _, key := range []string{"ca", "certificate", "key"} {
		before, after, _ := strings.Cut(plain, "\n"+key+" = ")
		_, after, _ = strings.Cut(after, "\n")
		plain = before + "\n" + after
	}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain = strings.ReplaceAll(plain, "/etc/sluice/kafka/password", password)
	settings, err := parse([]byte(plain), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(settings.Brokers, ","); got != "kafka-1:9093,kafka-2:9093" {
		t.Error(got)
	}
	if got := settings.Topic("sluice_reports", "mine_reports"); got != "prod.mine_reports" {
		t.Error(got)
	}
	if got := settings.Topic("otlp_spans", "otlp_spans"); got != "traces" {
		t.Error(got)
	}
	if len(settings.Options) != 8 { // TLS, SASL and six of franz-go
		t.Error(len(settings.Options))
	}
}
