"""A Python service as its authors would write it: Flask on waitress, SQLAlchemy's pool. It knows nothing of Sluice.

Run by `opentelemetry-instrument waitress-serve`; DATABASE (a URL) and CONNECTIONS in the environment. GET /update
changes a row of instrumented/hot.sql.
"""

import os
import random

from flask import Flask
from sqlalchemy import create_engine, text

ROWS = 8  # as hot.sql makes
CHANGE = text("SELECT change(:id)")

app = Flask(__name__)
engine = create_engine(
    os.environ["DATABASE"], pool_size=int(os.environ["CONNECTIONS"]), max_overflow=0, isolation_level="AUTOCOMMIT"
)


@app.get("/update")
def update() -> str:
    with engine.connect() as connection:
        attempts = connection.execute(CHANGE, {"id": random.randint(1, ROWS)}).scalar_one()
    return f"{attempts}\n"
