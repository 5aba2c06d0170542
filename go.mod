module github.com/lanebloom/bloom

go 1.26.0
