"""Translates kafka.toml into a configuration of the collector's Kafka exporter, for a second --config.

    python3 collector/kafka_settings.py kafka.toml > kafka.yaml
    sluice-collector --config collector/config/gateway.yaml --config kafka.yaml

It copies no password: the collector reads the file or the variable itself.
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


def exporter(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the exporter's keys. Raises ValueError with the key at fault."""
    for table, known in KNOWN.items():
        section = settings.get(table, {}) if table else settings
        if not isinstance(section, dict):
            raise ValueError(f"{table} must be a table")
        for key in section:
            if key not in known:
                raise ValueError(
                    f"{f'{table}.{key}' if table else key} is not known; known: {', '.join(sorted(known))}"
                )
    names, prefix = settings.get("topics", {}), settings.get("topic_prefix", "")
    keys: dict[str, Any] = {
        signal: {"topic": names.get(topic, prefix + topic)}
        for signal, topic in (("traces", "otlp_spans"), ("metrics", "otlp_metrics"))
    }
    if "brokers" in settings:
        if not isinstance(settings["brokers"], list) or not settings["brokers"]:
            raise ValueError("brokers must be a list of HOST:PORT")
        keys["brokers"] = settings["brokers"]
    if (tls := settings.get("tls")) is not None:
        keys["tls"] = _tls(tls)
    if (sasl := settings.get("sasl")) is not None:
        keys["auth"] = {"sasl": _sasl(sasl)}
    return merged(keys, settings.get("collector", {}))


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


def merged(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Merges tables; values of `override` replace those of `base`, also in nested tables."""
    return {**base, **override} | {
        key: merged(base[key], override[key])
        for key in base.keys() & override.keys()
        if isinstance(base[key], dict) and isinstance(override[key], dict)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    try:
        kafka = exporter(tomllib.loads(options.file.read_text()))
    except (OSError, ValueError) as error:
        print(f"read {options.file}: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"exporters": {"kafka": kafka}}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
