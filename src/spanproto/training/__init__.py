"""Algorithm 1: training a SpanProto model on episodes."""
