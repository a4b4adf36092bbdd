"""The linear model behind every component: features and weights in, scores out."""
