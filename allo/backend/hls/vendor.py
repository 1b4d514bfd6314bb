"""Decides how a vendor spells what C++ lacks: the pragmas, as a table of patterns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pragmas:
    """Patterns of one vendor's pragmas; the names in braces are filled in."""

    pipeline: str
    rewind: str
    unroll: str
    unroll_by: str
    dataflow: str
    inline_off: str
    partition: str
    partition_by: str
    stream: str
    storage: str
    implementation: str
    latency: str

    def partition_text(self, name: str, dim: int, kind: str, factor: int) -> str:
        pattern = self.partition_by if factor else self.partition
        return pattern.format(name=name, dim=dim, kind=kind, factor=factor)

    def pipeline_text(self, interval: int, rewind: bool) -> str:
        return self.pipeline.format(interval=interval) + (self.rewind if rewind else "")

    def unroll_text(self, factor: int) -> str:
        return self.unroll_by.format(factor=factor) if factor else self.unroll

    def storage_text(self, name: str, kind: str, resource: str, latency: int | None) -> str:
        text = self.storage.format(name=name, kind=kind)
        text += self.implementation.format(resource=resource) if resource != "auto" else ""
        return text + (self.latency.format(latency=latency) if latency is not None else "")


VITIS = Pragmas(
    pipeline="#pragma HLS pipeline II={interval}",
    rewind=" rewind",
    unroll="#pragma HLS unroll",
    unroll_by="#pragma HLS unroll factor={factor}",
    dataflow="#pragma HLS dataflow",
    inline_off="#pragma HLS inline off",
    partition="#pragma HLS array_partition variable={name} {kind} dim={dim}",
    partition_by="#pragma HLS array_partition variable={name} {kind} dim={dim} factor={factor}",
    stream="#pragma HLS stream variable={name} depth={depth}",
    storage="#pragma HLS bind_storage variable={name} type={kind}",
    implementation=" impl={resource}",
    latency=" latency={latency}",
)
