"""Static scheduler: when operations happen, on which units and ports, and what keeps them from happening earlier."""
