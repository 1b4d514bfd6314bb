"""The interface of a kernel as hardware: ports, bursts, streams, and what a host knows of them."""
