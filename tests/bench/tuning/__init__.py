"""A real application, tuned through all that is shipped: its spans through the real pipeline, sessions on the journal
of a real decider and server, `./sluice tuning start` with the real actuator, which writes files, restarts programs and
sets pools.

nginx, a Go service on memcached, Redis and PostgreSQL, and a Tomcat on PostgreSQL, have one core; load, pipeline,
recommender and actuator the others.
"""
