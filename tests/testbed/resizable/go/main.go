// Command resizable is a Go program under load on PostgreSQL, with a pool that the actuator can resize.
// Arguments: PORT TOKEN-FILE DATABASE-PORT; CONNECTIONS and CLIENTS in the environment.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	_ "github.com/lib/pq"

	"sluice.dev/handlers"
)

func main() {
	dsn := fmt.Sprintf("host=127.0.0.1 port=%s user=sluice dbname=postgres sslmode=disable application_name=resizable-go", os.Args[3])
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		log.Fatal(err)
	}
	size, clients := number("CONNECTIONS"), number("CLIENTS")
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	for range clients {
		go func() {
			for {
				if _, err := db.Exec("SELECT pg_sleep(0.02)"); err != nil {
					log.Fatal(err)
				}
			}
		}()
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], handlers.Handler(os.Args[2], map[string]handlers.Pool{"rows": handlers.SQL(db)})))
}

func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatal(err)
	}
	return n
}
