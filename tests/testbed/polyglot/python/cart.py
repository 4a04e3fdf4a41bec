"""A Python service as its authors would write it: Flask under gunicorn's threads, SQLAlchemy, Redis, a Kafka producer.

Run by `opentelemetry-instrument gunicorn -c gunicorn_conf.py cart:app`; DATABASE (a URL), REDIS and KAFKA (HOST:PORT)
in the environment. GET /carts/VISITOR is a cart; some check out, which is an event.
"""

import os
import random

from flask import Flask
from kafka import KafkaProducer
from redis import Redis
from sluice_sqlalchemy import ResizablePool
from sqlalchemy import create_engine, text

CHECKOUT_SHARE = 0.15
# What a larger table would take from its disk is a wait here: the connection is held meanwhile.
CART = text("SELECT count(*), sum(item) FROM carts, pg_sleep(0.06) WHERE visitor = :visitor")

app = Flask(__name__)
engine = create_engine(os.environ["DATABASE"], poolclass=ResizablePool, isolation_level="AUTOCOMMIT")
host, _, port = os.environ["REDIS"].rpartition(":")
redis = Redis(host, int(port))
producer = KafkaProducer(bootstrap_servers=os.environ["KAFKA"])


@app.get("/carts/<int:visitor>")
def cart(visitor: int) -> dict[str, int]:
    visits = redis.incr(f"cart:{visitor}")
    with engine.connect() as connection:
        count, total = connection.execute(CART, {"visitor": visitor}).one()
    if random.random() < CHECKOUT_SHARE:
        producer.send(os.environ.get("TOPIC", "checkouts"), str(visitor).encode())
    return {"visits": int(visits), "items": int(count), "total": int(total or 0)}
