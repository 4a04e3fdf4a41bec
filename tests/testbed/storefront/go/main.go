// Command storefront is a service on Redis, memcached, PostgreSQL and a second service, with the pools that its libraries
// have by default. GET /page is a page; GET and PUT /settings/NAME read and set what can be set while it runs.
package main

import (
	"context"
	"database/sql"
	"flag"
	"log"
	"net/http"

	_ "github.com/lib/pq"
)

func main() {
	var a addresses
	listen := flag.String("listen", "", "HOST:PORT")
	flag.StringVar(&a.redis, "redis", "", "HOST:PORT")
	flag.StringVar(&a.memcached, "memcached", "", "HOST:PORT")
	postgres := flag.String("postgres", "", "connection string")
	flag.StringVar(&a.orders, "orders", "", "URL of the service of orders")
	otlp := flag.String("otlp", "", "HOST:PORT of the receiver of spans (gRPC)")
	flag.Parse()
	db, err := sql.Open("postgres", *postgres)
	if err == nil {
		err = fill(db)
	}
	if err != nil {
		log.Fatal(err)
	}
	tracers, err := traced(context.Background(), *otlp)
	if err != nil {
		log.Fatal(err)
	}
	s := newShop(db, a, tracers)
	http.HandleFunc("GET /page", s.page)
	http.Handle("/settings/", http.StripPrefix("/settings/", s.settings()))
	log.Fatal(http.ListenAndServe(*listen, nil))
}
