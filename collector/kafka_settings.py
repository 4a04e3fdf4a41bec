"""Prints what kafka.toml comes to for the collector's Kafka exporter: a configuration for a second --config.

    python3 collector/kafka_settings.py kafka.toml > kafka.yaml
    sluice-collector --config collector/config/gateway.yaml --config kafka.yaml

Passwords stay where they are: the collector reads the file or the variable itself.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
KNOWN = {
    "": {"brokers", "topic_prefix", "topics", "tls", "sasl", "java", "librdkafka", "franz", "collector"},
    "tls": {"ca", "certificate", "key", "verify_host"},
    "sasl": {"mechanism", "user", "password_file", "password_variable"},
}


def exporter(told: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of the exporter. Raises ValueError, which names the key."""
    for table, known in KNOWN.items():
        within = told.get(table, {}) if table else told
        if not isinstance(within, dict):
            raise ValueError(f"{table} must be a table")
        for key in within:
            if key not in known:
                raise ValueError(
                    f"{f'{table}.{key}' if table else key} is not known; known: {', '.join(sorted(known))}"
                )
    names, prefix = told.get("topics", {}), told.get("topic_prefix", "")
    found: dict[str, Any] = {
        signal: {"topic": names.get(topic, prefix + topic)}
        for signal, topic in (("traces", "otlp_spans"), ("metrics", "otlp_metrics"))
    }
    if "brokers" in told:
        if not isinstance(told["brokers"], list) or not told["brokers"]:
            raise ValueError("brokers must be a list of HOST:PORT")
        found["brokers"] = told["brokers"]
    if (tls := told.get("tls")) is not None:
        found["tls"] = _tls(tls)
    if (sasl := told.get("sasl")) is not None:
        found["auth"] = {"sasl": _sasl(sasl)}
    return merged(found, told.get("collector", {}))


def _tls(tls: Mapping[str, Any]) -> dict[str, Any]:
    if ("certificate" in tls) != ("key" in tls):
        raise ValueError("tls.certificate and tls.key go together")
    if not tls.get("verify_host", True):
        raise ValueError("tls.verify_host: the collector cannot do without, other than by insecure_skip_verify")
    names = {"ca": "ca_file", "certificate": "cert_file", "key": "key_file"}
    return {"insecure": False} | {names[key]: value for key, value in tls.items() if key in names}


def _sasl(sasl: Mapping[str, str]) -> dict[str, str]:
    if sasl.get("mechanism") not in MECHANISMS:
        raise ValueError(f"sasl.mechanism is {sasl.get('mechanism', '')!r}; legal: {', '.join(MECHANISMS)}")
    if not sasl.get("user") or '"' in sasl["user"]:
        raise ValueError("sasl.user must be there, without a double quote")
    if ("password_file" in sasl) == ("password_variable" in sasl):
        raise ValueError("sasl needs exactly one of password_file and password_variable")
    where = f"file:{sasl['password_file']}" if "password_file" in sasl else f"env:{sasl['password_variable']}"
    return {"mechanism": sasl["mechanism"], "username": sasl["user"], "password": "${" + where + "}"}


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """`other` goes before `one`, within tables too."""
    return {**one, **other} | {
        key: merged(one[key], other[key])
        for key in one.keys() & other.keys()
        if isinstance(one[key], dict) and isinstance(other[key], dict)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    try:
        told = exporter(tomllib.loads(options.file.read_text()))
    except (OSError, ValueError) as error:
        print(f"read {options.file}: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"exporters": {"kafka": told}}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
