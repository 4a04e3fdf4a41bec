package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"sluice.dev/handlers"
)

const (
	// hotRows is the number of rows that hot.sql makes.
	hotRows = 8
	// reserveShare of the requests reserve the item.
	reserveShare = 0.4
)

// catalogue serves items.
func catalogue(_ context.Context, o options) error {
	db, err := open(o.postgres)
	if err != nil {
		return err
	}
	if _, err := handlers.Serve(o.pools, o.token, map[string]handlers.Pool{"connections": handlers.SQL(db)}); err != nil {
		return err
	}
	items := func(w http.ResponseWriter, r *http.Request) {
		var name string
		err := db.QueryRowContext(r.Context(), "SELECT name FROM items WHERE id = $1", r.PathValue("id")).Scan(&name)
		var attempts int
		if err == nil && rand.Float64() < reserveShare {
			err = db.QueryRowContext(r.Context(), "SELECT change($1)", 1+rand.IntN(hotRows)).Scan(&attempts)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"name": %q, "attempts": %d}`, name, attempts)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", items)
	return http.ListenAndServe(o.listen, otelhttp.NewHandler(mux, "/items/{id}"))
}
