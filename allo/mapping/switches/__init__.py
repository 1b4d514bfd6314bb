"""Stream switches: the ways of streams from tile to tile, port by port, or a proof that there are too few ports."""

from .flow import FlowSite, RoutedFlow, Routing, Shortage, StreamFlow, StreamPort
from .route import routing_of

__all__ = ["FlowSite", "RoutedFlow", "Routing", "Shortage", "StreamFlow", "StreamPort", "routing_of"]
