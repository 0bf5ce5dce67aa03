"""Learning of feature weights: candidates, ranking loss, penalty, solvers and self-pacing."""
