"""A real application of five programs: nginx, a Go service, memcached, Redis, PostgreSQL, and a Tomcat beside them."""
