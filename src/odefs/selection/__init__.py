"""Learning feature weights: candidates, ranking loss, penalty, solvers, self-pacing, alternation and the subset rule, a file each."""
