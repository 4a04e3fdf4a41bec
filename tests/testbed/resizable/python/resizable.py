"""A Python program under load on PostgreSQL, with a pool of SQLAlchemy's that the actuator can resize.

Arguments: PORT TOKEN-FILE DATABASE-PORT; CONNECTIONS and CLIENTS in the environment.
actuators/handlers/python is on the path.
"""

import os
import sys
import threading

from sluice_pools import serve
from sluice_sqlalchemy import ResizablePool
from sqlalchemy import create_engine, text

port, token_file, database = sys.argv[1:]
engine = create_engine(
    f"postgresql+psycopg://sluice@127.0.0.1:{database}/postgres?application_name=resizable-python",
    poolclass=ResizablePool,
    pool_size=int(os.environ["CONNECTIONS"]),
    pool_timeout=60,
)


def ask() -> None:
    while True:
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_sleep(0.02)"))


for _ in range(int(os.environ["CLIENTS"])):
    threading.Thread(target=ask, daemon=True).start()
assert isinstance(engine.pool, ResizablePool)
serve("127.0.0.1", int(port), token_file, {"rows": engine.pool})
threading.Event().wait()
