// The health answer from Go's net/http with nothing around it: what a proxy written in Go would start from.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
)

func main() {
	address := flag.String("address", "127.0.0.1:8189", "where to listen")
	path := flag.String("path", "/", "the path that is answered")
	body := flag.String("body", "", "the answer, sent as JSON")
	flag.Parse()
	http.HandleFunc(*path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, *body)
	})
	log.Fatal(http.ListenAndServe(*address, nil))
}
