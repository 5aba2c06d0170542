module github.com/lanebloom/bloom/compare

go 1.26.0

require github.com/lanebloom/bloom v0.1.0
