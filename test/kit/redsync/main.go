// A peer of the tests of the token lock: redsync on one server. Reads commands by line: an id, an operation (lock, try,
// release, extend), a key or the id of what is held, and a lease in s.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() {
	options, err := redis.ParseURL(os.Args[1])
	if err != nil {
		panic(err)
	}
	rs := redsync.New(goredis.NewPool(redis.NewClient(options)))
	held := map[string]*redsync.Mutex{}
	var guard sync.Mutex
	answer := func(words ...string) {
		guard.Lock()
		defer guard.Unlock()
		fmt.Println(strings.Join(words, " "))
	}
	mutexOf := func(id string) *redsync.Mutex {
		guard.Lock()
		defer guard.Unlock()
		return held[id]
	}
	work := func(id, op, key, lease string) {
		duration, _ := time.ParseDuration(lease + "s")
		switch op {
		case "release":
			if ok, err := mutexOf(key).UnlockContext(context.Background()); !ok || err != nil {
				answer(id, "error", "NotHeld")
				return
			}
			answer(id, "ok")
		case "extend":
			if ok, err := mutexOf(key).ExtendContext(context.Background()); !ok || err != nil {
				answer(id, "error", "NotHeld")
				return
			}
			answer(id, "ok")
		default:
			tries := 1
			if op == "lock" {
				tries = 1000
			}
			mutex := rs.NewMutex(key, redsync.WithExpiry(duration), redsync.WithTries(tries),
				redsync.WithRetryDelay(20*time.Millisecond))
			if err := mutex.Lock(); err != nil {
				answer(id, "no")
				return
			}
			guard.Lock()
			held[id] = mutex
			guard.Unlock()
			answer(id, "yes")
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		go work(words[0], words[1], words[2], words[3])
	}
}
