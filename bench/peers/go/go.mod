module portico.example/bench/peer

go 1.19
